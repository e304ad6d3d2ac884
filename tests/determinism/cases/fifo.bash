# SPDX-License-Identifier: Apache-2.0
# Opening a FIFO waits for the other side, whichever comes first.
#: row clock
#: pinned
#: rootless
#: needs mkfifo
#: out reader first
#: out 22:13:22
#: out writer first
#: out 22:13:23
#: out many
#: out 1 2 3
mkfifo p
(sleep 2; echo reader first > p) & cat p; wait; date +%T
(echo writer first > p) & sleep 1; cat p; wait; date +%T
echo many; for i in 1 2 3; do echo $i > p & wait_for=$!; read -r got < p; echo -n "$got"; [ $i = 3 ] || echo -n ' '; wait $wait_for; done; echo
