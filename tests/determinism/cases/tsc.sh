# SPDX-License-Identifier: Apache-2.0
# The time stamp counter is the monotonic clock.
#: row tsc
#: varies
#: uses tsc
#: out rdtsc 1000000000000
#: out rdtsc 1002000000000
#: out rdtscp 1002000000000
#: out killed 1, rdtsc 1002000000000
./tsc
