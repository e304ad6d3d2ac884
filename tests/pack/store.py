# SPDX-License-Identifier: Apache-2.0
"""What the tests of trials share: a store as ActiveGraph programs write it, and packs made as they are needed."""
import json
import os
import sqlite3
import subprocess

from harness import SANDGLASS

SCHEMA = """
CREATE TABLE events (seq INTEGER PRIMARY KEY AUTOINCREMENT, id TEXT NOT NULL, type TEXT NOT NULL, actor TEXT, payload TEXT NOT NULL,
  frame_id TEXT, caused_by TEXT, timestamp TEXT NOT NULL, run_id TEXT NOT NULL, UNIQUE(id, run_id));
CREATE INDEX idx_events_run ON events(run_id, seq);
CREATE INDEX idx_events_type ON events(type);
CREATE TABLE runs (run_id TEXT PRIMARY KEY, parent_run_id TEXT, forked_at_event_id TEXT, label TEXT, created_at TEXT NOT NULL, goal TEXT, frame_id TEXT);
CREATE TABLE meta (key TEXT PRIMARY KEY, value TEXT NOT NULL);
INSERT INTO meta VALUES ('schema_version', '1');
"""
# What packs start has it in its command line: other tests may run at the same time.
MARK = str(os.getpid())
RUN = "01HZZZZZZZZZZZZZZZZZZZZZZZ"
NOW = "2026-01-01T00:00:00Z"
PAST = [("chat.message", {"text": "hello"}), ("behavior.failed", {"behavior": "old", "event_id": "evt_001"}),
        ("chat.message", {"text": "what's on today?"}), ("chat.message", {"text": "thanks"}), ("runtime.idle", {})]


class Top:
    """A store, and packs made as they are needed."""

    def __init__(self, path, past=None):
        self.path, self.made = path, 0
        self.store = os.path.join(path, "store.db")
        db = sqlite3.connect(self.store)
        db.executescript(SCHEMA)
        db.execute("INSERT INTO runs VALUES (?, NULL, NULL, 'parent', ?, NULL, NULL)", (RUN, NOW))
        for i, (kind, payload) in enumerate(past or PAST, 1):
            db.execute("INSERT INTO events (id, type, actor, payload, timestamp, run_id) VALUES (?, ?, 'user', ?, ?, ?)",
                       (f"evt_{i:03}", kind, json.dumps(payload), NOW, RUN))
        db.commit()
        db.close()
        self.env = {"PATH": os.environ["PATH"], "HOME": path, "SANDGLASS_HOME": os.path.join(path, "home"), "SECRET": "s3cret", "HANDED": "on",
                    "SANDGLASS_SUPERVISE": os.environ.get("SANDGLASS_SUPERVISE", "")}

    def command(self, words, **more):
        return subprocess.run([SANDGLASS, *words], cwd=self.path, env=self.env, capture_output=True, timeout=120, stdin=subprocess.DEVNULL, **more)

    def pack(self, lang="python", **files):
        """A new pack whose files are replaced (a_py is a.py): its directory and its pin."""
        self.made += 1
        path = os.path.join(self.path, f"pack{self.made}")
        made = self.command(["pack", "new", "--lang", lang, path])
        if made.returncode:
            raise AssertionError(made.stderr)
        for name, text in files.items():
            name = name.replace("_", ".")
            with open(os.path.join(path, name), "a" if name.startswith("+") else "w", encoding="utf-8") as f:
                f.write(text.replace("MARK", MARK))
        return path, self.pin(path)

    def pin(self, path):
        return json.loads(self.command(["pack", "hash", "--json", path]).stdout)["bundle_hash"]

    def words(self, pack, *more):
        path, pin = pack
        return ["trial", "--json", "--store", self.store, "--run", RUN, "--pack", path, "--bundle-hash", pin, *more]

    def trial(self, pack, *more):
        """The report of a trial that was made."""
        done = self.command(self.words(pack, *more))
        report = json.loads(done.stdout) if done.returncode in (0, 1) else {"outcome": f"status {done.returncode}", "detail": done.stderr.decode()}
        if done.returncode != (report["outcome"] != "completed") and done.returncode < 2:
            report["outcome"] = f"{report['outcome']} with status {done.returncode}"
        return report

    def scenario(self, body, *more, lang="python", **files):
        """The report of a trial whose scenario has this body."""
        text = "import os, sys, time, json, subprocess\n\n\ndef main(runtime):\n" + "".join(f"    {line}\n" for line in body.splitlines())
        return self.trial(self.pack(lang, scenario_py=text, **files), "--scenario", "scenario.py", *more)

    def rows(self, run=RUN):
        db = sqlite3.connect(self.store)
        rows = db.execute("SELECT id, type, actor, caused_by, payload FROM events WHERE run_id = ? ORDER BY seq", (run,)).fetchall()
        db.close()
        return rows

    def types(self, report):
        return [row[1] for row in self.rows(report["fork_run_id"])][len(PAST):]
