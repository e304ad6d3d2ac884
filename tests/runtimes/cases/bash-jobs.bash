# SPDX-License-Identifier: Apache-2.0
# bash's job control without a terminal: jobs stopped, continued, waited for in the order in which they end.
#: varies
#: patience 2
set -m
for n in 4 2 3 1; do
	(sleep 0.$n; echo "job $n $BASHPID $EPOCHREALTIME"; exit "$n") &
done
for _ in 1 2 3 4; do
	wait -n -p pid
	echo "ended: $? $pid"
done
sleep 50 &
kill -STOP %%
wait %%
echo "stopped: $?"
jobs -l
(sleep 1; kill -CONT $!) &
fg %sleep
echo "fg: $? $EPOCHREALTIME"
sleep 100 | cat | cat &
jobs
sleep 1
kill %sleep
wait %sleep
echo "killed: $?"
trap 'echo "child $EPOCHREALTIME"' CHLD
sleep 0.5 & sleep 0.25 &
wait
trap - CHLD
suspended() {
	kill -TSTP $BASHPID
	echo "on again $EPOCHREALTIME"
}
suspended &
sleep 1
jobs
bg %suspended
wait
disown -a
echo "$RANDOM $SECONDS"
