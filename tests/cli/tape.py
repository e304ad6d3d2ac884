# SPDX-License-Identifier: Apache-2.0
"""Recording standard input and replaying it without its source: the same bytes each time, or where they part."""
import json
import os
import signal
import struct
import subprocess
import sys
import time

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "lib"))
from harness import ENV, MODES, Scratch, Tap, as_mode, require_programs  # noqa: E402

SELECTS = """
import select, sys, time
while True:
    ready = select.select([0], [], [], 0.25)[0]
    print(time.time(), bool(ready), flush=True)
    if ready:
        line = sys.stdin.readline()
        print(repr(line))
        if not line:
            break
"""
POLLS = """
import os, time
os.set_blocking(0, False)
while True:
    try:
        some = os.read(0, 100)
    except BlockingIOError:
        continue
    print(time.time(), some)
    if not some:
        break
"""
EPOLLS = """
import os, select, time
e = select.epoll()
e.register(0, select.EPOLLIN | select.EPOLLET)
while True:
    e.poll()
    some = os.read(0, 100000)
    print(time.time(), len(some))
    if not some:
        break
"""
THREADS = """
import sys, threading, time
def tick(name):
    for i in range(4):
        time.sleep(0.2)
        print(name, i, time.time(), flush=True)
threads = [threading.Thread(target=tick, args=(name,)) for name in "ab"]
for t in threads: t.start()
for line in sys.stdin:
    print(line.strip(), time.time(), flush=True)
for t in threads: t.join()
"""
# name: (command, what comes and when, a text that the output has)
RUNS = {
    "a shell that reads lines": (["sh", "-c", "read a; date; read b; echo $a-$b; cat"], ["one\n", 0.3, "two\nthree\n"], b"one-two\nthree\n"),
    "a read with a time-out": (["bash", "-c", "read -t 0.2 x; echo $? $x; read x; echo $? $x; date +%N"], [1, "late\n"], b"142\n0 late\n"),
    "select with a time-out": (["python3", "-c", SELECTS], ["a\n", 0.5, "b\n"], b"'b\\n'"),
    "a loop of reads that do not wait": (["python3", "-c", POLLS], ["a\n", 0.2, "b\n"], b" b''\n"),
    "epoll that tells edges": (["python3", "-c", EPOLLS], ["a" * 3000, 0.2, "b" * 100000], b" 0\n"),
    "threads that sleep while one reads": (["python3", "-c", THREADS], ["x\n", 0.4, "y\n"], b"b 3 "),
    "more than a pipe holds": (["sha256sum"], ["0123456789abcdef" * 50000], b"-\n"),
    "nothing at all": (["cat"], [], b""),
}


class Cases:
    def __init__(self, tap, scratch, mode):
        self.tap, self.scratch, self.mode = tap, scratch, mode
        self.home, self.tapes = scratch.mkdir("work-" + mode, mode), scratch.mkdir("tapes-" + mode, mode)
        self.state = scratch.mkdir("state-" + mode, mode)
        self.env = {**ENV, "TMPDIR": scratch.tmp, "SANDGLASS_HOME": self.state}

    def tape(self, name):
        return os.path.join(self.tapes, name)

    def start(self, *words, **popen):
        return subprocess.Popen(as_mode(self.mode, [self.scratch.join("bin", "sandglass"), *words]), cwd=self.home,
                                env=self.env, stdout=subprocess.PIPE, stderr=subprocess.PIPE, **popen)

    def run(self, *words, typed=()):
        """(status, standard output, standard error); typed: texts, and seconds between them."""
        with self.start(*words, stdin=subprocess.PIPE) as p:
            try:
                for part in typed:
                    if isinstance(part, str):
                        p.stdin.write(part.encode())
                        p.stdin.flush()
                    else:
                        time.sleep(part)
            except BrokenPipeError:
                pass
            out, err = p.communicate(timeout=100)
        return p.returncode, out, err

    def case(self, name, problems):
        self.tap.case(f"{name} ({self.mode})", problems)


def expect(done, status, out=None, err=""):
    problems = []
    if done[0] != status:
        problems.append(f"status {done[0]}, not {status}")
    if out is not None and done[1] != out:
        problems.append(f"standard output is {done[1][:300]!r}, not {out[:300]!r}")
    if err not in done[2].decode("utf-8", "backslashreplace"):
        problems.append(f"standard error lacks '{err}'")
    return problems + [f"{done[2][-600:]!r}"] if problems else []


def recorded_and_replayed(c, number, name, argv, typed, has):
    tape = c.tape(f"{number}")
    first = c.run("run", "--record", tape, "--", *argv, typed=typed)
    problems = expect(first, 0)
    if has not in first[1]:
        problems.append(f"{first[1][:300]!r} lacks {has!r}")
    # Standard input of a replay is open, and nobody writes to it.
    for _ in range(3):
        problems += expect(c.run("replay", tape), 0, out=first[1])
    c.case(f"{name}: three replays say the same", problems)


def verified(c):
    report = c.tape("report")
    done = c.run("run", "--verify", "--report", report, "--", "python3", "-c", SELECTS, typed=["a\n", 0.6, "b\n"])
    problems = expect(done, 0)
    if not problems:
        with open(report, encoding="utf-8") as f:
            told = json.load(f)
        if not told["enforced"] or not told["verify"]["identical"]:
            problems.append(f"{told['enforced']} {told['verify']}")
        elif not str(told["tape"]).startswith(c.state):
            problems.append(f"the tape is {told['tape']}")
        else:
            problems += expect(c.run("replay", "--verify", told["tape"]), 0, out=done[1])
    c.case("--verify gives the second run the tape of the first, and keeps it", problems)


def kept(c):
    for i in range(22):
        c.run("run", "--", "sh", "-c", "read x; echo $x", typed=[f"{i}\n"])
    tapes = sorted(os.listdir(os.path.join(c.state, "state", "tapes")))
    problems = [] if len(tapes) == 20 else [f"{len(tapes)} tapes"]
    last = os.path.join(c.state, "state", "tapes", tapes[-1])
    problems += expect(c.run("replay", last), 0, out=b"21\n")
    c.case("of tapes that nobody asked for the last twenty stay", problems)


def cut(c):
    """A recording that was killed, and one whose end was cut off: up to there."""
    tape, short = c.tape("killed"), c.tape("short")
    with c.start("run", "--record", tape, "--", "sh", "-c", "read x; echo $x; read y; echo never", stdin=subprocess.PIPE) as p:
        p.stdin.write(b"once\n")
        p.stdin.flush()
        said = p.stdout.readline()
        p.kill()
    problems = [] if said == b"once\n" else [f"it said {said!r}"]
    problems += expect(c.run("replay", tape), 122, out=b"once\n",
                       err="replay diverged from the recording: MissingRecord { ordinal: 2 }")
    c.case("a recording that was killed replays to its end", problems)
    with open(tape, "rb") as f:
        data = f.read()
    problems = []
    for less in (1, 20, 40):
        with open(short, "wb") as f:
            f.write(data[:-less])
        os.chmod(short, 0o644)
        problems += expect(c.run("replay", short), 122, out=b"", err="MissingRecord { ordinal: 1 }")
        problems += expect(c.run("replay", short), 122, err="the tape is cut at byte")
    c.case("a tape that was cut replays to the cut", problems)


def refused(c):
    problems = expect(c.run("run", "--record", "here", "--", "true"), 125, err="name a place outside")
    problems += expect(c.run("run", "--record", "/no/such/dir/t", "--", "true"), 125, err="--record")
    problems += expect(c.run("run", "--record", "/etc/passwd", "--", "true"), 125, err="/etc/passwd")
    c.case("a place where no tape can be is refused", problems)
    text, fifo, link, version = c.tape("text"), c.tape("fifo"), c.tape("link"), c.tape("version")
    with open(text, "wb") as f:
        f.write(b"no tape\n" * 10)
    os.mkfifo(fifo)
    os.symlink(text, link)
    with open(c.tape("0"), "rb") as f:
        data = f.read()
    with open(version, "wb") as f:
        f.write(data[:8] + b"\x09" + data[9:])
    problems = []
    for path, said in ((text, "it is no tape"), (fifo, "not a regular file"), (link, "symbolic link"), (version, "version 9"),
                       ("/dev/null", "not a regular file")):
        problems += expect(c.run("replay", path), 125, out=b"", err=said)
    c.case("what is no tape is refused", problems)


def spoiled(c):
    """Files that begin as a tape does, or have its size, and are damaged behind that: refused, or replayed to the damage."""
    tape, path = c.tape("sound"), c.tape("spoiled")
    first = c.run("run", "--record", tape, "--", "sh", "-c", "read x; read y; echo $y; cat", typed=["a\n", 0.3, "b\n", 0.3, "c\n"])
    with open(tape, "rb") as f:
        data = f.read()
    start, problems = 24 + struct.unpack_from("<I", data, 16)[0], expect(first, 0, out=b"b\nc\n")

    def spoil(new, size, status, said, out=None):
        with open(path, "wb") as f:
            f.write(new)
            f.truncate(size or len(new))
        os.chmod(path, 0o644)
        problems.extend(expect(c.run("replay", path), status, out=out, err=said))
        for verb in ("info", "verify", "show"):
            if c.run("tape", verb, path)[0] not in ((2,) if status == 125 else (0, 1)):
                problems.append(f"tape {verb} of {said}")
    spoil(b"", 0, 125, "it is no tape", b"")
    spoil(b"", 5 << 30, 125, "it is no tape", b"")
    spoil(data[:start], 5 << 30, 122, "MissingRecord { ordinal: 1 }", b"")
    spoil(data[:start - 1], 0, 125, "cut off in its header", b"")
    spoil(data[:30] + b"~" + data[31:], 0, 125, "header is damaged", b"")
    one = 32 + struct.unpack_from("<I", data, start)[0]
    two = 32 + struct.unpack_from("<I", data, start + one)[0]
    swapped = data[start + one:start + one + two] + data[start:start + one]
    spoil(data[:start] + swapped + data[start + one + two:], 0, 122, "record 2 where record 1 belongs", b"")
    for at in (0, 4, 8, 16, 24, 28, 33):
        spoil(data[:start + at] + bytes([data[start + at] ^ 0x40]) + data[start + at + 1:], 0, 122, "the tape is cut at byte", b"")
    c.case("a damaged tape is refused, or replays to the damage", problems)
    with open(path, "wb") as f:
        f.write(forged(data, header=lambda k: k.update(arch="aarch64" if k["arch"] != "aarch64" else "x86_64")))
    problems = expect(c.run("replay", path), 125, out=b"", err="'arch' of the contract is not as it was recorded")
    with open(path, "wb") as f:
        f.write(forged(data, header=lambda k: k.update(hostname="elsewhere")))
    problems += expect(c.run("replay", path), 125, out=b"", err="'hostname' of the contract is not as it was recorded")
    report = c.tape("spoiled-report")
    done = c.run("replay", "--override", "--report", report, path)
    with open(report, encoding="utf-8") as f:
        told = json.load(f)
    if done[0] != 121 or told["enforced"] or "tape_mismatch" not in json.dumps(told):
        problems.append(f"overridden: {done[0]} {told['enforced']}")
    c.case("a tape of another architecture or contract is refused, or replayed and marked", problems)


def mismatch(c):
    tape, path = c.tape("mismatch"), os.path.join(c.home, "file")
    with open(path, "w", encoding="utf-8") as f:
        f.write("then\n")
    problems = expect(c.run("run", "--record", tape, "--", "sh", "-c", "cat file; cat", typed=["in\n"]), 0, out=b"then\nin\n")
    problems += expect(c.run("replay", tape), 0, out=b"then\nin\n")
    with open(path, "w", encoding="utf-8") as f:
        f.write("now, and longer\n")
    problems += expect(c.run("replay", tape), 125, out=b"", err="'cwd' of the contract is not as it was recorded")
    done = c.run("replay", "--override", tape)
    problems += expect(done, 122, out=b"now, and longer\nin\n", err="replay diverged from the recording")
    os.unlink(path)
    c.case("another working directory is refused, and told when it is overridden", problems)


def signalled(c):
    """^C at a program that waits for input: on the tape too."""
    tape = c.tape("signalled")
    argv = ["sh", "-c", "trap 'echo got it' INT; echo waiting; read x; read y; echo $y"]
    # It asks as soon as it has nothing else to do; on a busy host that may be later.
    for attempt in range(5):
        with c.start("run", "--record", tape, "--", *argv, stdin=subprocess.PIPE) as p:
            first = p.stdout.readline()
            time.sleep(1 + attempt)
            p.send_signal(signal.SIGINT)
            first += p.stdout.readline()
            out, err = p.communicate(b"more\n", timeout=60)
        if p.returncode != 121:
            break
    problems = expect((p.returncode, first + out, err), 0, out=b"waiting\ngot it\nmore\n")
    problems += expect(c.run("replay", tape), 0, out=b"waiting\ngot it\nmore\n")
    c.case("a signal to a program that waits for input is recorded", problems)


def looked_at(c):
    """The tape commands, on the tape of a run of which everything is known."""
    one, two, short = c.tape("one"), c.tape("two"), c.tape("cut")
    argv = ["sh", "-c", "read x; read y; cat"]
    c.run("run", "--record", one, "--", *argv, typed=["first\n", 0.4, "second\n", 0.4, "third\n"])
    c.run("run", "--record", two, "--", *argv, typed=["first\n", 0.4, "secund\n"])
    problems = []
    for words, status, has in ((("info", one), 0, "records    5"), (("verify", one), 0, "whole: 5 records"),
                               (("show", one), 0, "3 bytes"), (("export", one), 0, "first\nsecond\nthird\n"),
                               (("diff", one, one), 0, "the tapes are the same: 5 records"),
                               (("diff", one, two), 1, "the tapes part at record "),
                               (("info", "/etc/passwd"), 2, ""), (("show",), 2, ""), (("diff", one), 2, "")):
        done = c.run("tape", *words)
        if has == "3 bytes":
            has = "standard input, question 2: 7 bytes: second\\n"
        if done[0] != status or has not in done[1].decode():
            problems.append(f"{words}: {done}")
    c.case("info, verify, show, export and diff say what is on a tape", problems)
    shown = [json.loads(line) for line in c.run("tape", "show", "--json", one)[1].splitlines()]
    said = "".join(record["data"] for record in shown if record["kind"] == "input")
    problems = [] if said == "first\nsecond\nthird\n" else [f"{shown}"]
    if [record["ordinal"] for record in shown] != [1, 2, 3, 4, 5] or shown[-1]["outcome"]["code"] != 0:
        problems.append(f"{shown}")
    if json.loads(c.run("tape", "show", "--json", "--from", "2", "--count", "1", one)[1]) != shown[1]:
        problems.append("--from and --count")
    info = json.loads(c.run("tape", "info", "--json", one)[1])
    if info["contract"]["argv"] != argv or info["records"] != 5 or not info["whole"]:
        problems.append(f"{info}")
    told = json.loads(c.run("tape", "diff", "--json", one, two)[1])
    if told["identical"] or not told["ordinal"] or told["first"] == told["second"]:
        problems.append(f"{told}")
    c.case("as JSON it is all there", problems)
    with open(one, "rb") as f:
        data = f.read()
    with open(short, "wb") as f:
        f.write(data[:data.index(b"second\n") + 3])
    problems = expect(c.run("tape", "verify", short), 1)
    problems += expect(c.run("tape", "show", short), 1, err="the tape is cut at byte")
    problems += expect(c.run("tape", "export", short), 1, out=b"first\n")
    problems += [] if json.loads(c.run("tape", "verify", "--json", short)[1])["records"] == 1 else ["not one record"]
    c.case("a cut tape is read to the cut", problems)


def crc32c(value, data):
    value ^= 0xffffffff
    for byte in data:
        value ^= byte
        for _ in range(8):
            value = value >> 1 ^ (0x82f63b78 if value & 1 else 0)
    return value ^ 0xffffffff


def forged(data, launch=lambda b: b, header=lambda c: None, more=()):
    """The tape of these bytes with another launch, the contract to match, and more records of input; every checksum right."""
    size, at, records = struct.unpack_from("<I", data, 16)[0], 0, []
    head, at = json.loads(data[24:24 + size]), 24 + size
    while True:
        size, kind, _, _, now, task, _ = struct.unpack_from("<IHHQQII", data, at)
        if kind != 1:
            break
        records.append((now, task, data[at + 32:at + 32 + size]))
        at += 32 + size
    records += [(*records[-1][:2], payload) for payload in more]
    head["launch"]["hex"] = launch(bytes.fromhex(head["launch"]["hex"])).hex()
    header(head["contract"])
    text = json.dumps(head, sort_keys=True, separators=(",", ":")).encode()
    out = data[:16] + struct.pack("<I", len(text))
    base = crc32c(crc32c(0, out), text)
    out += struct.pack("<I", base) + text

    def record(kind, ordinal, now, task, payload):
        start = struct.pack("<IHHQQI", len(payload), kind, 0, ordinal, now, task)
        return start + struct.pack("<I", crc32c(crc32c(base, start), payload)) + payload
    for ordinal, (now, task, payload) in enumerate(records, 1):
        out += record(1, ordinal, now, task, payload)
    end = len(out)
    out += record(255, len(records) + 1, records[-1][0], 0, struct.pack("<QQI", len(records), 1024, 0))
    return out + b"SGTPEND\n" + struct.pack("<Q", end)


def hostile(c):
    """Tapes that no recording makes, with every checksum right."""
    tape, path = c.tape("honest"), c.tape("hostile")
    c.run("run", "--record", tape, "--", "sh", "-c", "read x; id -u; hostname; ls /", typed=["x\n"])
    with open(tape, "rb") as f:
        data = f.read()

    def replay(*words, **change):
        with open(path, "wb") as f:
            f.write(forged(data, **change))
        os.chmod(path, 0o644)
        return c.run("replay", *words, path)

    home = c.home.encode()
    home = struct.pack("<I", len(home)) + home
    ids, name = struct.pack("<II", 1000, 1000), struct.pack("<I", 9)
    room = struct.pack("<Q", 256 << 20)

    def root(b):
        return b.replace(b"\0" + home + b"\1" + home, b"\1" + struct.pack("<I", 1) + b"/" + home + b"\0")
    problems = expect(replay(), 0, out=c.run("replay", tape)[1])
    for said, launch, header in (
            ("identity", lambda b: b.replace(ids, bytes(8)), lambda k: k.update(uid=0, gid=0)),
            ("identity", lambda b: b.replace(name + b"sandglass", name + b"sand\nglas"), lambda k: k.update(hostname="sand\nglas")),
            ("limits", lambda b: b.replace(room, struct.pack("<Q", 1 << 60)), lambda k: k["limits"].update(tmp_bytes=1 << 60)),
            ("directories", root, lambda k: k.update(cwd={"digest": None, "path": None},
                                                     rootfs={"kind": "directory", "path": "/", "digest": None}))):
        for words in ((), ("--override",)):
            problems += expect(replay(*words, launch=launch, header=header), 125, out=b"", err=f"gives a run these {said}")
    c.case("a launch that no command line asks for is refused", problems)
    problems = expect(replay(more=[struct.pack("<IIQ", 1, 0, 2) + b"evil"]), 122, err="UnknownRecord { ordinal: 2 }")
    problems += expect(replay(more=[struct.pack("<IIQ", 0, 0, 2) + b"evil"]), 122, err="SurplusRecord { ordinal: 2 }")
    c.case("a record that is no input is not passed over", problems)


def main():
    require_programs()
    tap = Tap()
    with Scratch() as scratch:
        for mode in MODES:
            c = Cases(tap, scratch, mode)
            for number, (name, row) in enumerate(RUNS.items()):
                recorded_and_replayed(c, number, name, *row)
            verified(c)
            kept(c)
            cut(c)
            refused(c)
            spoiled(c)
            mismatch(c)
            signalled(c)
            looked_at(c)
            hostile(c)
    tap.finish()


main()
