# SPDX-License-Identifier: Apache-2.0
# Random ids in the shell.
#: row entropy
#: varies
#: rootless
#: needs od head
cat /proc/sys/kernel/random/uuid
cat /proc/sys/kernel/random/boot_id
head -c 16 /dev/urandom | od -An -tx1
od -An -N8 -tx1 /dev/random
mktemp -u XXXXXXXX
