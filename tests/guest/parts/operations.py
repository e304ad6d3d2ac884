# SPDX-License-Identifier: Apache-2.0
"""Thousands of file operations, chosen by a seed; prints what each answered but inodes and times.

operations.py SEED COUNT
"""
import os
import random
import stat
import sys

NAMES = ("a b c d e a/x a/y b/x c/x/y d/z ./a a/../b d/ e/ a//x l l/x m n/../a /nonexist "
         "p p/self/cwd/a p/self/nonexist proc ../operations.py").split() + [""]
OPEN = (0, os.O_CREAT, os.O_CREAT | os.O_EXCL, os.O_TRUNC, os.O_CREAT | os.O_TRUNC, os.O_DIRECTORY, os.O_NOFOLLOW,
        os.O_PATH, os.O_APPEND | os.O_CREAT)


def shown(s):
    size = None if stat.S_ISDIR(s.st_mode) else (s.st_nlink, s.st_size)
    return stat.filemode(s.st_mode), size, s.st_uid == os.getuid()


class Operations:
    def __init__(self, seed):
        self.random = random.Random(seed)
        self.fds = []

    def name(self):
        return self.random.choice(NAMES)

    def fd(self):
        return self.random.choice(self.fds or [99])

    def maybe(self):
        return self.random.random() < 0.5

    def mkdir(self):
        return os.mkdir(self.name(), self.random.choice((0o755, 0o700, 0o555)))

    def rmdir(self):
        return os.rmdir(self.name())

    def unlink(self):
        return os.unlink(self.name())

    def rename(self):
        return os.rename(self.name(), self.name())

    def link(self):
        return os.link(self.name(), self.name(), follow_symlinks=self.maybe())

    def symlink(self):
        return os.symlink(self.name(), self.name())

    def open(self):
        access = self.random.choice((os.O_RDONLY, os.O_WRONLY, os.O_RDWR))
        self.fds.append(os.open(self.name(), access | self.random.choice(OPEN), self.random.choice((0o644, 0o600, 0o444))))
        return self.fds[-1]

    def openat(self):
        self.fds.append(os.open(self.name(), os.O_RDONLY | os.O_NONBLOCK, dir_fd=self.fd()))
        return self.fds[-1]

    def close(self):
        return os.close(self.fds.pop(self.random.randrange(len(self.fds)))) if self.fds else None

    def stat(self):
        return shown(os.stat(self.name(), follow_symlinks=self.maybe()))

    def statat(self):
        return shown(os.stat(self.name(), dir_fd=self.fd(), follow_symlinks=self.maybe()))

    def fstat(self):
        return shown(os.fstat(self.fd()))

    def read(self):
        return len(os.read(self.fd(), 100))

    def write(self):
        return os.write(self.fd(), b"x" * self.random.randrange(50))

    def list(self):
        name = self.name()
        # What /proc holds is the host's kernel's affair.
        return sorted(os.listdir(name)) if not name.startswith("p") else None

    def chmod(self):
        return os.chmod(self.name(), self.random.choice((0o755, 0o700, 0o644)))

    def truncate(self):
        return os.truncate(self.name(), self.random.randrange(100))

    def readlink(self):
        return os.readlink(self.name())

    def utime(self):
        return os.utime(self.name(), self.random.choice((None, (1, 2), (5e8, 6e8))), follow_symlinks=self.maybe())

    def statvfs(self):
        return os.statvfs(self.name()).f_namemax


KINDS = [name for name in vars(Operations) if name not in ("name", "fd", "maybe") and name[0] != "_"]


def main():
    operations = Operations(int(sys.argv[1]))
    os.mkdir("w")
    os.chdir("w")
    os.symlink("/proc", "p")
    for i in range(int(sys.argv[2])):
        kind = operations.random.choice(KINDS)
        try:
            print(i, kind, getattr(operations, kind)())
        except OSError as e:
            print(i, kind, e)
        if len(operations.fds) > 50:
            os.close(operations.fds.pop(0))
    # What is left can be read by whoever looks at it afterwards.
    for path, dirs, _ in os.walk("."):
        for name in dirs:
            if not os.path.islink(os.path.join(path, name)):
                os.chmod(os.path.join(path, name), 0o755)


main()
