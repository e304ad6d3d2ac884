#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Workspaces in layers are what plain ones are: the same work gives the same snapshots, in a fork, in its parent and in
forks of forks; programs and verbs beside each other see one file system; nothing of a killed one is left."""
import json
import os
import signal
import subprocess
import sys
import time

sys.path.insert(0, os.path.join(os.path.dirname(os.path.dirname(os.path.abspath(__file__))), "lib"))
import harness as h  # noqa: E402

FILL = """
mkdir -p d/e/f empty deep/a/b/c && echo one >d/one && echo two >d/e/two && ln -s ../d/one d/link && ln -s nowhere d/dangling
printf '#!/bin/sh\\necho run\\n' >tool && chmod 755 tool && chmod 600 d/one && chmod 1777 empty && chmod 500 deep/a/b
truncate -s 1M sparse && printf x >>sparse && echo "$(seq 1 3000)" >numbers
"""

# What an overlay does by whiteouts, opaque directories and copies up.
WORK = [
    "rm d/one && rm -r d/e && mkdir d/e && echo anew >d/e/other",
    "echo more >>numbers && chmod 640 tool && mv tool moved && ln -sf changed d/link",
    "chmod -R u+w deep && rm -r deep && mkdir deep && echo file >deep/a && rm -rf empty && echo now a file >empty",
    "mkdir -p new/x && mv d/e/other new/x/ && mv d renamed && mkdir d && cp -a renamed/. d/ && rm d/dangling",
    "rm empty && mkdir empty && touch -d @1000 empty/old && echo z >sparse && truncate -s 2M sparse",
    "echo A >first && ln first second && echo B >>second && cat first && rm first && mv second first",
    "mv renamed again && rm -r again && ln -s new again && echo through >again/x/through",
]


class Place:
    """One user's sessions."""

    def __init__(self, scratch, mode):
        self.mode, self.dir = mode, scratch.mkdir(f"place-{mode}", mode)
        self.home = os.path.join(self.dir, "home")
        self.program = scratch.join("bin", "sandglass")
        for how in ("overlay", "auto", "copy"):
            with open(os.path.join(self.dir, how), "w", encoding="ascii") as f:
                json.dump({"options": {"fork": how}}, f)

    def argv(self, *words):
        return h.as_mode(self.mode, [self.program, "session", *words])

    def try_it(self, *words, stdin=None, timeout=60):
        p = subprocess.run(self.argv(*words), cwd=self.dir, input=stdin, capture_output=True, timeout=timeout, check=False,
                           env={**h.ENV, "SANDGLASS_HOME": self.home})
        return h.Done(h.status_of(p.returncode), p.stdout, p.stderr, 0)

    def ok(self, *words, stdin=b""):
        done = self.try_it(*words, stdin=stdin)
        if done.status:
            raise RuntimeError(done.tell())
        return done.out.decode().strip()

    def create(self, how):
        return self.ok("create", "--manifest", os.path.join(self.dir, how))

    def sh(self, one, script):
        return self.ok("exec", one, "--", "sh", "-ec", script)

    def forks(self, one, count=1):
        return self.ok("fork", one, "--count", str(count)).split()

    def made(self, one):
        return json.loads(self.ok("show", "--json", one))["made"]

    def digest(self, one):
        return self.ok("snapshot", one)

    def sessions(self, *parts):
        return os.path.join(self.home, "state", "sessions", *parts)


def same_work(p):
    """Digests after each step, in a workspace that was never forked and in forks, whose parents are forks as well."""
    problems = []
    plain, laid = p.create("overlay"), p.create("overlay")
    for one in (plain, laid):
        p.sh(one, FILL)
    parent, (laid,) = laid, p.forks(laid)
    if p.made(laid) != "overlay" or not os.path.isdir(p.sessions(plain, plain, "workspace")):
        return [f"made by {p.made(laid)}"]
    if p.digest(plain) != p.digest(laid) or p.digest(parent) != p.digest(laid):
        problems.append("the fork is not what its parent was")
    untouched = p.digest(parent)
    for number, script in enumerate(WORK):
        outputs = [p.sh(one, script) for one in (plain, laid)]
        before = p.digest(plain)
        if outputs[0] != outputs[1]:
            problems.append(f"step {number} printed {outputs}")
        if p.digest(laid) != before:
            problems.append(f"step {number} gave another tree: {p.sh(laid, 'ls -lR')}\nnot\n{p.sh(plain, 'ls -lR')}")
            break
        # Every other step goes on in a child, so that the stack grows.
        if number % 2:
            old, (laid,) = laid, p.forks(laid)
            if p.digest(laid) != before or p.digest(old) != before:
                problems.append(f"after step {number} a fork of the fork is another tree")
    if p.digest(parent) != untouched:
        problems.append("what a fork did is seen in its parent")
    return problems


def side_by_side(p):
    """A program sees at once what verbs and other programs do, and they what it does."""
    one = p.create("overlay")
    p.sh(one, "mkdir d && echo old >d/old")
    one, = p.forks(one)
    # It has looked for the names, so that a file system of its own would go on not to have them.
    waits = "! test -e d/sign && ! test -e d/end && cat d/old && echo here >d/here && until test -e d/sign; do sleep .05; done"
    waits += " && cat d/old d/sign && echo seen >d/seen && until test -e d/end; do sleep .05; done; cat d/end; ls d"
    waiting = subprocess.Popen(p.argv("exec", one, "--", "sh", "-ec", waits), cwd=p.dir, stdout=subprocess.PIPE,
                               stderr=subprocess.STDOUT, env={**h.ENV, "SANDGLASS_HOME": p.home})
    try:
        end = time.monotonic() + 30
        while "here" not in p.ok("ls", one, "d").split() and time.monotonic() < end:
            time.sleep(0.02)
        p.ok("write", one, "d/old", "-", stdin=b"new\n")
        p.ok("write", one, "d/sign", "-", stdin=b"sign\n")
        p.sh(one, "until test -e d/seen; do sleep .05; done; cat d/here && rm d/old && echo end >d/.end && mv d/.end d/end")
        out = waiting.communicate(timeout=30)[0].decode()
    finally:
        waiting.kill()
        waiting.wait()
    return [] if out == "old\nnew\nsign\nend\nend\nhere\nseen\nsign\n" else [out]


def killed(p):
    """The process is killed in the middle: no mount, no process; the next one goes on with what was written."""
    one = p.create("overlay")
    p.sh(one, "echo kept >kept")
    one, = p.forks(one)
    program = subprocess.Popen(p.argv("exec", one, "--", "sh", "-c", "echo w >written; sleep 1000"), cwd=p.dir,
                               env={**h.ENV, "SANDGLASS_HOME": p.home})
    end = time.monotonic() + 30
    while "written" not in p.ok("ls", one, ".").split() and time.monotonic() < end:
        time.sleep(0.02)
    program.send_signal(signal.SIGKILL)
    program.wait()
    problems = [f"left: {left}" for left in h.left_behind(grace=10.0)]
    with open("/proc/self/mountinfo", encoding="utf-8") as f:
        problems += [f"a mount is left: {line}" for line in f if p.dir in line]
    got = p.sh(one, "cat kept written")
    return problems + ([] if got == "kept\nw" else [got])


def large(p):
    """By itself a large tree is forked in layers, a small one and one with shared files is not."""
    problems = []
    for script, how in (("mkdir d && for i in $(seq 400); do echo $i >d/$i; done", "overlay"), ("echo small >small", "copy"),
                        ("for i in $(seq 400); do echo $i >$i; done && ln 1 one", "copy")):
        one = p.create("auto")
        p.sh(one, script)
        made = {p.made(fork) for fork in p.forks(one, 3)}
        if made != {how} and not (how == "copy" and made == {"reflink"}):
            problems.append(f"'{script}' was forked by {made}")
        if how == "copy" and not os.path.isdir(p.sessions(one, one, "workspace")):
            problems.append("the parent of copies is not plain any more")
    return problems


def attributes(p):
    """What an overlay would take for its own is copied."""
    one = p.create("overlay")
    p.sh(one, "mkdir d && echo text >d/file")
    os.setxattr(p.sessions(one, one, "workspace", "d", "file"), "user.overlay.metacopy", b"")
    fork, = p.forks(one)
    return [] if p.made(fork) == "copy" and p.sh(fork, "cat d/file") == "text" else [p.made(fork)]


def special(p):
    """Sockets and fifos that a snapshot told of are known to a fork of what was made from it."""
    one = p.create("overlay")
    p.sh(one, "mkfifo d && echo file >file")
    one = p.ok("resume", p.digest(one))
    fork, = p.forks(one)
    if p.made(fork) != "overlay":
        return [p.made(fork)]
    return [] if p.digest(one) == p.digest(fork) == p.digest(p.forks(fork)[0]) else ["another tree"]


def nothing_left(p):
    for one in json.loads(p.ok("list", "--json")):
        p.ok("destroy", one["id"])
    left = os.listdir(p.sessions("layers"))
    return [f"layers are left: {left}"] if left else []


def main():
    h.require_programs()
    h.adopt_orphans()
    tap = h.Tap()
    with h.Scratch() as scratch:
        for mode in h.MODES:
            p = Place(scratch, mode)
            probe = p.create("overlay")
            if p.made(p.forks(probe)[0]) != "overlay":
                tap.case(f"{mode}: forks in layers", [], skip="this host or file system lays no layers for this user")
                continue
            for test in (same_work, side_by_side, killed, large, attributes, special, nothing_left):
                try:
                    problems = test(p)
                except (RuntimeError, OSError, ValueError, subprocess.TimeoutExpired) as e:
                    problems = [str(e)]
                tap.case(f"{mode}: {test.__name__}", problems)
        left = h.left_behind()
        tap.case("no process is left", [str(left)] if left else [])
    tap.finish()


if __name__ == "__main__":
    main()
