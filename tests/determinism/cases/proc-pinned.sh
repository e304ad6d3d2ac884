# SPDX-License-Identifier: Apache-2.0
# Files of /proc say what the calls say.
#: row procfs
#: pinned
#: rootless
#: out 1
#: out 1000.00
#: out sandglass
#: out MemTotal: 2097152 kB
#: out 1000
grep -c ^processor /proc/cpuinfo
cut -d ' ' -f 1 /proc/uptime
cat /proc/sys/kernel/hostname
grep MemTotal /proc/meminfo | tr -s ' '
grep ^Groups: /proc/self/status | cut -f 2 | tr -d " "
