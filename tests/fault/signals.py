# SPDX-License-Identifier: Apache-2.0
"""Faults from outside while a run goes on: it is interrupted, timed out, its parts are killed."""
import os
import random
import signal
import time

from kit import case, expect, find_process, finish, h

# Runs for ever whether the clock stands or not; with and without a child.
FOREVER = ("sh", "-c", "sh -c 'while :; do :; done' & while :; do :; done")
CAT = ("sh", "-c", "mkdir d; mkfifo d/f; (exec 3<>d/f; read x <&3) & wait")


def interrupt(place, sig, status, moments):
    """A signal at random moments between the start and a third of a second later."""
    rng = random.Random(f"{sig} {place.mode}")
    problems = []
    for _ in range(moments):
        delay = rng.uniform(0, 0.35)
        p = place.start(*FOREVER)
        time.sleep(delay)
        os.kill(p.pid, sig)
        done = finish(p)
        # Before it has set its handlers, the signal itself ends it: the same to whoever asks.
        if done.status != status:
            problems.append(f"after {delay * 1000:.0f} ms: {done.tell()}")
        problems += [f"after {delay * 1000:.0f} ms, left behind: {one}" for one in h.left_behind()]
        if len(problems) > 3:
            break
    return problems


@case("^C at any moment ends it as 130")
def interrupted(place):
    return interrupt(place, signal.SIGINT, 130, 20)


@case("SIGTERM at any moment ends it as 143")
def terminated(place):
    return interrupt(place, signal.SIGTERM, 143, 6)


@case("SIGHUP ends it as 129")
def hung_up(place):
    return interrupt(place, signal.SIGHUP, 129, 3)


@case("^C ends a guest that ignores it")
def stubborn(place):
    p = place.start("sh", "-c", "trap '' INT TERM; echo ready; while :; do :; done")
    p.stdout.readline()
    for _ in range(4):
        try:
            os.kill(p.pid, signal.SIGINT)
        except OSError:
            pass
        time.sleep(0.2)
    return expect(finish(p, 15), 130, lines=0)


@case("^C that the guest handles is told, since its moment is nobody's choice")
def handled(place):
    p = place.start("sh", "-c", "trap 'exit 3' INT; echo ready; while :; do :; done")
    p.stdout.readline()
    os.kill(p.pid, signal.SIGINT)
    return expect(finish(p, 15), 121, "determinism not enforced: signal 2 came from outside", "the guest exited 3 but")


@case("^C during --verify ends both")
def verify_interrupted(place):
    p = place.start(*FOREVER, options=["--verify"])
    time.sleep(0.4)
    os.kill(p.pid, signal.SIGINT)
    return expect(finish(p), 130, "interrupted")


def kill_part(place, options, who):
    p = place.start(*FOREVER, options=options)
    pid = find_process(p, who)
    if not pid:
        finish(p, 0.1)
        return [f"no process {who} was found"]
    time.sleep(0.1)
    os.kill(pid, signal.SIGKILL)
    return expect(finish(p), 125, "supervisor")


@case("a killed supervisor is 125")
def supervisor_killed(place):
    return kill_part(place, [], "sandglass-supervise")


@case("a killed supervisor without determinism is 125")
def plain_supervisor_killed(place):
    return kill_part(place, ["--no-determinism"], "sandglass-supervise")


@case("a stopped supervisor does not outlast --timeout")
def supervisor_stopped(place):
    p = place.start(*FOREVER, options=["--timeout", "1s"])
    pid = find_process(p, "sandglass-supervise")
    if pid:
        os.kill(pid, signal.SIGSTOP)
    return expect(finish(p), 124, "timed out") if pid else ["no supervisor was found"]


def host_killed(place, options):
    p = place.start(*FOREVER, options=options)
    if not find_process(p, "sh"):
        finish(p, 0.1)
        return ["the guest was not found"]
    p.kill()
    done = finish(p)
    problems = [] if done.status == 137 else [done.tell()]
    problems += [f"left behind: process {one}" for one in h.left_behind()]
    return problems


@case("kill -9 of sandglass leaves nothing")
def killed(place):
    return host_killed(place, [])


@case("kill -9 of sandglass without determinism leaves nothing")
def plain_killed(place):
    return host_killed(place, ["--no-determinism"])


@case("--timeout ends a busy tree as 124")
def timed_out(place):
    done = place.run(*FOREVER, options=["--timeout", "1s"])
    return expect(done, 124, "timed out") + ([f"it took {done.seconds:.1f} s"] if done.seconds > 5 else [])


@case("--timeout ends a group that stopped itself")
def stopped(place):
    done = place.run("sh", "-c", "kill -STOP 0; echo woken", options=["--no-determinism", "--timeout", "1s"])
    return expect(done, 124, "timed out") + ([f"it took {done.seconds:.1f} s"] if done.seconds > 5 else [])


@case("--timeout is host time: an hour of sleep is not counted")
def free_sleep(place):
    return expect(place.run("sleep", "3600", options=["--timeout", "5s"]), 0)


@case("a stopped group that nobody can wake is 123 or 124")
def stopped_deterministic(place):
    return expect(place.run("sh", "-c", "kill -STOP 0; echo woken", options=["--timeout", "1s"]), (123, 124), "sandglass: ")


@case("a deadlock is 123 and says who waits for what")
def deadlock(place):
    done = place.run(*CAT, options=["--timeout", "10s"])
    return expect(done, 123, "deadlock.*wait")


@case("a guest that a signal ends is 128 and that signal")
def guest_killed(place):
    problems = []
    for name, status in (("SEGV", 139), ("TERM", 143), ("ABRT", 134), ("KILL", 137), ("PIPE", 141)):
        problems += expect(place.run("sh", "-c", f"kill -{name} $$"), status)
    return problems


@case("a guest over its memory is 137 and the report says oom")
def out_of_memory(place):
    done = place.run("perl", "-e", "my @a; push @a, 'x' x (1 << 20) while @a < 600; print scalar(@a), qq(\\n)",
                     options=["--memory", "128M", "--timeout", "30s"], report=True)
    if done.status == 0:
        return ["it got 600 MiB"]
    # Where RLIMIT_DATA holds it down, it is told and ends by itself.
    if done.status in (1, 12) and b"ut of memory" in done.err:
        return []
    problems = [] if done.status == 137 else [done.tell()]
    if not ((done.report or {}).get("exit") or {}).get("oom"):
        problems.append(f"the report says {(done.report or {}).get('exit')}")
    return problems
