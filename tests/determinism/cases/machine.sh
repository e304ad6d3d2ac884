# SPDX-License-Identifier: Apache-2.0
# What programs say of the machine: one CPU, one node of memory, no disks.
#: pinned
#: rootless
#: needs lscpu lsmem lsblk nproc python3
#: out CPU(s): 1
#: out On-line CPU(s) list: 0
#: out Thread(s) per core: 1
#: out L1d cache: 32 KiB (1 instance)
#: out L3 cache: 8 MiB (1 instance)
#: out NUMA node0 CPU(s): 0
#: out Memory block size: 512M
#: out Total online memory: 2G
#: out Total offline memory: 0B
#: out lsblk 0
#: out 1
#: out 1 1
#: out 0::/
#: out cgroup2 on /sys/fs/cgroup type cgroup2 (ro,nosuid,nodev,noexec)
lscpu | grep -E '^(CPU\(s\)|On-line|Thread|L1d|L3|NUMA node0)' | tr -s ' '
lsmem | grep :\  | tr -s ' '
lsblk; echo lsblk $?
nproc
python3 -c 'import os; print(os.cpu_count(), len(os.sched_getaffinity(0)))'
cat /proc/self/cgroup
mount | grep cgroup
