# SPDX-License-Identifier: Apache-2.0
# Children that stop, go on and end, by every kind of wait.
#: uses waits
#: out stopped: told, status 0x137f, after 0 s
#: out stopped again: nothing, status 0, after 0 s
#: out ended: told, status 0x300, after 6 s
#: out the other: told, status 0, after 6 s
#: out continued: told, status 0xffff, after 1 s
#: out continued again: nothing, status 0, after 1 s
#: out ended: told, status 0x300, after 6 s
#: out the other: told, status 0, after 6 s
#: out left there: signal 19
#: out left there: signal 19
#: out killed: told, status 0x9, after 0 s
#: out by pidfd: 4, after 2 s
#: out killed by pidfd: told, status 0x9, after 1 s
#: out parent: told, status 0x9, after 1 s
#: out with it: 4, after 1 s
./waits
