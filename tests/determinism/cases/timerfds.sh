# SPDX-License-Identifier: Apache-2.0
# timerfd on the logical clock.
#: row timers
#: pinned
#: uses timerfds
#: out   left 0.000 interval 0.000
#: out set: 0 at 0.000
#: out   left 1.500 interval 0.000
#: out one-shot: 1 at 1.500
#: out   left 0.000 interval 0.000
#: out set: 0 at 1.500
#: out interval: 1 at 2.500
#: out interval: 1 at 3.000
#: out interval: 1 at 3.500
#: out missed some: 4 at 5.500
#: out poll: 0 at 5.600
#: out poll: 1 at 6.000
#: out set again: 0 at 6.000
#: out poll forgot: 0 at 6.000
#: out   left 2.000 interval 0.000
#: out disarm: 0 at 7.000
#: out poll: 0 at 12.000
#: out fast: 0 at 12.000
#: out very many: 104931794 at 112.000
#: out disarm: 0 at 112.000
#: out not armed: -1 Resource temporarily unavailable at 112.000
#: out absolute: 0 at 112.000
#: out epoll: 1 at 122.000
#: out absolute: 1 at 122.000
#: out once: -1 Resource temporarily unavailable at 122.000
#: out in the past: 0 at 122.000
#: out past: 1 at 122.000
#: out not a timer: -1 Invalid argument at 122.000
#: out bad clock: -1 Invalid argument at 122.000
#: out bad time: -1 Invalid argument at 122.000
#: out set: 0 at 122.000
#: out child: 1 at 124.000
#: out done: 0 at 124.000
./timerfds
