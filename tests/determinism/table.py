#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The table of docs/determinism.md, made from what the last runs of the cases showed.

table.py --write   makes the page from the results of this build; a case that it did not run has in its row
                   what its head demands, to which the tests hold it
table.py --check   the page agrees with the results of this build (after the tests, in the suite long)
table.py --rows    each case has a row and each row a case, and what a case expects is what its row says
"""
import argparse
import json
import os
import re
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.dirname(os.path.abspath(__file__))), "lib"))
import cases as c  # noqa: E402
import harness as h  # noqa: E402

PAGE = os.path.join(h.SOURCE, "docs", "determinism.md")
BEGIN, END = "<!-- table -->\n", "<!-- end -->\n"
# A group of rows: its heading, and the beginnings of its cases' names.
LANGUAGES = (("Node", ("node",)), ("Java", ("java", "machine-java")), ("Go", ("go-",)), ("Python", ("python",)),
             ("Ruby", ("ruby",)), ("Haskell", ("ghc",)), ("C with musl", ("musl",)),
             ("Shells, terminals and job control", ("bash", "sh-", "terminal")))
OTHERS = "Other programs"
SOURCES = "Sources of nondeterminism, one by one"
FAMILIES = {
    "threads": "Small programs: threads, futexes, processes",
    "timers": "Small programs: clocks, timers, System V and POSIX IPC",
    "signals": "Small programs: signals",
    "descriptors": "Small programs: pipes, epoll, locks, inotify",
    "sockets": "Small programs: sockets",
    "proc": "Small programs: /proc and /sys",
    "spins": "Small programs: loops without a system call",
    "robust": "Small programs: many of everything",
    "explore": "Small programs: races to be found",
}


def group(case):
    if case.family:
        return FAMILIES[case.family]
    for heading, names in LANGUAGES:
        if case.name.startswith(names):
            return heading
    return SOURCES if case.rows else OTHERS


def expected(case):
    """What its head says."""
    if case.either:
        return f"deterministic, or not enforced: `{case.either}`, exit 121"
    status = f", exit {case.exit}" if case.exit else ""
    if "cpuid" in case.flags:
        return "deterministic where the CPU can fault `cpuid`"
    return (f"not enforced: `{case.unenforced}`" if case.unenforced else "deterministic") + status


def verdict_of(case, results):
    """In words, of the results of all modes; None where there are none."""
    if ("cpuid" in case.flags or case.either) and not any(r["verdict"] == "fails" for r in results):
        return expected(case)
    if not results:
        return None
    worst = next((r for r in results if r["verdict"] == "fails"), results[0])
    if worst["verdict"] == "fails":
        return "**fails**"
    status = f", exit {worst['exit']}" if worst["exit"] else ""
    if worst["verdict"] == "deterministic":
        return "deterministic" + status
    return "not enforced: " + ", ".join(f"`{reason}`" for reason in worst["reasons"]) + status


def results(case):
    found = []
    for mode in (h.ROOT, h.ROOTLESS):
        path = os.path.join(c.RESULTS, f"{case.name}.{mode}.json")
        if os.path.exists(path):
            with open(path, encoding="utf-8") as f:
                found.append(json.load(f))
    return found


def row(case, verdict):
    path = os.path.relpath(case.path, os.path.dirname(PAGE))
    return f"| [`{case.name}`]({path}) | {case.what.replace('|', chr(92) + '|')} | {verdict} |"


def rows_of(page):
    """{name: row} of the page."""
    return {m[1]: m[0] for m in re.finditer(r"^\| \[`([^`]+)`\].* \|$", page, re.M)}


def table(cases):
    verdicts = {case.name: verdict_of(case, results(case)) or expected(case) for case in cases}
    words = list(verdicts.values())
    either = sum(w.startswith("deterministic, or") for w in words)
    lines = [f"{len(cases)} programs: {sum(w.startswith('deterministic') for w in words) - either} deterministic, "
             f"{sum(w.startswith('not enforced') for w in words)} not enforced and told so, {either} one or the other, "
             f"{sum(w == '**fails**' for w in words)} that fail.", ""]
    headings = [heading for heading, _ in LANGUAGES] + [OTHERS, SOURCES] + list(FAMILIES.values())
    for heading in headings:
        of_group = [case for case in cases if group(case) == heading]
        if of_group:
            lines += [f"### {heading}", "", "| case | what it does | result |", "|---|---|---|"]
            lines += [row(case, verdicts[case.name]) for case in of_group] + [""]
    return "\n".join(lines)


def problems(cases, page, judge):
    found = []
    rows = rows_of(page)
    for case in cases:
        told = judge(case)
        if case.name not in rows:
            found.append(f"{case.name} has no row")
        elif told and rows[case.name] != row(case, told):
            found.append(f"{case.name}: the page has {rows[case.name]!r} instead of {row(case, told)!r}")
    found += [f"a row for {name}, which is no case" for name in rows if name not in {case.name for case in cases}]
    return found + (["table.py --write makes the page anew"] if found else [])


def main():
    parser = argparse.ArgumentParser()
    for option in ("--write", "--check", "--rows"):
        parser.add_argument(option, action="store_true")
    args = parser.parse_args()
    cases = c.all_cases()
    with open(PAGE, encoding="utf-8") as f:
        page = f.read()
    if args.write:
        before, rest = page.split(BEGIN)
        with open(PAGE, "w", encoding="utf-8") as f:
            f.write(before + BEGIN + table(cases) + END + rest.split(END)[1])
        return
    tap = h.Tap()
    if args.rows:
        tap.case("docs/determinism.md has the cases and what they expect", problems(cases, page, expected))
    else:
        tap.case("cases were run before", [] if os.path.isdir(c.RESULTS) else [f"nothing in {c.RESULTS}"])
        tap.case("docs/determinism.md says what came out", problems(cases, page, lambda case: verdict_of(case, results(case))))
    tap.finish()


main()
