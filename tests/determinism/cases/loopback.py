# SPDX-License-Identifier: Apache-2.0
# Traffic between guests over loopback is not external.
#: row external
#: varies
#: needs python3
import os
import socket
import time

server = socket.socket()
server.bind(("127.0.0.1", 0))
server.listen()
print(server.getsockname())
if os.fork() == 0:
    client = socket.create_connection(server.getsockname())
    print(client.getsockname(), flush=True)
    client.sendall(b"x" * 200000)
    client.shutdown(socket.SHUT_WR)
    print(client.recv(100), flush=True)
    os._exit(0)
peer, address = server.accept()
total = 0
while data := peer.recv(65536):
    total += len(data)
peer.sendall(f"{total} bytes at {time.time()}".encode())
peer.close()
os.wait()
print(address, total)
