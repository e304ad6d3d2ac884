# SPDX-License-Identifier: Apache-2.0
"""What a run cannot hold is said: changes in a directory shared with the host. Live files of /proc are not there."""
import os
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "lib"))
from harness import MODES, Scratch, Tap, require_programs, sandglass  # noqa: E402

LIVE = "/proc/1/net/rt_acct"
# name, guest, reason (None: enforced), what the detail names
CASES = (
    ("a live file of /proc is not there", f"! cat {LIVE}", None, None),
    ("a live file reached through links is not there", f"ln -s {LIVE} l; ln -s l m; ! cat m", None, None),
    ("a live file opened from inside /proc is not there", "cd /proc/1/net && ! cat rt_acct", None, None),
    ("a live file is in no listing", f"! stat {LIVE} && ! ls /proc/1/net | grep -x rt_acct", None, None),
    ("a file that is made here is not told", "cat /proc/meminfo /proc/self/status /proc/net/tcp", None, None),
    ("reading a shared directory is not told", "cat /shared/there; ls -l /shared", None, None),
    ("writing to a shared file is told", "echo more >> /shared/there", "shared_with_outside", "/shared/there"),
    ("a new shared file is told", "echo new > /shared/new", "shared_with_outside", "/shared/new"),
    ("a shared directory made is told", "mkdir /shared/d", "shared_with_outside", "/shared"),
    ("a shared name removed is told", "rm /shared/there", "shared_with_outside", "/shared"),
    ("a shared mode changed is told", "chmod 600 /shared/there", "shared_with_outside", "/shared/there"),
    ("shared times set are told", "touch -d 2001-01-01 /shared/there", "shared_with_outside", "/shared/there"),
)


def check(scratch, mode, number, guest, reason, named):
    home = scratch.mkdir(f"home-{mode}-{number}", mode)
    shared = scratch.mkdir(f"shared-{mode}-{number}", mode)
    with open(os.path.join(shared, "there"), "w", encoding="utf-8") as f:
        f.write("there\n")
    scratch.give(shared, mode)
    if mode == "root":
        os.chmod(shared, 0o777)
        os.chmod(os.path.join(shared, "there"), 0o666)
    done = sandglass(scratch, ["sh", "-c", guest], ["--bind", shared + ":/shared"], mode=mode, cwd=home)
    if done.report is None:
        return [str(done)]
    told = {r["reason"]: r["first"] for r in done.report["not_enforced"]}
    if reason is None:
        return [] if done.status == 0 and not told else [f"status {done.status}, told {told}"]
    problems = []
    if reason not in told or named not in told[reason]:
        problems.append(f"told {told}: {done}")
    if done.report["enforced"] or done.status != 121:
        problems.append(f"status {done.status}, enforced {done.report['enforced']}")
    return problems


def main():
    require_programs()
    tap = Tap()
    with Scratch() as scratch:
        for mode in MODES:
            for number, (name, guest, reason, named) in enumerate(CASES):
                tap.case(f"{name}, as {mode}", check(scratch, mode, number, guest, reason, named))
    tap.finish()


main()
