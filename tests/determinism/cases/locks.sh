# SPDX-License-Identifier: Apache-2.0
# Locks of three kinds, FIFOs, eventfds, inotify: waited for on the logical clock.
#: pinned
#: uses locks
#: out flock
#: out   0 holds: 0 at 0.000
#: out   try: -1 Resource temporarily unavailable at 0.500
#: out   wait: 0 at 1.000
#: out   1 holds: 0 at 1.000
#: out   2 holds: 0 at 3.000
#: out   3 holds: 0 at 6.000
#: out posix
#: out   0 holds: 0 at 10.000
#: out   try: -1 Resource temporarily unavailable at 10.500
#: out   wait: 0 at 11.000
#: out   1 holds: 0 at 11.000
#: out   2 holds: 0 at 13.000
#: out   3 holds: 0 at 16.000
#: out description
#: out   0 holds: 0 at 20.000
#: out   try: -1 Resource temporarily unavailable at 20.500
#: out   wait: 0 at 21.000
#: out   1 holds: 0 at 21.000
#: out   2 holds: 0 at 23.000
#: out   3 holds: 0 at 26.000
#: out fifo
#: out   reader is in: 0 at 32.000
#: out   writer is in: 0 at 32.000
#: out   read: 7 at 33.000
#: out   end: 0 at 33.000
#: out   reader is in: 0 at 35.000
#: out   writer is in: 0 at 35.000
#: out   read: 7 at 36.000
#: out   end: 0 at 36.000
#: out   nobody reads: -1 No such device or address at 36.000
#: out eventfd
#: out   read: 8 at 39.000
#: out   value 18446744073709551613
#: out   second write: 8 at 39.000
#: out   read: 8 at 39.000
#: out   value 5
#: out   turn: 8 at 39.000
#: out   turn: 8 at 39.000
#: out   turn: -1 Resource temporarily unavailable at 39.000
#: out inotify
#: out   changes: 96 at 43.000
#: out   0x100 0 made
#: out   0x40 1 made
#: out   0x80 1 moved
./locks
