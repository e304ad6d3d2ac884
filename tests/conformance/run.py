#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Every backend keeps the promises of docs/format/session.md, as root and as an ordinary user.

run.py [--only TEXT] [--backend NAME] [--forks HOW]
"""
import argparse
import json
import os
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.dirname(os.path.abspath(__file__))), "lib"))
import harness as h  # noqa: E402

BACKENDS = ("native", "worktree")
# A suite that lost its tests must not pass.
LEAST = 60


def run_suite(scratch, tap, backend, mode, only, forks):
    home = scratch.mkdir("home", mode)
    options = (["--only", only] if only else []) + (["--forks", forks] if forks else [])
    argv = h.as_mode(mode, [scratch.join("bin", "sandglass"), "conformance", backend, "--json", *options])
    done = h.run(argv, cwd=home, env={"SANDGLASS_HOME": os.path.join(home, "state")}, timeout=600)
    try:
        result = json.loads(done.out)
    except ValueError:
        tap.case(f"{backend} as {mode}: the suite runs", [done.tell()])
        return
    for test in result["tests"]:
        tap.case(f"{backend} as {mode}: {test['name']}", [test["why"]] if test["verdict"] == "failed" else [],
                 skip=test["why"] if test["verdict"] == "skipped" else None)
    problems = [] if only or len(result["tests"]) >= LEAST else [f"only {len(result['tests'])} tests"]
    sessions = os.path.join(home, "state", "state", "sessions")
    kept = [name for name in os.listdir(sessions) if name == "layers" and os.listdir(os.path.join(sessions, name)) or
            name != "layers" and set(os.listdir(os.path.join(sessions, name))) - {"record.json", "lock"}]
    if kept:
        problems.append(f"sessions are left: {kept}")
    left = h.left_behind()
    if left:
        problems.append(f"processes are left: {left}")
    tap.case(f"{backend} as {mode}: whole, and nothing is left", problems)
    h.run(["rm", "-rf", home], cwd="/")


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--only")
    parser.add_argument("--backend", default="")
    parser.add_argument("--forks")
    args = parser.parse_args()
    h.require_programs()
    h.adopt_orphans()
    tap = h.Tap()
    with h.Scratch() as scratch:
        for backend in BACKENDS:
            for mode in h.MODES:
                # Those of a worktree are copies.
                if args.backend in ("", backend) and not (args.forks == "overlay" and backend != "native"):
                    run_suite(scratch, tap, backend, mode, args.only, args.forks)
    tap.finish()


main()
