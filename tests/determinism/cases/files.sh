# SPDX-License-Identifier: Apache-2.0
# Inodes, devices, times, order and offsets of directories.
#: row directories
#: row inodes
#: row times
#: varies
#: rootless
#: uses files
./files
