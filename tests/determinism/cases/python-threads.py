# SPDX-License-Identifier: Apache-2.0
# Python threads with a queue, a pool and timers.
#: varies
#: rootless
#: needs python3
import concurrent.futures
import queue
import threading
import time

log = []
work = queue.Queue()


def worker(name):
    while (item := work.get()) is not None:
        time.sleep(item / 1000)
        log.append((name, item, time.time(), threading.get_native_id()))


threads = [threading.Thread(target=worker, args=(n,)) for n in "abc"]
for t in threads:
    t.start()
for i in range(12):
    work.put((i * 7) % 5)
for _ in threads:
    work.put(None)
for t in threads:
    t.join()
print(*log, sep="\n")
with concurrent.futures.ThreadPoolExecutor(4) as pool:
    print(list(pool.map(lambda n: (n, time.monotonic()), range(8))))
event = threading.Event()
threading.Timer(0.3, event.set).start()
print(event.wait(0.1), event.wait(100), time.time())
