# SPDX-License-Identifier: Apache-2.0
# Files get the logical time of their making.
#: row times
#: varies
#: rootless
#: out a 1700000000.000000000
#: out b 1700000001.000000000
#: out b is newer
touch a
sleep 1
touch b
for f in a b; do echo "$f $(date -r $f +%s.%N)"; done
[ b -nt a ] && echo b is newer
