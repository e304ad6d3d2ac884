#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Runs the cases of cases/, programs of whole runtimes: node, Java, Go, Python, Ruby, Haskell, musl, PostgreSQL.

Sources that need a compiler are compiled natively and run in the sandbox. Where a runtime is not
installed its cases are skipped by name. tests/lib/cases.py says what a case is.

run.py [--all] [--long] [--only PATTERN] [--part K/N] [--runs N] [--quick] [--print]
"""
import argparse
import os
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.dirname(os.path.abspath(__file__))), "lib"))
import cases as c  # noqa: E402
import harness as h  # noqa: E402


def main():
    parser = argparse.ArgumentParser()
    c.options(parser)
    args = parser.parse_args()
    args.skip = True
    h.require_programs()
    h.adopt_orphans()
    tap = h.Tap()
    with h.Scratch() as scratch:
        for case in c.chosen(c.cases_of(c.RUNTIMES), args):
            problems = []
            if case.language.compiler and not case.missing():
                problems = case.compile(scratch.join(f"compiled.{case.name}"))
            if problems:
                tap.case(f"{case.name} compiles", problems)
            else:
                c.run_case(scratch, tap, case, args)
    tap.finish()


main()
