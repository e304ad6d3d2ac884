# SPDX-License-Identifier: Apache-2.0
# A threading TCP server and a forking unix one, with clients in threads: who is served when, by whom.
#: varies
#: needs python3
import os
import random
import socketserver
import socket
import threading
import time

served = []


class Echo(socketserver.StreamRequestHandler):
    def handle(self):
        for line in self.rfile:
            time.sleep(random.random())
            served.append((self.client_address, threading.current_thread().name, line.decode().strip()))
            self.wfile.write(line.upper())


class Pid(socketserver.BaseRequestHandler):
    def handle(self):
        self.request.sendall(f"{os.getpid()} {random.random()}".encode())


def client(number, port, answers):
    with socket.create_connection(("127.0.0.1", port)) as s, s.makefile("rw") as f:
        for i in range(5):
            f.write(f"client {number} line {i}\n")
            f.flush()
            answers.append(f.readline().strip())
            time.sleep(random.random() / 10)


socketserver.ThreadingTCPServer.allow_reuse_address = True
server = socketserver.ThreadingTCPServer(("127.0.0.1", 0), Echo)
threading.Thread(target=server.serve_forever, daemon=True).start()
answers = []
clients = [threading.Thread(target=client, args=(i, server.server_address[1], answers)) for i in range(8)]
for c in clients:
    c.start()
for c in clients:
    c.join()
print(*answers, sep="\n")
print(*served, sep="\n")
server.shutdown()
server.server_close()
forking = socketserver.ForkingMixIn
unix = type("Unix", (forking, socketserver.UnixStreamServer), {})("socket", Pid)
threading.Thread(target=unix.serve_forever, daemon=True).start()
for i in range(5):
    with socket.socket(socket.AF_UNIX) as s:
        s.connect("socket")
        print(s.recv(100).decode())
unix.shutdown()
unix.server_close()
