# SPDX-License-Identifier: Apache-2.0
# What the kernel says about a process: ids, usage, times.
#: row pinned
#: varies
#: uses pinned
./pinned | tail -n +9
./pinned | tail -n +9
