# SPDX-License-Identifier: Apache-2.0
# What the kernel chooses at random among sockets, or holds back for a while, does not depend on the host.
#: row external
#: pinned
#: uses held
#: out members 000000000000
#: out members 000000000000
#: out name 00000
#: out name 00001
#: out flow label: none
#: out more: 0 tries
#: out cork: 0 tries
#: out full: 40000 tries, Resource temporarily unavailable
./held
