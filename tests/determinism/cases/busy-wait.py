# SPDX-License-Identifier: Apache-2.0
# A loop of yields is waiting for time, so time moves.
#: needs python3
import time

end = time.monotonic() + 0.01
while time.monotonic() < end:
    time.sleep(0)
print(time.monotonic())
