# SPDX-License-Identifier: Apache-2.0
"""Every system call number that the kernel headers of x86-64 and aarch64 name has one row in syscalls.def."""
import os
import re
import subprocess

from source import ROOT, read, skip, tool, verdict

TABLE = "src/wire/syscalls.def"
# Not calls: the count, and the mark where an architecture's own numbers begin.
MARKS = {"arch_specific_syscall", "syscalls"}


def kernel_names(compiler):
    done = subprocess.run([compiler, "-E", "-dM", "-include", "asm/unistd.h", "-x", "c", "/dev/null"],
                          capture_output=True, text=True, check=True)
    return set(re.findall(r"^#define __NR_(\w+)", done.stdout, re.M)) - MARKS


if not os.path.exists(os.path.join(ROOT, TABLE)):
    skip(f"{TABLE} is not there")
rows = re.findall(r"^\s*SYSCALL\(\s*(\w+)\s*,", read(TABLE), re.M)
problems = [f"{TABLE}: {name} has {rows.count(name)} rows" for name in sorted(set(rows)) if rows.count(name) > 1]
for compiler in (tool("gcc"), tool("aarch64-linux-gnu-gcc")):
    names = kernel_names(compiler)
    if len(names) < 250:
        problems.append(f"{compiler}: only {len(names)} calls in its kernel headers")
    for name in sorted(names - set(rows)):
        problems.append(f"{TABLE}: no row for {name} ({compiler})")
verdict(problems, len(rows), "rows")
