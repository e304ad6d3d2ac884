# SPDX-License-Identifier: Apache-2.0
# Mask, limits, descriptors: what a process is born with.
#: row fixed
#: pinned
#: rootless
#: uses fixed
#: out umask 022
#: out nofile 1024 4096
#: out stack 8388608 8388608
#: out core 0 0
#: out nproc 512 512
#: out memlock 8388608 8388608
#: out as -1 -1
#: out fsize -1 -1
#: out nice 0 0
#: out rtprio 0 0
#: out sigpending 1024 1024
#: out msgqueue 819200 819200
#: out file name ./fixed
exec env -i ./fixed
