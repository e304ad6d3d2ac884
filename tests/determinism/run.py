#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Runs every case with --verify, three times, as root and as an ordinary user.

A case is a script of cases/, whose lines that begin with `#:` say how it is run and judged, or a
program of tests/guest/FAMILY, whose head comment has such lines after ` *:`:

  #: row ROW         the row of the design's table of sources that it stands for (ROWS below); it must
                     be varies or pinned, so that it fails when that row is taken out
  #: needs TOOL ...  programs of the host that it runs
  #: uses NAME ...   programs of tests/guest/parts that are laid into its directory
  #: varies          run natively twice, it differs
  #: pinned          run natively, it prints something else than in the sandbox
  #: native          run natively, it prints the very same: the kernel's own answers
  #: out TEXT        a line of the expected output; all lines in order
  #: exit N          the expected exit status (0)
  #: option WORD     another option of `run`
  #: rootless        run as an ordinary user even without --all
  #: cpuid           a CPU that can fault cpuid; where it cannot, the run says cpuid_unmasked
  #: unenforced CODE  it is not enforced for this reason: run once and without --verify, whose outcome is open
  #: long            in the suite `long` only

Demanded of each: the exit status, verify.identical, enforced, the same output bytes and decisions in
all three runs, and the same output as root and rootless.

run.py [--all] [--long] [--only PATTERN] [--part K/N] [--runs N] [--print]

--only takes cases marked long too.
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
GUEST = os.path.join(os.path.dirname(os.path.dirname(CASES)), "guest")
PROGRAMS = os.path.join(h.BUILD, "tests", "guest")
# Of one run; a busy host is no reason to fail.
TIMEOUT = "60s"
JUDGED_NATIVELY = {"varies", "pinned", "native"}
TODAY = time.time()


class Case:
    """A script, or a program that is a case by itself."""

    def __init__(self, path):
        self.path = path
        self.name, self.ending = os.path.splitext(os.path.basename(path))
        self.family = os.path.basename(os.path.dirname(path)) if self.ending == ".c" else None
        self.rows, self.needs, self.uses, self.out, self.options = [], [], [], [], []
        self.exit, self.flags, self.unenforced = 0, set(), None
        sign = " *: " if self.family else "#: "
        with open(path, encoding="utf-8") as f:
            for line in f:
                if line.startswith(sign):
                    self.take(*line[len(sign):].rstrip("\n").partition(" ")[::2])
        # A formatter that joins the lines of a comment would take them away unseen.
        if self.family and not (self.flags or self.out or self.unenforced or self.exit):
            raise ValueError(f"{path}: nothing in its head says how it is judged")

    def take(self, key, value):
        if key in ("varies", "pinned", "native", "rootless", "long", "cpuid"):
            self.flags.add(key)
        elif key == "exit":
            self.exit = int(value)
        elif key == "unenforced":
            self.unenforced = value
        elif key == "out":
            self.out.append(value)
        elif key == "option":
            self.options.append(value)
        elif key in ("needs", "uses"):
            getattr(self, key).extend(value.split())
        elif key == "row" and value in ROWS:
            self.rows.append(value)
        else:
            raise ValueError(f"{self.path}: '{key} {value}' is no line of a case")

    def command(self):
        if self.family:
            return [f"./{self.name}"]
        return [INTERPRETERS[self.ending], f"./{os.path.basename(self.path)}"]

    def files(self):
        """What it consists of."""
        own = os.path.join(PROGRAMS, self.family, self.name) if self.family else self.path
        return [own] + [os.path.join(PROGRAMS, "parts", name) for name in self.uses]

    def lay(self, directory):
        """The same files every time: what a guest sees of an input's time depends on its real one."""
        for path in self.files():
            copy = shutil.copy(path, directory)
            os.utime(copy, (TODAY, TODAY))

    def missing(self):
        tools = [tool for tool in self.needs if not shutil.which(tool, path=h.ENV["PATH"])]
        tools += [file for file in self.files() if not os.path.exists(file)]
        return f"no {' '.join(tools)}" if tools else None


def all_cases():
    """The scripts, then the programs family by family."""
    found = [Case(os.path.join(CASES, file)) for file in sorted(os.listdir(CASES))
             if os.path.splitext(file)[1] in INTERPRETERS]
    for family in sorted(os.listdir(GUEST)):
        folder = os.path.join(GUEST, family)
        if family != "parts" and os.path.isdir(folder):
            found += [Case(os.path.join(folder, file)) for file in sorted(os.listdir(folder)) if file.endswith(".c")]
    names = [case.name for case in found]
    double = {name for name in names if names.count(name) > 1}
    if double:
        raise ValueError(f"two cases of one name: {' '.join(sorted(double))}")
    return found


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
    if case.unenforced:
        told = [entry.get("reason") for entry in report.get("not_enforced") or []]
        if told != [case.unenforced] or report.get("enforced") is not False:
            problems.append(f"{case.unenforced} was expected: {told}")
    elif verify.get("identical") is not True:
        problems.append(f"not identical: {verify.get('first_difference')}")
    if not case.unenforced and report.get("enforced") is not True:
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
    verify = [] if case.unenforced else ["--verify"]
    for number in range(1 if case.unenforced else runs):
        work = scratch.mkdir("work", mode)
        case.lay(work)
        scratch.give(work, mode)
        try:
            done = h.sandglass(scratch, case.command(), options=[*verify, "--timeout", TIMEOUT, *case.options],
                               mode=mode, cwd=work, timeout=300)
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
    """The output of a run without a sandbox."""
    work = scratch.mkdir("work", h.MODES[0])
    case.lay(work)
    try:
        # An hour of sleep is not waited for: what was printed until then differs well enough.
        limit = 15 if "native" in case.flags else 5
        return h.run(case.command(), cwd=work, env={"LC_ALL": "C.UTF-8", "TZ": "UTC"}, timeout=limit).out
    finally:
        # What a program that was cut off leaves is not the next case's.
        h.left_behind(grace=0)
        shutil.rmtree(work)


def beside_native(scratch, case, sandboxed):
    """A test that would pass without the engine tests nothing; semantics are the kernel's own."""
    problems = []
    if case.rows and not case.flags & {"varies", "pinned"}:
        problems.append("a case for a row has to be varies or pinned")
    if not case.flags & JUDGED_NATIVELY:
        return problems
    # Without a sandbox a busy host may show anything once, and a quiet one the same thing twice.
    outs = [native(scratch, case) for _ in range(2)]
    if "native" in case.flags and sandboxed not in outs:
        outs.append(native(scratch, case))
    while "varies" in case.flags and len(set(outs)) == 1 and len(outs) < 10:
        outs.append(native(scratch, case))
    if "varies" in case.flags and len(set(outs)) == 1:
        problems.append("native runs do not differ, so the case cannot fail")
    if "pinned" in case.flags and outs[0] == sandboxed:
        problems.append("a native run prints the same, so the case cannot fail")
    if "native" in case.flags and sandboxed not in outs:
        problems.append(differs("natively and in the sandbox", outs[0], sandboxed))
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
    if case.flags & JUDGED_NATIVELY or case.rows:
        tap.case(f"{case.name} beside a native run", beside_native(scratch, case, first))
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
    cases = all_cases()
    covered = {row for case in cases for row in case.rows}
    tap.case("every row of the table of sources has a case", [f"no case for: {row}" for row in ROWS if row not in covered])
    part, parts = map(int, args.part.split("/"))
    with h.Scratch() as scratch:
        for case in cases[part - 1::parts]:
            if fnmatch.fnmatch(case.name, args.only) and (args.only != "*" or ("long" in case.flags) == args.long):
                run_case(scratch, tap, case, args)
    tap.finish()


main()
