# SPDX-License-Identifier: Apache-2.0
"""Three threads that sleep for up to an hour and roll a die: nothing in here is the same twice."""
import random
import threading
import time
import uuid


def roll(name):
    time.sleep(random.random() * 3600)
    print(name, random.randint(1, 6), time.strftime("%H:%M:%S"), uuid.uuid4())


for name in {"ann", "ben", "cid"}:
    threading.Thread(target=roll, args=[name]).start()
