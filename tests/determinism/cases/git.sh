# SPDX-License-Identifier: Apache-2.0
# git commit: the same hashes.
#: varies
#: rootless
#: needs git
export GIT_AUTHOR_NAME=a GIT_AUTHOR_EMAIL=a@b GIT_COMMITTER_NAME=a GIT_COMMITTER_EMAIL=a@b
git init -q -b main r
cd r || exit
for i in 1 2 3; do
	echo $i >f$i
	git add .
	git commit -q -m "change $i"
	sleep 1
done
git log --format='%H %ad %s'
git gc -q
find .git -type f | LC_ALL=C sort | grep -v -e sample -e index
git status --short
