# SPDX-License-Identifier: Apache-2.0
# poll, select, epoll: time-outs on the logical clock, masks, edges, order, signalfd.
#: row timers
#: pinned
#: uses readiness
#: out poll out: 1 at 0.000
#: out   0 0 4
#: out poll in, 1.5 s: 0 at 1.500
#: out poll 0: 0 at 1.500
#: out poll until written: 1 at 4.500
#: out poll hang-up: 1 at 4.500
#: out   16
#: out poll closed: 1 at 4.500
#: out   32
#: out poll nothing: 0 at 4.750
#: out select: 0 at 7.250
#: out   set 0 left 0.000000
#: out select either: 1 at 7.250
#: out   in 0 out 1
#: out select in: 1 at 8.500
#: out   set 1 left 7.750000
#: out select closed: -1 Bad file descriptor at 8.500
#: out select sleep: 0 at 9.500
#: out   handler 17
#: out ppoll: -1 Interrupted system call at 11.500
#: out   handler 17
#: out pselect: -1 Interrupted system call at 12.500
#: out   blocked again: 1
#: out   handler 14
#: out poll and alarm: -1 Interrupted system call at 16.500
#: out   handler 14
#: out ppoll that holds the alarm back: 0 at 22.500
#: out epoll 0.1 s: 0 at 22.600
#: out epoll 0: 0 at 22.600
#: out epoll: 4 at 22.600
#: out   3
#: out   2
#: out   1
#: out   0
#: out epoll: 3 at 22.600
#: out   2
#: out   1
#: out   0
#: out epoll one: 1 at 22.600
#: out epoll bad: -1 Invalid argument at 22.600
#: out epoll none: -1 Invalid argument at 22.600
#: out   handler 17
#: out epoll until written: 1 at 29.600
#: out   2
#: out poll signalfd: 0 at 30.600
#: out   handler 17
#: out read signalfd: 128 at 31.600
#: out   signal 10
#: out   handler 17
#: out poll signalfd: 1 at 32.600
#: out read signalfd: 128 at 32.600
#: out   signal 10
#: out   handler 17
#: out epoll signalfd: 1 at 33.600
#: out read signalfd: 128 at 33.600
#: out   signal 10
./readiness
