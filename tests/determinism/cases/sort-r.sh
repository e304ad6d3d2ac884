# SPDX-License-Identifier: Apache-2.0
# sort -R, shuf, xargs -P3.
#: varies
#: rootless
#: needs sort shuf xargs
seq 30 | sort -R | tr '\n' ' '
seq 30 | shuf | tr '\n' ' '
seq 9 | xargs -P3 -n1 sh -c 'sleep 0.0$((4 - $0 % 4)); echo "$0 $$ $(date +%s.%N)"'
