# SPDX-License-Identifier: Apache-2.0
#: row procfs
#: needs sysctl
#: pinned
# Every setting of the kernel that there is.
PATH=$PATH:/sbin:/usr/sbin
sysctl -a 2>&1
