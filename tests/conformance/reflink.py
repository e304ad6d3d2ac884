#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Forks on file systems whose files can share blocks (FICLONE), each made here in a file: btrfs and XFS."""
import ctypes
import errno
import fcntl
import os
import shutil
import subprocess
import sys

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
sys.path.insert(0, os.path.join(os.path.dirname(os.path.dirname(os.path.abspath(__file__))), "lib"))
import harness as h  # noqa: E402
import layers  # noqa: E402

SIZE = 320 << 20  # less is no XFS
BIG = 8 << 20
FILE_SYSTEMS = {"btrfs": ["mkfs.btrfs", "-q"], "xfs": ["mkfs.xfs", "-q"]}
FS_IOC_FIEMAP, FIEMAP_FLAG_SYNC, EXTENT_SHARED = 0xC020660B, 1, 0x2000


def shared(path):
    """How many of its extents the file shares with another, and of how many."""
    head, extent, room = 32, 56, 64
    data = bytearray(head + extent * room)
    data[8:16] = (1 << 62).to_bytes(8, "little")
    data[16:20] = FIEMAP_FLAG_SYNC.to_bytes(4, "little")
    data[24:28] = room.to_bytes(4, "little")
    with open(path, "rb") as f:
        fcntl.ioctl(f, FS_IOC_FIEMAP, data)
    count = int.from_bytes(data[20:24], "little")
    flags = [int.from_bytes(data[head + i * extent + 40:head + i * extent + 44], "little") for i in range(count)]
    return sum(1 for f in flags if f & EXTENT_SHARED), count


def forks(p):
    problems = []
    one = p.create("copy")
    p.sh(one, layers.FILL)
    p.sh(one, f"head -c {BIG} /dev/urandom >big")
    fork, = p.forks(one)
    if p.made(fork) != "reflink":
        return [f"made by {p.made(fork)}"]
    if p.digest(one) != p.digest(fork):
        problems.append("the fork is another tree")
    some, of = shared(p.sessions(fork, fork, "workspace", "big"))
    if not of or some != of:
        problems.append(f"{some} of {of} extents are shared")
    before = p.digest(one)
    p.sh(fork, "printf changed | dd of=big conv=notrunc bs=1 seek=4096 2>/dev/null")
    if p.digest(one) != before or p.digest(fork) == before:
        problems.append("a change is seen in the parent, or not in the fork")
    return problems


def mounted(scratch_top, name):
    """The directory where it is mounted, or why it cannot be."""
    if not shutil.which(FILE_SYSTEMS[name][0]):
        return None, f"no {FILE_SYSTEMS[name][0]}"
    image, at = os.path.join(scratch_top, f"{name}.image"), os.path.join(scratch_top, name)
    with open(image, "wb") as f:
        f.truncate(SIZE)
    os.mkdir(at)
    for argv in ([*FILE_SYSTEMS[name], image], ["mount", "-o", "loop", "-t", name, image, at]):
        done = subprocess.run(argv, capture_output=True, timeout=120, check=False)
        if done.returncode:
            return None, f"{argv[0]}: {done.stderr.decode('utf-8', 'replace').strip()}"
    os.chmod(at, 0o755)
    return at, None


def own_mounts():
    """A mount namespace of our own: what is mounted here goes with us."""
    libc = ctypes.CDLL(None, use_errno=True)
    if libc.unshare(0x00020000) != 0 or libc.mount(None, b"/", None, 0x4000 | 0x40000, None) != 0:
        h.skip_all(f"no mounts of our own: {errno.errorcode.get(ctypes.get_errno())}")


def main():
    h.require_programs()
    if not h.IS_ROOT:
        h.skip_all("only root can mount a file system in a file")
    own_mounts()
    h.adopt_orphans()
    tap = h.Tap()
    with h.Scratch() as top:
        for name in FILE_SYSTEMS:
            at, why = mounted(top.path, name)
            if not at:
                tap.case(f"{name}: forks share blocks", [], skip=why)
                continue
            os.environ["TMPDIR"] = at
            with h.Scratch() as scratch:
                for mode in h.MODES:
                    p = layers.Place(scratch, mode)
                    for test in (forks, layers.same_work):
                        try:
                            problems = test(p)
                        except (RuntimeError, OSError, ValueError, subprocess.TimeoutExpired) as e:
                            problems = [str(e)]
                        tap.case(f"{name}, {mode}: {test.__name__}", problems)
            del os.environ["TMPDIR"]
            subprocess.run(["umount", "-l", at], timeout=60, check=False)
    tap.finish()


main()
