# SPDX-License-Identifier: Apache-2.0
"""What cannot be held is said, word for word, and the exit status tells it."""
import ctypes
import errno
import os
import platform
import struct

from kit import case, expect, h, messages

SPIN = ("sandglass: determinism not enforced: the guest has read the clock 20000 times in a row with nothing in between. "
        "Workflow time only advances when an event is applied; use --clock-step-ns for a program that polls the clock")
REASONS = "sandglass: reasons: clock_spin ('sandglass explain CODE' says what to do)"
LAST = "sandglass: the guest exited 0 but this run is NOT reproducible; see the messages above"


@case("a clock spin says the original's words, once, and is 121")
def clock_spin(place):
    done = place.run(place.guest("spin"), "100000", report=True)
    said = messages(done.err)
    problems = [] if done.status == 121 else [done.tell()]
    if said != [SPIN, REASONS, LAST]:
        problems.append(f"said {said}")
    report = done.report or {}
    if report.get("enforced") is not False or [r.get("reason") for r in report.get("not_enforced", [])] != ["clock_spin"]:
        problems.append(f"the report says {report.get('enforced')}, {report.get('not_enforced')}")
    return problems


@case("fewer reads than that are fine")
def few_reads(place):
    return expect(place.run(place.guest("spin"), "19000"), 0)


@case("--clock-step-ns makes reads tick, says so, and stays enforced")
def clock_step(place):
    done = place.run(place.guest("spin"), "100000", options=["--clock-step-ns", "1000", "--verify"], report=True)
    problems = expect(done, 0, "no longer matches production")
    if done.out != b"1000.100000000\n" and not done.out.startswith(b"1000.1"):
        problems.append(f"the clock says {done.out!r}")
    if (done.report or {}).get("enforced") is not True:
        problems.append("the report says that it is not enforced")
    return problems


@case("the exit status of a guest that failed is kept in the message")
def failing_guest(place):
    place.guest("spin")
    done = place.run("sh", "-c", "./spin 100000; exit 9")
    return expect(done, 121, "read the clock 20000", "the guest exited 9 but this run is NOT reproducible")


@case("a shared directory that is written to is told")
def shared(place):
    path = os.path.join(place.top, "shared")
    os.mkdir(path)
    place.scratch.give(place.top, place.mode)
    done = place.run("sh", "-c", f"echo x >>{path}/log", options=["--bind", path], report=True)
    reasons = [r.get("reason") for r in (done.report or {}).get("not_enforced", [])]
    return ([] if done.status == 121 else [done.tell()]) + ([] if reasons == ["shared_with_outside"] else [f"reasons {reasons}"])


@case("two runs that differ are 122, with the first difference")
def differing(place):
    path = os.path.join(place.top, "shared")
    os.mkdir(path)
    place.scratch.give(place.top, place.mode)
    done = place.run("sh", "-c", f"echo x >>{path}/log; wc -l <{path}/log", options=["--bind", path, "--verify"], report=True)
    verify = (done.report or {}).get("verify") or {}
    problems = [] if done.status == 122 else [done.tell()]
    if verify.get("identical") is not False or not verify.get("first_difference"):
        problems.append(f"verify: {verify}")
    if not any("verify" in line for line in messages(done.err)):
        problems.append(f"said {messages(done.err)}")
    return problems


@case("--timeout outranks what is not enforced: 124")
def precedence(place):
    place.guest("spin")
    return expect(place.run("sh", "-c", "./spin 100000; while :; do :; done", options=["--timeout", "2s"]), 124,
                  "read the clock 20000", "timed out")


def told_of(place, reason, *argv):
    done = place.run(*argv, report=True)
    report = done.report or {}
    told = [a["detail"] for a in report.get("assumptions", []) if a["reason"] == reason]
    return ([] if done.status == 0 and report.get("enforced") is True else [done.tell()]), told


@case("that code made at run time has no RDRAND is an assumption, told of who makes some")
def made_code(place):
    script = "import mmap; mmap.mmap(-1, 4096, flags=mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS, prot=mmap.PROT_READ | %s)"
    problems, told = told_of(place, "hw_random_mapped", "python3", "-c", script % "mmap.PROT_WRITE | mmap.PROT_EXEC")
    if not any("makes at run time" in detail for detail in told):
        problems.append(f"told: {told}")
    more, told = told_of(place, "hw_random_mapped", "python3", "-c", script % "mmap.PROT_WRITE")
    return problems + more + [f"told: {detail}" for detail in told if "makes at run time" in detail]


@case("that a limit on CPU time is never reached is told, and none is set without a word")
def cpu_limit(place):
    problems, told = told_of(place, "timer_waits", "sh", "-c", "ulimit -t 5; ulimit -t")
    if not any("never reached" in detail for detail in told):
        problems.append(f"told: {told}")
    more, told = told_of(place, "timer_waits", "sh", "-c", "ulimit -t")
    return problems + more + [f"told: {detail}" for detail in told]


@case("without determinism the clock is the host's")
def plain(place):
    done = place.run("date", "+%s", options=["--no-determinism"], report=True)
    problems = expect(done, 0)
    if done.out.strip() == b"1700000000":
        problems.append("the clock is pinned")
    if (done.report or {}).get("enforced") is True:
        problems.append("the report calls it enforced")
    return problems


@case("what a rootless host cannot bound is in the report", modes=[h.ROOTLESS])
def degraded(place):
    done = place.run("true", report=True)
    told = {a.get("detail", "").split(":")[0] for a in (done.report or {}).get("assumptions", [])
            if a.get("reason") == "limit_degraded"}
    # A host that hands control groups down to its users has nothing to tell.
    wanted = set() if h.cgroups_for(place.mode) else {"memory", "pids", "cpu"}
    return [] if done.status == 0 and told == wanted else [f"{told} instead of {wanted}, {done.tell()}"]


@case("another workflow id is another stream, the same id the same one")
def workflow_ids(place):
    runs = [place.run("head", "-c", "16", "/dev/urandom", options=["--workflow-id", i]).out for i in ("a", "b", "a")]
    return [] if runs[0] == runs[2] != runs[1] and len(runs[0]) == 16 else [f"{runs}"]


@case("one process's draws do not move another's")
def independent_draws(place):
    outs = []
    for size in (1, 100000):
        script = f"head -c {size} /dev/urandom >/dev/null; head -c 16 /dev/urandom; cat /proc/sys/kernel/random/uuid"
        outs.append(place.run("sh", "-c", script).out)
    return [] if outs[0] == outs[1] and len(outs[0]) == 53 else [f"{outs}"]


def refuse_personality():
    """In the child: personality(2) answers EPERM from now on, as in Docker's default profile."""
    number = {"x86_64": 135, "aarch64": 92}[platform.machine()]
    rows = [(0x20, 0, 0, 0), (0x15, 0, 1, number), (0x06, 0, 0, 0x00050000 | errno.EPERM), (0x06, 0, 0, 0x7fff0000)]
    code = ctypes.create_string_buffer(b"".join(struct.pack("HBBI", *row) for row in rows))
    program = struct.pack("HxxxxxxQ", len(rows), ctypes.addressof(code))
    libc = ctypes.CDLL(None, use_errno=True)
    if libc.prctl(38, 1, 0, 0, 0) or libc.prctl(22, 2, ctypes.create_string_buffer(program), 0, 0):
        os._exit(99)


@case("where personality(2) is refused, addresses are random: 121 aslr_on")
def random_addresses(place):
    done = place.run("echo", "hello", report=True, preexec_fn=refuse_personality)
    problems = expect(done, 121, "not enforced: personality.2. is refused, so addresses are random", "the guest exited 0 but")
    reasons = [r.get("reason") for r in (done.report or {}).get("not_enforced", [])]
    return problems + ([] if reasons == ["aslr_on"] and done.out == b"hello\n" else [f"reasons {reasons}, {done.out}"])


@case("that the host's user watches too much is told", needs_root=True)
def inotify_watches(place):
    place.write("cwd/watch.py", "import ctypes, os\nlibc = ctypes.CDLL(None)\nfd = libc.inotify_init()\nfor i in range(20):\n"
                "    os.mkdir(f'd{i}')\n    libc.inotify_add_watch(fd, f'd{i}'.encode(), 0x100)\n")
    # A limit of a user namespace above is one that the guest can neither see nor reach.
    done = h.run(["unshare", "-Ur", "sh", "-c", f"echo 5 >/proc/sys/user/max_inotify_watches; exec {place.sandglass} run -- python3 watch.py"],
                 cwd=place.cwd, env={"TMPDIR": place.scratch.tmp})
    return expect(done, 121, "watches too much", "NOT reproducible")


@case("a directory of the input is renamed by copying, as between file systems")
def renamed_input(place):
    os.makedirs(os.path.join(place.cwd, "given", "deep"))
    place.write("cwd/given/deep/file", "kept\n")
    done = place.run("sh", "-c", "python3 -c 'import os; os.rename(\"given\", \"other\")' 2>&1 | grep -o 'Errno [0-9]*'; "
                     "mv given other; mv other other2; cat other2/deep/file; ls; mkdir own; mv own own2; ls -d own2")
    problems = expect(done, 0)
    if done.out != f"Errno {errno.EXDEV}\nkept\nother2\nown2\n".encode():
        problems.append(f"it printed {done.out!r}")
    return problems


@case("what a process inherits from whoever started the run is hidden")
def inherited(place):
    done = h.run(["sh", "-c", "echo 0x7 >/proc/self/coredump_filter; echo 300 >/proc/self/oom_score_adj; "
                  f"exec {place.sandglass} run -- sh -c 'cd /proc/self; cat oom_score oom_score_adj oom_adj coredump_filter'"],
                 mode=place.mode, cwd=place.cwd, env={"TMPDIR": place.scratch.tmp})
    problems = expect(done, 0)
    if done.out != b"0\n0\n0\n00000033\n":
        problems.append(f"it shows {done.out!r}")
    return problems
