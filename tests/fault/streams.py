# SPDX-License-Identifier: Apache-2.0
"""Faults of the standard streams: closed, slow, full, huge."""
import os
import subprocess
import time

from kit import case, expect, finish, h

MANY = ("sh", "-c", "i=0; while [ $i -lt 200000 ]; do echo line $i; i=$((i + 1)); done")


@case("output into a pipe that is closed early ends it: | head -1")
def head(place):
    p = place.start("yes")
    first = p.stdout.readline()
    p.stdout.close()
    p.stdout = None
    done = finish(p)
    return ([] if first == b"y\n" else [f"first line {first!r}"]) + expect(done, (141, 121), lines=len(
        done.err.splitlines()) if done.status == 121 else 0)


@case("| head -1 in a shell leaves nothing and ends at once")
def head_shell(place):
    done = h.run(["sh", "-c", '"$0" run -- yes | head -n 1', place.sandglass], mode=place.mode, cwd=place.cwd, timeout=15)
    problems = [] if (done.status, done.out) == (0, b"y\n") else [f"{done.out[:100]!r}, {done.tell()}"]
    return problems


def slow(place, options):
    """A reader that takes its time: all arrives, in order, and the host side stays small."""
    p = place.start(*MANY, options=options)
    got, peak = b"", 0
    while True:
        data = os.read(p.stdout.fileno(), 16384)
        if not data:
            break
        got += data
        if len(got) < 400000:
            time.sleep(0.02)
            peak = max(peak, h.peak_kib(p.pid))
    done = finish(p, 60)
    wanted = b"".join(b"line %d\n" % i for i in range(200000))
    problems = expect(done, 0)
    if got != wanted:
        problems.append(f"{len(got)} bytes arrived, {len(wanted)} were written")
    if peak > 32 << 10:
        problems.append(f"the host side grew to {peak} KiB")
    return problems


@case("a slow reader gets everything")
def slow_reader(place):
    return slow(place, [])


@case("a slow reader gets everything without determinism")
def slow_reader_plain(place):
    return slow(place, ["--no-determinism"])


@case("a slow reader does not change what the guest sees")
def slow_reader_same(place):
    script = "date +%s.%N; head -c 300000 /dev/zero | tr '\\0' x; date +%s.%N; sleep 1; date +%s.%N"
    fast = place.run("sh", "-c", script)
    p = place.start("sh", "-c", script)
    time.sleep(1)
    got = p.stdout.read(100000)
    time.sleep(0.5)
    got += p.stdout.read()
    problems = expect(finish(p), 0)
    return problems + ([] if got == fast.out else ["the output differs"])


@case("output to a full disk is told")
def full(place):
    with open("/dev/full", "wb") as target:
        p = place.start("sh", "-c", "echo text; echo status $? >&2", stdout=target)
        done = finish(p)
    return [] if done.status not in (0, -1) or b"status 1" in done.err else [done.tell()]


@case("closed standard streams are no obstacle")
def closed(place):
    problems = []
    for closing in ("<&-", ">&-", "2>&-", "<&- >&- 2>&-"):
        done = h.run(["sh", "-c", f'"$0" run -- sh -c "exit 5" {closing}', place.sandglass], mode=place.mode, cwd=place.cwd)
        if done.status != 5:
            problems.append(f"{closing}: {done.tell()}")
    return problems


@case("a regular file on standard input is part of the contract")
def stdin_file(place):
    path = place.write("input", "one\ntwo\n")
    with open(path, "rb") as f:
        done = place.run("cat", options=["--verify"], stdin=f, report=True)
    problems = expect(done, 0)
    kind = ((done.report or {}).get("contract") or {}).get("stdin") or {}
    if done.out != b"one\ntwo\n" or not (kind.get("digest") or "").startswith("sha256:"):
        problems.append(f"{done.out!r}, {kind}")
    return problems


@case("a pipe on standard input is external, and is the same in both runs of --verify")
def stdin_pipe(place):
    p = place.start("cat", options=["--verify"], stdin=subprocess.PIPE)
    p.stdin.write(b"piped\n" * 1000)
    p.stdin.close()
    p.stdin = None
    done = finish(p)
    problems = [] if done.out == b"piped\n" * 1000 else [f"{done.out[:60]!r} arrived"]
    if done.status not in (0, 121) or b"verify" in done.err and b"part" in done.err:
        problems.append(done.tell())
    return problems


@case("a pipe on standard input that is read is told as not enforced")
def stdin_external(place):
    p = place.start("cat", stdin=subprocess.PIPE)
    p.stdin.write(b"piped\n")
    p.stdin.close()
    p.stdin = None
    return expect(finish(p), 121, "determinism not enforced: ", "the guest exited 0 but this run is NOT reproducible")


@case("a pipe on standard input that nobody reads is no matter")
def stdin_unread(place):
    p = place.start("echo", "fine", stdin=subprocess.PIPE)
    return expect(finish(p), 0)


@case("16 MiB through standard output are complete")
def much_output(place):
    done = place.run("sh", "-c", "head -c 16777216 /dev/zero", watch=True)
    problems = expect(done, 0)
    if done.out != bytes(16 << 20):
        problems.append(f"{len(done.out)} bytes arrived")
    return problems
