# SPDX-License-Identifier: Apache-2.0
# However /proc is reached - links, relative paths, descriptors, from inside - it is the same.
#: row procfs
#: pinned
#: rootless
#: needs readlink
#: out 1000.00 1000.00
#: out 1000.00 1000.00
#: out 1000.00 1000.00
#: out 1000.00 1000.00
#: out 1000.00 1000.00
#: out 1000.00 1000.00
#: out 1000.00 1000.00
#: out /proc/uptime
#: out empty
#: out closed
ln -s /proc/uptime one; ln -s /proc two
cat one
cat two/uptime
cat two/self/../uptime
(cd /proc/self && cat ../uptime)
cat /proc/self/cwd/one
cat /proc/self/root/proc/uptime
cat /dev/stdin < /proc/uptime
readlink /proc/self/fd/8 8< /proc/uptime
[ -s /proc/self/fd/8 ] 8< /proc/uptime || echo empty
cat /proc/1/environ 2> /dev/null || echo closed
