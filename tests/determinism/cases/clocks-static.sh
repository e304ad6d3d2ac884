# SPDX-License-Identifier: Apache-2.0
# The same without a dynamic loader.
#: row clock
#: varies
#: uses clocks-static
#: out realtime 1700000000.000000000 both, resolution 1
#: out monotonic 1000.000000000 both, resolution 1
#: out raw 1000.000000000 both, resolution 1
#: out realtime_coarse 1700000000.000000000 both, resolution 4000000
#: out monotonic_coarse 1000.000000000 both, resolution 4000000
#: out boottime 1000.000000000 both, resolution 1
#: out tai 1700000000.000000000 both, resolution 1
#: out gettimeofday 1700000000.000000 both
#: out time 1700000000
#: out realtime 1700000001.500000000 both, resolution 1
#: out monotonic 1001.500000000 both, resolution 1
#: out raw 1001.500000000 both, resolution 1
#: out realtime_coarse 1700000001.500000000 both, resolution 4000000
#: out monotonic_coarse 1001.500000000 both, resolution 4000000
#: out boottime 1001.500000000 both, resolution 1
#: out tai 1700000001.500000000 both, resolution 1
#: out gettimeofday 1700000001.500000 both
#: out time 1700000001
./clocks-static
