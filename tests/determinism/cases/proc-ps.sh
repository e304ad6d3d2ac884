# SPDX-License-Identifier: Apache-2.0
# ps shows the guests, their times and sizes.
#: row procfs
#: varies
#: needs ps
sleep 100 &
ps -ef
ps aux
kill $!
