# SPDX-License-Identifier: Apache-2.0
"""`sandglass audit`: one chain from many processes, checked by another implementation; seals."""
import hashlib
import hmac
import json
import os
import subprocess
import sys
import tempfile

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "lib"))
from harness import ENV, SANDGLASS, Tap, require_programs, run  # noqa: E402


class Place:
    def __init__(self, top):
        self.top = top
        self.log = os.path.join(top, "home", "state", "audit")
        self.key = os.path.join(top, "home", "state", "audit.key")
        self.env = {"SANDGLASS_HOME": os.path.join(top, "home")}

    def audit(self, *words, env=(), **more):
        return run([SANDGLASS, "audit", *words], cwd=self.top, env={**self.env, **dict(env)}, **more)

    def files(self):
        return sorted(n for n in os.listdir(self.log) if n.endswith(".jsonl"))

    def lines(self):
        return [line for name in self.files() for line in open(os.path.join(self.log, name), "rb").read().splitlines(True)]


def expect(done, status, out="", err=""):
    if done.status == status and out in done.out.decode() and err in done.err.decode():
        return []
    return [f"not {status}, '{out}', '{err}': {done.tell()} {done.out!r}"]


def nothing_is_made_by_reading(p):
    problems = expect(p.audit("verify"), 2, err="audit.key") + expect(p.audit("show"), 2)
    if os.path.exists(os.path.join(p.top, "home")):
        problems.append("something was made")
    return problems


def writers_of_many_processes_make_one_chain(p):
    """1,000 appends, 8 at a time, each a process of its own."""
    shell = 'for i in $(seq 125); do "$0" audit append w --details "{\\"i\\":$i}" >/dev/null || exit 1; done'
    writers = [subprocess.Popen(["sh", "-c", shell, SANDGLASS], env={**ENV, **p.env}) for _ in range(8)]
    problems = [f"writer: {w.wait()}" for w in writers if w.wait() != 0]
    problems += expect(p.audit("verify"), 0, "1000 records")
    return problems


def another_program_agrees(p):
    key = open(p.key, "rb").read().strip()
    prev, problems = "0" * 64, []
    for line in p.lines():
        record = json.loads(line)
        body = json.dumps({k: v for k, v in record.items() if k != "hmac"}, sort_keys=True)
        want = hmac.new(key, (prev + body).encode(), hashlib.sha256).hexdigest()
        if record["prev_hmac"] != prev or record["hmac"] != want:
            problems.append(f"not the chain: {line!r}")
        if (json.dumps(record, sort_keys=True) + "\n").encode() != line:
            problems.append(f"not the bytes of json.dumps: {line!r}")
        prev = record["hmac"]
    head = json.load(open(os.path.join(p.log, "head"), encoding="ascii"))
    if head["hmac"] != prev or int(head["count"]) != len(p.lines()):
        problems.append(head)
    return problems[:3]


def write_chain(path, key, count):
    """A log of one day as another program makes it."""
    prev, size = "0" * 64, 0
    os.mkdir(path)
    with open(os.path.join(path, "2026-01-01.jsonl"), "w", encoding="ascii") as f:
        for _ in range(count):
            record = {"actor": "a", "details": {}, "event_type": "e", "prev_hmac": prev, "resource_id": "x" * 100,
                      "resource_type": "r", "timestamp": "2026-01-01T00:00:00.000000Z"}
            prev = hmac.new(key, (prev + json.dumps(record, sort_keys=True)).encode(), "sha256").hexdigest()
            size += f.write(json.dumps({**record, "hmac": prev}, sort_keys=True) + "\n")
    head = f'{{"count": "{count:020}", "file": "2026-01-01.jsonl", "hmac": "{prev}", "size": "{size:020}"'
    seal = hmac.new(key, b"head" + head.encode(), "sha256").hexdigest()
    with open(os.path.join(path, "head"), "w", encoding="ascii") as f:
        f.write(f'{head}, "seal": "{seal}"}}\n')
    with open(os.path.join(path, "lock"), "w", encoding="ascii"):
        pass


def memory_does_not_grow_with_the_log(p):
    key, problems = open(p.key, "rb").read().strip(), []
    for count in (100, 60000):
        path = os.path.join(p.top, f"log-{count}")
        write_chain(path, key, count)
        # The long log is as large as all that it may have.
        done = run(["sh", "-c", 'ulimit -v 20000; exec "$0" "$@"', SANDGLASS, "audit", "verify", "--dir", path], cwd=p.top,
                   env=p.env)
        problems += expect(done, 0, f"{count} records")
    return problems


def records_are_shown_as_they_were_given(p):
    done = p.audit("append", "deploy.start", "--actor", "me", "--resource-type", "host", "--resource-id", "a\nb\x1b[1m",
                   "--details", '{"ü":[1,null,"x"]}')
    problems = expect(done, 0)
    last = json.loads(p.audit("show", "--json", "--last", "1").out)
    want = {"actor": "me", "event_type": "deploy.start", "resource_type": "host", "resource_id": "a\nb\x1b[1m",
            "details": {"ü": [1, None, "x"]}}
    if any(last[k] != v for k, v in want.items()) or last["hmac"] != done.out.decode().strip():
        problems.append(last)
    shown = p.audit("show", "--last", "2").out
    if shown.count(b"\n") != 2 or b"\x1b" in shown or rb"a\nb\x1b[1m" not in shown:
        problems.append(shown)
    for words in (["append"], ["append", "a", "b"], ["append", "a", "--details", "[1]"], ["append", "a", "--details", "{"],
                  ["append", "a", "--details", '{"a":1.5}'], ["show", "x"], ["verify", "x"], ["verify", "--seal", "nowhere"]):
        done = p.audit(*words)
        problems += expect(done, 2)
        if done.err.count(b"\n") != 1:
            problems.append(f"{words}: {done.err}")
    return problems


def bad_lines_are_named_to_the_byte(p):
    path = os.path.join(p.log, p.files()[0])
    whole = open(path, "rb").read()
    lines = whole.splitlines(True)
    bad = lines[9].replace(b'"w"', b'"W"', 1)
    with open(path, "wb") as f:
        f.write(b"".join(lines[:9] + [bad] + lines[10:19] + [lines[19].replace(b", ", b",  ", 1)] + lines[20:]))
    done = p.audit("verify", "--json")
    problems = expect(done, 1)
    got = [(f["code"], f["line"], f["byte"]) for f in json.loads(done.out)["faults"]]
    start = sum(map(len, lines[:9]))
    blank = sum(map(len, lines[:19])) + lines[19].index(b", ") + 2
    want = [("hmac_mismatch", 10, start), ("not_canonical", 20, blank)]
    if got != want:
        problems.append(f"{got}, not {want}")
    problems += expect(p.audit("verify"), 1, f"{p.files()[0]}:10: byte {start}: hmac_mismatch")
    problems += expect(p.audit("show", "--last", "1"), 1, err="hmac_mismatch")
    with open(path, "wb") as f:
        f.write(whole)
    return problems + expect(p.audit("verify"), 0)


def faults_are_counted_beyond_what_is_kept(p):
    path = os.path.join(p.top, "bad")
    write_chain(path, open(p.key, "rb").read().strip(), 10)
    with open(os.path.join(path, "2026-01-02.jsonl"), "wb") as f:
        f.write(b"x\n" * 20000)
    done = p.audit("verify", "--json", "--dir", path)
    got = json.loads(done.out)
    if done.status != 1 or len(got["faults"]) != 10000 or got["fault_count"] < 20000:
        return [f"{done.status}, {len(got['faults'])} kept of {got['fault_count']}"]
    return []


def a_cut_log_is_not_gone_on_with(p):
    path = os.path.join(p.log, p.files()[-1])
    whole = open(path, "rb").read()
    with open(path, "wb") as f:
        f.write(b"".join(whole.splitlines(True)[:-1]))
    problems = expect(p.audit("append", "x"), 1, err="audit verify") + expect(p.audit("verify"), 1, "tail_cut")
    with open(path, "wb") as f:
        f.write(whole)
    return problems + expect(p.audit("append", "x"), 0)


def sessions_are_recorded(p):
    def session(*words):
        return run([SANDGLASS, "session", *words], cwd=p.top, env=p.env)

    made = session("create")
    name = made.out.decode().strip()
    problems = expect(made, 0) + expect(p.audit("show", "--last", "1"), 0, f"session.create session/{name}")
    problems += expect(session("destroy", name), 0) + expect(session("destroy", name), 0)
    shown = p.audit("show", "--last", "2").out.decode().splitlines()
    if "session.create" not in shown[0] or f"session.destroy session/{name}" not in shown[1]:
        problems.append(shown)
    # What the host is said to be is recorded, and what it cannot be is refused.
    env = {**p.env, "SANDGLASS_HOST_ISOLATION_TIER": "Container", "SANDGLASS_HOST_ISOLATION_EVIDENCE": "docker info"}
    done = run([SANDGLASS, "session", "create"], cwd=p.top, env=env)
    last = json.loads(p.audit("show", "--json", "--last", "1").out)
    want = {"dropped": False, "evidence": "docker info", "source": "environment", "tier": "container"}
    if last["event_type"] != "sandbox.host_isolation_declared" or last["details"] != want:
        problems.append(last)
    problems += expect(session("destroy", done.out.decode().strip()), 0)
    env["SANDGLASS_HOST_ISOLATION_TIER"] = "jail"
    for words in (["session", "create"], ["config", "show"]):
        problems += expect(run([SANDGLASS, *words], cwd=p.top, env=env), 2, err="none, process, container or vm")
    shown = json.loads(run([SANDGLASS, "config", "show", "--json"], cwd=p.top, env=p.env).out)
    if shown["host_isolation_tier"] != {"source": "default", "value": "none"}:
        problems.append(shown)
    # What cannot be recorded is not made.
    path = os.path.join(p.log, "head")
    os.rename(path, path + ".away")
    problems += expect(session("create"), 2, err="audit log")
    if session("list").out:
        problems.append("a session was made all the same")
    os.rename(path + ".away", path)
    return problems + expect(p.audit("verify"), 0)


def a_seal_finds_what_was_put_back(p):
    seal, jwks, old = (os.path.join(p.top, n) for n in ("seal.json", "jwks.json", "old"))

    def sandglass(*words):
        return run([SANDGLASS, *words], cwd=p.top, env=p.env)

    problems = expect(sandglass("key", "new"), 0)
    subprocess.run(["cp", "-a", p.log, old], check=True)
    problems += expect(p.audit("append", "later"), 0) + expect(p.audit("seal", "--out", seal), 0)
    with open(jwks, "wb") as f:
        f.write(sandglass("key", "jwks").out)
    problems += expect(p.audit("verify", "--seal", seal, "--jwks", jwks), 0, "intact")
    problems += expect(p.audit("verify", "--seal", seal), 3, "intact", "--expected-keyid")
    shown = json.loads(p.audit("verify", "--seal", seal, "--json").out)
    if shown["anchored"] is not False or shown["intact"] is not True:
        problems.append(shown)
    problems += expect(p.audit("verify", "--seal", seal, "--expected-keyid", "x"), 1, "key_unexpected")
    problems += expect(sandglass("receipt", "verify", seal, "--jwks", jwks), 0, "verified")
    # The directory as it was before: whole by itself, and shorter than what was sealed.
    subprocess.run(["rm", "-r", p.log], check=True)
    subprocess.run(["cp", "-a", old, p.log], check=True)
    problems += expect(p.audit("verify"), 0, "intact")
    problems += expect(p.audit("verify", "--seal", seal, "--jwks", jwks), 1, "seal_ahead")
    # And gone on with from there, in another way.
    problems += expect(p.audit("append", "never was"), 0) + expect(p.audit("verify"), 0, "intact")
    return problems + expect(p.audit("verify", "--seal", seal, "--jwks", jwks), 1, "seal_mismatch")


def main():
    require_programs()
    tap = Tap()
    cases = [nothing_is_made_by_reading, writers_of_many_processes_make_one_chain, another_program_agrees, memory_does_not_grow_with_the_log,
             records_are_shown_as_they_were_given, bad_lines_are_named_to_the_byte,
             faults_are_counted_beyond_what_is_kept, a_cut_log_is_not_gone_on_with, sessions_are_recorded,
             a_seal_finds_what_was_put_back]
    with tempfile.TemporaryDirectory(prefix="sandglass-audit-") as top:
        place = Place(top)
        for case in cases:
            tap.case(case.__name__.replace("_", " "), case(place))
    tap.finish()


main()
