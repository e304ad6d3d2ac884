# SPDX-License-Identifier: Apache-2.0
# ls -f is sorted by name.
#: row directories
#: pinned
#: rootless
#: out .
#: out ..
#: out 1
#: out B
#: out a
#: out delta
#: out sh-ls.sh
#: out z
touch z a delta B 1
ls -f
