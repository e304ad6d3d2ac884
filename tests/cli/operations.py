# SPDX-License-Identifier: Apache-2.0
"""A supervised program's file operations succeed and fail exactly as they do without the supervisor."""
import os
import shutil
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "lib"))
from harness import MODES, SOURCE, Scratch, Tap, require_programs, sandglass  # noqa: E402

SEEDS, COUNT = 3, 3000
SCRIPT = os.path.join(SOURCE, "tests", "guest", "parts", "operations.py")


def difference(plain, supervised):
    pairs = zip(plain.splitlines(), supervised.splitlines())
    return [f"without {a!r}, with {b!r}" for a, b in pairs if a != b][:3]


def compare(scratch, mode, seed):
    home = scratch.mkdir(f"{mode}-{seed}", mode)
    shutil.copy(SCRIPT, home)
    scratch.give(home, mode)
    argv = ["python3", "operations.py", str(seed), str(COUNT)]
    plain = sandglass(scratch, argv, ["--no-determinism"], mode=mode, cwd=home)
    supervised = sandglass(scratch, argv, mode=mode, cwd=home)
    problems = difference(plain.out, supervised.out)
    for name, done in (("without", plain), ("with", supervised)):
        lines = done.out.count(b"\n")
        if done.status != 0 or lines != COUNT:
            problems.append(f"{name} the supervisor: status {done.status}, {lines} lines, {done.err[-300:]!r}")
    # The seed has to reach both sides of the question.
    failures = supervised.out.count(b"[Errno")
    if not COUNT // 10 < failures < COUNT * 9 // 10:
        problems.append(f"{failures} of {COUNT} operations failed")
    return problems


def main():
    require_programs()
    tap = Tap()
    with Scratch() as scratch:
        for mode in MODES:
            for seed in range(SEEDS):
                tap.case(f"{COUNT} file operations of seed {seed} as {mode}", compare(scratch, mode, seed))
    tap.finish()


main()
