# SPDX-License-Identifier: Apache-2.0
# A large directory: order, offsets, one descriptor in two processes, deletion while it is read.
#: row directories
#: pinned
#: rootless
#: uses dirs
#: out all names: right
#: out in order: right
#: out inodes as stat has them: right
#: out back to the middle: right
#: out all names again: right
#: out ten turns: right
#: out too small a buffer: right
#: out emptied while read: right
#: out nothing in a removed directory: right
./dirs
