# SPDX-License-Identifier: Apache-2.0
"""asyncio beside an interval timer: subprocesses, their pipes and ends, an executor, signals in between."""
#: varies
import asyncio
import signal
import time

ticks = []


async def shell(n):
    process = await asyncio.create_subprocess_shell(f"read line; sleep 0.{n}; echo $line $$; exit {n}",
                                                    stdin=asyncio.subprocess.PIPE, stdout=asyncio.subprocess.PIPE)
    out, _ = await process.communicate(b"text\n")
    print(n, out, process.pid, process.returncode, time.time(), flush=True)


async def main():
    loop = asyncio.get_running_loop()
    loop.add_signal_handler(signal.SIGALRM, lambda: ticks.append(time.monotonic_ns()))
    signal.setitimer(signal.ITIMER_REAL, 0.13, 0.1)
    await asyncio.gather(*(shell(n) for n in (5, 3, 4, 1)))
    print(await loop.run_in_executor(None, sum, range(1000)), flush=True)
    sleeper = await asyncio.create_subprocess_exec("sleep", "1000")
    try:
        await asyncio.wait_for(sleeper.wait(), 2)
    except asyncio.TimeoutError:
        sleeper.terminate()
    print(await sleeper.wait(), time.time(), flush=True)
    queue = asyncio.Queue()
    tasks = [asyncio.create_task(queue.put(n)) for n in range(5)]
    await asyncio.gather(*tasks)
    print([queue.get_nowait() for _ in tasks])
    signal.setitimer(signal.ITIMER_REAL, 0)


asyncio.run(main())
print(len(ticks), ticks)
