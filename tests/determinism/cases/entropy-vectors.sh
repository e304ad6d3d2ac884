# SPDX-License-Identifier: Apache-2.0
# The stream is the documented one: docs/format/contract has these vectors, from which others can be computed.
#: row entropy
#: pinned
#: rootless
#: out be121e6d-462d-476c-a813-9413d3c8c519
#: out 7519ce6d2a09125a02e4e6ee301a5f02
cat /proc/sys/kernel/random/boot_id
cat /etc/machine-id
