# SPDX-License-Identifier: Apache-2.0
# --epoch moves the start.
#: row clock
#: varies
#: option --epoch
#: option 2030-01-02T03:04:05Z
#: out 2030-01-02T03:04:05.000000000
#: out 1893553445
date +%Y-%m-%dT%H:%M:%S.%N
printenv SOURCE_DATE_EPOCH
