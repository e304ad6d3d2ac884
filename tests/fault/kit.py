# SPDX-License-Identifier: Apache-2.0
"""What the fault tests share: a case is a function, and nothing may be left when it has ended."""
import fcntl
import os
import re
import subprocess
import sys
import time

sys.path.insert(0, os.path.join(os.path.dirname(os.path.dirname(os.path.abspath(__file__))), "lib"))
import harness as h  # noqa: E402

CASES = []


def case(text, modes=None, needs_root=False):
    """Registers a function that takes a Place and gives a list of problems."""
    def take(f):
        CASES.append((text, f, modes, needs_root))
        return f
    return take


class Place:
    """Where one case runs: its privilege, a working directory, the programs."""

    def __init__(self, scratch, mode):
        self.scratch, self.mode = scratch, mode
        self.top = scratch.mkdir("case", mode)
        self.cwd = os.path.join(self.top, "cwd")
        os.mkdir(self.cwd)
        scratch.give(self.top, mode)
        self.sandglass = scratch.join("bin", "sandglass")

    def guest(self, name):
        """Lays a program of tests/guest/parts into the working directory."""
        path = os.path.join(self.cwd, name)
        with open(os.path.join(h.BUILD, "tests", "guest", "parts", name), "rb") as source, open(path, "wb") as copy:
            copy.write(source.read())
        os.chmod(path, 0o755)
        return f"./{name}"

    def write(self, name, text, mode=0o644):
        path = os.path.join(self.top, name)
        with open(path, "w", encoding="utf-8") as f:
            f.write(text)
        os.chmod(path, mode)
        self.scratch.give(self.top, self.mode)
        return path

    def run(self, *argv, options=(), **more):
        """`sandglass run OPTIONS -- ARGV` to its end."""
        more.setdefault("report", False)
        more.setdefault("cwd", self.cwd)
        return h.sandglass(self.scratch, list(argv), options=list(options), mode=self.mode, **more)

    def start(self, *argv, options=(), **more):
        """The same, still running."""
        for stream in ("stdin", "stdout", "stderr"):
            more.setdefault(stream, subprocess.DEVNULL if stream == "stdin" else subprocess.PIPE)
        return subprocess.Popen(h.as_mode(self.mode, [self.sandglass, "run", *options, "--", *argv]), cwd=self.cwd,
                                env={**h.ENV, "TMPDIR": self.scratch.tmp}, start_new_session=True, **more)


def messages(err):
    """Our own lines; what is degraded on this host is told in every run and is not the matter here."""
    lines = err.decode("utf-8", "backslashreplace").splitlines()
    return [line for line in lines if line.startswith("sandglass: ") and "degraded:" not in line]


def expect(done, status, *patterns, lines=None):
    """Problems unless it ended with this status and our lines match the patterns, one each.

    lines: exactly that many; by default as many as there are patterns, and of a run that is not
    enforced the one that names its reasons too."""
    problems = []
    wanted = status if isinstance(status, tuple) else (status,)
    if done.status not in wanted:
        problems.append(f"exit status {wanted} was expected: {done.tell()}")
    said = messages(done.err)
    for pattern in patterns:
        if not any(re.search(pattern, line) for line in said):
            problems.append(f"no message matches {pattern!r}: {said}")
    if done.status == 121 and lines is None:
        patterns += (r"^sandglass: reasons: [a-z_]+(, [a-z_]+)* \('sandglass explain CODE' says what to do\)$",)
        if not re.match(patterns[-1], said[-2] if len(said) > 1 else ""):
            problems.append(f"the last line but one does not name the reasons: {said}")
    count = len(patterns) if lines is None else lines
    if len(said) != count:
        problems.append(f"{count} lines were expected: {said}")
    return problems


def finish(p, timeout=20):
    """Waits for a started run; a Done."""
    start = time.monotonic()
    try:
        out, err = p.communicate(timeout=timeout)
        status = h.status_of(p.returncode)
    except subprocess.TimeoutExpired:
        for pid in [p.pid] + h.descendants(p.pid):
            h.end_process(pid)
        out, err = p.communicate()
        status = -1
    return h.Done(status, out or b"", err or b"", time.monotonic() - start)


def find_process(p, name, timeout=10):
    """The pid of the descendant that runs a program of this name, waited for; 0 if there is none."""
    end = time.monotonic() + timeout
    while time.monotonic() < end:
        for pid in h.descendants(p.pid):
            words = h.cmdline(pid).split()
            if words and os.path.basename(words[0]) == name:
                return pid
        time.sleep(0.01)
    return 0


class Before:
    """What is on the host before a case, to be compared with what is there afterwards."""

    def __init__(self, scratch):
        self.scratch = scratch
        self.mounts, self.files = self.look()
        self.groups = self.cgroups()

    def look(self):
        with open("/proc/self/mountinfo", encoding="utf-8") as f:
            # What other tests mount in their scratch directories at the same time is none of ours.
            mounts = {line.split(" - ")[0].split(" ", 2)[2] for line in f
                      if self.scratch.path in line or not any(name in line for name in ("/sandglass-bare.", "/sandglass-test."))}
        return mounts, set(os.listdir(self.scratch.tmp))

    @staticmethod
    def cgroups():
        """Groups of runs that are over: who made one is gone, and with him the lock that he had on it."""
        found = set()
        for top, dirs, _ in os.walk("/sys/fs/cgroup"):
            for name in dirs:
                match = re.fullmatch(r"sandglass-(\d+)-\d+", name)
                if not match or os.path.exists(f"/proc/{match[1]}"):
                    continue
                try:
                    fd = os.open(os.path.join(top, name), os.O_RDONLY)
                except OSError:
                    continue
                try:
                    fcntl.flock(fd, fcntl.LOCK_EX | fcntl.LOCK_NB)
                    found.add(os.path.join(top, name))
                except OSError:
                    pass
                os.close(fd)
        return found

    def problems(self, grace=3.0):
        """Nothing of ours may be left: processes, mounts, control groups, temporary files."""
        problems = [f"left behind: process {one}" for one in h.left_behind(grace=grace)]
        end = time.monotonic() + grace
        while True:
            mounts, files = self.look()
            left = [f"mount {m}" for m in mounts - self.mounts] + [f"file {f}" for f in files - self.files]
            left += [f"control group {path}" for path in self.cgroups() - self.groups]
            if not left or time.monotonic() > end:
                return problems + [f"left behind: {one}" for one in left]
            time.sleep(0.05)
