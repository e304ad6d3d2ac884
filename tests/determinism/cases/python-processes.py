# SPDX-License-Identifier: Apache-2.0
# Python processes: pipes, joins, an alarm, a socket pair.
#: varies
#: needs python3
import multiprocessing
import os
import random
import signal
import socket
import time


def child(n, pipe):
    random.seed()
    pipe.send((n, os.getpid(), random.random(), time.time()))


def on_alarm(*_):
    print("alarm at", time.time())


signal.signal(signal.SIGALRM, on_alarm)
signal.setitimer(signal.ITIMER_REAL, 2.5)
signal.pause()
ours, theirs = multiprocessing.Pipe()
children = [multiprocessing.Process(target=child, args=(n, theirs)) for n in range(4)]
for c in children:
    c.start()
for c in children:
    c.join()
    print(ours.recv(), c.exitcode)
a, b = socket.socketpair()
if os.fork() == 0:
    b.sendall(b"x" * 300000)
    os._exit(0)
b.close()
total = 0
while data := a.recv(65536):
    total += len(data)
os.wait()
print(total, time.time())
