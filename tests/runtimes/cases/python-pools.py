# SPDX-License-Identifier: Apache-2.0
"""Python's pools of processes and threads, with locks, shared values and queues."""
#: varies
#: long
#: option --timeout
#: option 240s
import concurrent.futures
import multiprocessing
import os
import random
import time


def work(n):
    time.sleep(random.SystemRandom().random() / 20)
    return n, os.getpid(), random.SystemRandom().randrange(1000), time.time()


def count(lock, value, queue):
    for _ in range(50):
        with lock:
            value.value += 1
    queue.put((os.getpid(), value.value))


def squares(n):
    return sum(i * i for i in range(n))


if __name__ == "__main__":
    with multiprocessing.Pool(4) as pool:
        for result in pool.imap_unordered(work, range(12)):
            print(result)
        print(pool.map_async(squares, range(20)).get(timeout=100))
    lock, value, queue = multiprocessing.Lock(), multiprocessing.Value("i", 0), multiprocessing.Queue()
    children = [multiprocessing.Process(target=count, args=(lock, value, queue)) for _ in range(4)]
    for child in children:
        child.start()
    for child in children:
        child.join()
        print(queue.get())
    print(value.value)
    for executor in concurrent.futures.ProcessPoolExecutor, concurrent.futures.ThreadPoolExecutor:
        with executor(3) as pool:
            for future in concurrent.futures.as_completed([pool.submit(work, n) for n in range(8)]):
                print(future.result())
    with concurrent.futures.ProcessPoolExecutor(2, mp_context=multiprocessing.get_context("spawn")) as pool:
        print(list(pool.map(squares, [10, 1000, 100])), hash("text"))
    with multiprocessing.Manager() as manager:
        shared = manager.dict()
        child = multiprocessing.Process(target=shared.update, args=({"pid": 1},))
        child.start()
        child.join()
        print(dict(shared))
