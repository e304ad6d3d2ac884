# SPDX-License-Identifier: Apache-2.0
"""Netlink port ids: the first socket's is the pid, the kernel draws those of the others at random."""
#: needs python3
#: varies
#: rootless
import socket

sockets = []
for _ in range(4):
    s = socket.socket(socket.AF_NETLINK, socket.SOCK_RAW, 0)
    s.bind((0, 0))
    sockets.append(s)
sockets.append(socket.socket(socket.AF_NETLINK, socket.SOCK_RAW, 0))
sockets[-1].connect((0, 0))
for s in sockets:
    print(s.getsockname())
