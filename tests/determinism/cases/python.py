# SPDX-License-Identifier: Apache-2.0
# Python: time, random, uuid, secrets, urandom, subprocess, tempfile, set order.
#: varies
#: rootless
#: needs python3
import datetime
import os
import random
import secrets
import subprocess
import sys
import tempfile
import time
import uuid

print(sys.executable, sys.version)
print(time.time(), time.time_ns(), time.monotonic(), time.perf_counter(), time.process_time())
print(datetime.datetime.now(), datetime.datetime.now(datetime.timezone.utc))
print(random.random(), random.randrange(10**12), random.SystemRandom().random())
print(uuid.uuid1(), uuid.uuid4(), secrets.token_hex(), os.urandom(8).hex())
print({str(i) for i in range(20)}, hash("text"), id(object()) % 4096, object())
print(subprocess.run(["date", "+%s.%N"], capture_output=True, text=True).stdout, end="")
print(subprocess.check_output("echo $$ $PPID; cat /proc/sys/kernel/random/uuid", shell=True, text=True), end="")
print(tempfile.mkdtemp(), tempfile.NamedTemporaryFile().name)
sys.stdout.flush()
time.sleep(3600)
print(time.time(), os.getpid(), os.getloadavg(), os.cpu_count())
print(os.listdir("."), os.stat(__file__).st_ino, os.times())
