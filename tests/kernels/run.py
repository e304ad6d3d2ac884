#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Runs the determinism core on a kernel of scripts/kernels, in an emulated machine.

run.py KERNEL [--all] [--only PATTERN] [--print] [--write]

KERNEL is a folder of BUILD/kernels, such as arm64-6.1. There `sandglass run --verify` runs those scripts of
tests/determinism that call one of our programs, and with --all every program of tests/guest that is a
case; as root and some as an ordinary user. They are judged as on this machine: exit status, two identical runs, enforced, the expected output; what is
marked native prints the same without the sandbox, on that kernel. A probe asks the kernel for what the
engine would like to use; docs/kernels.md has to say what it found (--write makes it so).
"""
import argparse
import fnmatch
import json
import os
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, HERE)
import vm  # noqa: E402
from vm import h  # noqa: E402
import cases as c  # noqa: E402
import lacks  # noqa: E402
import page  # noqa: E402

# A machine that is emulated, on a host that may be busy: of one command, and of all.
COMMAND_SECONDS, MACHINE_SECONDS = 100, 2200
# What an input's time is; after the epoch, so that it is clamped.
MTIME = 1750000000


def is_program(case):
    """Whether a case needs nothing that a small root has not."""
    if case.family:
        return not case.needs
    if case.folder != c.SCRIPTS or case.ending != ".sh" or case.needs != ["sh"]:
        return False
    with open(case.path, encoding="utf-8") as f:
        body = [line for line in f if line.strip() and not line.startswith("#")]
    return all(line.startswith("./") for line in body)


def files_of(case, kernel):
    """As case.files(), of that architecture's build."""
    own = os.path.join(kernel.build, "tests", "guest", case.family, case.name) if case.family else case.path
    return [own] + [os.path.join(kernel.build, "tests", "guest", "parts", name) for name in case.uses]


def lay(archive, kernel, case, name, uid):
    top = f"root/work/{name}"
    archive.folder(top, owner=uid)
    for path in files_of(case, kernel):
        archive.file(f"{top}/{os.path.basename(path)}", path, owner=uid, mtime=MTIME)
    return "/work/" + name


def is_wanted(case, args):
    return (args.all or not case.family) and fnmatch.fnmatch(case.name, args.only)


def plan(kernel, archive, commands, args):
    """Adds the commands of the chosen cases; (those, those that cannot run there with their reasons)."""
    chosen, without = [], []
    for case in filter(is_program, c.all_cases()):
        why = lacks.why_not(kernel, case, files_of(case, kernel))
        if why:
            without.append((case, why))
        if why or not is_wanted(case, args):
            continue
        chosen.append(case)
        modes = [h.ROOT] + ([h.ROOTLESS] if "rootless" in case.flags else [])
        verify = [] if case.unenforced else ["--verify"]
        for mode in modes:
            uid = 0 if mode == h.ROOT else h.PLAIN_UID
            cwd = lay(archive, kernel, case, f"{case.name}.{mode}", uid)
            words = ["/usr/bin/sandglass", "run", *verify, "--timeout", f"{COMMAND_SECONDS - 10}s", *case.options,
                     "--report", "/tmp/report.json", "--", *case.command()]
            commands[f"{case.name}.{mode}"] = (uid, COMMAND_SECONDS, cwd, words)
        if "native" in case.flags and case.name not in lacks.RACES:
            for number in (1, 2):
                cwd = lay(archive, kernel, case, f"{case.name}.native{number}", 0)
                commands[f"{case.name}.native{number}"] = (0, 30, cwd, case.command())
    return chosen, without


def judge(case, name, console, kernel):
    done = console.done.get(name)
    if done is None:
        return ["the machine ended before it"]
    if done.status == 1000:
        return [f"no end within {COMMAND_SECONDS} s"]
    try:
        done.report = json.loads(done.report_text)
    except ValueError as e:
        return [f"no report ({e}): {done.tell()}"]
    if kernel.arch == "arm64":
        case = lacks.without_x86_lines(case)
    return c.judge_one(case, done) + ([] if done.status == case.exit else [f"printed: {done.out[-600:]!r}"])


def judge_native(case, console):
    sandboxed = console.done.get(f"{case.name}.{h.ROOT}")
    outs = [console.done[name].out for name in (f"{case.name}.native1", f"{case.name}.native2") if name in console.done]
    if sandboxed is None or not outs:
        return ["the machine ended before it"]
    if sandboxed.out in outs:
        return []
    return [c.differs("natively and in the sandbox", outs[0], sandboxed.out)]


def cases_of(tap, chosen, console, kernel):
    for case in chosen:
        for mode in (h.ROOT, h.ROOTLESS):
            if mode == h.ROOT or "rootless" in case.flags:
                tap.case(f"{kernel.name}: {case.name} as {mode}", judge(case, f"{case.name}.{mode}", console, kernel))
        if "native" in case.flags and case.name not in lacks.RACES:
            tap.case(f"{kernel.name}: {case.name} beside a native run", judge_native(case, console))


def judge_counter(kernel, console):
    """From Linux 6.12 arm64's counter is the logical clock; before, every report says that it is not."""
    done = console.done.get("counter")
    if done is None or done.status != 0:
        return [done.tell() if done else "the machine ended before it"]
    report = json.loads(done.report_text)
    said = [entry["reason"] for entry in report["assumptions"]]
    if page.found(console).get("counter") == "no":
        return [] if "aarch64_cntvct" in said else [f"aarch64_cntvct is no assumption: {said}"]
    wanted = b"frequency 1000000000\ncounter 1000000000000\na second later 1001000000000\n"
    return ([] if done.out == wanted else [f"printed: {done.out!r}"]) + \
        (["aarch64_cntvct is an assumption, though the counter traps"] if "aarch64_cntvct" in said else [])


def judge_exclusive(console):
    done = console.done.get("load_exclusive")
    if done is None:
        return ["the machine ended before it"]
    return [] if (done.status, done.out) == (0, b"2 after 1, 4000\n") else [done.tell(), f"printed: {done.out!r}"]


def judge_random(console):
    """Drawn from the process's stream: the same in the run's two halves, and in two runs."""
    both = [console.done.get(name) for name in ("rndr", "rndr2")]
    if None in both:
        return ["the machine ended before it"]
    bad = [done.tell() for done in both if done.status != 0]
    said = [entry["reason"] for done in both if not bad for entry in json.loads(done.report_text)["assumptions"]]
    return bad + (["two runs differ"] if both[0].out != both[1].out else []) + \
        (["hw_random_mapped is an assumption"] if "hw_random_mapped" in said else [])


def add_arm64(kernel, archive, commands):
    """Programs of arm64 alone: a case of tests/guest is for every architecture that builds its family."""
    for name, program, options in (("counter", "cntvct", []), ("load_exclusive", "load_exclusive", ["--verify"]),
                                   ("rndr", "rndr", ["--verify"]), ("rndr2", "rndr", [])):
        archive.file(f"root/work/{name}/{program}", os.path.join(kernel.build, "tests", "guest", "parts", program))
        commands[name] = (0, COMMAND_SECONDS, "/work/" + name,
                          ["/usr/bin/sandglass", "run", *options, "--report", "/tmp/report.json", "--", "./" + program])


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("kernel")
    parser.add_argument("--all", action="store_true", help="the programs of tests/guest/FAMILY too")
    parser.add_argument("--only", default="*")
    parser.add_argument("--print", action="store_true")
    parser.add_argument("--write", action="store_true")
    args = parser.parse_args()
    kernel = vm.Kernel(args.kernel)
    why = kernel.why_not()
    if why and not kernel.broken():
        h.skip_all(f"{kernel.name}: {why}")
    tap = h.Tap()
    if kernel.broken():
        tap.case(f"{kernel.name}: sandglass is built for it", [kernel.broken()])
        tap.finish()
    with tempfile.TemporaryDirectory() as scratch:
        archive = vm.small_root(kernel, scratch)
        commands = {}
        page.add_probe(kernel, archive, commands, scratch)
        if kernel.arch == "arm64":
            add_arm64(kernel, archive, commands)
        chosen, without = plan(kernel, archive, commands, args)
        console = vm.boot(kernel, archive, commands, scratch, MACHINE_SECONDS)
    if args.print:
        for name, done in console.done.items():
            print(f"## {name}: {done.status}, {done.seconds} s\n{done.out.decode(errors='backslashreplace')}", file=sys.stderr)
    tap.case(f"{kernel.name}: boots, and runs its list to the end",
             [] if console.ended else [f"after {console.seconds:.0f} s: {console.tail()}"])
    cases_of(tap, chosen, console, kernel)
    if kernel.arch == "arm64":
        tap.case(f"{kernel.name}: the counter is logical time, or the report says that it is not", judge_counter(kernel, console))
        tap.case(f"{kernel.name}: a wait by an exclusive load is one", judge_exclusive(console))
        tap.case(f"{kernel.name}: RNDR draws what the run gives it", judge_random(console))
    tap.case(f"{kernel.name}: docs/kernels.md says what it has", page.judge(kernel, console, args.write))
    print(f"# {kernel.version()}: init after {console.up or 0:.1f} s, {len(console.done)} commands in {console.seconds:.1f} s")
    for case, reason in without:
        print(f"# not there: {case.name}: {reason}")
    tap.finish()


if __name__ == "__main__":
    main()
