# SPDX-License-Identifier: Apache-2.0
#: needs python3
#: out seen
"""A thread of Python that waits for a flag with nothing in its loop, and keeps the interpreter's lock all the time."""
import threading
import time

flag = False


def wait():
    while not flag:
        pass
    print("seen")


thread = threading.Thread(target=wait)
thread.start()
time.sleep(0.01)
flag = True
thread.join()
