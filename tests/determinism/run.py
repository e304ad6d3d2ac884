#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Runs every case of cases/ with --verify, three times, as root and as an ordinary user.

A case is a script; its lines that begin with `#:` say how it is run and judged:

  #: row ROW         the row of the design's table of sources that it stands for (ROWS below); it must
                     be varies or pinned, so that it fails when that row is taken out
  #: needs TOOL ...  programs of the host that it runs
  #: uses NAME ...   programs of tests/guest that are laid into its directory
  #: varies          run natively twice, it differs
  #: pinned          run natively, it prints something else than in the sandbox
  #: out TEXT        a line of the expected output; all lines in order
  #: exit N          the expected exit status (0)
  #: option WORD     another option of `run`
  #: rootless        run as an ordinary user even without --all
  #: cpuid           a CPU that can fault cpuid; where it cannot, the run says cpuid_unmasked
  #: long            in the suite `long` only

Demanded of each: the exit status, verify.identical, enforced, the same output bytes and decisions in
all three runs, and the same output as root and rootless.

run.py [--all] [--long] [--only PATTERN] [--part K/N] [--runs N] [--print]
"""
import argparse
import fnmatch
import os
import shutil
import sys
import time

sys.path.insert(0, os.path.join(os.path.dirname(os.path.dirname(os.path.abspath(__file__))), "lib"))
import harness as h  # noqa: E402

# The design's table of sources, a word a row.
ROWS = ("clock", "tsc", "cpuid", "entropy", "timers", "external", "procfs", "pinned", "directories", "inodes",
        "times", "fixed", "refused")
CASES = os.path.join(os.path.dirname(os.path.abspath(__file__)), "cases")
INTERPRETERS = {".sh": "sh", ".bash": "bash", ".py": "python3", ".pl": "perl"}
PROGRAMS = os.path.join(h.BUILD, "tests", "guest")
TODAY = time.time()


class Case:
    def __init__(self, file):
        self.file = file
        self.name, self.ending = os.path.splitext(file)
        self.rows, self.needs, self.uses, self.out, self.options = [], [], [], [], []
        self.exit, self.flags = 0, set()
        with open(os.path.join(CASES, file), encoding="utf-8") as f:
            for line in f:
                if line.startswith("#: "):
                    self.take(*line[3:].rstrip("\n").partition(" ")[::2])

    def take(self, key, value):
        if key in ("varies", "pinned", "rootless", "long", "cpuid"):
            self.flags.add(key)
        elif key == "exit":
            self.exit = int(value)
        elif key == "out":
            self.out.append(value)
        elif key == "option":
            self.options.append(value)
        elif key in ("needs", "uses"):
            getattr(self, key).extend(value.split())
        elif key == "row" and value in ROWS:
            self.rows.append(value)
        else:
            raise ValueError(f"{self.file}: '{key} {value}' is no line of a case")

    def command(self):
        return [INTERPRETERS[self.ending], f"./{self.file}"]

    def lay(self, directory):
        """The same files every time: what a guest sees of an input's time depends on its real one."""
        for path in [os.path.join(CASES, self.file)] + [os.path.join(PROGRAMS, name) for name in self.uses]:
            copy = shutil.copy(path, directory)
            os.utime(copy, (TODAY, TODAY))

    def missing(self):
        tools = [tool for tool in self.needs if not shutil.which(tool, path=h.ENV["PATH"])]
        tools += [name for name in self.uses if not os.path.exists(os.path.join(PROGRAMS, name))]
        return f"no {' '.join(tools)}" if tools else None


def differs(what, one, other):
    """One line that shows where two outputs part."""
    a, b = one.splitlines(), other.splitlines()
    for number, (x, y) in enumerate(zip(a, b), 1):
        if x != y:
            return f"{what}, line {number}: {x!r} and {y!r}"
    return f"{what}: {len(a)} and {len(b)} lines"


def judge_one(case, done):
    """What is wrong with one run by itself."""
    problems = []
    if done.status != case.exit:
        problems.append(f"exit status {case.exit} was expected: {done.tell()}")
    report = done.report or {}
    verify = report.get("verify") or {}
    if verify.get("identical") is not True:
        problems.append(f"not identical: {verify.get('first_difference')}")
    if report.get("enforced") is not True:
        problems.append(f"not enforced: {report.get('not_enforced')}")
    if case.out and done.out.decode("utf-8", "backslashreplace").splitlines() != case.out:
        problems.append(differs("another output than expected", done.out, "\n".join(case.out).encode()))
    return problems


def digests(done):
    outputs = (done.report or {}).get("outputs") or {}
    return {name: outputs.get(name) for name in ("stdout", "stderr", "tree", "decisions")}


def run_mode(scratch, case, mode, runs):
    """(problems, the first run) of one privilege."""
    problems, first = [], None
    for number in range(runs):
        work = scratch.mkdir("work", mode)
        case.lay(work)
        scratch.give(work, mode)
        try:
            done = h.sandglass(scratch, case.command(), options=["--verify", "--timeout", "20s", *case.options], mode=mode, cwd=work)
        finally:
            shutil.rmtree(work)
        problems = judge_one(case, done)
        if first and done.out != first.out:
            problems.append(differs(f"run {number + 1} and run 1 of {mode}", done.out, first.out))
        if first and digests(done) != digests(first):
            problems.append(f"the digests of run {number + 1} and run 1 differ: {digests(done)} and {digests(first)}")
        left = h.left_behind()
        if left:
            problems.append(f"left behind: {left}")
        first = first or done
        if problems:
            break
    return problems, first


def native(scratch, case):
    """Outputs of two runs without a sandbox."""
    outs = []
    for _ in range(2):
        work = scratch.mkdir("work", h.MODES[0])
        case.lay(work)
        try:
            # An hour of sleep is not waited for: what was printed until then differs well enough.
            outs.append(h.run(case.command(), cwd=work, env={"LC_ALL": "C.UTF-8", "TZ": "UTC"}, timeout=5).out)
        finally:
            shutil.rmtree(work)
    return outs


def can_fail(scratch, case, sandboxed):
    """A test that would pass without the engine tests nothing."""
    problems = []
    if case.rows and not case.flags & {"varies", "pinned"}:
        problems.append("a case for a row has to be varies or pinned")
    if case.flags & {"varies", "pinned"}:
        one, other = native(scratch, case)
        if "varies" in case.flags and one == other:
            problems.append("native runs do not differ, so the case cannot fail")
        if "pinned" in case.flags and one == sandboxed:
            problems.append("a native run prints the same, so the case cannot fail")
    return problems


def cpuid_faults():
    with open("/proc/cpuinfo", encoding="utf-8") as f:
        return " cpuid_fault " in f.read().replace("\n", " \n")


def run_case(scratch, tap, case, args):
    missing = case.missing()
    if missing:
        tap.case(case.name, [missing])
        return
    if "cpuid" in case.flags and not cpuid_faults():
        done = h.sandglass(scratch, ["true"], cwd=scratch.tmp)
        said = [a.get("reason") for a in (done.report or {}).get("assumptions", [])]
        tap.case(f"{case.name}: the report says that this CPU cannot fault cpuid",
                 [] if "cpuid_unmasked" in said else [f"assumptions: {said}; {done.tell()}"])
        return
    outs = {}
    for mode in h.MODES:
        if mode == h.ROOTLESS and h.IS_ROOT and not args.all and "rootless" not in case.flags:
            continue
        problems, first = run_mode(scratch, case, mode, args.runs)
        outs[mode] = first.out
        if args.print:
            print(first.out.decode("utf-8", "backslashreplace"), flush=True)
        tap.case(f"{case.name} as {mode}", problems)
    first = next(iter(outs.values()))
    tap.case(f"{case.name} can fail", can_fail(scratch, case, first)) if case.flags & {"varies", "pinned"} or case.rows else None
    if len(outs) == 2:
        tap.case(f"{case.name}: root and rootless agree",
                 [] if outs[h.ROOT] == outs[h.ROOTLESS] else
                 [differs("root and rootless", outs[h.ROOT], outs[h.ROOTLESS])])


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--all", action="store_true", help="rootless for every case")
    parser.add_argument("--long", action="store_true", help="the cases marked long only")
    parser.add_argument("--only", default="*")
    parser.add_argument("--part", default="1/1", help="every N-th case from the K-th on")
    parser.add_argument("--runs", type=int, default=3)
    parser.add_argument("--print", action="store_true")
    args = parser.parse_args()
    h.require_programs()
    h.adopt_orphans()
    tap = h.Tap()
    cases = [Case(file) for file in sorted(os.listdir(CASES)) if os.path.splitext(file)[1] in INTERPRETERS]
    covered = {row for case in cases for row in case.rows}
    tap.case("every row of the table of sources has a case", [f"no case for: {row}" for row in ROWS if row not in covered])
    part, parts = map(int, args.part.split("/"))
    with h.Scratch() as scratch:
        for case in cases[part - 1::parts]:
            if fnmatch.fnmatch(case.name, args.only) and ("long" in case.flags) == args.long:
                run_case(scratch, tap, case, args)
    tap.finish()


main()
