# SPDX-License-Identifier: Apache-2.0
"""The table of docs/kernels.md: what each kernel has, found by features.c on it."""
import os
import subprocess

import vm
from vm import h

PAGE = os.path.join(h.SOURCE, "docs", "kernels.md")
# A line of features.c, what it is and since when, and what a run does without it.
ROWS = (
    ("landlock", "Landlock, its version", "3 (6.2) holds truncation too, 6 (6.12) signals and abstract sockets"),
    ("counter", "trap of the counter (x86-64; arm64 6.12)", "`aarch64_cntvct` is an assumption of every run"),
    ("cpuid", "trap of `cpuid` (x86-64, some CPUs; not the emulated one)", "`cpuid_unmasked` is an assumption of every run"),
    ("vdso_getrandom", "getrandom in the vDSO (6.11; arm64 6.12)", "nothing to overwrite"),
    ("pidfd_thread", "pidfd of a thread (6.9)", "a thread with descriptors of its own ends as 121 (`unmodelled`)"),
    ("pipe_nowait", "RWF_NOWAIT on pipes (6.4)", "nothing: the engine does without"),
    ("tmpfs_xattrs", "user xattrs on tmpfs (6.6)", "a user's overlay has no opaque directories, and the input is copied"),
    ("overlay_userxattr", "overlay by user xattrs above a tmpfs (6.6)", "as above"),
    ("tmpfs_idmap", "id-mapped tmpfs (6.3)", "root's input on a tmpfs is copied"),
    ("user_namespaces", "user namespaces without privileges", "no run as an ordinary user"),
    ("controllers", "control groups: cpu, memory, pids", "`limit_degraded` is an assumption"),
    ("memfd_noexec", "MFD_NOEXEC_SEAL (6.3)", "refused in every run"),
    ("mdwe", "PR_SET_MDWE (6.3)", "refused in every run"),
    ("cachestat", "cachestat (6.5)", "ENOSYS in every run"),
    ("fchmodat2", "fchmodat2 (6.6)", "ENOSYS in every run"),
    ("futex_wait", "futex_wait, futex_wake, futex_requeue (6.7)", "ENOSYS in every run"),
    ("statmount", "statmount, listmount (6.8)", "ENOSYS in every run"),
    ("lsm_get_self_attr", "lsm_get_self_attr (6.8)", "ENOSYS in every run"),
    ("mseal", "mseal (6.10)", "ENOSYS in every run"),
    ("setxattrat", "setxattrat (6.13)", "ENOSYS in every run"),
)
KERNELS = ("amd64-6.1", "arm64-6.1", "arm64-6.12")
TITLES = ("Debian 12's 6.1, x86-64", "Debian 12's 6.1, arm64", "Debian 12's 6.12, arm64")


def add_probe(kernel, archive, commands, scratch):
    probe = os.path.join(scratch, "features")
    subprocess.run([vm.COMPILER[kernel.arch], "-D_GNU_SOURCE", "-O1", "-static", os.path.join(vm.HERE, "features.c"), "-o", probe],
                   check=True)
    archive.file("root/usr/bin/features", probe)
    commands["features"] = (0, 60, "/work", ["/usr/bin/features"])


def found(console):
    """{row: its word}."""
    done = console.done.get("features")
    return dict(line.split() for line in done.out.decode().splitlines()) if done and done.status == 0 else {}


def cells(line):
    return [cell.strip() for cell in line.strip().strip("|").split("|")]


def put(line, number, word):
    words = cells(line)
    words[number] = word
    return "| " + " | ".join(words) + " |"


def with_column(lines, kernel, has):
    """The page's lines with this kernel's column of the table as found."""
    number = 1 + KERNELS.index(kernel.name)
    titles = {title: key for key, title, _ in ROWS}
    return [put(line, number, has[titles[cells(line)[0]]]) if line.startswith("|") and cells(line)[0] in titles else line
            for line in lines]


def judge(kernel, console, write):
    has = found(console)
    if set(has) != {key for key, _, _ in ROWS}:
        return [f"the probe said {has}"]
    with open(PAGE, encoding="utf-8") as f:
        lines = f.read().splitlines()
    titles = {cells(line)[0]: cells(line)[-1] for line in lines if line.startswith("|")}
    problems = [f"no row: {title} ... {effect}" for _, title, effect in ROWS if titles.get(title) != effect]
    wanted = with_column(lines, kernel, has)
    if write:
        with open(PAGE, "w", encoding="utf-8") as f:
            f.write("\n".join(wanted) + "\n")
        return problems
    return problems + [f"the page says: {a}\nit is: {b}" for a, b in zip(lines, wanted) if a != b]
