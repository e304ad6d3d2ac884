#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Output that nobody takes for a while, and input that comes from outside."""
import json
import os
import subprocess
import sys
import time

sys.path.insert(0, os.path.join(os.path.dirname(os.path.dirname(os.path.abspath(__file__))), "lib"))
import harness as h  # noqa: E402

# Far more than what pipes and the program itself may hold, as blocking and as non-blocking writes.
WRITERS = {
    "blocking": "import os\nfor i in range(200): assert os.write(1, b'x' * 100000) == 100000",
    "non-blocking by fcntl":
        "import os, fcntl\nfcntl.fcntl(1, fcntl.F_SETFL, os.O_NONBLOCK | os.O_WRONLY)\n"
        "for i in range(200): assert os.write(1, b'x' * 100000) == 100000",
    "non-blocking by ioctl":
        "import os\nos.set_blocking(1, False)\nfor i in range(200): assert os.write(1, b'x' * 100000) == 100000",
    "non-blocking and polled":
        "import os, select\nos.set_blocking(1, False)\np = select.poll()\np.register(1, select.POLLOUT)\n"
        "for i in range(200): assert p.poll(0) == [(1, select.POLLOUT)] and os.write(1, b'x' * 100000) == 100000",
}


def report_of(path):
    with open(path, encoding="utf-8") as f:
        return json.load(f)


def slow_reader(directory, text):
    """The output is left alone for a second, then read."""
    report = os.path.join(directory, "report")
    with subprocess.Popen([h.SANDGLASS, "run", "--report", report, "--", "python3", "-c", text], cwd=directory,
                          stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE, env=h.ENV) as p:
        time.sleep(1)
        out, err = p.communicate(timeout=60)
    problems = []
    if p.returncode != 0 or len(out) != 20000000:
        problems.append(f"status {p.returncode}, {len(out)} bytes, {err!r}")
    elif report_of(report)["enforced"] is not True:
        problems.append(f"not enforced: {report_of(report)['not_enforced']}")
    return problems


def external(directory, argv, typed, status, out, home):
    """Input from a pipe: passed, recorded when it was used, and told where it cannot be."""
    report = os.path.join(directory, "report")
    p = subprocess.run([h.SANDGLASS, "run", "--report", report, "--", *argv], cwd=directory, input=typed,
                       capture_output=True, timeout=60, env={**h.ENV, "SANDGLASS_HOME": home}, check=False)
    problems = []
    if p.returncode != status or p.stdout != out:
        problems.append(f"status {p.returncode}, {p.stdout!r}, {p.stderr!r}")
    reasons = {hole["reason"] for hole in report_of(report)["not_enforced"]}
    if reasons != ({"external_input"} if status == 121 else set()):
        problems.append(f"reasons: {reasons}")
    return problems


def main():
    h.require_programs()
    tap = h.Tap()
    with h.Scratch() as scratch:
        directory = scratch.mkdir("work", h.MODES[0])
        for name, text in WRITERS.items():
            tap.case(f"output that is not read for a second, {name}", slow_reader(directory, text))
        state = scratch.mkdir("state", h.MODES[0])
        polls = ["python3", "-c", "import select; print(select.select([0], [], [])[0])"]
        tap.case("standard input that is read is recorded", external(directory, ["cat"], b"typed\n", 0, b"typed\n", state))
        tap.case("standard input that is polled is recorded", external(directory, polls, b"x", 0, b"[0]\n", state))
        tap.case("standard input that cannot be recorded is told",
                 external(directory, ["cat"], b"typed\n", 121, b"typed\n", "/proc/none"))
        tap.case("standard input that is left alone is not", external(directory, ["echo", "x"], b"typed\n", 0, b"x\n", "/proc/none"))
        tap.case("a pipe between guests is not external",
                 external(directory, ["sh", "-c", "echo inside | cat"], b"typed\n", 0, b"inside\n", "/proc/none"))
    tap.finish()


main()
