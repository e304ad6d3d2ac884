# SPDX-License-Identifier: Apache-2.0
"""A terminal on both sides: colours, a pinned size, keys, ^C; and the user's own one is given back."""
import fcntl
import os
import re
import select
import signal
import struct
import subprocess
import termios
import time

from kit import case, find_process, h

ROWS, COLUMNS = 40, 100


class Terminal:
    """A run whose standard streams are a terminal of another size than the pinned one."""

    def __init__(self, place, *argv, options=(), stdout=None):
        self.master, self.slave = os.openpty()
        fcntl.ioctl(self.slave, termios.TIOCSWINSZ, struct.pack("HHHH", ROWS, COLUMNS, 0, 0))
        os.chown(self.slave, h.PLAIN_UID if place.mode == h.ROOTLESS and h.IS_ROOT else os.geteuid(), -1)
        self.before = termios.tcgetattr(self.slave)
        self.shown = b""
        self.p = subprocess.Popen(
            h.as_mode(place.mode, [place.sandglass, "run", *options, "--", *argv]), cwd=place.cwd,
            env={**h.ENV, "TMPDIR": place.scratch.tmp, "TERM": "vt100"}, stdin=self.slave, stdout=stdout or self.slave,
            stderr=self.slave, start_new_session=True,
            preexec_fn=lambda: fcntl.ioctl(0, termios.TIOCSCTTY, 0))

    def read(self, seconds):
        if select.select([self.master], [], [], seconds)[0]:
            self.shown += os.read(self.master, 65536)
            return True
        return False

    def wait_for(self, pattern, seconds=10):
        """True when the screen shows it in time."""
        end = time.monotonic() + seconds
        while not re.search(pattern, self.shown):
            if time.monotonic() > end or (not self.read(0.1) and self.p.poll() is not None):
                return False
        return True

    def keys(self, data):
        os.write(self.master, data)

    def finish(self, seconds=15):
        """The exit status; -1 for one that had to be killed."""
        end = time.monotonic() + seconds
        while self.p.poll() is None and time.monotonic() < end:
            self.read(0.05)
        status = self.p.poll()
        if status is None:
            for pid in [self.p.pid] + h.descendants(self.p.pid):
                h.end_process(pid)
            self.p.wait()
        while self.read(0.05):
            pass
        self.after = termios.tcgetattr(self.slave)
        # Whatever was pushed into the input would be the user's next command.
        fcntl.fcntl(self.slave, fcntl.F_SETFL, os.O_NONBLOCK)
        attr = list(self.after)
        attr[3] &= ~termios.ICANON
        termios.tcsetattr(self.slave, termios.TCSANOW, attr)
        try:
            self.unread = os.read(self.slave, 1000)
        except BlockingIOError:
            self.unread = b""
        os.close(self.slave)
        os.close(self.master)
        return -1 if status is None else h.status_of(status)

    def problems(self, status, *patterns):
        ended = self.finish()
        problems = [] if ended in (status if isinstance(status, tuple) else (status,)) else [
            f"exit status {ended}, {status} was expected"]
        problems += [f"{pattern} is not on the screen" for pattern in patterns if not re.search(pattern, self.shown)]
        if self.after != self.before:
            problems.append("the terminal's settings were not given back")
        if self.unread:
            problems.append(f"the terminal's input holds {self.unread!r}")
        return problems + ([f"the screen: {self.shown!r}"] if problems else [])


@case("a terminal inside is 80 by 24 and says so")
def size(place):
    t = Terminal(place, "sh", "-c", "stty size; echo $TERM; tty; tput cols 2>/dev/null; test -t 0 && test -t 1 && test -t 2 && echo all")
    return t.problems(0, rb"24 80\r\n", rb"xterm-256color\r\n", rb"/dev/pts/0\r\n", rb"all\r\n")


@case("programs colour their output on a terminal")
def colours(place):
    os.mkdir(os.path.join(place.cwd, "directory"))
    t = Terminal(place, "ls", "--color=auto")
    return t.problems(0, rb"\033\[[0-9;]+mdirectory")


@case("a run on a terminal can be verified")
def verified(place):
    t = Terminal(place, "sh", "-c", "stty -a; date; ls -l /dev/pts /dev/tty", options=["--verify"])
    return t.problems(0, rb"24", rb"22:13:20")


@case("a terminal whose output goes into a pipe is none")
def half(place):
    t = Terminal(place, "sh", "-c", "test -t 1 || echo pipe", stdout=subprocess.PIPE)
    out, _ = t.p.communicate(timeout=20)
    return t.problems(0) + ([] if out == b"pipe\n" else [f"printed {out!r}"])


@case("keys reach the guest, once")
def keys(place):
    t = Terminal(place, "sh", "-c", "echo ready; read x; echo \"<$x>\"")
    if not t.wait_for(rb"ready"):
        return t.problems(0) + ["it never was ready"]
    t.keys(b"hello\r")
    # A read from a terminal is external input.
    problems = t.problems(121, rb"<hello>\r\n", rb"determinism not enforced")
    if t.shown.count(b"hello") != 2:
        problems.append(f"typed and echoed are not one each: {t.shown!r}")
    return problems


@case("^D ends the input")
def end_of_file(place):
    t = Terminal(place, "sh", "-c", "echo ready; cat; echo over")
    if t.wait_for(rb"ready"):
        t.keys(b"text\r")
        t.wait_for(rb"text\r\ntext")
        t.keys(b"\x04")
    return t.problems((0, 121), rb"over\r\n")


@case("^C ends a guest that does not mind it")
def interrupt(place):
    t = Terminal(place, "sh", "-c", "echo ready; while :; do :; done")
    if t.wait_for(rb"ready"):
        t.keys(b"\x03")
    return t.problems((130, 121))


@case("^C reaches a guest that catches it")
def caught(place):
    t = Terminal(place, "sh", "-c", "trap 'echo caught; exit 7' INT; echo ready; while :; do :; done")
    if t.wait_for(rb"ready"):
        t.keys(b"\x03")
    return t.problems((7, 121), rb"caught\r\n")


@case("^C reaches a guest that waits for a key")
def caught_reading(place):
    t = Terminal(place, "sh", "-c", "trap 'echo caught; exit 7' INT; echo ready; read x")
    if t.wait_for(rb"ready"):
        t.keys(b"\x03")
    return t.problems((7, 121), rb"caught\r\n")


@case("a guest in raw mode gets every byte")
def raw(place):
    script = "stty raw -echo; echo ready; head -c 4 | od -An -tx1; stty sane"
    t = Terminal(place, "sh", "-c", script)
    if t.wait_for(rb"ready"):
        t.keys(b"\x03\x04\x1a\x7f")
    return t.problems((0, 121), rb"03 04 1a 7f")


@case("a window that changes its size does not change the guest's")
def resize(place):
    t = Terminal(place, "sh", "-c", "trap 'echo winch' WINCH; echo ready; sleep 1; sleep 1; i=0; while [ $i -lt 200000 ]; do i=$((i + 1)); done; stty size")
    if t.wait_for(rb"ready"):
        fcntl.ioctl(t.slave, termios.TIOCSWINSZ, struct.pack("HHHH", 50, 132, 0, 0))
        t.p.send_signal(signal.SIGWINCH)
    return t.problems(0, rb"24 80\r\n") + (["the guest was told"] if b"winch" in t.shown else [])


@case("the terminal is given back when the run is ended from outside")
def ended(place):
    problems = []
    for sig, status in ((signal.SIGTERM, 143), (signal.SIGHUP, 129), (signal.SIGINT, 130)):
        t = Terminal(place, "sh", "-c", "stty raw -echo; echo ready; while :; do :; done")
        t.wait_for(rb"ready")
        t.p.send_signal(sig)
        problems += t.problems(status)
    t = Terminal(place, "sh", "-c", "echo ready; while :; do :; done", options=["--timeout", "1s"])
    return problems + t.problems(124)


@case("a stopped supervisor gives the terminal back at the time-out")
def stopped(place):
    t = Terminal(place, "sh", "-c", "echo ready; while :; do :; done", options=["--timeout", "2s"])
    t.wait_for(rb"ready")
    pid = find_process(t.p, "sandglass-supervise")
    if pid:
        os.kill(pid, signal.SIGSTOP)
    return t.problems(124)


@case("nothing can be pushed into the user's terminal")
def pushed(place):
    script = ("import fcntl, sys\nfor fd in (0, 1, 2):\n  for c in b'echo owned\\n':\n    try: fcntl.ioctl(fd, 0x5412, bytes([c]))\n"
              "    except OSError as e: pass\nprint('tried')\n")
    t = Terminal(place, "/usr/bin/python3", "-c", script)
    return t.problems((0, 121), rb"tried")


@case("much output on a terminal is complete")
def much(place):
    t = Terminal(place, "seq", "20000")
    return t.problems(0, rb"\r\n19999\r\n20000\r\n")
