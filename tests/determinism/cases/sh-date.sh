# SPDX-License-Identifier: Apache-2.0
# Sleep moves the clock and nothing else does.
#: row clock
#: varies
#: rootless
#: out Tue Nov 14 22:13:20 UTC 2023
#: out Tue Nov 14 22:13:22 UTC 2023
#: out Tue Nov 14 22:14:22 UTC 2023
#: out 1700000062.000000000
date
sleep 2
date
sleep 60
date
date +%s.%N
