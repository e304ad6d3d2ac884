# SPDX-License-Identifier: Apache-2.0
# bash on a terminal of its own: jobs in the background, stopped, brought back, ended by keys.
#: needs bash python3
#: varies
#: rootless
import os
import pty
import time

left = b""


def expect(text):
    """All up to the text."""
    global left
    while text not in left:
        left += os.read(master, 4096)
    shown, left = left[:left.index(text) + len(text)], left[left.index(text) + len(text):]
    print(ascii(shown), flush=True)


def type_in(text, *expected):
    os.write(master, text)
    for each in expected:
        expect(each)


pid, master = pty.fork()
if pid == 0:
    os.environ["PS1"] = "% "
    os.execvp("bash", ["bash", "--norc", "--noprofile", "-i"])
expect(b"% ")
type_in(b"date +%s.%N\n", b"\n", b"% ")
type_in(b"sleep 100 &\n", b"% ")
type_in(b"jobs\n", b"% ")
type_in(b"cat\n", b"cat\r\n")
type_in(b"line\n", b"line\r\nline\r\n")
type_in(b"\x1a", b"Stopped", b"% ")
type_in(b"jobs\n", b"% ")
type_in(b"fg %2\n", b"cat\r\n")
type_in(b"again\n", b"again\r\nagain\r\n")
type_in(b"\x03", b"% ")
type_in(b"cat &\n", b"% ")
time.sleep(1)
type_in(b"\n", b"Stopped", b"% ")
type_in(b"kill %1; wait %1\n", b"Terminated", b"% ")
type_in(b"stty -a | head -n 1; tty\n", b"% ")
type_in(b"exit\n", b"stopped jobs")
type_in(b"exit\n")
try:
    while os.read(master, 4096):
        pass
except OSError as error:
    print(error.strerror)
print(os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]))
