# SPDX-License-Identifier: Apache-2.0
# Two thousand processes, one after the other and eight at a time.
#: varies
#: long
i=0
while [ $i -lt 1000 ]; do
	i=$((i + 1))
	/bin/true
done
seq 1000 | xargs -P8 -n1 sh -c 'echo "$0 $$"' | tail -n 20
date +%s.%N
