# SPDX-License-Identifier: Apache-2.0
"""Python polls the clock until it moves."""
#: unenforced clock_spin
#: exit 121
#: long
import time

end = time.monotonic() + 0.05
while time.monotonic() < end:
    pass
print("moved")
