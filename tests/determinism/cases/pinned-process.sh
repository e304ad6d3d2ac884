# SPDX-License-Identifier: Apache-2.0
# What the kernel says about a process: ids, groups, usage, times.
#: row pinned
#: varies
#: rootless
#: uses pinned
#: out pid 65 parent 64 group 64 session 64
#: out uid 1000 1000 gid 1000 1000, 1 groups, first 1000
#: out user 0.000000 system 0.000000, switches 0 0
#: out faults 0 0, peak 4096, blocks 0 0
#: out times 100000 0 0
#: out nice 0, scheduler 0
./pinned | tail -n +9
