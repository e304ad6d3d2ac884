#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Runs every case of cases/ and of tests/guest/FAMILY; tests/lib/cases.py says what a case is.

run.py [--all] [--long] [--only PATTERN] [--part K/N] [--runs N] [--quick] [--print]

--only takes cases marked long too.
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
    args.skip = False
    h.require_programs()
    h.adopt_orphans()
    tap = h.Tap()
    cases = [case for case in c.all_cases() if case.folder != c.RUNTIMES]
    covered = {row for case in cases for row in case.rows}
    tap.case("every row of the table of sources has a case", [f"no case for: {row}" for row in c.ROWS if row not in covered])
    with h.Scratch() as scratch:
        for case in c.chosen(cases, args):
            c.run_case(scratch, tap, case, args)
    tap.finish()


main()
