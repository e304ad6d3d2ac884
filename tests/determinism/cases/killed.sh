# SPDX-License-Identifier: Apache-2.0
# A guest that a signal ends.
#: exit 143
kill -TERM $$
sleep 10
