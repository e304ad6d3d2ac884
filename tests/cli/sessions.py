#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The session verbs from outside: what they print, their statuses, repositories, kills."""
import json
import os
import signal
import subprocess
import sys
import time

sys.path.insert(0, os.path.join(os.path.dirname(os.path.dirname(os.path.abspath(__file__))), "lib"))
import harness as h  # noqa: E402


class Place:
    """A state directory of its own, and the program in it."""

    def __init__(self, scratch):
        self.dir = scratch.mkdir("place", h.MODES[0])
        self.env = {"SANDGLASS_HOME": os.path.join(self.dir, "home"), "HOST_SECRET": "leaks"}

    def run(self, *words, stdin=None, timeout=60):
        argv = [h.SANDGLASS, *words]
        p = subprocess.run(argv, cwd=self.dir, input=stdin, capture_output=True, timeout=timeout, check=False,
                           env={**h.ENV, **self.env}, **({} if stdin is not None else {"stdin": subprocess.DEVNULL}))
        return h.Done(h.status_of(p.returncode), p.stdout, p.stderr, 0)

    def session(self, *words, **named):
        return self.run("session", *words, **named)

    def create(self, *words, **named):
        done = self.session("create", *words, **named)
        if done.status:
            raise RuntimeError(done.tell())
        return done.out.decode().strip()

    def path(self, *parts):
        return os.path.join(self.dir, *parts)


def want(done, status, out=None, err=None):
    problems = []
    if done.status != status:
        problems.append(f"status {status} was expected: {done.tell()}")
    if out is not None and done.out != out:
        problems.append(f"printed {done.out!r}, not {out!r}")
    if err is not None and err not in done.err.decode("utf-8", "replace"):
        problems.append(f"said {done.err!r}, without {err!r}")
    if done.err.count(b"\n") > 1 and status != 0:
        problems.append(f"more than one line: {done.err!r}")
    return problems


def verbs(p, tap):
    one = p.create()
    tap.case("create prints an id alone", [] if one.startswith("s-") and len(one) == 14 else [one])
    tap.case("create --json", [] if json.loads(p.session("create", "--json").out)["id"].startswith("s-") else ["no id"])
    tap.case("write takes standard input", want(p.session("write", one, "d/x", "-", "--mode", "0700", stdin=b"text\0"), 0, b""))
    tap.case("read prints the bytes", want(p.session("read", one, "/workspace/d/x"), 0, b"text\0"))
    tap.case("ls", want(p.session("ls", one, "d"), 0, b"x\n"))
    tap.case("write --json counts bytes", want(p.session("write", one, "n", "-", "--json", stdin=b"abc"), 0, b'{"bytes":3}\n'))
    p.session("exec", one, "--", "rm", "n")
    tap.case("ls --json", want(p.session("ls", one, "--json"), 0, b'["d"]\n'))
    tap.case("exec passes on streams and status", want(p.session("exec", one, "--", "sh", "-c", "echo out; echo err >&2; exit 9"), 9, b"out\n", "err"))
    tap.case("exec takes options after the id",
             want(p.session("exec", one, "--cwd", "d", "--env", "A=b", "--stdin", "-", "--", "sh", "-c", "pwd; echo $A; cat", stdin=b"in"), 0, b"/workspace/d\nb\nin"))
    tap.case("exec without -- is refused when an option follows", want(p.session("exec", one, "ls", "-l"), 125))
    done = p.session("exec", one, "--json", "--", "sh", "-c", "exit 127")
    tap.case("exec --json tells a program's own 127", [] if done.status == 127 and json.loads(done.err)["end"] == "exited" else [done.tell()])
    done = p.session("exec", one, "--json", "--", "nowhere")
    tap.case("exec --json tells a missing program", [] if done.status == 127 and json.loads(done.err)["end"] == "not_found" else [done.tell()])
    tap.case("exec says a missing program", want(p.session("exec", one, "--", "nowhere"), 127, b"", "sandglass: 'nowhere' was not found"))
    tap.case("exec --timeout", want(p.session("exec", one, "--timeout", "0.3", "--", "sleep", "30"), 124, b"", "too long"))
    tap.case("exec --max-output tells", want(p.session("exec", one, "--max-output", "3", "--", "echo", "long"), 0, b"lon", "dropped"))
    tap.case("exec by a signal", want(p.session("exec", one, "--", "sh", "-c", "kill -9 $$"), 137))
    done = p.session("exec", one, "--deterministic", "--", "sh", "-c", "date +%s; sleep 3600; date +%s")
    tap.case("exec --deterministic", want(done, 0, b"1700000000\n1700003600\n"))
    tap.case("nothing of the host's environment", want(p.session("exec", one, "--", "sh", "-c", "echo $HOST_SECRET"), 0, b"\n"))
    listed = json.loads(p.session("list", "--json").out)
    tap.case("list --json has it", [] if one in [s["id"] for s in listed] else [str(listed)])
    two = p.create("--backend", "worktree")
    tap.case("and so does the other backend", want(p.session("exec", two, "--", "nowhere"), 127, b"", "sandglass: 'nowhere' was not found"))
    p.session("destroy", two)
    tap.case("conformance of no test at all is refused", want(p.run("conformance", "--only", "no such test", "native"), 2, b"", "no such test"))
    shown = json.loads(p.session("show", one).out)
    tap.case("show", [] if shown["state"] == "ready" and shown["backend"] == "native" else [str(shown)])
    tap.case("destroy", want(p.session("destroy", one), 0, b""))
    tap.case("destroy again", want(p.session("destroy", one), 0, b""))
    tap.case("destroy of an unknown one", want(p.session("destroy", "s-000000000000"), 1, b"", "no session"))
    tap.case("destroy of what is no id", want(p.session("destroy", "../.."), 1, b"", "no session"))
    tap.case("exec in a destroyed one", want(p.session("exec", one, "--", "true"), 125, b"", "destroyed"))


def usage(p, tap):
    one = p.create()
    rows = (("a verb that is none", ["frob"], 2, "no verb 'frob'"), ("no verb", [], 2, "needs a verb"),
            ("no id", ["read"], 2, "usage"), ("an unknown option", ["create", "--backnd", "x"], 2, "--backend"),
            ("an unknown backend lists those there are", ["create", "--backend", "cloud9"], 2, "native, worktree"),
            ("a manifest that is not there", ["create", "--manifest", "none.json"], 2, "none.json"),
            ("a file that is not there", ["read", one, "x"], 1, "does not exist"),
            ("a path that leads out", ["read", one, "../x"], 1, "out of the workspace"),
            ("a mode that is none", ["write", one, "x", "-", "--mode", "rw"], 2, "octal"),
            ("a policy that is none", ["snapshot", one, "--git", "burn"], 2, "keep, drop, normalise"),
            ("a digest that is none", ["resume", "123"], 2, "no digest"),
            ("a snapshot that is not there", ["resume", "0" * 64], 1, ""),
            ("an owner that is not there", ["create", "--owner", "4194300"], 2, "no process"),
            ("too many forks", ["fork", one, "--count", "5000"], 2, "at most"))
    for name, words, status, err in rows:
        tap.case(f"usage: {name}", want(p.session(*words), status, b"", err))
    p.session("destroy", one)


def git(cwd, *words):
    subprocess.run(["git", "-c", "user.name=t", "-c", "user.email=t@example.org", *words], cwd=cwd, check=True, capture_output=True,
                   env={**h.ENV, "HOME": cwd})


def repositories(p, tap):
    repo = p.path("repo")
    os.mkdir(repo)
    git(repo, "init", "-q", "-b", "main")
    os.mkdir(os.path.join(repo, "sub"))
    for name, text in (("a.txt", "on main\n"), ("sub/b.txt", "below\n")):
        with open(os.path.join(repo, name), "w", encoding="utf-8") as f:
            f.write(text)
    git(repo, "add", ".")
    git(repo, "commit", "-qm", "one")
    git(repo, "checkout", "-qb", "side")
    with open(os.path.join(repo, "a.txt"), "w", encoding="utf-8") as f:
        f.write("on side\n")
    git(repo, "commit", "-qam", "two")
    git(repo, "checkout", "-q", "main")
    # Whatever a checkout could run.
    mark = p.path("ran")
    for hook in ("post-checkout", "post-index-change", "reference-transaction"):
        file = os.path.join(repo, ".git", "hooks", hook)
        with open(file, "w", encoding="utf-8") as f:
            f.write(f"#!/bin/sh\ntouch {mark}\n")
        os.chmod(file, 0o755)
    git(repo, "config", "filter.evil.smudge", f"touch {mark}; cat")
    with open(os.path.join(repo, ".git", "info", "attributes"), "w", encoding="utf-8") as f:
        f.write("* filter=evil\n")
    for backend in ("native", "worktree"):
        manifest = json.dumps({"repo": {"src_path": repo, "branch": "side"}, "files": [{"path": "extra", "content": "x"}]})
        one = p.create("--backend", backend, "--manifest", "-", stdin=manifest.encode())
        tap.case(f"{backend}: the branch is checked out", want(p.session("read", one, "a.txt"), 0, b"on side\n"))
        tap.case(f"{backend}: with files of the manifest", want(p.session("read", one, "extra"), 0, b"x"))
        tap.case(f"{backend}: git works inside",
                 want(p.session("exec", one, "--", "git", "-c", "safe.directory=*", "log", "--format=%s"), 0, b"two\none\n"))
        sparse = json.dumps({"repo": {"src_path": repo, "sparse_paths": ["sub"]}})
        two = p.create("--backend", backend, "--manifest", "-", stdin=sparse.encode())
        tap.case(f"{backend}: sparse paths alone", want(p.session("ls", two), 0, b".git\nsub\n"))
        tap.case(f"{backend}: snapshot", want(p.session("snapshot", one), 0))
        tap.case(f"{backend}: a fork has the files", fork_has(p, one))
        tap.case(f"{backend}: destroy", want(p.session("destroy", one, two), 0))
    tap.case("no hook and no filter ran", ["something of the repository was run"] if os.path.exists(mark) else [])
    left = os.listdir(os.path.join(repo, ".git", "worktrees")) if os.path.isdir(os.path.join(repo, ".git", "worktrees")) else []
    tap.case("no worktree is left in the repository", [str(left)] if left else [])


def fork_has(p, one):
    done = p.session("fork", one, "--count", "2")
    ids = done.out.decode().split()
    problems = want(done, 0) + ([] if len(ids) == 2 else [str(ids)])
    for other in ids:
        problems += want(p.session("read", other, "extra"), 0, b"x")
        problems += want(p.session("destroy", other), 0)
    return problems


def snapshots(p, tap):
    one = p.create("--manifest", "-", stdin=b'{"env":{"A":"kept"},"files":[{"path":"f","content":"1"}]}')
    digest = p.session("snapshot", one).out.decode().strip()
    tap.case("snapshot prints a digest", [] if digest.startswith("sha256:") and len(digest) == 71 else [digest])
    tap.case("the same tree, the same digest", want(p.session("snapshot", one), 0, digest.encode() + b"\n"))
    p.session("destroy", one)
    two = p.session("resume", digest).out.decode().strip()
    tap.case("resume has files and environment", want(p.session("exec", two, "--", "sh", "-c", "cat f; echo $A"), 0, b"1kept\n"))
    tap.case("it tells its base", [] if json.loads(p.session("show", two).out)["base"] == digest else ["another base"])
    three = p.session("resume", digest, "--backend", "worktree").out.decode().strip()
    tap.case("another backend resumes it too", want(p.session("exec", three, "--", "sh", "-c", "cat f; echo $A"), 0, b"1kept\n"))
    with subprocess.Popen([h.SANDGLASS, "session", "exec", two, "--", "sleep", "30"], cwd=p.dir, env={**h.ENV, **p.env},
                          stdin=subprocess.DEVNULL, stderr=subprocess.PIPE) as busy:
        time.sleep(1)
        tap.case("no snapshot while something runs", want(p.session("snapshot", two), 1, b"", "in use"))
        tap.case("a shutdown ends what runs", want(p.session("shutdown", two), 0, b""))
        _, err = busy.communicate(timeout=20)
        tap.case("which tells so", [] if busy.returncode == 137 and b"shut down" in err else [f"{busy.returncode} {err!r}"])
    tap.case("files can still be read", want(p.session("read", two, "f"), 0, b"1"))
    tap.case("and frozen", want(p.session("snapshot", two), 0, digest.encode() + b"\n"))
    tap.case("but nothing runs", want(p.session("exec", two, "--", "true"), 125, b"", "shut down"))
    p.session("destroy", two, three)


# Three processes of which each lives no longer than it takes to fork the next; for eight seconds.
MOVERS = """
import os, time
end = time.monotonic() + 8
for _ in range(3):
    if os.fork() == 0:
        while time.monotonic() < end:
            if os.fork():
                os._exit(0)
        os._exit(0)
time.sleep(8)
"""


def kills(p, tap):
    """kill -9 of the caller of exec: everything that it started ends, the session stays."""
    for backend in ("native", "worktree"):
        one = p.create("--backend", backend)
        with subprocess.Popen([h.SANDGLASS, "session", "exec", one, "--", "sh", "-c", "setsid sleep 301 & echo up; sleep 301"], cwd=p.dir,
                              env={**h.ENV, **p.env}, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE) as busy:
            busy.stdout.readline()
            busy.send_signal(signal.SIGKILL)
        end = time.monotonic() + 5
        while time.monotonic() < end and any("sleep 301" in h.cmdline(pid) for pid in h.processes()):
            time.sleep(0.05)
        left = [h.cmdline(pid) for pid in h.processes() if "sleep 301" in h.cmdline(pid)]
        tap.case(f"{backend}: kill -9 of the caller leaves nothing running", left)
        tap.case(f"{backend}: and the session usable", want(p.session("exec", one, "--", "echo", "up"), 0, b"up\n"))
        p.session("destroy", one)
    one = p.create("--backend", "worktree")
    for name, script, status, err in (
            ("kills", "setsid sleep 302 & (setsid sleep 302 &); kill -9 $PPID; sleep 302", 125, "watches over"),
            ("stops", "setsid sleep 302 & (setsid sleep 302 &); kill -STOP $PPID; sleep 302", 124, "too long")):
        done = p.session("exec", one, "--timeout", "2s", "--", "sh", "-c", script)
        tap.case(f"worktree: a program that {name} what watches over it leaves nothing running",
                 want(done, status, b"", err) + [h.cmdline(pid) for pid in h.processes() if "sleep 302" in h.cmdline(pid)])
    slow = []
    for _ in range(3):
        begin = time.monotonic()
        slow += want(p.session("exec", one, "--timeout", "0.5", "--", "python3", "-c", MOVERS), 124, b"", "too long")
        slow += [f"it took {time.monotonic() - begin:.1f} s"] if time.monotonic() - begin > 6 else []
    tap.case("worktree: what forks and ends, on and on, ends with its time", slow)
    p.session("destroy", one)
    with subprocess.Popen(["sleep", "60"]) as owner:
        owned = p.create("--owner", str(owner.pid))
        kept = p.create("--owner", str(os.getpid()))
        tap.case("gc leaves sessions with a living owner", want(p.session("gc"), 0) + want(p.session("ls", owned), 0))
        owner.kill()
    tap.case("gc --dry-run tells", want(p.session("gc", "--dry-run"), 0, b"0 half made, 1 without their owner, 0 old, 0 records of destroyed ones\n"))
    tap.case("gc removes those without an owner", want(p.session("gc"), 0) + want(p.session("ls", owned), 1, b"", "destroyed"))
    tap.case("and no other", want(p.session("ls", kept), 0))
    p.session("destroy", kept)
    # A worktree whose repository is none any more, among others; ids have no order.
    repo = p.path("damaged")
    os.mkdir(repo)
    git(repo, "init", "-q")
    git(repo, "commit", "-q", "--allow-empty", "-m", "x")
    with subprocess.Popen(["sleep", "60"]) as owner:
        manifest = json.dumps({"repo": {"src_path": repo}}).encode()
        p.create("--backend", "worktree", "--manifest", "-", "--owner", str(owner.pid), stdin=manifest)
        others = [p.create("--owner", str(owner.pid)) for _ in range(4)]
        owner.kill()
    os.rename(os.path.join(repo, ".git", "HEAD"), os.path.join(repo, "HEAD"))
    problems = want(p.session("gc"), 1, b"", "open the repository")
    tap.case("gc removes the others when one cannot be removed", sum((want(p.session("ls", o), 1, b"", "destroyed") for o in others), problems))
    os.rename(os.path.join(repo, "HEAD"), os.path.join(repo, ".git", "HEAD"))
    tap.case("and that one as soon as it can be", want(p.session("gc"), 0, b"1 half made, 0 without their owner, 0 old, 0 records of destroyed ones\n"))
    # A create that was killed at once: nothing of it shows.
    for delay in (0.0, 0.002, 0.004, 0.006, 0.01):
        with subprocess.Popen([h.SANDGLASS, "session", "create"], cwd=p.dir, env={**h.ENV, **p.env}, stdin=subprocess.DEVNULL,
                              stdout=subprocess.DEVNULL) as busy:
            time.sleep(delay)
            busy.send_signal(signal.SIGKILL)
    p.session("gc")
    home = p.path("home", "state", "sessions")
    for name in (s["id"] for s in json.loads(p.session("list", "--json").out)):
        p.session("destroy", name)
    kept = [name for name in os.listdir(home) if set(os.listdir(os.path.join(home, name))) - {"record.json", "lock"}]
    tap.case("killed creates leave nothing after gc", kept)


def main():
    h.require_programs()
    h.adopt_orphans()
    tap = h.Tap()
    with h.Scratch() as scratch:
        p = Place(scratch)
        for part in (verbs, usage, repositories, snapshots, kills):
            part(p, tap)
        tap.case("nothing lives on", h.left_behind())
    tap.finish()


main()
