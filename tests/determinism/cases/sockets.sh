# SPDX-License-Identifier: Apache-2.0
# Sockets among guests: nothing external, ports from the counter, time-outs on the logical clock.
#: row external
#: pinned
#: uses sockets
#: out listening on 32768
#: out accept in 2.5 s: -1 Resource temporarily unavailable at 2.500
#: out accepted: 0 at 3.500
#: out peer port 32769
#: out recv all: 11 at 3.500
#: out hello world
#: out recv big: 2097152 at 4.500
#: out recv end: 0 at 4.500
#: out status: 0 at 4.500
#: out refused: -1 Connection refused at 4.500
#: out udp nothing: -1 Resource temporarily unavailable at 5.200
#: out udp: 8 at 5.200
#: out from port 32771
#: out 300 messages
#: out 40 to the name
#: out status: 0 at 5.201
#: out 300 messages
#: out 40 to the name
#: out status: 0 at 5.202
#: out connected: 0 at 5.202
#: out accepted a
#: out connected: 1 at 6.202
#: out accepted b
#: out connected: 2 at 7.202
#: out accepted c
#: out connected: 3 at 8.202
#: out accepted d
#: out message: 10 at 9.202
#: out rest: 2097152 at 9.202
#: out through it: t
#: out status: 0 at 9.202
#: out recvmmsg five: 5 at 12.202
#: out recvmmsg one: 1 at 12.202
#: out recvmmsg 3 s: 1 at 15.202
#: out chosen 00000, 8
#: out chosen 00001, 8
./sockets
