# SPDX-License-Identifier: Apache-2.0
# Ruby: polls the clock until it moves.
#: unenforced clock_spin
#: exit 121
#: long
finish = Process.clock_gettime(Process::CLOCK_MONOTONIC) + 0.05
nil while Process.clock_gettime(Process::CLOCK_MONOTONIC) < finish
puts "moved"
