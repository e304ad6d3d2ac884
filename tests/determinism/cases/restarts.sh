# SPDX-License-Identifier: Apache-2.0
# Signals end calls that sleep, or the kernel makes them again; registers survive both.
#: uses restarts
#: out no SA_RESTART
#: out read: EINTR, 1 signals, at 1001.000000000
#: out wait: EINTR, 1 signals, at 1004.000000000
#: out nanosleep: EINTR, 1 signals, at 1006.000000000
#: out left 1.000000000
#: out poll: EINTR, 1 signals, at 1007.000000000
#: out futex: EINTR, 1 signals, at 1008.000000000
#: out read, ignored: worked, 0 signals, at 1011.000000000
#: out SA_RESTART
#: out read: worked, 2 signals, at 1014.000000000
#: out wait: worked, 1 signals, at 1016.000000000
#: out nanosleep: EINTR, 1 signals, at 1017.000000000
#: out left 1.000000000
#: out poll: EINTR, 1 signals, at 1018.000000000
#: out futex: EINTR, 1 signals, at 1019.000000000
#: out read, ignored: worked, 0 signals, at 1022.000000000
#: out getpid kept 111111
#: out uname kept 111111
#: out read of nothing kept 111111
#: out read that waits kept 111111
./restarts
