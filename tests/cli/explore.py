# SPDX-License-Identifier: Apache-2.0
"""`sandglass explore`: finds and names classic races, says how they happen again, and lets right programs be.

explore.py [--long]: every program of tests/guest/explore, not only one of each kind.
"""
import json
import os
import shutil
import signal
import subprocess
import sys
import time

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "lib"))
from harness import (BUILD, ENV, MODES, ROOT, Scratch, Tap, adopt_orphans, as_mode, left_behind,  # noqa: E402
                     require_programs, sandglass)

PROGRAMS = os.path.join(BUILD, "tests", "guest", "explore")
# name: (kind, what differs, in the short test)
WRONG = {
    "abba": ("deadlock", "exit", True),
    "counter_in_a_file": ("check-then-act", "stdout", True),
    "flag_before_the_value": ("atomicity violation", "exit", False),
    "freed_twice": ("atomicity violation", "exit", True),
    "gone_before_it_is_used": ("atomicity violation", "exit", False),
    "handler_between_two_steps": ("order violation", "exit", False),
    "lost_update": ("atomicity violation", "exit", True),
    "lost_update_of_processes": ("atomicity violation", "exit", False),
    "lost_updates_in_a_loop": ("atomicity violation", "exit", False),
    "made_twice": ("atomicity violation", "exit", False),
    "missed_signal": ("missed wake-up", "exit", True),
    "philosophers": ("deadlock", "exit", False),
    "torn_pair": ("atomicity violation", "exit", False),
    "two_make_one_file": ("check-then-act", "stdout", False),
    "used_before_it_is_made": ("order violation", "exit", True),
    "word_in_two_writes": ("order violation", "stdout", False),
}
# name: in the short test
RIGHT = {"mutex_everywhere": True, "signal_under_the_lock": True, "atomic_everywhere": False,
         "philosophers_in_order": False, "pipes_in_turn": False, "semaphores_in_turn": False,
         "trap_stays_blocked": False, "yields_until_it_is_told": False}


class Cases:
    def __init__(self, tap, scratch, mode):
        self.tap, self.scratch, self.mode = tap, scratch, mode
        self.home = scratch.mkdir("work-" + mode, mode)
        for name in [*WRONG, *RIGHT]:
            shutil.copy(os.path.join(PROGRAMS, name), self.home)
        scratch.give(self.home, mode)
        self.command = scratch.join("bin", "sandglass")

    def start(self, words, **more):
        return subprocess.Popen(as_mode(self.mode, [self.command, *words]), cwd=self.home, stdin=subprocess.DEVNULL,
                                stdout=subprocess.PIPE, stderr=subprocess.PIPE, start_new_session=True,
                                env={**ENV, "TMPDIR": self.scratch.tmp}, **more)

    def explore(self, words, timeout=300):
        """(status, standard output, standard error)"""
        child = self.start(["explore", *words])
        out, err = child.communicate(timeout=timeout)
        return child.returncode, out.decode(), err.decode()

    def again(self, command):
        """Runs the printed command, with our program in place of its first word."""
        words = command.replace("sandglass ", self.command + " ", 1)
        child = subprocess.Popen(as_mode(self.mode, ["sh", "-c", words]), cwd=self.home, stdin=subprocess.DEVNULL,
                                 stdout=subprocess.PIPE, stderr=subprocess.PIPE, env={**ENV, "TMPDIR": self.scratch.tmp})
        out, _ = child.communicate(timeout=60)
        return child.returncode, out

    def case(self, name, problems):
        problems = list(problems) + [f"a process is left: {line}" for line in left_behind()]
        left = os.listdir(self.scratch.tmp)
        self.tap.case(f"{name} ({self.mode})", problems + ([f"files are left: {left}"] if left else []))


def a_race_is_found_named_and_repeated(c, name, kind, change):
    status, out, err = c.explore(["--json", "--", f"./{name}"])
    if status != 1:
        c.case(f"{name} is found", [f"status {status}, {out} {err}"])
        return
    found, base = json.loads(out)["found"], json.loads(out)["base"]
    problems = []
    if found["kind"] != kind:
        problems.append(f"'{found['kind']}' instead of '{kind}': {found['text']}")
    if change not in found["changes"]:
        problems.append(f"{change} is not among {found['changes']}")
    if not found["shrunk"] or not 1 <= len(found["switches"]) <= 3:
        problems.append(f"not shrunk: {found['switches']}")
    if base["status"] != 0:
        problems.append(f"by the rule it ends as {base}")
    outs = [c.again(found["command"]) for _ in range(2)]
    if outs[0] != outs[1] or outs[0][0] != found["outcome"]["status"]:
        problems.append(f"'{found['command']}' ended as {outs}, not as {found['outcome']['status']}")
    c.case(f"{name} is found within 200 seeds, named '{kind}', and happens again", problems)


def a_right_program_gives_none(c, name):
    status, out, err = c.explore(["--jobs", "2", "--", f"./{name}"])
    wanted = "none of 200 seeds changes how it ends or what it puts out\n"
    c.case(f"{name}: none", [] if (status, out, err) == (0, wanted, "") else [f"status {status}: {out} {err}"])


def jobs_do_not_change_the_result(c):
    results = [c.explore(["--json", "--jobs", str(jobs), "--", "./abba"]) for jobs in (1, 2, 5)]
    c.case("the result is the same with 1, 2 and 5 jobs", [f"{results}"] if len(set(results)) > 1 else [])


def text_ends_with_the_command(c):
    status, out, err = c.explore(["--env", "A=b c", "--workflow-id", "it's", "--", "./used_before_it_is_made"])
    problems = [] if status == 1 and err == "" else [f"status {status}, {err}"]
    last = (out.splitlines() or [""])[-1]
    if not last.startswith("sandglass run --env 'A=b c' --workflow-id 'it'\\''s' --switches "):
        problems.append(f"the last line is {last!r}")
    elif c.again(last) != (1, b"-1\n"):
        problems.append(f"{last!r} ended as {c.again(last)}")
    c.case("the options are in the printed command, as a shell takes them", problems)


def wrong_usage(c):
    rows = {("--runs", "0", "--", "true"): "--runs 0", ("--jobs", "65", "--", "true"): "64 jobs", (): "no command",
            ("--nonsense",): "unknown option", ("--runs", "1000001", "--", "true"): "1000000 runs",
            ("--", "/no/such/program"): "/no/such/program", ("--verify", "--", "true"): "unknown option"}
    problems = []
    for words, said in rows.items():
        status, out, err = c.explore(list(words))
        if status != 2 or out or said not in err:
            problems.append(f"{words}: status {status}, {out!r}, {err!r}")
    c.case("wrong usage is status 2", problems)


def an_interrupt_ends_it(c):
    child = c.start(["explore", "--runs", "100000", "--jobs", "2", "--", "./mutex_everywhere"])
    time.sleep(1.0)
    child.send_signal(signal.SIGINT)
    began = time.monotonic()
    _, err = child.communicate(timeout=30)
    problems = [] if child.returncode == 2 and b"interrupted by signal 2" in err else [f"status {child.returncode}, {err}"]
    if time.monotonic() - began > 5:
        problems.append("it took more than 5 s")
    c.case("an interrupt ends it, with all its runs", problems)


def a_terminal_sees_how_far_it_is(c):
    ours, theirs = os.openpty()
    child = subprocess.Popen(as_mode(c.mode, [c.command, "explore", "--runs", "3", "--", "true"]), cwd=c.home,
                             stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=theirs,
                             env={**ENV, "TMPDIR": c.scratch.tmp})
    os.close(theirs)
    out, _ = child.communicate(timeout=60)
    said = os.read(ours, 4096)
    os.close(ours)
    wanted = b"".join(b"\rseeds: %d of 3\033[K" % n for n in (1, 2, 3)) + b"\r\033[K"
    good = child.returncode == 0 and out.startswith(b"none of 3 seeds") and said == wanted
    c.case("a terminal sees how far it is", [] if good else [f"status {child.returncode}, {out}, {said}"])


def seeds_are_repeatable(c):
    problems = []
    for seed in range(1, 9):
        done = sandglass(c.scratch, ["./philosophers_in_order"], ["--verify", "--sched-seed", str(seed)], mode=c.mode,
                         cwd=c.home)
        if done.status != 0 or not done.report["verify"]["identical"]:
            problems.append(f"seed {seed}: {done.tell()}")
    c.case("--verify finds no difference under eight seeds", problems)


def seeds_are_different(c):
    seen = set()
    for seed in range(1, 9):
        done = sandglass(c.scratch, ["./mutex_everywhere"], ["--sched-seed", str(seed)], mode=c.mode, cwd=c.home)
        seen.add((done.report["outputs"]["decisions"], done.report["contract_digest"]))
        if done.report["contract"]["sched"] != {"seed": seed, "switches": []}:
            seen.clear()
            break
    c.case("eight seeds are eight orders and eight contracts", [] if len(seen) == 8 else [f"{len(seen)} of them"])


def main():
    require_programs()
    adopt_orphans()
    tap, is_long = Tap(), "--long" in sys.argv
    with Scratch() as scratch:
        for mode in MODES:
            c = Cases(tap, scratch, mode)
            for name, (kind, change, is_short) in WRONG.items():
                if is_long or (is_short and mode == ROOT) or name == "abba":
                    a_race_is_found_named_and_repeated(c, name, kind, change)
            for name, is_short in RIGHT.items():
                if is_long or (is_short and mode == MODES[0]):
                    a_right_program_gives_none(c, name)
            if mode == MODES[0]:
                jobs_do_not_change_the_result(c)
                wrong_usage(c)
                an_interrupt_ends_it(c)
                a_terminal_sees_how_far_it_is(c)
            text_ends_with_the_command(c)
            seeds_are_repeatable(c)
            seeds_are_different(c)
    tap.finish()


main()
