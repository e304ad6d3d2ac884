# SPDX-License-Identifier: Apache-2.0
# An hour in every way to wait.
#: row timers
#: pinned
#: rootless
#: uses timers
#: out nanosleep 3600.000000000 alarms 0
#: out clock_nanosleep absolute 3600.000000000 alarms 0
#: out clock_nanosleep absolute, realtime 3600.000000000 alarms 0
#: out usleep(1) 0.000001000 alarms 0
#: out poll 3600.000000000 alarms 0
#: out ppoll 3600.000000000 alarms 0
#: out select 3600.000000000 alarms 0
#: out pselect 3600.000000000 alarms 0
#: out epoll_wait 3600.000000000 alarms 0
#: out alarm 3600.000000000 alarms 1
#: out setitimer, three times 10800.000000000 alarms 4
#: out interrupted: Interrupted system call, left 3600.000000000
#: out half a sleep 3600.000000000 alarms 5
#: out sigtimedwait: Resource temporarily unavailable
#: out sigtimedwait 3600.000000000 alarms 5
./timers
