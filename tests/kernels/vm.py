# SPDX-License-Identifier: Apache-2.0
"""Boots a kernel of scripts/kernels in an emulated machine that runs a list of commands: see init.c.

A machine has no disk, no network and no firmware that is waited for: the kernel, an archive in memory
that holds everything, and a serial port, on which the answers come. /dev/kvm is not used, so that the
same thing happens everywhere. Its clock counts its own instructions, 8 ns each, and jumps over idle
time: what ends too late there does so on every host, however busy.
"""
import lzma
import os
import re
import shutil
import stat
import subprocess
import sys
import threading
import time

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(os.path.dirname(HERE), "lib"))
import harness as h  # noqa: E402

KERNELS = os.path.join(h.BUILD, "kernels")
# Quiet, so that what the kernel says does not come between the answers; a panic ends the machine.
APPEND = "quiet loglevel=1 panic=-1 rdinit=/init random.trust_cpu=on"
QEMU = {
    "amd64": ("qemu-system-x86_64", ["-M", "q35", "-cpu", "max"], "console=ttyS0 tsc=reliable no_timer_check"),
    "arm64": ("qemu-system-aarch64", ["-M", "virt,gic-version=3", "-cpu", "max,pauth-impdef=on,sve=off,sme=off"], "console=ttyAMA0"),
}
MULTIARCH = {"amd64": "x86_64-linux-gnu", "arm64": "aarch64-linux-gnu"}
COMPILER = {"amd64": "gcc", "arm64": "aarch64-linux-gnu-gcc"}


class Kernel:
    def __init__(self, name):
        self.name, self.arch = name, name.split("-")[0]
        self.folder = os.path.join(KERNELS, name)
        # Where sandglass and the programs of tests/guest are built for this architecture.
        self.build = os.path.join(KERNELS, "arm64") if self.arch == "arm64" else h.BUILD

    def why_not(self):
        """Why this machine cannot be had, or None."""
        missing = self.folder + ".missing"
        if not os.path.exists(os.path.join(self.folder, "vmlinuz")):
            if os.path.exists(missing):
                with open(missing, encoding="utf-8") as f:
                    return f.read().strip()
            return "no kernel: run scripts/kernels BUILD/kernels, as `make test-long` does"
        if not os.path.exists(os.path.join(self.build, "sandglass")):
            return "sandglass is not built for it: run scripts/kernels BUILD/kernels, as `make test-long` does"
        for program in (QEMU[self.arch][0], COMPILER[self.arch]):
            if not shutil.which(program):
                return f"{program} is not installed"
        return None

    def broken(self):
        """What went wrong when sandglass was built for it, or None: no reason to skip."""
        failed = self.build + ".failed"
        if self.arch == "arm64" and os.path.exists(failed):
            with open(failed, encoding="utf-8") as f:
                return f.read().strip()
        return None

    def version(self):
        with open(os.path.join(self.folder, "version"), encoding="utf-8") as f:
            return f.read().strip()

    def modules(self):
        """{name.ko: its bytes}."""
        found = {}
        for file in sorted(os.listdir(self.folder)):
            path = os.path.join(self.folder, file)
            if file.endswith(".ko"):
                with open(path, "rb") as f:
                    found[file] = f.read()
            elif file.endswith(".ko.xz"):
                with lzma.open(path) as f:
                    found[file[:-3]] = f.read()
        return found


class Archive:
    """A cpio archive in the kernel's format (Documentation/driver-api/early-userspace)."""

    def __init__(self):
        self.parts, self.names = [], set()

    def entry(self, name, mode, data=b"", device=(0, 0), owner=0, mtime=0):
        fields = (len(self.parts) + 1, mode, owner, owner, 1, mtime, len(data), 0, 0, *device, len(name) + 1, 0)
        head = b"070701" + b"".join(b"%08x" % field for field in fields) + name.encode() + b"\0"
        self.parts.append(head + b"\0" * (-len(head) % 4) + data + b"\0" * (-len(data) % 4))
        self.names.add(name)

    def folder(self, name, owner=0):
        """With those that it lies in."""
        parent = os.path.dirname(name)
        if parent and parent not in self.names:
            self.folder(parent)
        if name not in self.names:
            self.entry(name, stat.S_IFDIR | 0o755, owner=owner)

    def bytes(self, name, data, mode=0o644, owner=0, mtime=0):
        self.folder(os.path.dirname(name)) if "/" in name else None
        self.entry(name, stat.S_IFREG | mode, data, owner=owner, mtime=mtime)

    def file(self, name, path, owner=0, mtime=0):
        with open(path, "rb") as f:
            self.bytes(name, f.read(), 0o755, owner, mtime)

    def link(self, name, target):
        self.folder(os.path.dirname(name))
        self.entry(name, stat.S_IFLNK | 0o777, target.encode())

    def console(self):
        self.folder("dev")
        self.entry("dev/console", stat.S_IFCHR | 0o600, device=(5, 1))

    def save(self, path):
        self.entry("TRAILER!!!", 0)
        with open(path, "wb") as f:
            f.writelines(self.parts)


def needed(program):
    """The C library's parts that it is linked with; what else it needs is in it."""
    shown = subprocess.run(["readelf", "-d", program], capture_output=True, text=True, check=True).stdout
    return [n for n in re.findall(r"\(NEEDED\).*\[(.*)\]", shown) if not n.startswith("ld-linux")]


def small_root(kernel, scratch):
    """An archive with init, sandglass, its library and a shell; what is under root/ is the machine's /."""
    archive = Archive()
    archive.console()
    init = os.path.join(scratch, "init")
    subprocess.run([COMPILER[kernel.arch], "-D_GNU_SOURCE", "-O1", "-static", os.path.join(HERE, "init.c"), "-o", init], check=True)
    archive.file("init", init)
    for name, data in kernel.modules().items():
        archive.bytes("modules/" + name, data)
    for name in ("proc", "sys", "dev", "tmp", "run", "etc", "work", "var/tmp", "usr/bin", "usr/sbin"):
        archive.folder("root/" + name)
    for name in ("bin", "sbin", "lib", "lib64"):
        archive.link("root/" + name, "usr/" + name)
    for name in ("sandglass", "sandglass-supervise"):
        archive.file("root/usr/bin/" + name, os.path.join(kernel.build, name))
    triplet = MULTIARCH[kernel.arch]
    if kernel.arch == "amd64":
        archive.file("root/usr/lib64/ld-linux-x86-64.so.2", "/lib64/ld-linux-x86-64.so.2")
        libraries = f"/lib/{triplet}"
        shell = "/bin/busybox"
    else:
        archive.folder("root/usr/lib64")
        archive.file("root/usr/lib/ld-linux-aarch64.so.1", f"/usr/{triplet}/lib/ld-linux-aarch64.so.1")
        libraries = f"/usr/{triplet}/lib"
        shell = os.path.join(KERNELS, "sysroot", "bin", "busybox")
    for name in needed(os.path.join(kernel.build, "sandglass")):
        archive.file(f"root/usr/lib/{triplet}/{name}", f"{libraries}/{name}")
    archive.file("root/usr/bin/busybox", shell)
    applets = subprocess.run(["/bin/busybox", "--list"], capture_output=True, text=True, check=True).stdout.split()
    for applet in applets:
        archive.link("root/usr/bin/" + applet, "busybox") if applet != "busybox" else None
    archive.bytes("root/etc/passwd", b"root:x:0:0:root:/:/bin/sh\n")
    return archive


def boot(kernel, archive, commands, scratch, seconds, memory="3072"):
    """{name: Done} of commands, {name: (uid, seconds, directory, words)}; and the seconds until init ran."""
    lines = [(name, str(uid), str(limit), cwd, *words) for name, (uid, limit, cwd, words) in commands.items()]
    archive.bytes("root/list", "".join("\t".join(line) + "\n" for line in lines).encode())
    path = os.path.join(scratch, "initrd")
    archive.save(path)
    program, machine, console = QEMU[kernel.arch]
    command = [program, *machine, "-accel", "tcg", "-icount", "shift=3,sleep=off", "-m", memory, "-nodefaults", "-no-user-config", "-nographic", "-no-reboot",
               "-serial", "stdio", "-kernel", os.path.join(kernel.folder, "vmlinuz"), "-initrd", path,
               "-append", f"{console} {APPEND}"]
    start, up = time.monotonic(), []
    log = os.path.join(KERNELS, kernel.name + ".console")
    with open(log, "wb", buffering=0) as copy, subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as p:
        timer = threading.Timer(seconds, p.kill)
        timer.start()
        said = bytearray()
        while True:
            block = p.stdout.read1(65536)
            if not block:
                break
            said += block
            copy.write(block)
            if not up and b"=== up " in said:
                up.append(time.monotonic() - start)
        timer.cancel()
        err = p.stderr.read()
    return Console(bytes(said), err, up[0] if up else None, time.monotonic() - start)


class Console:
    """What a machine said: the commands that ended, by name, and what else there was."""

    HEAD = re.compile(rb"== (\S+) (\d+) (\d+) (\d+) (\d+) (\d+)\n")

    def __init__(self, said, err, up, seconds):
        self.done, self.up, self.seconds, self.ended = {}, up, seconds, b"=== end" in said
        at = 0
        while (head := self.HEAD.search(said, at)) is not None:
            status, ms, *sizes = (int(word) for word in head.groups()[1:])
            parts, at = [], head.end()
            for size in sizes:
                parts.append(said[at:at + size])
                at += size
            done = h.Done(status, parts[0], parts[1], ms / 1000)
            done.report_text = parts[2]
            self.done[head.group(1).decode()] = done
        self.rest = said[at:] if self.done else said
        self.err = err

    def tail(self):
        return (self.rest[-3000:] + self.err[-500:]).decode("utf-8", "backslashreplace")
