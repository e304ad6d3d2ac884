# SPDX-License-Identifier: Apache-2.0
# Every way in which a file's times change, on the logical clock.
#: row times
#: row clock
#: pinned
#: rootless
#: needs stat touch
#: out made 20 20
#: out written later 21 21
#: out not written since 21 21
#: out mode 21 24
#: out renamed 21 25
#: out its directory 25 25
#: out written under the new name 26 26
#: out link gone 26 27
#: out input 19 19
#: out input with another mode 19 27
#: out input appended to 28 28
#: out explicit 05 28
#: out access alone 05 29
#: out modified now 30 30
#: out copied with its times 30 30
#: out symbolic link 31 31
#: out removed from 33 33
show() { echo "$1" "$(stat -c %y "$2" | cut -c18-19)" "$(stat -c %z "$2" | cut -c18-19)"; }
exec 3>log; echo one >&3; show made log
sleep 1; echo two >&3; show 'written later' log
sleep 2; show 'not written since' log
sleep 1; chmod 600 log; show mode log
sleep 1; mv log log2; show renamed log2; show 'its directory' .
sleep 1; echo three >&3; show 'written under the new name' log2
ln log2 log3; sleep 1; rm log3; show 'link gone' log2
show input "$0"; chmod u+x "$0"; show 'input with another mode' "$0"
sleep 1; echo '# more' >> "$0"; show 'input appended to' "$0"
touch -d '2001-02-03 04:06:05' old; show explicit old
sleep 1; touch -a old; show 'access alone' old
sleep 1; touch -m old; show 'modified now' old; cp -p old new; show 'copied with its times' new
ln -s old link; sleep 1; touch -h link; show 'symbolic link' link
mkdir d; sleep 1; touch d/x; sleep 1; rm d/x; show 'removed from' d
