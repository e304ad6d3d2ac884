# SPDX-License-Identifier: Apache-2.0
# A fifo, a lock, a here-document, tee and tail -f between guests.
#: varies
mkfifo p
(sleep 1; echo "late $(date +%s.%N)" >p) &
cat p
wait
flock l sh -c 'sleep 1; date +%s.%N' &
sleep 0.1
flock l date +%s.%N
wait
head -c 3000000 /dev/zero | tee a b | md5sum
tail -f a b >/dev/null &
sleep 2
kill $!
(sleep 2; kill -USR1 $$) &
trap 'echo "signal at $(date +%s.%N)"' USR1
sleep 5
date +%s.%N
