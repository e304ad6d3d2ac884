# SPDX-License-Identifier: Apache-2.0
"""On a terminal: the guest has one of 80x24, ^C reaches it, and ours is as it was afterwards."""
import errno
import os
import pty
import select
import signal
import sys
import termios
import time

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "lib"))
from harness import ENV, MODES, Scratch, Tap, as_mode, require_programs  # noqa: E402


class Terminal:
    """A command as the foreground of a fresh terminal."""

    def __init__(self, argv, cwd):
        self.text = b""
        self.pid, self.fd = pty.fork()
        if self.pid == 0:
            os.chdir(cwd)
            os.execvpe(argv[0], argv, ENV)
        self.before = termios.tcgetattr(self.fd)

    def wait_for(self, text, seconds=20):
        end = time.monotonic() + seconds
        while text not in self.text and time.monotonic() < end:
            ready, _, _ = select.select([self.fd], [], [], 0.1)
            if ready:
                try:
                    self.text += os.read(self.fd, 65536)
                except OSError as e:
                    if e.errno == errno.EIO:
                        break
                    raise
        return text in self.text

    def type(self, text):
        os.write(self.fd, text)

    def is_as_before(self):
        return termios.tcgetattr(self.fd) == self.before

    def end(self, seconds=20):
        stop = time.monotonic() + seconds
        while time.monotonic() < stop:
            pid, status = os.waitpid(self.pid, os.WNOHANG)
            if pid:
                return os.waitstatus_to_exitcode(status)
            self.wait_for(b"\0never\0", 0.05)
        os.kill(self.pid, signal.SIGKILL)
        os.waitpid(self.pid, 0)
        return None


def main():
    require_programs()
    tap = Tap()
    with Scratch() as scratch:
        for mode in MODES:
            home = scratch.mkdir("work-" + mode, mode)

            def start(argv, options=()):
                # The shell keeps the terminal open, so that it can be looked at after the run.
                run = [scratch.join("bin", "sandglass"), "run", *options, "--", *argv]
                return Terminal(as_mode(mode, ["sh", "-c", '"$@"; echo "<$?>"; sleep 1', "sh", *run]), home)

            t = start(["sh", "-c", "stty size; echo $TERM"])
            ok = t.wait_for(b"<0>") and b"24 80\r\n" in t.text and b"xterm-256color\r\n" in t.text
            problems = [] if ok else [t.text]
            if not t.is_as_before():
                problems.append("the terminal was left in another mode")
            t.end()
            os.close(t.fd)
            tap.case(f"the guest has a terminal of a fixed size ({mode})", problems)

            t = start(["sh", "-c", "echo ready; while :; do :; done"])
            problems = [] if t.wait_for(b"ready") else [t.text]
            t.type(b"\x03")
            if not t.wait_for(b"<130>"):
                problems.append(t.text)
            if not t.is_as_before():
                problems.append("the terminal was left in another mode")
            t.end()
            os.close(t.fd)
            tap.case(f"^C ends the guest with 130 ({mode})", problems)

            t = start(["sh", "-c", "echo ready; read line; echo \"<got $line>\""])
            problems = [] if t.wait_for(b"ready") else [t.text]
            t.type(b"hello\r")
            if not (t.wait_for(b"<got hello>") and t.wait_for(b"<121>")):
                problems.append(t.text)
            if b"not enforced" not in t.text:
                problems.append("keys that were read were not told")
            t.end()
            os.close(t.fd)
            tap.case(f"keys reach the guest and are told as external ({mode})", problems)

            t = start(["true"], ["--save", "keys", "--store", "keys.db"])
            problems = [] if t.wait_for(b"<125>") and b"--save give the input by a pipe" in t.text else [t.text]
            t.end()
            os.close(t.fd)
            tap.case(f"a recording of keys is refused, and names what asked for it ({mode})", problems)

            t = start(["sh", "-c", "date; sleep 3600; date"], ["--verify"])
            problems = [] if t.wait_for(b"<0>") else [t.text]
            t.end()
            os.close(t.fd)
            tap.case(f"two runs on a terminal are identical ({mode})", problems)

            t = Terminal(as_mode(mode, [scratch.join("bin", "sandglass"), "run", "--", "sh", "-c",
                                        "echo ready; while :; do :; done"]), home)
            problems = [] if t.wait_for(b"ready") else [t.text]
            t.type(b"\x1a")
            stop = time.monotonic() + 10
            pid = status = 0
            while not pid and time.monotonic() < stop:
                pid, status = os.waitpid(t.pid, os.WNOHANG | os.WUNTRACED)
                time.sleep(0.02)
            if not pid or not os.WIFSTOPPED(status):
                problems.append(f"not stopped: {pid} {status}")
            if not t.is_as_before():
                problems.append("the terminal was left in another mode")
            if not problems:
                os.kill(t.pid, signal.SIGCONT)
                time.sleep(0.3)
                t.type(b"\x03")
                code = t.end()
                if code != 130:
                    problems.append(f"ended with {code}")
            else:
                os.kill(t.pid, signal.SIGKILL)
                os.waitpid(t.pid, 0)
            os.close(t.fd)
            tap.case(f"^Z suspends the run and gives the terminal back meanwhile ({mode})", problems)

            t = start(["sh", "-c", "echo ready; while :; do :; done"], ["--timeout", "1s"])
            problems = [] if t.wait_for(b"<124>") else [t.text]
            if not t.is_as_before():
                problems.append("the terminal was left in another mode")
            t.end()
            os.close(t.fd)
            tap.case(f"a time-out gives the terminal back ({mode})", problems)
    tap.finish()


main()
