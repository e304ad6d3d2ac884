#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Runs guest programs under the arm64 supervisor on a real arm64 kernel in an emulated machine.

run.py KERNEL [--only PATTERN] [--print]

KERNEL is an uncompressed arm64 image, such as boot/vmlinuz-* of Debian's linux-image-cloud-arm64.
Needs qemu-system-aarch64 and the cross compiler. Not part of `make test`: it takes a minute, and an
image that the package list of another architecture has. Each program runs twice: both runs have to
print the same and take the same decisions, and print what the case of its name in
tests/determinism/cases expects, but for lines that name the architecture.
"""
import argparse
import fnmatch
import os
import re
import shutil
import subprocess
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(os.path.dirname(HERE), "lib"))
import harness as h  # noqa: E402

GUESTS = ("clocks", "draws", "every", "pipes", "policies", "readiness", "restarts", "signals", "sockets", "streams",
          "threads", "timerfds", "timers", "tree")
# Of tests/guest/spins: without the decoder it would go on for ever. Single steps of an emulated machine are slow.
SPINS = ("volatile_flag",)
# Lines of the expected output that are x86-64's own, or that follow from the host kernel's buffers.
FOREIGN = re.compile(r"^(cpuid|second vDSO|unix \w+): ")
CROSS = "aarch64-linux-gnu-gcc"
SECONDS = 400


def call(*command):
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode:
        sys.exit(f"{' '.join(command)}\n{done.stdout}{done.stderr}")


def build(scratch):
    """The supervisor, init and the guests, in a directory that becomes the machine's root."""
    root, made = os.path.join(scratch, "root"), os.path.join(scratch, "build")
    os.makedirs(os.path.join(root, "guests"))
    call("meson", "setup", made, h.SOURCE, "--cross-file", f"{h.SOURCE}/cross/aarch64.ini", "-Dsupervisor_only=true")
    call("ninja", "-C", made)
    shutil.copy(os.path.join(made, "sandglass-supervise"), root)
    flags = ["-D_GNU_SOURCE", "-O1", "-static", "-pthread", f"-I{h.SOURCE}/src"]
    call(CROSS, *flags, f"{HERE}/init.c", f"{made}/src/libwire.a", f"{made}/src/libbase.a", "-o", f"{root}/init")
    for guest in GUESTS + SPINS:
        folder = "spins" if guest in SPINS else "parts"
        call(CROSS, *flags, f"{h.SOURCE}/tests/guest/{folder}/{guest}.c", "-o", f"{root}/guests/{guest}")
    return root


def entry(number, name, mode, data=b"", device=(0, 0)):
    """One file of a cpio archive in the kernel's format (Documentation/driver-api/early-userspace)."""
    fields = (number, mode, 0, 0, 1, 0, len(data), 0, 0, *device, len(name) + 1, 0)
    head = b"070701" + b"".join(b"%08x" % field for field in fields) + name.encode() + b"\0"
    return head + b"\0" * (-len(head) % 4) + data + b"\0" * (-len(data) % 4)


def pack(root, path):
    names = ["dev", "proc", "tmp", "guests"]
    archive = [entry(i, name, 0o40755) for i, name in enumerate(names, 1)]
    archive.append(entry(len(archive) + 1, "dev/console", 0o20600, device=(5, 1)))
    for folder, _, files in sorted(os.walk(root)):
        for file in sorted(files):
            with open(os.path.join(folder, file), "rb") as f:
                name = os.path.relpath(os.path.join(folder, file), root)
                archive.append(entry(len(archive) + 1, name, 0o100755, f.read()))
    with open(path, "wb") as f:
        f.write(b"".join(archive) + entry(0, "TRAILER!!!", 0))


def boot(kernel, archive):
    command = ["qemu-system-aarch64", "-M", "virt,gic-version=3", "-cpu", "max,pauth-impdef=on", "-m", "512", "-nodefaults",
               "-nographic", "-serial", "stdio", "-kernel", kernel, "-initrd", archive, "-append",
               "console=ttyAMA0 quiet panic=-1 rdinit=/init"]
    try:
        said = subprocess.run(command, stdin=subprocess.DEVNULL, capture_output=True, timeout=SECONDS, check=False).stdout
    except subprocess.TimeoutExpired as e:
        said = e.stdout or b""  # what came until then is judged: the program that hangs has no end
    return said.decode(errors="replace").replace("\r", "")


def runs_of(console):
    """{program: [run, run]}; a run is its lines, those that begin with = among them."""
    runs, lines = {}, None
    for line in console.splitlines():
        if line.startswith("== "):
            lines = []
            runs.setdefault(os.path.basename(line[3:]), []).append(lines)
        elif line.startswith("==="):
            lines = None
        elif lines is not None:
            lines.append(line)
    return runs


def expected(guest):
    path = os.path.join(h.SOURCE, "tests", "determinism", "cases", guest + ".sh")
    if guest in SPINS:
        path = os.path.join(h.SOURCE, "tests", "guest", "spins", guest + ".c")
    if not os.path.exists(path):
        return None
    with open(path, encoding="utf-8") as f:
        return [line.partition(": out ")[2].rstrip("\n") for line in f if line.startswith(("#: out ", " *: out "))] or None


def judge(guest, runs):
    if len(runs) != 2:
        return [f"{len(runs)} runs"]
    first, second = runs
    problems = [] if first == second else ["the runs differ"] + first + ["--"] + second
    said = [line for line in first if line.startswith("= ") and not line.startswith(("= decisions", "= assumption"))]
    if said != ["= exit 0 0"]:
        problems += said or ["no end"]
    wanted = [line for line in expected(guest) or [] if not FOREIGN.match(line)]
    printed = [line for line in first if not line.startswith("= ") and not FOREIGN.match(line)]
    if wanted and printed != wanted:
        problems += ["expected:"] + wanted + ["printed:"] + printed
    return problems


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("kernel")
    parser.add_argument("--only", default="*")
    parser.add_argument("--print", action="store_true")
    options = parser.parse_args()
    for program in ("qemu-system-aarch64", CROSS):
        if not shutil.which(program):
            h.skip_all(f"{program} is not installed")
    with tempfile.TemporaryDirectory() as scratch:
        root = build(scratch)
        chosen = [guest for guest in GUESTS + SPINS if fnmatch.fnmatch(guest, options.only)]
        with open(os.path.join(root, "list"), "w", encoding="utf-8") as f:
            f.writelines(f"/guests/{guest}\n" for guest in chosen)
        pack(root, os.path.join(scratch, "initrd"))
        console = boot(options.kernel, os.path.join(scratch, "initrd"))
    if options.print:
        print(console, file=sys.stderr)
    tap, runs = h.Tap(), runs_of(console)
    for guest in chosen:
        tap.case(guest, judge(guest, runs.get(guest, [])))
    tap.finish()


main()
