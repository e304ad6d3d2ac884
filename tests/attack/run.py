#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Runs every attack in every native backend and compares with the table in docs/abuse.md.

run.py [--write] [--only PATTERN] [--show]: --write makes the table anew; without it, a case that the
table calls contained and that is not any more has failed, as has one that the table does not know.
"""
import argparse
import fnmatch
import json
import os
import re
import shutil
import subprocess
import sys

import attacks
import canaries
from canaries import h

BACKENDS = {
    "root": (h.ROOT, ()),
    "root, no determinism": (h.ROOT, ("--no-determinism",)),
    "rootless": (h.ROOTLESS, ()),
    "rootless, no determinism": (h.ROOTLESS, ("--no-determinism",)),
}
PAGE = os.path.join(h.SOURCE, "docs", "abuse.md")
BEGIN, END = "<!-- table -->", "<!-- end -->"
CONTAINED, DEGRADED, ESCAPED, NONE = "contained", "degraded", "**escaped**", "-"
# A run that gives no verdict tells nothing; it never gets into the table.
BROKEN = "broken"


class Context:
    """The directories of one case in one backend, made anew, and what its runs gave."""

    def __init__(self, scratch, canary, mode, name):
        self.scratch, self.secret, self.runs = scratch, canary.secret, []
        self.left = []
        self.top = scratch.mkdir("case", mode)
        self.bind = os.path.join(scratch.join("vault"), "shared")
        self.cwd, self.out = os.path.join(self.top, "cwd"), os.path.join(self.top, "out")
        for path in (self.cwd, self.out, os.path.join(self.cwd, "given.d"), self.bind):
            os.mkdir(path)
        for path in ("given", "removed", "given.d/inner"):
            with open(os.path.join(self.cwd, path), "w", encoding="utf-8") as f:
                f.write("given\n")
        writable = os.path.join(self.bind, "writable")
        with open(writable, "w", encoding="utf-8"):
            os.chmod(writable, 0o666)
        program = os.path.join(h.BUILD, "tests", "attack", "attack")
        # The same sources both ways: a static program has no loader and calls from elsewhere.
        if mode == h.ROOTLESS and os.path.exists(program + "-static"):
            program += "-static"
        shutil.copy(program, os.path.join(self.cwd, "attack"))
        self.names = sorted(os.listdir(self.cwd))
        scratch.give(self.top, mode)
        scratch.give(self.bind, mode)
        self.fill = lambda text: text.format(bind=self.bind, out=self.out)

    def close(self):
        # rmtree cannot go deeper than its stack; rm can.
        subprocess.run(["rm", "-rf", self.top, self.bind], check=False)


def verdict_of(case, ctx):
    """(word, why) of the runs of one case."""
    run = ctx.runs[-1]
    if run.status == -1:
        return ESCAPED, f"it hangs: {run.tell()}"
    said = re.findall(r"^(CONTAINED|ESCAPED|JUDGED) ?(.*)$", run.out.decode("utf-8", "replace"), re.M)
    word, why = said[-1] if said else ("", "")
    if not word and run.status == 137:
        word, why = "CONTAINED", "killed"
    if not word and case.judge and run.status in case.statuses:
        word = "JUDGED"
    if not word:
        return BROKEN, f"no verdict: {run.tell()}"
    if run.status not in case.statuses:
        return ESCAPED, f"{word} {why}, but {run.tell()}"
    if ctx.left:
        return ESCAPED, f"left behind: {ctx.left}"
    if word == "CONTAINED":
        return CONTAINED, why
    if word == "JUDGED":
        why = case.judge(ctx) if case.judge else "nobody judges it"
        if not why:
            return CONTAINED, ""
    if case.told and f'"{case.told}"' in json.dumps(run.report or {}):
        return DEGRADED, why
    return ESCAPED, why


def attack(scratch, canary, backend, name):
    case = attacks.CASES[name]
    mode, options = BACKENDS[backend]
    ctx = Context(scratch, canary, mode, name)
    try:
        for _ in range(case.runs):
            run = h.sandglass(
                scratch, ["./attack", name, *canary.words(mode, ctx.bind, case.mib)],
                options=[*options, *map(ctx.fill, case.options)], mode=mode, cwd=ctx.cwd,
                env={canaries.VARIABLE: "1"}, pass_fds=(canaries.FD,), timeout=60, watch=case.watch)
            ctx.runs.append(run)
            ctx.left += h.left_behind({p.pid for p in canary.processes.values()})
        return verdict_of(case, ctx)
    finally:
        ctx.close()


def control(scratch, canary, name):
    """Without a sandbox the attack works, or else the canary is not there and proves nothing."""
    mode = h.MODES[0]
    ctx = Context(scratch, canary, mode, name)
    try:
        run = h.run(["./attack", name, *canary.words(mode, ctx.bind, 1)], mode=mode, cwd=ctx.cwd,
                    env={canaries.VARIABLE: "1"}, pass_fds=(canaries.FD,))
        return [] if run.out.startswith(b"ESCAPED") else [f"without a sandbox it says {run.out!r}; {run.tell()}"]
    finally:
        ctx.close()


def read_table():
    """{case: {backend: word}} of the page."""
    try:
        with open(PAGE, encoding="utf-8") as f:
            text = f.read()
    except OSError:
        return {}
    lines = text.partition(BEGIN)[2].partition(END)[0].strip().splitlines()
    if len(lines) < 2:
        return {}
    cells = [[cell.strip() for cell in line.strip("|").split(" | ")] for line in lines]
    return {row[0].strip(" `"): dict(zip(cells[0][3:], row[3:])) for row in cells[2:]}


def write_table(results):
    old = read_table()
    head = ["case", "what it tries", "held by", *BACKENDS]
    lines = ["| " + " | ".join(head) + " |", "|" + "---|" * len(head)]
    for name, case in attacks.CASES.items():
        row = {**old.get(name, {}), **results.get(name, {})}
        words = [NONE if case.det and "no determinism" in b else row.get(b, "not tried") for b in BACKENDS]
        lines.append("| " + " | ".join([f"`{name}`", case.tries, case.because, *words]) + " |")
    with open(PAGE, encoding="utf-8") as f:
        text = f.read()
    top, _, rest = text.partition(BEGIN)
    with open(PAGE, "w", encoding="utf-8") as f:
        f.write(top + BEGIN + "\n" + "\n".join(lines) + "\n" + END + rest.partition(END)[2])


def names_agree():
    program = os.path.join(h.BUILD, "tests", "attack", "attack")
    listed = subprocess.run([program, "--list"], check=True, capture_output=True, text=True).stdout.split()
    return [] if listed == list(attacks.CASES) else [
        f"attacks.def and attacks.py differ in {sorted(set(listed) ^ set(attacks.CASES)) or 'order'}"]


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--write", action="store_true")
    parser.add_argument("--show", action="store_true", help="say why each is contained")
    parser.add_argument("--only", default="*")
    parser.add_argument("--backend", default="*")
    args = parser.parse_args()
    h.require_programs()
    h.adopt_orphans()
    tap, table, results = h.Tap(), read_table(), {}
    tap.case("attacks.def and attacks.py have the same attacks", names_agree())
    with h.Scratch() as scratch, canaries.Canaries(scratch) as canary:
        for name, case in attacks.CASES.items():
            if not fnmatch.fnmatch(name, args.only):
                continue
            if case.control:
                absent = canary.absent.get(name)
                tap.case(f"{name} escapes where there is no sandbox",
                         [] if absent else control(scratch, canary, name), skip=absent)
            for backend in fnmatch.filter(BACKENDS, args.backend):
                mode, options = BACKENDS[backend]
                if mode not in h.MODES or (case.det and options):
                    continue
                word, why = attack(scratch, canary, backend, name)
                if word != BROKEN:
                    results.setdefault(name, {})[backend] = word
                was = table.get(name, {}).get(backend)
                # Degraded is a host's weakness that the report told; it may be another host's than the table's.
                fine = word in (CONTAINED, DEGRADED) or (word == was or args.write) and word != BROKEN
                problems = [] if fine else [f"was {was}, is {word}: {why}"]
                if was is None and not args.write:
                    problems.append(f"not in the table of {PAGE}: run this with --write")
                tap.case(f"{name} in {backend} is {word.strip('*')}", problems)
                if args.show or word != CONTAINED:
                    print(f"# {why}", flush=True)
    if args.write:
        write_table(results)
    tap.finish()


main()
