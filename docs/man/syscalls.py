# SPDX-License-Identifier: Apache-2.0
"""Writes sandglass-syscalls.7 from the table that also makes the filter: syscalls.py src/wire DATE"""
import re
import sys

HEAD = r""".\" Made from src/wire/syscalls.def by docs/man/syscalls.py.
.Dd {date}
.Dt SANDGLASS-SYSCALLS 7
.Os
.Sh NAME
.Nm sandglass-syscalls
.Nd what becomes of every Linux system call in a deterministic run
.Sh DESCRIPTION
Every system call number of x86-64 and arm64 has one of these verdicts; a lint
test fails on a number that nobody decided.
.Bl -tag -width Ds
.It native
The kernel does it, without a stop.
It is deterministic as it is.
.It native, then mediated
The kernel does it until its process first owns a descriptor that can block or
that leads outside
.Pq a pipe, a socket, a terminal, an event counter ;
from then on it stops.
.It mediated
It stops once, and the supervisor answers it, or lets the kernel do it with what
it changed.
.It ENOSYS
It fails as on a kernel that has no such call.
.It EPERM
It fails as for a process without the privilege.
.El
.Pp
The kernel that guests see is 6.1: calls that are younger fail with
.Er ENOSYS
on every host, unless they are mediated.
A number that is in no row of this table fails with
.Er ENOSYS
too, and the run is not enforced
.Pq reason unknown_syscall .
Calls of foreign ABIs
.Pq 32-bit, x32
fail with
.Er ENOSYS .
.Sh SYSTEM CALLS
.Bl -tag -width Ds
"""
TAIL = r""".El
.Sh SEE ALSO
.Xr sandglass 1 ,
.Xr sandglass-run 1 ,
.Xr seccomp 2 ,
.Xr syscalls 2
"""
VERDICTS = {"ALLOW": "native", "TIGHT": "native, then mediated", "STOP": "mediated", "ENOSYS": "ENOSYS", "EPERM": "EPERM"}


def numbers(folder, arch):
    with open(f"{folder}/sysnr_{arch}.h", encoding="utf-8") as f:
        return dict(re.findall(r"^#define NR_(\w+) (\S+)", f.read(), re.M))


def where(name, by_arch):
    """Numbers of the call, as "x86-64 0, arm64 63"."""
    return ", ".join(f"{label} {found[name]}" for label, found in by_arch if found[name] != "(-1)")


def sentence(note):
    """A note as roff text: a capital, a full stop, no line that roff would take for a request."""
    text = note[:1].upper() + note[1:] + ("" if note.endswith(".") else ".")
    return text.replace("\\", "\\e").replace("; ", ";\n").replace(": ", ":\n")


def main():
    folder, date = sys.argv[1:]
    by_arch = [("x86-64", numbers(folder, "x86_64")), ("arm64", numbers(folder, "aarch64"))]
    with open(f"{folder}/syscalls.def", encoding="utf-8") as f:
        rows = re.findall(r'^SYSCALL\((\w+), (\w+), \w+, \w+, "(.*)"\)$', f.read(), re.M)
    out = [HEAD.replace("{date}", date)]
    for name, verdict, note in rows:
        out.append(f".It Fn {name} Pq {VERDICTS[verdict]}\n{sentence(note)}\n.Pq {where(name, by_arch)}\n")
    sys.stdout.write("".join(out) + TAIL)


main()
