# SPDX-License-Identifier: Apache-2.0
# What would undo or see through the sandbox is refused, or changes nothing.
#: row refused
#: pinned
#: rootless
#: uses policies
#: out setuid own: 0
#: out setuid root: EPERM
#: out setresuid unmapped: EPERM
#: out setresgid kept: 0
#: out getgroups count: 1
#: out thp: 0
#: out timer slack: 50000
#: out dumpable: 1
#: out set dumpable 0: 0
#: out dumpable: 0
#: out counter for itself: EINVAL
#: out counter 1
#: out speculation: 0
#: out dispatch: EINVAL
#: out strict seccomp: EINVAL
#: out fixed addresses 1
#: out cpuid: EINVAL
#: out second vDSO: EINVAL
#: out nice: 20
#: out nicer: 0
#: out less nice: EACCES
#: out real time: EPERM
#: out batch: 0
#: out scheduler: 0
#: out second cpu: EINVAL
#: out both cpus: 0
#: out io class: 0
#: out io real time: EPERM
#: out barriers: 127
#: out barrier: 0
#: out mincore: 0
#: out pages in memory 8
#: out free: EINVAL
#: out huge: 0
#: out huge mapping: ENOMEM
#: out mincore of nothing: ENOMEM
#: out reuse: worked
#: out time stamps: ENOPROTOOPT
#: out filter: ENOPROTOOPT
#: out memory: ENOPROTOOPT
#: out last stamp: ENOTTY
#: out disk blocks: ENOTTY
#: out filter: 0
#: out getppid: ENOANO
#: out read 1
./policies
