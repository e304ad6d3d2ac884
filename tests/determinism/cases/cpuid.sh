# SPDX-License-Identifier: Apache-2.0
# cpuid is a fixed model without random instructions.
#: row cpuid
#: pinned
#: cpuid
#: uses tsc
#: out rdrand 0, cpu number 0, hypervisor 0
#: out rdseed 0, rtm 0, hle 0, rdpid 0, waitpkg 0
./tsc cpuid
