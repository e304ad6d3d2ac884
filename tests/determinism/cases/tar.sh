# SPDX-License-Identifier: Apache-2.0
# tar: times, owners, order, pipes.
#: row times
#: varies
#: rootless
#: needs tar gzip
mkdir -p t/b t/a
for i in 1 2 3; do echo $i >t/a/$i; echo $i >t/b/$i; done
ln -s a/1 t/link
sleep 2
touch t/late
tar cf t.tar t
tar tvf t.tar
gzip t.tar
sha256sum t.tar.gz
tar cf - -C /usr/share/common-licenses . | sha256sum
