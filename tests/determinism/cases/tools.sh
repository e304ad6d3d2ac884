# SPDX-License-Identifier: Apache-2.0
# df, free, uptime, nproc, id and the like.
#: row pinned
#: pinned
#: rootless
#: needs free uptime
df
df -i
free
free -h
uptime
uptime -s
ls -i
nproc
id
hostname
uname -a
who 2>&1
arch
getconf _NPROCESSORS_ONLN
cat /etc/passwd /etc/hosts /etc/resolv.conf /etc/hostname
