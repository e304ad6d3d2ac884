# SPDX-License-Identifier: Apache-2.0
# Background jobs end in the order of their sleeps.
#: varies
#: rootless
for i in 5 3 1 4 2; do
	(sleep 0.0$i; echo "job $i: $(date +%s.%N)") &
done
wait
(exit 3) & wait $!; echo "status $?"
sleep 1000 & kill $!; wait $!; echo "status $?"
(echo first; sleep 1; echo third) & (sleep 0.5; echo second) & wait
