# SPDX-License-Identifier: Apache-2.0
# coreutils timeout runs on the logical clock.
#: pinned
#: needs timeout
timeout 5 sleep 100
echo "status $? at $(date +%s.%N)"
timeout -s KILL 1 sh -c 'trap "" TERM; sleep 50'
echo "status $? at $(date +%s.%N)"
