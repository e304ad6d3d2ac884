#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""/sys is the same whether it was written for this run or kept from one before, and nobody else's is ever shown."""
import glob
import os
import shutil
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.dirname(os.path.abspath(__file__))), "lib"))
import harness as h  # noqa: E402

LOOK = """
cat /proc/self/mountinfo /proc/mounts
find /sys | sort | xargs stat
find /sys -type f | sort | xargs cat
ls -lRi --time-style=full-iso /sys
stat -f /sys /sys/fs/cgroup /sys/devices
df /sys 2>&1
echo x >/sys/kernel/uevent_seqnum
echo x >/sys/new
rm /sys/fs/cgroup/cpu.max
exit 0
"""
ONLINE = "devices/system/cpu/online"


class Place:
    def __init__(self, scratch, mode):
        self.mode, self.scratch, self.dir = mode, scratch, scratch.mkdir(f"kept-{mode}", mode)
        self.home = os.path.join(self.dir, "home")

    def look(self, home=None, script=LOOK):
        argv = [self.scratch.join("bin", "sandglass"), "run", "--", "sh", "-c", script]
        done = h.run(h.as_mode(self.mode, argv), cwd=self.dir, env={"SANDGLASS_HOME": home or self.home})
        if done.status:
            raise RuntimeError(done.tell())
        return done.out + done.err

    def tree(self):
        found = glob.glob(os.path.join(self.home, "state", "launch", "*", "sys-*"))
        if len(found) != 1:
            raise RuntimeError(f"{len(found)} trees are kept")
        return found[0]


def difference(name, got, want):
    if got == want:
        return []
    pairs = [(a, b) for a, b in zip(got.split(b"\n"), want.split(b"\n")) if a != b]
    return [f"{name}: {pairs[:3] or 'cut'}"]


def check(p, tap):
    filled = p.look(home="/proc/nothing")
    tap.case(f"{p.mode}: /sys has what it should", [] if b"memory.max" in filled and b"Read-only" in filled else [filled[:500]])
    tap.case(f"{p.mode}: the run that keeps it", difference("first", p.look(), filled))
    tap.case(f"{p.mode}: the run after it", difference("second", p.look(), filled))
    # That it is the kept one that is shown, and not another one that looks alike.
    mark = os.path.join(p.tree(), ONLINE)
    os.chmod(mark, 0o644)
    with open(mark, "w", encoding="ascii") as f:
        f.write("mark\n")
    shown = p.look(script=f"dd if=/sys/{ONLINE} 2>/dev/null; ls -l /sys/{ONLINE}")
    tap.case(f"{p.mode}: what is kept is shown", [] if b" 5 " in shown else [shown])
    os.utime(p.tree(), (1, 1))
    tap.case(f"{p.mode}: a tree with another time is not", difference("stale", p.look(), filled))
    shutil.rmtree(p.tree())
    p.look()
    launch = os.path.dirname(os.path.dirname(p.tree()))
    os.chmod(launch, 0o755)
    tap.case(f"{p.mode}: one where others may look in is not", difference("open", p.look(), filled))
    os.chmod(launch, 0o700)
    if h.IS_ROOT:
        owner = os.lstat(p.tree())
        os.lchown(p.tree(), 12345, 12345)
        tap.case(f"{p.mode}: one of somebody else is not", difference("foreign", p.look(), filled))
        os.lchown(p.tree(), owner.st_uid, owner.st_gid)
    os.rename(os.path.dirname(p.tree()), os.path.join(launch, "0000-0000"))
    tap.case(f"{p.mode}: one of another boot is not", difference("boot", p.look(), filled))
    left = os.listdir(launch)
    tap.case(f"{p.mode}: and goes", [str(left)] if "0000-0000" in left or len(left) != 1 else [])


def main():
    h.require_programs()
    tap = h.Tap()
    with h.Scratch() as scratch:
        for mode in h.MODES:
            check(Place(scratch, mode), tap)
    tap.finish()


main()
