# SPDX-License-Identifier: Apache-2.0
"""`run --trace`: one line a decision; two runs' traces diff empty, and nothing of the host is in them."""
import os
import re
import shutil
import subprocess
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "lib"))
from harness import (BUILD, ENV, IS_ROOT, MODES, ROOT, ROOTLESS, SOURCE, Scratch, Tap, as_mode,  # noqa: E402
                     require_programs)

PROGRAMS = os.path.join(BUILD, "tests", "guest", "explore")
LINE = re.compile(r"\d+\.\d{9} \d+ (?:"
                  r"[a-z_][a-z0-9_]*\((?:-?\d+|\*), (?:-?\d+|\*), (?:-?\d+|\*)\) = (?:-?\d+|\*|\?)"
                  r"|signal \d+|switch \d+|clock \+\d+|create \d+|exit (?:signal )?\d+"
                  r"|forced \d+:\d+(?:\+\d+)?:\d+ [a-z0-9_-]+)")
# name: (command, options, a line that has to be there)
RUNS = {
    "a shell with a pipe and an hour of sleep": (["sh", "-c", "date; sleep 3600; echo hello | cat; date"], [],
                                                 r"clock \+3600000000000$"),
    "threads of Python that sleep and draw": (["python3", "dice.py"], [], r"getrandom\("),
    "a program killed by its own signal": (["sh", "-c", "kill -TERM $$"], [], r"exit signal 15$"),
    "threads and a mutex under a seed": (["./mutex_everywhere"], ["--sched-seed", "5"], r"forced \d"),
    "a deadlock under a seed": (["./abba"], ["--switches", "2:1+120:3,3:1+120:2"], r"forced 2:1\+120:3 -$"),
    "processes and files": (["sh", "-c", "for i in 1 2 3; do echo $i > f$i & done; wait; cat f1 f2 f3; ls -l"], [],
                            r"wait4\("),
}


class Cases:
    def __init__(self, scratch, mode):
        self.scratch, self.mode = scratch, mode
        # The same path in each mode: it is in the contract, and moves what Python keeps by address.
        self.home = scratch.mkdir("work", mode)
        for name in ("mutex_everywhere", "abba"):
            shutil.copy(os.path.join(PROGRAMS, name), self.home)
        shutil.copy(os.path.join(SOURCE, "examples", "dice.py"), self.home)
        for name in os.listdir(self.home):
            os.utime(os.path.join(self.home, name), (1, 1))
        scratch.give(self.home, mode)
        self.traces = scratch.mkdir("traces-" + mode, mode)

    def trace(self, argv, options, number):
        """(problems, text)"""
        path = os.path.join(self.traces, f"{number}")
        command = [self.scratch.join("bin", "sandglass"), "run", "--trace", path, *options, "--", *argv]
        # Another environment of the caller, another load, another file.
        done = subprocess.run(as_mode(self.mode, command), cwd=self.home, stdin=subprocess.DEVNULL, timeout=60, check=False,
                              env={**ENV, "TMPDIR": self.scratch.tmp, "NUMBER": "x" * 1000 * number}, capture_output=True)
        if not os.path.exists(path):
            return [f"no trace: status {done.returncode}, {done.stderr}"], ""
        with open(path, encoding="utf-8") as f:
            text = f.read()
        os.unlink(path)
        return [], text


def judge(text, expected):
    problems, lines = [], text.splitlines()
    if not lines or lines[0] != "# sandglass.trace/1":
        return [f"it begins with {text[:60]!r}"]
    problems += [f"no line of the format: {line!r}" for line in lines[1:] if not LINE.fullmatch(line)][:3]
    if not any(re.search(expected, line) for line in lines):
        problems.append(f"no line has {expected!r}")
    return problems


def first_difference(one, other):
    for number, (a, b) in enumerate(zip(one.splitlines(), other.splitlines()), 1):
        if a != b:
            return f"line {number}: {a!r} and {b!r}"
    return f"{len(one.splitlines())} and {len(other.splitlines())} lines"


def two_runs_diff_empty(tap, c, name, argv, options, expected):
    problems, first = c.trace(argv, options, 1)
    more, second = c.trace(argv, options, 2)
    problems += more
    if not problems:
        problems += judge(first, expected)
    if first != second:
        problems.append(first_difference(first, second))
    tap.case(f"{name}: two traces diff empty ({c.mode})", problems)
    return first


def a_trace_that_cannot_be_written(tap, c):
    problems = []
    for path, said in (("/no/such/directory/t", "--trace"), (c.home, "is a directory")):
        command = [c.scratch.join("bin", "sandglass"), "run", "--trace", path, "--", "touch", "ran"]
        done = subprocess.run(as_mode(c.mode, command), cwd=c.home, stdin=subprocess.DEVNULL, timeout=60, check=False,
                              env={**ENV, "TMPDIR": c.scratch.tmp}, capture_output=True)
        if done.returncode != 125 or said not in done.stderr.decode():
            problems.append(f"{path}: status {done.returncode}, {done.stderr}")
    tap.case(f"a place where nothing can be written is refused before the run ({c.mode})", problems)


def verify_writes_the_first_run(tap, c):
    _, alone = c.trace(["./mutex_everywhere"], [], 1)
    problems, verified = c.trace(["./mutex_everywhere"], ["--verify"], 2)
    if alone != verified:
        problems.append(first_difference(alone, verified))
    tap.case(f"with --verify it is that of the first run ({c.mode})", problems)


def main():
    require_programs()
    tap = Tap()
    with Scratch() as scratch:
        traces = {}
        for mode in MODES:
            c = Cases(scratch, mode)
            for name, row in RUNS.items():
                traces[name, mode] = two_runs_diff_empty(tap, c, name, *row)
            a_trace_that_cannot_be_written(tap, c)
            verify_writes_the_first_run(tap, c)
            os.rename(c.home, f"{c.home}-{mode}")
        if IS_ROOT:
            for name in RUNS:
                one, other = traces[name, ROOT], traces[name, ROOTLESS]
                tap.case(f"{name}: root and rootless agree", [] if one == other else [first_difference(one, other)])
    tap.finish()


main()
