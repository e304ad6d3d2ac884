# SPDX-License-Identifier: Apache-2.0
"""What the tests that run `sandglass run` share: scratch directories, an ordinary user, reports, TAP.

A run as an ordinary user needs programs and directories that this user can reach, wherever the
project is checked out. So the two programs are copied into a scratch directory of mode 755 and
started from there, with another uid, no home, no supplementary group.
"""
import ctypes
import json
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
import time

BUILD = os.environ.get("SANDGLASS_BUILD") or os.path.abspath("build")
SOURCE = os.environ.get("SANDGLASS_SOURCE") or os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
SANDGLASS = os.environ.get("SANDGLASS") or os.path.join(BUILD, "sandglass")
IMAGE = os.path.join(os.path.dirname(SANDGLASS), "sandglass-image.so")
GIT = os.path.join(os.path.dirname(SANDGLASS), "sandglass-git.so")
IMAGE = os.path.join(os.path.dirname(SANDGLASS), "sandglass-image.so")
SUPERVISE = os.environ.get("SANDGLASS_SUPERVISE") or os.path.join(BUILD, "sandglass-supervise")
# In no passwd file and no subuid range.
PLAIN_UID = 61234
# What a session has, and nothing that a test could depend on.
ENV = {"PATH": "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin", "LANG": "C.UTF-8"}
IS_ROOT = os.geteuid() == 0
ROOT, ROOTLESS = "root", "rootless"
# The privileges that this user can test with.
MODES = [ROOT, ROOTLESS] if IS_ROOT else [ROOTLESS]
SKIP = 77


def skip_all(why):
    print(f"1..0 # SKIP {why}")
    sys.exit(0)


def require_programs():
    """A test without the programs that it tests has failed, not skipped."""
    for path in (SANDGLASS, SUPERVISE):
        if not os.access(path, os.X_OK):
            print("1..1")
            print(f"not ok 1 - {path} is not there")
            sys.exit(1)


# Started by nohup, or in the background of a shell, all that a test starts would ignore them too.
signal.signal(signal.SIGHUP, signal.SIG_DFL)
signal.signal(signal.SIGQUIT, signal.SIG_DFL)
signal.signal(signal.SIGINT, signal.default_int_handler)


class Tap:
    """Prints one line a case, at once; finish() prints the plan and ends the test."""

    def __init__(self):
        self.number = self.failed = 0

    def case(self, name, problems, skip=None):
        self.number += 1
        if skip:
            print(f"ok {self.number} - {name} # SKIP {skip}", flush=True)
            return
        self.failed += bool(problems)
        print(f"{'not ok' if problems else 'ok'} {self.number} - {name}", flush=True)
        for problem in problems:
            for line in str(problem).rstrip().splitlines():
                print(f"# {line}", flush=True)

    def finish(self):
        print(f"1..{self.number}")
        sys.exit(1 if self.failed else 0)


class Done:
    """How a command ended: status as a shell gives it, what it wrote, how long it took."""

    def __init__(self, status, out, err, seconds, report=None):
        self.status, self.out, self.err, self.seconds, self.report = status, out, err, seconds, report

    def tell(self):
        """What one wants to see of a command that went wrong."""
        err = self.err.decode("utf-8", "backslashreplace")
        return f"exit {self.status} after {self.seconds:.1f} s, stderr: {err[-1200:] or '(empty)'}"


class Scratch:
    """A directory of mode 755 with the programs in bin/, removed at the end whatever happened."""

    def __init__(self):
        self.path = tempfile.mkdtemp(prefix="sandglass-test.", dir=os.environ.get("TMPDIR") or "/tmp")
        os.chmod(self.path, 0o755)
        os.mkdir(self.join("bin"))
        os.chmod(self.join("bin"), 0o755)
        for program in (SANDGLASS, GIT, IMAGE, SUPERVISE):
            shutil.copy(program, self.join("bin"))
        # What Sandglass itself puts down during a test is counted here.
        self.tmp = self.mkdir("tmp", ROOTLESS)
        os.chmod(self.tmp, 0o1777)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        shutil.rmtree(self.path, ignore_errors=True)

    def join(self, *parts):
        return os.path.join(self.path, *parts)

    def mkdir(self, name, mode):
        path = self.join(name)
        os.mkdir(path)
        self.give(path, mode)
        return path

    def give(self, path, mode):
        """Makes the tree the property of whom the mode runs as."""
        if not IS_ROOT:
            return
        uid = PLAIN_UID if mode == ROOTLESS else 0
        for top, dirs, names in os.walk(path):
            for name in [top] + [os.path.join(top, n) for n in dirs + names]:
                os.lchown(name, uid, uid)


def as_mode(mode, argv):
    """The command that runs argv with that privilege."""
    if mode == ROOTLESS and IS_ROOT:
        return ["setpriv", f"--reuid={PLAIN_UID}", f"--regid={PLAIN_UID}", "--clear-groups", "--"] + argv
    return argv


def cgroups_for(mode):
    """Whether a user of this mode may make control groups: whether he owns the one that he is in."""
    uid = PLAIN_UID if mode == ROOTLESS and IS_ROOT else os.geteuid()
    if uid == 0:
        return True
    with open("/proc/self/cgroup", encoding="utf-8") as f:
        paths = [line.rstrip("\n").split(":", 2)[2] for line in f]
    for top, dirs, _ in os.walk("/sys/fs/cgroup"):
        for name in dirs:
            path = os.path.join(top, name)
            if any(p != "/" and path.endswith(p) for p in paths) and os.stat(path).st_uid == uid:
                return True
    return False


def adopt_orphans():
    """From now on what a dead child leaves behind becomes our child, so that it can be counted."""
    if ctypes.CDLL(None, use_errno=True).prctl(36, 1, 0, 0, 0) != 0:  # PR_SET_CHILD_SUBREAPER
        raise OSError(ctypes.get_errno(), "prctl(PR_SET_CHILD_SUBREAPER)")


def processes():
    """{pid: (parent, state)} of all that /proc shows."""
    found = {}
    for name in os.listdir("/proc"):
        if name.isdigit():
            try:
                with open(f"/proc/{name}/stat", encoding="utf-8", errors="replace") as f:
                    words = f.read().rsplit(")", 1)[1].split()
                found[int(name)] = (int(words[1]), words[0])
            except (OSError, IndexError):
                pass
    return found


def children(pid=None):
    """The living children of a process, by default ours."""
    pid = pid or os.getpid()
    return [child for child, (parent, state) in processes().items() if parent == pid and state not in "ZX"]


def left_behind(known=(), grace=2.0):
    """Command lines of what lives on as our child though it is not known; the dead are reaped.

    The kernel may still be at it when the run has ended, so that the last ones get a moment."""
    end = time.monotonic() + grace
    while True:
        for pid, (parent, state) in processes().items():
            if parent == os.getpid() and state in "ZX" and pid not in known:
                try:
                    os.waitpid(pid, os.WNOHANG)
                except OSError:
                    pass
        left = [pid for pid in children() if pid not in known]
        if not left or time.monotonic() > end:
            break
        time.sleep(0.02)
    told = [f"{pid}: {cmdline(pid)}" for pid in left]
    for pid in left:
        end_process(pid)
    return told


def cmdline(pid):
    try:
        with open(f"/proc/{pid}/cmdline", "rb") as f:
            return f.read().replace(b"\0", b" ").decode("utf-8", "replace").strip()
    except OSError:
        return "(gone)"


def descendants(pid):
    todo, found = [pid], []
    while todo:
        kids = children(todo.pop())
        found += kids
        todo += kids
    return found


def end_process(pid):
    """Ends and reaps a child of ours that a failed case left, so that the next one starts clean."""
    try:
        os.kill(pid, signal.SIGKILL)
        os.waitpid(pid, 0)
    except OSError:
        pass


def status_of(code):
    return 128 - code if code < 0 else code


def peak_kib(pid):
    """The most memory that a living Sandglass process of this tree has had, in KiB."""
    peak = 0
    for one in [pid] + descendants(pid):
        try:
            with open(f"/proc/{one}/status", encoding="utf-8", errors="replace") as f:
                words = dict(line.split(":", 1) for line in f if ":" in line)
            if words["Name"].strip().startswith("sandglass"):
                peak = max(peak, int(words["VmHWM"].split()[0]))
        except (OSError, KeyError, ValueError):
            pass
    return peak


class Watch(threading.Thread):
    """Looks at the memory of a run while it lasts."""

    def __init__(self, pid):
        super().__init__(daemon=True)
        self.pid, self.peak, self.ended = pid, 0, threading.Event()
        self.start()

    def run(self):
        while not self.ended.wait(0.002):
            self.peak = max(self.peak, peak_kib(self.pid))

    def end(self):
        self.ended.set()
        self.join()
        return self.peak


def run(argv, mode=ROOT, cwd=None, stdin=subprocess.DEVNULL, timeout=60, env=None, watch=False, **popen):
    """Runs a command; one that outlives timeout is killed with its tree and has status -1.

    watch: its result has peak_kib."""
    start = time.monotonic()
    with subprocess.Popen(as_mode(mode, argv), cwd=cwd, stdin=stdin, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                          env={**ENV, **(env or {})}, start_new_session=True, **popen) as p:
        watcher = Watch(p.pid) if watch else None
        try:
            out, err = p.communicate(timeout=timeout)
            status = status_of(p.returncode)
        except subprocess.TimeoutExpired:
            for pid in [p.pid] + descendants(p.pid):
                try:
                    os.kill(pid, signal.SIGKILL)
                except OSError:
                    pass
            out, err = p.communicate()
            status = -1
            err += b"\n(the test's own time-out)"
    done = Done(status, out, err, time.monotonic() - start)
    done.peak_kib = watcher.end() if watcher else 0
    return done


def sandglass(scratch, argv, options=(), mode=ROOT, cwd=None, report=True, **more):
    """`sandglass run OPTIONS --report R -- ARGV`, with the report read (None if there is none)."""
    path = os.path.join(scratch.tmp, f"report.{os.getpid()}")
    if os.path.exists(path):
        os.unlink(path)
    env = {"TMPDIR": scratch.tmp, **(more.pop("env", None) or {})}
    command = [scratch.join("bin", "sandglass"), "run", *options]
    if report:
        command += ["--report", path]
    done = run(command + ["--", *argv], mode=mode, cwd=cwd, env=env, **more)
    try:
        with open(path, encoding="utf-8") as f:
            done.report = json.load(f)
        os.unlink(path)
    except (OSError, ValueError) as e:
        if report:
            done.err += f"\n(no report: {e})".encode()
    return done
