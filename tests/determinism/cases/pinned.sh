# SPDX-License-Identifier: Apache-2.0
# What the kernel says about the machine.
#: row pinned
#: pinned
#: rootless
#: uses pinned
#: out uname Linux sandglass 6.1.0-sandglass #1 SMP PREEMPT_DYNAMIC Sandglass
#: out memory 2147483648 free 1073741824 swap 0, load 0, uptime 1000
#: out cpus 1, first 1, current 0, configured 1, online 1
#: out statfs /: 4096 x 262144, free 131072, files 65536
#: out statfs .: 4096 x 262144, free 131072, files 65536
#: out statfs /tmp: 4096 x 262144, free 131072, files 65536
#: out statfs /usr: 4096 x 262144, free 131072, files 65536
#: out statfs /dev: 4096 x 262144, free 131072, files 65536
./pinned | head -n 8
