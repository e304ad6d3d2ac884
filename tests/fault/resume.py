#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""A journaled run is killed with all that belongs to it, and resumed: the same bytes go out as if nothing had been.

resume.py [--long]     a few of 200 moments, or all of them; the same ones every time"""
import argparse
import http.server
import os
import random
import re
import shutil
import signal
import subprocess
import sys
import threading
import time

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "lib"))
from harness import ENV, MODES, Scratch, Tap, as_mode, require_programs  # noqa: E402

MOMENTS, FEW = 200, 10
# Random bytes, a background timer, waits for input, sleeps of an hour, writes of more than a pipe takes at once.
PROGRAM = r"""
od -An -N8 -tx1 /dev/urandom
(sleep 7; echo timer; exec sleep 20000) &
n=0
while read x; do
    n=$((n + 1))
    echo "line $n $x"
    echo "note $n" >&2
    sleep 3600
    head -c 9000 /dev/zero | tr '\0' "$n"
    echo
done
wait
date
"""
# An hour's back-off, twice; a connection that broke is made again.
BACK_OFF = r"""
import sys, time, urllib.error, urllib.request
def get(path):
    while True:
        try:
            with urllib.request.urlopen(sys.argv[1] + path) as answer:
                return answer.status, answer.read()
        except urllib.error.HTTPError as e:
            return e.code, b""
        except OSError:
            continue
began = time.time()
for path in ("/fails", "/fails", "/works"):
    code, body = get(path)
    print(path, code, body, round((time.time() - began) / 3600), flush=True)
    if code != 200:
        time.sleep(3600)
"""
LINES = [f"{i} of the input\n".encode() for i in range(3)]
DOUBT = re.compile(rb"died while it wrote (\d+) bytes of standard output: they may be missing")


def ours(pid):
    """pid and what it started of Sandglass's own, the supervisor that is the sandbox's init among it, by what /proc says now."""
    children, names = {}, {}
    for name in os.listdir("/proc"):
        if name.isdigit():
            try:
                with open(f"/proc/{name}/stat", encoding="utf-8", errors="replace") as f:
                    before, after = f.read().rsplit(")", 1)
            except OSError:
                continue
            children.setdefault(int(after.split()[1]), []).append(int(name))
            names[int(name)] = before.split("(", 1)[1]
    found = [pid]
    for one in found:
        found += children.get(one, [])
    return [one for one in found if names.get(one, "").startswith("sandglass")]


def kill_all(pid, backwards):
    """Whoever comes first, the guests die of the supervisor's death."""
    pids = ours(pid)
    for one in reversed(pids) if backwards else pids:
        try:
            os.kill(one, signal.SIGKILL)
        except ProcessLookupError:
            pass


class Place:
    def __init__(self, scratch, mode, name):
        self.scratch, self.mode = scratch, mode
        self.top, self.state = scratch.mkdir(f"{name}-{mode}", mode), scratch.mkdir(f"{name}-{mode}-state", mode)
        self.home = os.path.join(self.top, "home")
        os.mkdir(self.home)
        os.chmod(self.home, 0o755)
        self.journal, self.out, self.err = (os.path.join(self.top, n) for n in ("journal", "out", "err"))
        self.piped = b""

    def remove(self):
        shutil.rmtree(self.top)
        shutil.rmtree(self.state)

    def start(self, words, to_pipe, before=()):
        """Standard output goes behind what a file has, or to a pipe that is read to its end."""
        argv = [*before, *as_mode(self.mode, [self.scratch.join("bin", "sandglass"), *words])]
        with open(self.out, "ab") as out, open(self.err, "ab") as err:
            return subprocess.Popen(argv, cwd=self.home, stdin=subprocess.PIPE, stdout=subprocess.PIPE if to_pipe else out, stderr=err,
                                    env={**ENV, "TMPDIR": self.scratch.tmp, "SANDGLASS_HOME": self.state})

    def feed(self, p, pause):
        try:
            for line in LINES:
                p.stdin.write(line)
                p.stdin.flush()
                time.sleep(pause)
            p.stdin.close()
        except (BrokenPipeError, ValueError):
            pass

    def live(self, p, killed_after, backwards, pause=0.01):
        """Feeds it, reads it, and kills it after so many seconds (None: not); its status."""
        feeder = threading.Thread(target=self.feed, args=(p, pause))
        feeder.start()
        took = []
        reader = threading.Thread(target=lambda: took.append(p.stdout.read())) if p.stdout else None
        if reader:
            reader.start()
        if killed_after is not None:
            try:
                p.wait(killed_after)
            except subprocess.TimeoutExpired:
                kill_all(p.pid, backwards)
        status = p.wait(120)
        # It may have seen the supervisor die before it died itself.
        if status == 125 and killed_after is not None:
            status = -signal.SIGKILL
        feeder.join()
        for stream in (p.stdin,):
            try:
                stream.close()
            except BrokenPipeError:
                pass
        if reader:
            reader.join()
            p.stdout.close()
            self.piped += took[0]
        return status

    def run(self, to_pipe=False, killed_after=None, backwards=False, before=()):
        return self.live(self.start(("run", "--journal", self.journal, "--", "sh", "-c", PROGRAM), to_pipe, before), killed_after, backwards)

    def resume(self, to_pipe=False, killed_after=None, backwards=False):
        return self.live(self.start(("resume", "--input-again", self.journal), to_pipe), killed_after, backwards)

    def said(self, path):
        with open(path, "rb") as f:
            return f.read()

    def notes(self):
        return b"".join(line for line in self.said(self.err).splitlines(True) if line.startswith(b"note"))

    def problems(self, first, to_pipe, status):
        problems = [] if status == 0 else [f"status {status}: {self.said(self.err)[-500:]!r}"]
        out = self.piped if to_pipe else self.said(self.out)
        missing = sum(int(n) for n in DOUBT.findall(self.said(self.err)))
        if missing and to_pipe:
            # Said, and no more than was said: nothing comes twice, and what is there is in its order.
            at = 0
            for byte in out:
                at = first.out.find(bytes([byte]), at) + 1
                if not at:
                    return problems + ["the output is not the uninterrupted run's with something left out"]
            if len(first.out) - len(out) > missing:
                problems.append(f"{len(first.out) - len(out)} bytes are missing, and {missing} were told")
        elif out != first.out:
            problems.append(f"standard output has {len(out)} bytes, not {len(first.out)}: {out[:200]!r}")
        if not missing and self.notes() != first.notes:
            problems.append(f"standard error is {self.notes()!r}")
        return problems


class First:
    """The uninterrupted run."""

    def __init__(self, scratch, mode):
        place = Place(scratch, mode, "first")
        before = time.monotonic()
        self.status = place.run()
        self.seconds = time.monotonic() - before
        self.out, self.notes = place.said(place.out), place.notes()
        self.journal = place.said(place.journal) if os.path.exists(place.journal) else b""
        self.err = place.said(place.err)


def killed_at_random(scratch, mode, first, number):
    rng = random.Random(20231114 + number)
    place, to_pipe, backwards = Place(scratch, mode, f"kill{number}"), rng.random() < 0.3, rng.random() < 0.5
    status = place.run(to_pipe, rng.random() * first.seconds, backwards)
    # A death before the journal has its header leaves nothing to resume, and nothing has gone out.
    while status < 0 and (not os.path.exists(place.journal) or os.path.getsize(place.journal) < 100):
        if place.piped or place.said(place.out):
            return ["something went out before there was a journal"]
        if os.path.exists(place.journal):
            os.unlink(place.journal)
        status = place.run(to_pipe)
    kills = rng.randrange(2)
    for _ in range(kills):
        if status >= 0:
            break
        status = place.resume(to_pipe, rng.random() * first.seconds, backwards)
    if status < 0:
        status = place.resume(to_pipe)
    problems = place.problems(first, to_pipe, status)
    # Once more: it has ended, and says nothing.
    if number % 8:
        place.remove()
        return [f"moment {number}{' to a pipe' if to_pipe else ''}: {p}" for p in problems]
    before = (place.said(place.out), place.piped, place.notes())
    status = place.resume(to_pipe)
    if status != 0 or (place.said(place.out), place.piped, place.notes()) != before:
        problems.append(f"resumed after its end: status {status}, {place.said(place.err)[-300:]!r}")
    place.remove()
    return [f"moment {number}{' to a pipe' if to_pipe else ''}: {p}" for p in problems]


def killed_at_a_write(scratch, mode, first, number, to_pipe):
    """The process dies as it enters its number-th write; None: it makes fewer."""
    place = Place(scratch, mode, f"write{number}-{to_pipe}")
    trace = os.path.join(place.top, "trace")
    open(trace, "wb").close()
    os.chmod(trace, 0o666)
    status = place.run(to_pipe, before=("strace", "-qq", "-o", trace, "-e", "trace=write", "-e", f"inject=write:signal=KILL:when={number}"))
    if status == 0:
        return None
    resumable = os.path.exists(place.journal) and os.path.getsize(place.journal) > 100
    problems = place.problems(first, to_pipe, place.resume(to_pipe) if resumable else (os.unlink(place.journal), place.run(to_pipe))[1])
    place.remove()
    return [f"write {number}{' to a pipe' if to_pipe else ''}: {p}" for p in problems]


def at_writes(scratch, mode, first, is_long):
    problems, count = [], 0
    for number in range(2, 1000, 7) if is_long else range(2, 180, 29):
        for to_pipe in (False, True):
            found = killed_at_a_write(scratch, mode, first, number, to_pipe)
            if found is None:
                return problems if count >= 4 else problems + [f"only {count} writes"], count
            problems += found
            count += 1
    return problems, count


class Answers(http.server.BaseHTTPRequestHandler):
    def do_GET(self):
        time.sleep(0.03)
        self.send_response(200 if self.path == "/works" else 503)
        self.end_headers()
        self.wfile.write(b"done\n" if self.path == "/works" else b"")

    def log_message(self, format, *args):
        pass


class Server(http.server.ThreadingHTTPServer):
    def handle_error(self, request, client_address):
        """Its client was killed."""


def over_http(scratch, mode, is_long):
    """A workflow that waits for hours for a server: killed while it asks, resumed, and once more with the server gone."""
    with Server(("127.0.0.1", 0), Answers) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        port = server.server_address[1]
        words = ["--network", f"allow=127.0.0.1:{port}", "--", "python3", "-c", BACK_OFF, f"http://127.0.0.1:{port}"]

        def live(place, what, killed_after=None):
            return place.live(place.start(what, False), killed_after, False, pause=0)
        first, places, problems = Place(scratch, mode, "http"), [], []
        before = time.monotonic()
        status = live(first, ("run", "--journal", first.journal, *words))
        seconds, said = time.monotonic() - before, first.said(first.out)
        if status != 0 or b"/works 200 b'done\\n' 2\n" not in said:
            return [f"status {status}, {said!r}, {first.said(first.err)!r}"]
        for i in range(30 if is_long else 3):
            place = Place(scratch, mode, f"http{i}")
            status = live(place, ("run", "--journal", place.journal, *words), seconds * random.Random(i).uniform(0.2, 1))
            while status < 0 and os.path.exists(place.journal) and os.path.getsize(place.journal) > 100:
                status = live(place, ("resume", place.journal))
            places.append(place)
            if status >= 0 and (status != 0 or place.said(place.out) != said):
                problems.append(f"kill {i}: status {status}, {place.said(place.out)!r}, {place.said(place.err)!r}")
        server.shutdown()
    for place in [first] + places[:3]:
        status = live(place, ("replay", place.journal)) if os.path.exists(place.journal) and os.path.getsize(place.journal) > 100 else None
        if status is not None and (status != 0 or place.said(place.out) != said * 2):
            problems.append(f"without the server: status {status}, {place.said(place.out)!r}, {place.said(place.err)!r}")
    return problems


def torn(scratch, mode, first):
    """The last record of a killed run's journal, cut at every one of some bytes: nothing is lost or said twice."""
    place = Place(scratch, mode, "torn")
    p = place.start(("run", "--journal", place.journal, "--", "sh", "-c", PROGRAM), False)
    feeder = threading.Thread(target=place.feed, args=(p, 0.1))
    feeder.start()
    while not place.said(place.out).count(b"\n"):
        time.sleep(0.005)
    kill_all(p.pid, False)
    p.wait(120)
    feeder.join()
    journal, out, err = place.said(place.journal), place.said(place.out), place.said(place.err)
    problems = []
    for less in (1, 31, 32, 57):
        for path, data in ((place.journal, journal[:-less]), (place.out, out), (place.err, err)):
            with open(path, "wb") as f:
                f.write(data)
        problems += [f"{less} bytes less: {p}" for p in place.problems(first, False, place.resume())]
    return problems


def refused(scratch, mode, first):
    place, problems = Place(scratch, mode, "refused"), []

    def expect(words, status, text):
        p = place.start(words, True)
        out, _ = p.communicate(b"x\n")
        if p.returncode != status or out or text not in place.said(place.err):
            problems.append(f"{words}: status {p.returncode}, {out!r}, {place.said(place.err)[-300:]!r}")
    with open(place.journal, "wb") as f:
        f.write(first.journal)
    os.chmod(place.journal, 0o666)
    expect(("run", "--journal", place.journal, "--", "true"), 125, b"exists: 'sandglass resume' goes on with it")
    # A length, a kind, a checksum, a payload in the middle; and a length that reaches over the end.
    start = 24 + int.from_bytes(first.journal[16:20], "little")
    size = int.from_bytes(first.journal[start:start + 4], "little")
    for at in (0, 2, 3, 5, 30, 32, 32 + size + 3):
        with open(place.journal, "wb") as f:
            f.write(first.journal[:start + at] + bytes([first.journal[start + at] ^ 1]) + first.journal[start + at + 1:])
        expect(("resume", place.journal), 125, b"damaged at byte")
        os.unlink(place.err)
    tape = os.path.join(place.top, "tape")
    place.start(("run", "--record", tape, "--", "cat"), True).communicate(b"x\n")
    expect(("resume", tape), 125, b"it is a tape and no journal")
    expect(("resume", "/no/such"), 125, b"No such file")
    expect(("run", "--journal", tape + "2", "--verify", "--", "true"), 125, b"leave --verify out")
    expect(("run", "--journal", tape + "2", "--bind", place.top, "--", "true"), 125, b"would write to")
    # Two at once: the second waits for the first, which ends.
    os.unlink(place.journal)
    p = place.start(("run", "--journal", place.journal, "--", "cat"), True)
    while not os.path.exists(place.journal) or os.path.getsize(place.journal) < 100:
        time.sleep(0.01)
    time.sleep(0.2)
    second = place.start(("resume", place.journal), True)
    p.communicate(b"said once\n")
    out, _ = second.communicate(b"")
    if second.returncode != 0 or out:
        problems.append(f"while it ran: status {second.returncode}, {out!r}")
    return problems


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--long", action="store_true")
    args = parser.parse_args()
    require_programs()
    tap = Tap()
    with Scratch() as scratch:
        for mode in MODES if args.long else MODES[:1]:
            first = First(scratch, mode)
            problems = [] if first.status == 0 and b"line 3 2 of the input\n" in first.out else [f"{first.status} {first.out[:300]!r} {first.err!r}"]
            tap.case(f"a journaled run says what it says ({mode})", problems)
            if problems:
                continue
            count = MOMENTS if args.long and mode == MODES[0] else FEW
            problems = [p for i in range(count) for p in killed_at_random(scratch, mode, first, i)]
            tap.case(f"killed at {count} moments and resumed, once or more ({mode})", problems)
            problems, count = at_writes(scratch, mode, first, args.long)
            tap.case(f"killed before one of {count} writes and resumed ({mode})", problems)
            tap.case(f"connections that a death broke are made again ({mode})", over_http(scratch, mode, args.long))
            problems = torn(scratch, mode, first)
            tap.case(f"a record that was not written whole is written again ({mode})", problems)
            problems = refused(scratch, mode, first)
            tap.case(f"what cannot be resumed is refused ({mode})", problems)
    tap.finish()


main()
