# SPDX-License-Identifier: Apache-2.0
# What cannot be held does not exist.
#: row refused
#: pinned
#: uses refused
#: out io_uring_setup: ENOSYS
#: out perf_event_open: ENOSYS
#: out bpf: ENOSYS
#: out userfaultfd: ENOSYS
#: out io_setup: ENOSYS
#: out rseq: ENOSYS
#: out kcmp: ENOSYS
./refused
