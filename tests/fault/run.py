#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Bad input and faults: one clear line, the documented exit status, nothing left behind.

run.py [--only TEXT]"""
import argparse
import shutil

import kit
from kit import h
# Each registers its cases.
import usage  # noqa: F401
import signals  # noqa: F401
import streams  # noqa: F401
import honesty  # noqa: F401
import terminal  # noqa: F401
import robust  # noqa: F401


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--only", default="")
    args = parser.parse_args()
    h.require_programs()
    h.adopt_orphans()
    tap = h.Tap()
    with h.Scratch() as scratch:
        for text, f, modes, needs_root in kit.CASES:
            if args.only not in text:
                continue
            if needs_root and not h.IS_ROOT:
                tap.case(text, [], skip="only root can set this fault up")
                continue
            for mode in [m for m in h.MODES if not modes or m in modes]:
                before = kit.Before(scratch)
                place = kit.Place(scratch, mode)
                try:
                    problems = f(place)
                finally:
                    shutil.rmtree(place.top, ignore_errors=True)
                tap.case(f"{text} ({mode})", problems + before.problems())
    tap.finish()


main()
