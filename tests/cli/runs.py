# SPDX-License-Identifier: Apache-2.0
"""`sandglass runs`: runs are made, forked, shown, compared and carried; stores of ActiveGraph stay theirs."""
import json
import os
import shutil
import sqlite3
import subprocess
import sys
import tempfile
import time
import xml.dom.minidom

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "lib"))
from harness import SANDGLASS, Tap, require_programs, run  # noqa: E402

# The schema of an ActiveGraph store, version 1, as its program makes it.
SCHEMA = """
CREATE TABLE IF NOT EXISTS events (
  seq INTEGER PRIMARY KEY AUTOINCREMENT, id TEXT NOT NULL, type TEXT NOT NULL, actor TEXT,
  payload TEXT NOT NULL, frame_id TEXT, caused_by TEXT, timestamp TEXT NOT NULL, run_id TEXT NOT NULL,
  UNIQUE(id, run_id));
CREATE INDEX IF NOT EXISTS idx_events_run  ON events(run_id, seq);
CREATE INDEX IF NOT EXISTS idx_events_type ON events(type);
CREATE TABLE IF NOT EXISTS runs (
  run_id TEXT PRIMARY KEY, parent_run_id TEXT, forked_at_event_id TEXT, label TEXT,
  created_at TEXT NOT NULL, goal TEXT, frame_id TEXT);
CREATE TABLE IF NOT EXISTS meta (key TEXT PRIMARY KEY, value TEXT NOT NULL);
INSERT INTO meta VALUES ('schema_version', '1');
"""
NEWER = """
CREATE TABLE IF NOT EXISTS events_archive (
  seq INTEGER, id TEXT NOT NULL, type TEXT NOT NULL, actor TEXT, payload TEXT NOT NULL, frame_id TEXT,
  caused_by TEXT, timestamp TEXT NOT NULL, run_id TEXT NOT NULL, archived_at TEXT NOT NULL, UNIQUE(id, run_id));
CREATE INDEX IF NOT EXISTS idx_archive_run ON events_archive(run_id, seq);
CREATE TABLE IF NOT EXISTS snapshots (state_hash TEXT PRIMARY KEY, blob TEXT NOT NULL, created_at TEXT NOT NULL);
"""
RUN = "01J8ZQ4Y6M3N5P7R9T1V3X5Z7A"


def task(number, **data):
    name = f"task#{number}"
    return {"object": {"id": name, "type": "task", "data": data, "version": 1, "provenance": {}}, "id": name}


# id, type, actor, payload, caused_by
HISTORY = [
    ("evt_001", "goal.created", "user", {"goal": "grüße"}, None),
    ("evt_002", "object.created", "planner", task(1, score=0.5, bad=float("nan")), "evt_001"),
    ("evt_003", "promote.applied", "runtime", {"fork": "X"}, None),
    ("evt_004", "object.created", "promote:X", task(2), "evt_003"),
    ("evt_005", "object.created", "promote:X", task(3), "evt_003"),
    ("evt_006", "runtime.idle", "runtime", {}, None),
]


class Store:
    """A fresh directory; `path` is a ledger in it that nobody has made yet."""

    def __init__(self):
        self.top = tempfile.mkdtemp(prefix="sandglass-runs.")
        self.path = os.path.join(self.top, "store.db")
        self.cwd = os.path.join(self.top, "cwd")
        os.mkdir(self.cwd)

    def close(self):
        shutil.rmtree(self.top)

    def runs(self, verb, *words, store=None, text=None, **more):
        argv = [SANDGLASS, "runs", verb, "--store", store or self.path, *words]
        if text is None:
            return run(argv, cwd=self.top, env={"HOME": self.top}, **more)
        with tempfile.TemporaryFile(dir=self.top) as f:
            f.write(text if isinstance(text, bytes) else text.encode())
            f.seek(0)
            return run(argv, cwd=self.top, env={"HOME": self.top}, stdin=f, **more)

    def ok(self, verb, *words, **more):
        done = self.runs(verb, *words, **more)
        if done.status != 0:
            raise AssertionError(f"runs {verb} {words}: {done.tell()}")
        return done.out.decode().rstrip("\n")

    def begin(self, count=4, **more):
        name = self.ok("new", "--label", "main", "--goal", "a goal")
        self.ok("append", name, text=lines(count), **more)
        return name

    def foreign(self, newer=True, history=HISTORY):
        with sqlite3.connect(self.path) as db:
            db.executescript("PRAGMA journal_mode=WAL;" + SCHEMA + (NEWER if newer else ""))
            db.execute("INSERT INTO runs VALUES (?, NULL, NULL, 'main', '2026-01-01T00:00:00Z', 'a goal', 'frame_001')",
                       (RUN,))
            for name, kind, actor, payload, cause in history:
                db.execute("INSERT INTO events (id, type, actor, payload, frame_id, caused_by, timestamp, run_id) "
                           "VALUES (?, ?, ?, ?, 'frame_001', ?, '2026-01-01T00:00:00Z', ?)",
                           (name, kind, actor, json.dumps(payload, ensure_ascii=False), cause, RUN))
        db.close()

    def rows(self, sql, *values):
        db = sqlite3.connect(self.path)
        try:
            return db.execute(sql, values).fetchall()
        finally:
            db.close()


def lines(count, **more):
    return "".join(json.dumps({"type": "step", "payload": {"n": n, "x": 0.1}, **more}) + "\n" for n in range(count))


def same(what, got, wanted):
    return [] if got == wanted else [f"{what}: {got!r}, not {wanted!r}"]


def refused(done, status, text):
    err = done.err.decode()
    if done.status == status and text in err and len(err.splitlines()) == 1:
        return []
    return [f"status {status} and one line with '{text}' were expected: {done.tell()}"]


CASES = []


def case(f):
    CASES.append(f)
    return f


@case
def a_run_is_made_and_read_back(s):
    name = s.ok("new", "--label", "main", "--goal", "a goal")
    problems = same("the last id", s.ok("append", name, "--batch", "2", text=lines(5, actor="me")), "evt_005")
    problems += same("one more", json.loads(s.ok("append", name, "--type", "t", "--payload", '{"a": 1.50}', "--json")),
                     {"appended": 1, "event": "evt_006"})
    events = [json.loads(line) for line in s.ok("events", name, "--json").splitlines()]
    problems += same("ids", [e["id"] for e in events], [f"evt_00{n}" for n in range(1, 7)])
    problems += same("an actor", events[0]["actor"], "me")
    if '"payload":{"a": 1.50}' not in s.ok("events", name, "--json", "--from", "6"):
        problems.append("the payload is not byte for byte as it came")
    shown = json.loads(s.ok("show", name, "--json"))
    problems += same("show", (shown["label"], shown["goal"], shown["events"], shown["schema"]),
                     ("main", "a goal", 6, "sandglass"))
    problems += same("by type", len(s.ok("events", name, "--type", "t").splitlines()), 1)
    return problems + same("verify", s.ok("verify"), "intact")


@case
def lines_that_are_no_events_are_refused_by_their_number(s):
    name = s.begin(0)
    bad = ["[]", "{", '{"type":"t"}', '{"payload":{}}', '{"type":"t","payload":[]}', '{"type":1,"payload":{}}',
           '{"type":"t","payload":{},"more":1}', '{"type":"t","payload":{"a":1,"a":2}}', '{"type":"t","payload":{"a":NaN}}',
           '{"type":"","payload":{}}', '{"type":"t","payload":{},"time":-1}', '{"type":"t","payload":{"a":"\xff"}}']
    problems = []
    for text in bad:
        done = s.runs("append", name, text=(lines(2) + text + "\n").encode("latin-1"))
        problems += refused(done, 1, "line")
    return problems + same("events", s.ok("events", name), "")


@case
def forks_share_and_part(s):
    a = s.begin()
    b = s.ok("fork", a, "--at", "evt_002", "--label", "try")
    s.ok("append", b, text=lines(1))
    c = json.loads(s.ok("fork", b, "--json"))["run"]
    problems = same("of the fork", len(s.ok("events", c).splitlines()), 3)
    problems += same("its own", s.ok("events", c, "--own"), "")
    problems += same("the parent", len(s.ok("events", a).splitlines()), 4)
    problems += refused(s.runs("fork", a, "--at", "evt_009"), 1, "no event 'evt_009'")
    problems += refused(s.runs("fork", "nobody"), 1, "no run 'nobody'")
    diff = json.loads(s.runs("diff", a, b, "--json").out)
    problems += same("diff", (diff["shared"], diff["a"]["events"], diff["b"]["events"], diff["same"]), (2, 2, 1, False))
    problems += same("diff of the same", s.runs("diff", b, c).status, 0)
    tree = s.ok("graph").splitlines()
    problems += same("graph", [line[:line.index("0")] for line in tree], ["", "`- ", "   `- "])
    picture = xml.dom.minidom.parseString(s.ok("graph", "--svg"))
    problems += same("circles", len(picture.getElementsByTagName("circle")), 3)
    return problems + same("json", [n["depth"] for n in json.loads(s.ok("graph", "--json"))], [0, 1, 2])


@case
def a_block_is_not_cut(s):
    a = s.begin(1)
    s.ok("append", a, "--block", text=lines(3))
    problems = refused(s.runs("fork", a, "--at", "evt_002"), 1, "last event, evt_004")
    s.ok("fork", a, "--at", "evt_004")
    s.ok("fork", a, "--at", "evt_001")
    # An export knows its blocks.
    copy = s.ok("import", text=s.ok("export", a))
    return problems + refused(s.runs("fork", copy, "--at", "evt_003"), 1, "last event, evt_004")


@case
def an_export_comes_back_the_same(s):
    a = s.begin()
    b = s.ok("fork", a, "--at", "evt_003")
    s.ok("append", b, text=json.dumps({"type": "t", "payload": {}, "id": "own", "time": 7, "caused_by": "evt_001"}))
    text = s.ok("export", b)
    other = os.path.join(s.top, "other.db")
    copy = s.ok("import", text=text, store=other)
    again = s.ok("export", copy, store=other)
    problems = same("events", again.splitlines()[1:], text.splitlines()[1:])
    # Half of an export leaves nothing.
    done = s.runs("import", text=text + "\n{\n", store=other)
    problems += refused(done, 1, "line 6")
    problems += same("runs", len(json.loads(s.ok("list", "--json", store=other))), 1)
    return problems + refused(s.runs("import", text="{}\n", store=other), 1, "no export")


@case
def a_state_is_kept_and_loading_begins_there(s):
    a = s.ok("new")
    s.ok("append", a, "--type", "object.created", "--payload", json.dumps(task(1, n=1)))
    before = s.ok("show", a, "--state")
    problems = same("covers", s.ok("compact", a), "1")
    s.ok("append", a, "--type", "patch.applied", "--payload",
         json.dumps({"patch": {"id": "patch_001", "target": "task#1", "op": "update", "value": {"m": 2}}}))
    b = s.ok("fork", a, "--at", "evt_001")
    problems += same("of the fork", s.ok("show", b, "--state"), before)
    state = json.loads(s.ok("show", a, "--state"))["objects"][0]
    problems += same("patched", (state["data"], state["version"]), ({"n": 1, "m": 2}, 2))
    problems += same("verify", s.ok("verify"), "intact")
    db = sqlite3.connect(s.path)
    db.execute("UPDATE snapshots SET state = replace(state, 'task', 'tusk')")
    db.commit()
    db.close()
    problems += refused(s.runs("show", a, "--state"), 1, "other bytes")
    done = s.runs("verify")
    return problems + same("verify", (done.status, b"other bytes" in done.out), (1, True))


@case
def nothing_is_made_by_asking(s):
    problems = []
    for verb, *words in (("list",), ("show", "x"), ("events", "x"), ("append", "x"), ("fork", "x"), ("graph",),
                         ("verify",), ("compact", "x"), ("export", "x"), ("diff", "x", "y")):
        problems += refused(s.runs(verb, *words, text=""), 1, "No such file")
    if os.listdir(s.top) != ["cwd"]:
        problems.append(f"there is {os.listdir(s.top)}")
    with open(s.path, "w", encoding="utf-8") as f:
        f.write("no ledger")
    return problems + refused(s.runs("list"), 1, "store.db")


@case
def a_store_of_another_version_is_left_alone(s):
    s.begin()
    db = sqlite3.connect(s.path)
    db.execute("PRAGMA user_version = 99")
    db.close()
    problems = refused(s.runs("list"), 2, "of version 99")
    os.unlink(s.path)
    s.foreign()
    db = sqlite3.connect(s.path)
    db.execute("UPDATE meta SET value = '2'")
    db.commit()
    db.close()
    return problems + refused(s.runs("fork", RUN), 2, "schema version '2'") + \
        same("runs", s.rows("SELECT count(*) FROM runs"), [(1,)])


@case
def a_lock_is_waited_for_as_long_as_told(s):
    a = s.begin()
    db = sqlite3.connect(s.path, isolation_level=None)
    db.execute("BEGIN IMMEDIATE")
    problems = refused(s.runs("fork", a, "--wait", "0.05"), 1, "another process has held")
    problems += same("a reader", len(s.ok("events", a).splitlines()), 4)
    db.execute("ROLLBACK")
    db.close()
    s.ok("fork", a)
    return problems


@case
def a_full_disk_is_said_and_harms_nothing(s):
    """In a file system of 512 KiB."""
    a = s.begin()
    place = os.path.join(s.top, "small")
    os.mkdir(place)
    with open(os.path.join(s.top, "lines"), "w", encoding="utf-8") as f:
        f.write(lines(20000))
    script = (f"mount -t tmpfs -o size=512k none {place} && cp {s.path}* {place} && "
              f"{SANDGLASS} runs append --store {place}/store.db {a} {s.top}/lines --batch 20000; echo status $?; "
              f"{SANDGLASS} runs verify --store {place}/store.db; {SANDGLASS} runs events --store {place}/store.db {a}")
    done = run(["unshare", "-rm", "sh", "-c", script], cwd=s.top)
    out = done.out.decode()
    if "status 2" not in out or "full" not in done.err.decode():
        return [f"a full disk was not said: {out[-300:]} {done.tell()}"]
    return same("what is left", out.splitlines()[1:2] + [len(out.splitlines())], ["intact", 6])


@case
def two_writers_of_one_run_do_not_mix(s):
    a = s.begin(0)
    procs = []
    for who in "ab":
        with open(os.path.join(s.top, who), "w", encoding="utf-8") as f:
            f.write(lines(3000, actor=who))
        procs.append(subprocess.Popen(  # pylint: disable=consider-using-with
            [SANDGLASS, "runs", "append", "--store", s.path, a, os.path.join(s.top, who), "--batch", "5"],
            stdout=subprocess.DEVNULL, stderr=subprocess.PIPE))
    ends = [(p.communicate()[1].decode(), p.returncode) for p in procs]
    events = [json.loads(line) for line in s.ok("events", a, "--json").splitlines()]
    problems = same("verify", s.ok("verify"), "intact")
    for err, status in ends:
        if status not in (0, 1) or (status == 1 and "another writer" not in err):
            problems.append(f"status {status}: {err}")
    # Whoever was refused has whole batches of five in it.
    for who in "ab":
        count = sum(e["actor"] == who for e in events)
        if count % 5:
            problems.append(f"{count} events of {who}")
    return problems


# ActiveGraph's own.


@case
def a_foreign_store_is_forked_by_its_own_rules(s):
    s.foreign()
    before = s.rows("SELECT * FROM events ORDER BY seq")
    fork = s.ok("fork", RUN, "--at", "evt_002", "--label", "trial")
    columns = "id, type, actor, payload, frame_id, caused_by, timestamp"
    problems = same("copied", s.rows(f"SELECT {columns} FROM events WHERE run_id = ? ORDER BY seq", fork),
                    s.rows(f"SELECT {columns} FROM events WHERE run_id = ? AND seq <= 2 ORDER BY seq", RUN))
    row = s.rows("SELECT parent_run_id, forked_at_event_id, label, goal, frame_id FROM runs WHERE run_id = ?", fork)
    problems += same("its row", row, [(RUN, "evt_002", "trial", "a goal", "frame_001")])
    problems += same("its parent's", s.rows("SELECT * FROM events WHERE run_id = ? ORDER BY seq", RUN), before)
    created = s.rows("SELECT created_at FROM runs WHERE run_id = ?", fork)[0][0]
    if len(created) != 20 or created[10] != "T" or created[19] != "Z":
        problems.append(f"created at {created}")
    if len(fork) != 26 or set(fork) & set("ILOU"):
        problems.append(f"{fork} is no ULID")
    # Its ids go on, its payloads are what Python writes.
    problems += same("appended", s.ok("append", fork, "--type", "note", "--payload", '{"a": 1}', "--actor", "me"), "evt_003")
    problems += same("the row", s.rows("SELECT type, actor, payload FROM events WHERE run_id = ? AND id = 'evt_003'", fork),
                     [("note", "me", '{"a": 1}')])
    shown = json.loads(s.ok("show", fork, "--json"))
    problems += same("show", (shown["schema"], shown["events"], shown["own_events"]), ("activegraph", 3, 1))
    problems += same("meta", s.rows("SELECT * FROM meta"), [("schema_version", "1")])
    return problems + same("verify", s.ok("verify"), "intact")


@case
def a_promote_is_not_cut(s):
    s.foreign()
    problems = []
    for at in ("evt_003", "evt_004"):
        problems += refused(s.runs("fork", RUN, "--at", at), 1, "last event, evt_005")
    for at in ("evt_002", "evt_005", "evt_006"):
        s.ok("fork", RUN, "--at", at)
    problems += refused(s.runs("fork", RUN, "--at", "evt_999"), 1, "no event 'evt_999'")
    return problems + same("runs", s.rows("SELECT count(*) FROM runs"), [(4,)])


@case
def an_older_store_and_a_compacted_one_are_read(s):
    s.foreign(newer=False)
    problems = refused(s.runs("fork", RUN, "--at", "evt_000"), 1, "no event 'evt_000'")
    problems += same("tables", s.rows("SELECT count(*) FROM sqlite_schema WHERE name = 'snapshots'"), [(0,)])
    state = json.loads(s.ok("show", RUN, "--state"))
    problems += same("objects", [o["id"] for o in state["objects"]], ["task#1", "task#2", "task#3"])
    os.unlink(s.path)
    blob = json.dumps({"objects": [task(4)["object"]], "relations": []}, sort_keys=True, separators=(",", ":"))
    import hashlib
    hash_of = "sha256:" + hashlib.sha256(blob.encode()).hexdigest()
    snapshot = {"state_hash": hash_of, "covers_through": "evt_089", "events_covered": 89,
                "id_counters": {"object": 7, "event": 90, "relation": 0, "patch": 0, "frame": 0}}
    s.foreign(history=[("evt_090", "runtime.snapshot", "runtime", snapshot, None)])
    db = sqlite3.connect(s.path)
    db.execute("INSERT INTO snapshots VALUES (?, ?, '2026-01-01T00:00:00Z')", (hash_of, blob))
    db.execute("INSERT INTO events_archive SELECT *, '2026-01-01T00:00:00.000000+00:00' FROM events WHERE 0")
    db.execute("INSERT INTO events_archive VALUES (1, 'evt_001', 't', NULL, '{}', NULL, NULL, '', ?, '')", (RUN,))
    db.commit()
    problems += same("objects", [o["id"] for o in json.loads(s.ok("show", RUN, "--state"))["objects"]], ["task#4"])
    problems += refused(s.runs("fork", RUN, "--at", "evt_001"), 1, "archived below the compaction horizon")
    problems += same("the next id", s.ok("append", RUN, "--type", "t"), "evt_091")
    problems += refused(s.runs("compact", RUN), 2, "its own program")
    db.execute("UPDATE snapshots SET blob = blob || ' '")
    db.commit()
    db.close()
    done = s.runs("verify")
    problems += same("verify", (done.status, b"other bytes" in done.out), (1, True))
    return problems + refused(s.runs("show", RUN, "--state"), 1, "other bytes")


@case
def what_is_wrong_in_a_foreign_store_is_said(s):
    s.foreign()
    db = sqlite3.connect(s.path)
    db.execute("INSERT INTO events (id, type, payload, timestamp, run_id) VALUES ('evt_001', 't', '{}', '', 'ORPHAN')")
    db.execute("INSERT INTO runs VALUES ('CHILD', 'GONE', 'evt_001', NULL, '2026-01-01T00:00:00Z', NULL, NULL)")
    db.execute("INSERT INTO events (id, type, payload, timestamp, run_id) VALUES ('evt_007', 't', '[1', '', ?)", (RUN,))
    db.commit()
    db.close()
    done = s.runs("verify", "--json")
    faults = [(f["run"], f["fault"]) for f in json.loads(done.out)["faults"]]
    problems = same("status", done.status, 1)
    for name, words in (("ORPHAN", "no row"), ("CHILD", "parent GONE"), ("CHILD", "event of its fork"), (RUN, "evt_007")):
        if not any(f[0] == name and words in f[1] for f in faults):
            problems.append(f"nothing about {words} of {name}: {faults}")
    problems += refused(s.runs("fork", "ORPHAN"), 1, "no run 'ORPHAN'")
    done = s.runs("events", RUN)
    return problems + same("events", (done.status, b"evt_007" in done.err), (1, True))


# Runs of the sandbox.

PROGRAM = 'echo start; for i in 1 2 3; do read a; echo "got $a"; sleep 1; done; date +%s'


def talk(s, options, words, known=()):
    """`sandglass run`, given one word after the other as each is answered: its output and what it said."""
    argv = [SANDGLASS, "run", "--store", s.path, *options]
    with subprocess.Popen(argv, cwd=s.cwd, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                          env={"HOME": s.top, "PATH": os.environ["PATH"], "TMPDIR": s.top}) as p:
        out = p.stdout.readline()
        for _ in known:
            out += p.stdout.readline()
        for word in words:
            p.stdin.write(word.encode() + b"\n")
            p.stdin.flush()
            out += p.stdout.readline()
        p.stdin.close()
        out += p.stdout.read()
        err = p.stderr.read().decode()
    return out.decode().split("\n"), err, p.returncode


@case
def a_saved_run_is_forked_at_a_record_and_goes_on_live(s):
    command = ["--", "sh", "-c", PROGRAM]
    out, err, status = talk(s, ["--save", "first", *command], ["one", "two", "three"])
    clock = out[-2]
    problems = same("the run", (out[:4], status), (["start", "got one", "got two", "got three"], 0))
    if "saved as run " not in err:
        return problems + [f"no run was saved: {err}"]
    name = err.split("saved as run ")[1].split()[0]
    types = [json.loads(line)["type"] for line in s.ok("events", name, "--json").splitlines()]
    problems += same("its events", types, ["tape.header"] + ["tape.input"] * 3 + ["tape.outcome"])
    before = s.ok("events", name, "--json")
    fork = s.ok("fork", name, "--at", "1")
    out, err, status = talk(s, ["--from", fork, *command], ["zwei", "drei"], known=["one"])
    problems += same("from there on", (out[:4], status), (["start", "got one", "got zwei", "got drei"], 0))
    problems += same("the clock", out[-2], clock)
    problems += same("its own", len(s.ok("events", fork, "--own").splitlines()), 3)
    problems += same("the parent", s.ok("events", name, "--json"), before)
    # The fork's fork goes on without a command, and with nothing more to come in.
    again = s.ok("fork", fork, "--at", "2")
    out, err, status = talk(s, ["--from", again], [], known=["one", "zwei"])
    problems += same("of the fork's fork", (out[:4], status), (["start", "got one", "got zwei", "got "], 0))
    problems += refused(s.runs("fork", name, "--at", "9"), 1, "no record 9")
    problems += same("left behind", [n for n in os.listdir(s.top) if n.startswith("sandglass-saved")], [])
    return problems + same("verify", s.ok("verify"), "intact")


@case
def a_killed_run_leaves_its_tape_until_the_next(s):
    argv = [SANDGLASS, "run", "--store", s.path, "--save", "x", "--", "sh", "-c", "echo start; read a; true"]
    env = {"HOME": s.top, "PATH": os.environ["PATH"], "TMPDIR": s.top}

    def left():
        return [n for n in os.listdir(s.top) if n.startswith("sandglass-saved")]

    with subprocess.Popen(argv, cwd=s.cwd, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, env=env) as living:
        living.stdout.readline()
        kept = left()
        with subprocess.Popen(argv, cwd=s.cwd, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, env=env) as killed:
            killed.stdout.readline()
            killed.kill()
            killed.stdout.read()
        problems = same("of two", len(left()), 2)
        done = run(argv[:-1] + ["echo start"], cwd=s.cwd, env=env)
        # What served the killed one may live a moment longer, and has its lock.
        for _ in range(600):
            if len(left()) == 1:
                break
            time.sleep(0.05)
            done = run(argv[:-1] + ["echo start"], cwd=s.cwd, env=env)
        problems += same("the living one's", (left(), done.status), (kept, 0))
        living.stdin.close()
        living.stdout.read()
    return problems + same("left behind", (left(), living.returncode), ([], 0))


@case
def what_cannot_go_on_is_refused_before_it_starts(s):
    other = s.begin(1)
    env = {"HOME": s.top, "TMPDIR": s.top}
    done = run([SANDGLASS, "run", "--save", "x", "--store", s.path, "--", "true"], cwd=s.cwd, env=env)
    saved = done.err.decode().split("saved as run ")[1].split()[0]
    forged = s.begin(0)
    s.ok("append", forged, "--type", "tape.header", "--payload", '{"header": []}')
    problems = []
    for words, text in ((["--from", other], "none that"), (["--from", forged], "is no object"), (["--from", "nobody"], "no run"),
                        (["--from", saved, "--", "false"], "another command"),
                        (["--from", saved, "--epoch", "5"], "the rest is the saved run's"),
                        (["--save", "x", "--no-determinism", "--", "true"], "can be recorded")):
        done = run([SANDGLASS, "run", "--store", s.path, *words], cwd=s.cwd, env=env)
        problems += refused(done, 125, text)
    done = run([SANDGLASS, "run", "--store", s.path, "--", "true"], cwd=s.cwd, env=env)
    problems += refused(done, 125, "--store goes with")
    problems += refused(s.runs("fork", other, "--at", "1"), 2, "none that")
    return problems + same("left behind", [n for n in os.listdir(s.top) if n.startswith("sandglass-saved")], [])


def main():
    require_programs()
    tap = Tap()
    for f in CASES:
        s = Store()
        try:
            tap.case(f.__name__, f(s))
        except AssertionError as e:
            tap.case(f.__name__, [str(e)])
        finally:
            s.close()
    tap.finish()


if __name__ == "__main__":
    main()
