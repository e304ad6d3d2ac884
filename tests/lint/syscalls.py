# SPDX-License-Identifier: Apache-2.0
"""Every system call that the kernel headers of x86-64 and aarch64 name has one row in syscalls.def, and
the numbers of sysnr_<arch>.h are the kernel's."""
import os
import re
import subprocess

from source import ROOT, read, skip, tool, verdict

TABLE = "src/wire/syscalls.def"
# Not calls: the count, and the mark where an architecture's own numbers begin.
MARKS = {"arch_specific_syscall", "syscalls"}


def kernel_numbers(compiler):
    done = subprocess.run([compiler, "-E", "-dM", "-include", "asm/unistd.h", "-x", "c", "/dev/null"],
                          capture_output=True, text=True, check=True)
    words = dict(re.findall(r"^#define __(NR\w+) (\w+)$", done.stdout, re.M))
    numbers = {}
    for name, word in words.items():
        # Some are defined by a name for both word sizes: __NR3264_lseek.
        word = words.get(word.removeprefix("__"), word)
        name = name.removeprefix("NR_")
        if not name.startswith("NR") and name not in MARKS and word.isdigit():
            numbers[name] = int(word)
    return numbers


if not os.path.exists(os.path.join(ROOT, TABLE)):
    skip(f"{TABLE} is not there")
rows = re.findall(r"^\s*SYSCALL\(\s*(\w+)\s*,", read(TABLE), re.M)
# Rows as the manual's page reads them, whose verdict and handlers fit together.
full = re.findall(r'^SYSCALL\((\w+), (\w+), (\w+), (\w+), "(.*)"\)$', read(TABLE), re.M)
problems = [f"{TABLE}: not one row a line, as SYSCALL(name, verdict, enter, leave, \"note\")"] * (len(full) != len(rows))
problems += [f"{TABLE}: {after} belongs before {name}" for name, after in zip(rows, rows[1:]) if after < name]
for name, decided, enter, leave, note in full:
    if not note:
        problems.append(f"{TABLE}: {name} has no note")
    if decided == "STOP" and enter == "native":
        problems.append(f"{TABLE}: {name} stops for nothing")
    if decided in ("ALLOW", "ENOSYS", "EPERM") and (enter, leave) != ("native", "none"):
        problems.append(f"{TABLE}: {name} never stops, so its handlers are never run")
problems += [f"{TABLE}: {name} has {rows.count(name)} rows" for name in sorted(set(rows)) if rows.count(name) > 1]
for compiler, arch in ((tool("gcc"), "x86_64"), (tool("aarch64-linux-gnu-gcc"), "aarch64")):
    numbers = kernel_numbers(compiler)
    header = f"src/wire/sysnr_{arch}.h"
    ours = dict(re.findall(r"^#define NR_(\w+) (\d+)$", read(header), re.M))
    if len(numbers) < 250:
        problems.append(f"{compiler}: only {len(numbers)} calls in its kernel headers")
    for name, number in sorted(numbers.items()):
        if name not in rows:
            problems.append(f"{TABLE}: no row for {name} ({arch})")
        if ours.get(name) != str(number):
            problems.append(f"{header}: {name} is {ours.get(name)}, the kernel has {number}")
verdict(problems, len(rows), "rows")
