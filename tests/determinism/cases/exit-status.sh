# SPDX-License-Identifier: Apache-2.0
# The guest's exit status is the run's.
#: exit 7
#: out before
#: rootless
echo before
exit 7
