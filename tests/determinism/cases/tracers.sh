# SPDX-License-Identifier: Apache-2.0
# strace and gdb are refused, say so and end.
#: needs strace gdb
#: pinned
#: rootless
strace true >strace.out 2>&1; echo "strace: $?"
grep -o 'PTRACE_TRACEME, ....: .*' strace.out
timeout 60 gdb -batch -ex run true </dev/null >gdb.out 2>&1; echo "gdb: $?"
grep '^warning: ptrace' gdb.out
