# SPDX-License-Identifier: Apache-2.0
"""Programs that ask for too much, a host that is busy, and killers: a clear answer each time, never a hang."""
import os
import random
import shutil
import signal
import subprocess
import sys
import time

from kit import case, expect, find_process, finish, h

PEAK_KIB = 64 * 1024
PROGRAMS = os.path.join(h.BUILD, "tests", "guest")
BUSY = "import os\nwhile os.getppid() == {}: pass"


def lay(place, family, name):
    shutil.copy(os.path.join(PROGRAMS, family, name), place.cwd)
    return f"./{name}"


def modest(family, name, out, *words, options=()):
    """A case: it ends as it should, and Sandglass itself stays small."""
    def f(place):
        done = place.run(lay(place, family, name), *words, options=["--timeout", "150s", *options], watch=True, timeout=180)
        problems = [] if done.status == 0 and done.out.decode() == out else [done.tell(), f"it printed {done.out[:200]}"]
        if not 0 < done.peak_kib <= PEAK_KIB:
            problems.append(f"Sandglass itself had {done.peak_kib} KiB")
        return problems
    case(f"{name}: Sandglass itself stays below 64 MiB", modes=[h.MODES[0]])(f)


modest("robust", "ten_thousand_processes", "10000 0\n")
modest("robust", "four_thousand_descriptors", "4096 refused 24\nready 300\n")
modest("robust", "pipe_of_64_mib", "67108864 ok\n")
modest("robust", "a_thousand_threads", "1000\n", options=["--pids", "2000"])
modest("robust", "zombies_nobody_collects", "400 children are there\n")


@case("half a million lines of output, and their decisions, do not make it grow", modes=[h.MODES[0]])
def much_output(place):
    done = place.run("sh", "-c", "seq 500000; seq 500000 >&2", options=["--verify"], watch=True)
    problems = [] if done.status == 0 and done.out.count(b"\n") == 500000 else [done.tell()]
    return problems + ([] if 0 < done.peak_kib <= PEAK_KIB else [f"Sandglass itself had {done.peak_kib} KiB"])


class Load:
    """A busy loop on every CPU, and one more."""

    def __enter__(self):
        self.loops = [subprocess.Popen([sys.executable, "-c", BUSY.format(os.getpid())])
                      for _ in range(os.cpu_count() + 1)]

    def __exit__(self, *_):
        for loop in self.loops:
            loop.kill()
            loop.wait()


@case("on a host whose CPUs are all busy, --verify finds no difference")
def busy_host(place):
    problems = []
    with Load():
        for argv, options in (([lay(place, "explore", "mutex_everywhere")], ["--sched-seed", "4"]),
                              ([lay(place, "robust", "killed_at_random")], []),
                              (["sh", "-c", "for i in 1 2 3; do (sleep $i; date) & done; wait"], [])):
            done = place.run(*argv, options=["--verify", "--timeout", "100s", *options], report=True, timeout=120)
            verify = (done.report or {}).get("verify") or {}
            if done.status != 0 or verify.get("identical") is not True:
                problems.append(f"{argv[0]}: {done.tell()}, {verify}")
    return problems


@case("a guest that somebody outside kills at any moment: 121 and a word, at once, and nothing is left")
def killed_guest(place):
    problems, draw = [], random.Random(7)
    for _ in range(8):
        run = place.start("sh", "-c", "while :; do sleep 1; echo x | cat >/dev/null; done")
        pid = find_process(run, "sh")
        time.sleep(draw.random() * 0.1)
        if not pid:
            problems.append("the guest did not start")
        else:
            os.kill(pid, signal.SIGKILL)
        done = finish(run)
        # 125: it had not become the guest yet.
        if done.status == 125:
            problems += expect(done, 125 if pid else -1, lines=1)
        else:
            problems += expect(done, 121, "killed by signal 9, which nothing inside sent", "the guest exited 137 but")
    return problems


@case("a supervisor that somebody kills at any moment: 125 and a word")
def killed_supervisor(place):
    problems, draw = [], random.Random(8)
    for _ in range(8):
        run = place.start("sh", "-c", "while :; do sleep 1; echo x | cat >/dev/null; done")
        pid = find_process(run, "sh")
        time.sleep(draw.random() * 0.1)
        supervisor = parent_of(pid)
        if supervisor:
            os.kill(supervisor, signal.SIGKILL)
        problems += expect(finish(run), 125, "the supervisor died of signal 9")
    return problems


def parent_of(pid):
    try:
        with open(f"/proc/{pid}/stat", encoding="utf-8", errors="replace") as f:
            return int(f.read().rpartition(")")[2].split()[1])
    except (OSError, ValueError):
        return 0
