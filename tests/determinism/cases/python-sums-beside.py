# SPDX-License-Identifier: Apache-2.0
#: needs python3
#: long
#: once
#: out 20000000 199999990000000
#: out done True
"""A thread of Python computes for seconds while another waits with a time-out: it is no loop that waits."""
import threading

done = threading.Event()


def add():
    count = total = 0
    for _ in range(160000000):
        pass
    while count < 20000000:
        total += count
        count += 1
    print(count, total)
    done.set()


thread = threading.Thread(target=add)
thread.start()
while not done.wait(3600):
    pass
thread.join()
print("done", done.is_set())
