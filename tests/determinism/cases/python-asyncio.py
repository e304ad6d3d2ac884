# SPDX-License-Identifier: Apache-2.0
# asyncio: a server, a subprocess, an hour's sleep, signals.
#: varies
#: needs python3
import asyncio
import signal
import os
import sys
import time


async def serve(reader, writer):
    writer.write(await reader.readline())
    await writer.drain()
    writer.close()


async def main():
    server = await asyncio.start_server(serve, "127.0.0.1", 0)
    port = server.sockets[0].getsockname()[1]

    async def client(n):
        await asyncio.sleep(0.01 * (5 - n))
        reader, writer = await asyncio.open_connection("127.0.0.1", port)
        writer.write(b"line %d\n" % n)
        print(n, await reader.read(), writer.get_extra_info("sockname"), time.time())
        writer.close()

    await asyncio.gather(*(client(n) for n in range(5)))
    process = await asyncio.create_subprocess_exec("date", "+%s.%N", stdout=asyncio.subprocess.PIPE)
    print((await process.communicate())[0], process.pid)
    asyncio.get_running_loop().add_signal_handler(signal.SIGUSR1, lambda: print("signal", time.time()))
    os.kill(os.getpid(), signal.SIGUSR1)
    try:
        await asyncio.wait_for(asyncio.sleep(100), 2)
    except asyncio.TimeoutError:
        print("timed out", time.monotonic())
    sys.stdout.flush()
    await asyncio.sleep(3600)
    print(time.time())


asyncio.run(main())
