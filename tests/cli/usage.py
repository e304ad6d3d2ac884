# SPDX-License-Identifier: Apache-2.0
"""Wrong command lines get one clear line and the right status; help and completion come from the tables."""
import json
import os
import subprocess
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "lib"))
from harness import SANDGLASS, Tap, require_programs, run  # noqa: E402

# name, arguments, status, what standard error has to hold
WRONG = [
    ("no command", [], 2, "no command"),
    ("an unknown command names the nearest", ["rnu"], 2, "did you mean 'run'?"),
    ("an unknown group names the nearest", ["sesion", "create"], 2, "did you mean 'session'?"),
    ("an unknown verb names the nearest", ["session", "exce"], 2, "did you mean 'session exec'?"),
    ("an unknown verb far from all", ["session", "xyzzyxyzzy"], 2, "'sandglass help session' lists them"),
    ("a group without its verb", ["cas"], 2, "needs a verb"),
    ("an unknown command far from all", ["xyzzyxyzzy"], 2, "'sandglass help' lists them"),
    ("an unknown option names the nearest", ["run", "--verfy", "true"], 125, "did you mean '--verify'?"),
    ("an unknown option far from all", ["run", "--xyzzyxyzzy", "true"], 125, "see 'sandglass run --help'"),
    ("a short option", ["run", "-v", "true"], 125, "options are whole words"),
    ("an option without its value", ["run", "--epoch"], 125, "--epoch needs a value"),
    ("a flag with a value", ["run", "--verify=yes", "true"], 125, "takes no value"),
    ("run without a command", ["run"], 125, "no command to run"),
    ("a wrong epoch", ["run", "--epoch", "tomorrow", "true"], 125, "RFC 3339"),
    ("a wrong size", ["run", "--memory", "lots", "true"], 125, "512M"),
    ("a size of nothing", ["run", "--memory", "0", "true"], 125, "more than zero"),
    ("a wrong duration", ["run", "--timeout", "5 minutes", "true"], 125, "unknown unit"),
    ("a wrong number", ["run", "--pids", "-3", "true"], 125, "not a whole number"),
    ("a network that is not there", ["run", "--network", "all", "true"], 125, "allow=HOST:PORT"),
    ("a bind of nothing", ["run", "--bind-ro", "/no/such/thing", "true"], 125, "/no/such/thing"),
    ("a root that is no directory", ["run", "--rootfs", "/etc/passwd", "true"], 125, "not a directory"),
    ("an environment without a value", ["run", "--env", "HOME", "true"], 125, "NAME=VALUE"),
    ("an output directory that is full", ["run", "--out", "/etc", "true"], 125, "not empty"),
    ("an unknown reason", ["explain", "clockspin"], 2, "did you mean 'clock_spin'?"),
    ("a reason in capitals", ["explain", "ASLR"], 2, "did you mean 'aslr_on'?"),
    ("a shell without completion", ["completion", "tcsh"], 2, "bash, zsh and fish"),
    ("an argument too many", ["version", "x"], 2, "no arguments"),
    ("help about nothing", ["help", "nothing"], 2, "no command 'nothing'"),
    ("terminal control in an option", ["run", "--\x1b[31m", "true"], 125, "\\x1b[31m"),
]


def check(done, status, text):
    problems = []
    err = done.err.decode("utf-8", "backslashreplace")
    lines = err.splitlines()
    if done.status != status:
        problems.append(f"status {done.status}, not {status}")
    if text not in err or len(lines) != 1 or not lines[0].startswith("sandglass: "):
        problems.append(f"not one line with '{text}': {err!r}")
    if done.out:
        problems.append(f"standard output: {done.out!r}")
    return problems


def main():
    require_programs()
    tap = Tap()
    home = os.path.dirname(os.path.abspath(__file__))
    for name, argv, status, text in WRONG:
        tap.case(name, check(run([SANDGLASS, *argv], cwd=home), status, text))
    tap.case("the root directory is not copied", check(run([SANDGLASS, "run", "true"], cwd="/"), 125, "--workdir"))

    done = run([SANDGLASS, "help", "--json"], cwd=home)
    commands = json.loads(done.out)
    tap.case("help lists commands and options as JSON",
             [] if {"run", "explain", "version", "help", "completion"} <= {c["name"] for c in commands} else [done.out])
    done = run([SANDGLASS, "help", "cas", "gc", "--json"], cwd=home)
    tap.case("help of one command is that one as JSON",
             [] if [c["name"] for c in json.loads(done.out)] == ["cas gc"] else [done.out])
    done = run([SANDGLASS, "completion", "bash", "--json"], cwd=home)
    tap.case("completion takes --json at its end", [] if "_sandglass" in json.loads(done.out)["script"] else [done.out])
    for command in commands:
        done = run([SANDGLASS, *command["name"].split(), "--help"], cwd=home)
        text = done.out.decode()
        missing = [o for o in [x["name"] for x in command["options"]] + ["json", "help"] if f"--{o}" not in text]
        long = [line for line in text.splitlines() if len(line) > 110]
        tap.case(f"{command['name']} --help tells every option",
                 [f"status {done.status}, missing {missing}, too long {long}"] if done.status or missing or long else [])

    done = run([SANDGLASS, "explain", "--json", "external_input"], cwd=home)
    one = json.loads(done.out)
    tap.case("explain tells why and what to do", [] if one["fatal"] and one["why"] and one["remedy"] else [done.out])
    done = run([SANDGLASS, "explain", "--json"], cwd=home)
    for one in json.loads(done.out):
        told = run([SANDGLASS, "explain", one["reason"]], cwd=home).out.decode()
        tap.case(f"explain {one['reason']}: why, what to do, an example",
                 [] if all(one[key] and one[key] in told for key in ("why", "remedy", "example")) else [told, one])

    with open("/dev/full", "wb") as full:
        code = subprocess.run([SANDGLASS, "help"], stdout=full, stderr=subprocess.PIPE, check=False)
    tap.case("output that cannot be written is a failure", [] if code.returncode == 1 and code.stderr else [code])
    tap.finish()


main()
