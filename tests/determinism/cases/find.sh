# SPDX-License-Identifier: Apache-2.0
# find, du and stat of a tree.
#: row directories
#: varies
mkdir -p d/z d/a d/m
touch d/z/1 d/a/2 d/m/3
find d -printf '%p %i %D %T@ %C@ %A@ %s %b %k\n'
ls -lf d
du -a d
stat d d/z/1
