# SPDX-License-Identifier: Apache-2.0
# Inode numbers and devices.
#: row inodes
#: pinned
#: rootless
touch a b c
mkdir d
ls -i
stat -c "%n %d %h %o %b" a b c d
ls -id / /tmp /usr .
