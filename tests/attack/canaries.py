# SPDX-License-Identifier: Apache-2.0
"""What lies on the host while the attacks run: each thing is there to be reached, and must not be."""
import ctypes
import fcntl
import os
import socket
import subprocess
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.dirname(os.path.abspath(__file__))), "lib"))
import harness as h  # noqa: E402

# attack.h has the same.
PORT = 47811
SHM_KEY = 0x5B0C
ABSTRACT = "\0sandglass-canary"
DEV_SHM = "/dev/shm/sandglass-canary"
QUEUE = b"/sandglass-canary"
VARIABLE = "SANDGLASS_CANARY"
FD = 77
MARK = "canary-content-5b0c"

# A process with a known command line that also holds a key in its user's keyring.
PROCESS = """
import ctypes, platform, sys
libc = ctypes.CDLL(None)
add_key, keyctl = (217, 219) if platform.machine() == "aarch64" else (248, 250)
key = libc.syscall(add_key, b"user", b"sandglass:canary", b"secret", 6, -4)
print(key, flush=True)
sys.stdin.read()
libc.syscall(keyctl, 9, key, -4)  # KEYCTL_UNLINK
"""
WORDS = ("sandglass-canary", "-process")

libc = ctypes.CDLL(None, use_errno=True)


def listener(family, address):
    s = socket.socket(family, socket.SOCK_STREAM)
    s.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    s.bind(address)
    s.listen(64)
    return s


def ptrace_is_restricted():
    try:
        with open("/proc/sys/kernel/yama/ptrace_scope", encoding="utf-8") as f:
            return f.read().strip() != "0"
    except OSError:
        return False


class Canaries:
    """Sets all of it up, one user at a time (a lock: the places are fixed), and takes it away."""

    def __init__(self, scratch):
        self.scratch = scratch
        self.sockets, self.processes = [], {}

    def __enter__(self):
        self.lock = os.open(self.lock_path(), os.O_RDONLY | os.O_CREAT, 0o644)
        fcntl.flock(self.lock, fcntl.LOCK_EX)
        vault = self.scratch.join("vault")
        os.mkdir(vault)
        self.secret = os.path.join(vault, "secret")
        self.socket_path = os.path.join(vault, "socket")
        for path in (self.secret, DEV_SHM):
            with open(path, "w", encoding="utf-8") as f:
                f.write(MARK + "\n")
            os.chmod(path, 0o644)
        self.sockets = [listener(socket.AF_INET, ("127.0.0.1", PORT)), listener(socket.AF_UNIX, ABSTRACT),
                        listener(socket.AF_UNIX, self.socket_path)]
        os.chmod(self.socket_path, 0o777)
        self.shm = libc.shmget(SHM_KEY, 4096, 0o1666)
        self.queue = libc.mq_open(QUEUE, os.O_RDWR | os.O_CREAT, 0o666, None)
        file = os.open(self.secret, os.O_RDONLY)
        os.dup2(file, FD, inheritable=True)
        os.close(file)
        # What this kernel does not have cannot be reached either: {attack: why it proves nothing}.
        self.absent = {}
        if self.shm < 0:
            self.absent["ipc/sysv_shm"] = "this kernel has no SysV segments"
        if self.queue < 0:
            self.absent["ipc/mqueue"] = "this kernel has no message queues"
        if not h.IS_ROOT and ptrace_is_restricted():
            self.absent["proc/ptrace_host"] = "Yama lets nobody trace a process that is no descendant"
        for mode in h.MODES:
            p = subprocess.Popen(h.as_mode(mode, ["/usr/bin/python3", "-c", PROCESS, "".join(WORDS)]), env=h.ENV,
                                 stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
            self.processes[mode] = p
            if int(p.stdout.readline() or -1) < 0:
                self.absent["sys/keyring"] = "this kernel has no keyrings"
        return self

    def __exit__(self, *_):
        for p in self.processes.values():
            p.communicate()
        for s in self.sockets:
            s.close()
        libc.shmctl(self.shm, 0, None)  # IPC_RMID
        libc.mq_close(self.queue)
        libc.mq_unlink(QUEUE)
        os.unlink(DEV_SHM)
        os.close(FD)
        os.close(self.lock)

    @staticmethod
    def lock_path():
        return f"/tmp/sandglass-canaries.{os.geteuid()}.lock"

    def words(self, mode, bind, mib):
        """The arguments that tell an attack where everything is."""
        with open("/proc/cmdline", encoding="utf-8") as f:
            kernel = f.read().strip()
        return [f"secret={self.secret}", f"mark={MARK}", f"process={WORDS[0]}+{WORDS[1]}",
                f"cmdline={kernel}", f"host={socket.gethostname()}", f"socket={self.socket_path}",
                f"pid={self.processes[mode].pid}", f"bind={bind}", f"mib={mib}"]
