# SPDX-License-Identifier: Apache-2.0
# script(1) and pty.spawn give programs a terminal; what they write there comes whole.
#: needs script python3 seq
#: varies
script -qec 'tty; date +%s.%N; sleep 2; stty size; seq 1 5000 | tail -n 3' log </dev/null
echo "status $?"
script -qec 'exit 5' log </dev/null; echo "status $?"
script -qec 'seq 1 20000' log </dev/null | tail -n 2
tail -n +2 log | sed '$d' | wc
python3 -c 'import pty; print(pty.spawn(["sh", "-c", "tty; seq 1 3000; kill -TERM $$"]))' </dev/null | tail -n 2
