# SPDX-License-Identifier: Apache-2.0
# How much each read of a TCP connection finds, over IPv4 and IPv6, does not depend on the host.
#: row external
#: varies
#: needs python3
import socket
import threading


def serve(listener, rounds):
    for number in range(rounds):
        peer, _ = listener.accept()
        for i in range(40):
            peer.sendall(b"x" * (1000 + number * 10000 + i))
        peer.sendall(b"y" * 3000000)
        peer.close()


for family, address in ((socket.AF_INET, "127.0.0.1"), (socket.AF_INET6, "::1")):
    listener = socket.create_server((address, 0), family=family)
    threading.Thread(target=serve, args=(listener, 4), daemon=True).start()
    for number in range(4):
        client = socket.create_connection(listener.getsockname()[:2])
        reads = []
        while data := client.recv(700000 if number % 2 else 20000):
            reads.append(len(data))
        print(sum(reads), len(reads), sorted(reads)[:4], reads[:12])
