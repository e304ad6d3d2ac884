#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""One image natively and in docker's container: the same bytes, one tape for both, ends told apart, nothing left.

With --long also what takes longer: a daemon that dies, clients that are killed, limits, a runtime's warnings.
"""
import os
import signal
import subprocess
import sys
import time

sys.path.insert(0, os.path.join(os.path.dirname(os.path.dirname(os.path.abspath(__file__))), "lib"))
import harness as h  # noqa: E402
from dockerd import Dockerd, busybox_tar, missing  # noqa: E402

LOOK = """date; id; hostname; echo $$; umask; pwd; env | sort; sleep 1000; date; cat /proc/uptime
head -c 16 /dev/urandom | od -x; cat /proc/sys/kernel/random/uuid; ls -la / /dev /etc /tmp /sys; cat /etc/hosts /etc/resolv.conf /etc/hostname
cat /proc/cpuinfo | grep -c ^processor; cat /proc/meminfo | head -3; cat /proc/mounts; ls /proc; ulimit -a; cat /proc/self/status; nproc; df
echo x > /tmp/f; stat /tmp/f; mkdir /d; stat /.dockerenv /.sandglass /dev/core /etc/mtab; ls -d /.docker*"""
RACE = """for i in 1 2 3 4 5; do (sleep 0.$i; echo $i $(date +%N); head -c 2 /dev/urandom | od -An -x) & done; wait; uname -a"""


class Bench:
    def __init__(self, scratch, docker):
        self.scratch, self.docker = scratch, docker
        self.env = {**docker.env, "SANDGLASS_HOME": scratch.join("home")}
        self.tap = h.Tap()
        self.image = None

    def sandglass(self, *words, runtime="docker", stdin=None, timeout=180, env=None):
        argv = [self.scratch.join("bin", "sandglass"), *words]
        if runtime and words[0] in ("run", "replay"):
            argv[2:2] = ["--runtime", runtime]
        env = {**self.env, "TMPDIR": self.scratch.tmp, **(env or {})}
        if stdin is None:
            return h.run(argv, env=env, timeout=timeout)
        with subprocess.Popen(["printf", "%s", stdin], stdout=subprocess.PIPE) as source:
            return h.run(argv, env=env, timeout=timeout, stdin=source.stdout)

    def run(self, *options, script="true", runtime="docker", **more):
        return self.sandglass("run", "--image", self.image, *options, "--", "sh", "-c", script, runtime=runtime, **more)

    def import_image(self):
        tar = self.scratch.join("image.tar")
        busybox_tar(tar, self.scratch.path)
        made = self.docker.docker("import", "--change", "USER 1000:1000", tar, "sandglass-test:1")
        if made.status:
            raise RuntimeError("docker import: " + made.tell())
        self.image = made.out.decode().strip()
        saved = self.scratch.join("saved.tar")
        for done in (self.docker.docker("save", "-o", saved, "sandglass-test:1"), self.sandglass("image", "import", saved)):
            if done.status:
                raise RuntimeError("the image cannot be taken over: " + done.tell())

    def left(self):
        """What a run has not removed."""
        problems = []
        deadline = time.monotonic() + 20
        while time.monotonic() < deadline:
            problems = [f"container {c}" for c in self.docker.containers()] + [f"volume {v}" for v in self.docker.volumes()]
            problems += [f"directory {n}" for n in os.listdir(self.scratch.tmp) if n.startswith("sandglass-run-")]
            if not problems:
                break
            time.sleep(0.2)
        return problems


def difference(a, b):
    if a == b:
        return []
    for left, right in zip(a.splitlines(), b.splitlines()):
        if left != right:
            return [f"native: {left!r}", f"docker: {right!r}"]
    return [f"{len(a)} bytes natively, {len(b)} in docker"]


def same_on_both(b, name, script, *options):
    native, there = b.run(*options, script=script, runtime="native"), b.run(*options, script=script)
    problems = difference(native.out, there.out) + difference(native.err, there.err)
    if native.status != there.status:
        problems.append(f"status {native.status} natively, {there.status} in docker")
    b.tap.case(name, problems + ([] if native.status in (0, 1) else [native.tell()]))


def status_is(b, name, wanted, text, *options, script="true", **more):
    done = b.run(*options, script=script, **more)
    problems = [] if done.status == wanted and text.encode() in done.err else [f"wanted {wanted} and {text!r}", done.tell()]
    b.tap.case(name, problems + b.left())


def tapes(b):
    for first, second in (("native", "docker"), ("docker", "native")):
        tape = b.scratch.join(f"{first}.tape")
        script = "read a; sleep 5; read b; echo $b $a; date; head -c 4 /dev/urandom | od -x"
        made = b.run("--record", tape, script=script, runtime=first, stdin="one\ntwo\n")
        image = ["--image", b.image] if second == "docker" else []
        again = b.sandglass("replay", *image, tape, runtime=second)
        told = b.sandglass("tape", "info", tape)
        problems = [made.tell()] if made.status else []
        if f"recorded   {first}\n".encode() not in told.out:
            problems.append(told.tell())
        if again.status or again.out != made.out:
            problems += [again.tell(), *difference(made.out, again.out)]
        b.tap.case(f"a tape of {first} replays in {second}", problems)


def core(b):
    same_on_both(b, "a guest that looks around sees the same", LOOK)
    same_on_both(b, "processes, sleeps and randomness agree", RACE)
    done = b.run("--verify", script=RACE)
    b.tap.case("two runs in docker agree", [done.tell()] if done.status else [])
    tapes(b)
    status_is(b, "126 of the guest is the guest's", 126, "", script="exit 126")
    b.tap.case("a program that is not there is 127", [] if b.sandglass("run", "--image", b.image, "--", "nosuch").status == 127 else ["no 127"])
    status_is(b, "the time-out ends the container", 124, "timed out", "--timeout", "3s", script="while :; do :; done")
    tag = b.sandglass("run", "--image", "sandglass-test:1", "--", "true")
    b.tap.case("a tag is refused with its digest", [] if tag.status == 125 and b.image.encode() in tag.err else [tag.tell()])
    b.tap.case("nothing is left of all these", b.left())


def killed_client(b, what, find):
    """Something of a run is killed; the run, or what is left of it, ends and is removed."""
    argv = [b.scratch.join("bin", "sandglass"), "run", "--runtime", "docker", "--image", b.image, "--", "sh", "-c", "while :; do :; done"]
    with subprocess.Popen(argv, env={**h.ENV, **b.env, "TMPDIR": b.scratch.tmp}, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE) as p:
        deadline = time.monotonic() + 60
        while time.monotonic() < deadline and not b.docker.docker("ps", "-q").out.strip():
            time.sleep(0.1)
        for pid in find(p.pid):
            os.kill(pid, signal.SIGKILL)
        err = p.stderr.read().decode()
        status = p.wait(90)
    problems = b.left()
    if what == "client" and (status != 125 or "ended while the program ran" not in err or err.count("\n") != 1):
        problems.append(f"exit {status}: {err}")
    b.tap.case(f"nothing is left when the {what} is killed", problems)


def long(b):
    killed_client(b, "program", lambda pid: [pid])
    killed_client(b, "client", lambda pid: [c for c in h.descendants(pid) if h.cmdline(c).startswith("docker")])
    killed_client(b, "program with its clients", lambda pid: [pid, *(c for c in h.descendants(pid) if h.cmdline(c).startswith("docker"))])
    status_is(b, "out of memory is told from a kill", 137, "the memory limit killed", "--memory", "32M", script="cat < /dev/zero > /tmp/x")
    status_is(b, "a limit of processes holds", 2, "", "--pids", "16", script="i=0; while [ $i -lt 40 ]; do sleep 100 & i=$((i+1)); done; exit 0")
    status_is(b, "an image that is not there", 125, "No such image", "--allow-tag", "--image", "nosuch:1")
    status_is(b, "what is written is not kept", 125, "--out needs the native container", "--out", b.scratch.join("kept"))
    status_is(b, "a daemon that is not there", 125, "Is the docker daemon running", env={"DOCKER_HOST": "unix:///nonexistent.sock"})
    bind = b.scratch.mkdir("a, \"b\"", h.ROOT)
    with open(os.path.join(bind, "f"), "w", encoding="ascii") as f:
        f.write("here\n")
    os.chmod(bind, 0o755)
    done = b.run("--bind-ro", bind + ":/work/x y", script="cat '/work/x y/f'; echo > '/work/x y/g'")
    b.tap.case("a directory with an odd name is bound, and not written", [] if done.out == b"here\n" and done.status == 1 else [done.tell()])
    shown = b.run("--dry-run", "--env", "A=b c'd")
    words = ["--cap-drop ALL", "--network none", "--read-only", "--pull never", "no-new-privileges", "nr_inodes=", "--memory-swap", "--pids-limit"]
    b.tap.case("--dry-run shows the whole command line", [f"no {w}" for w in words if w not in shown.out.decode()])
    status_is(b, "the supervisor is all that may trace", 0, "", script="grep -q 'CapBnd:.0000000000000000' /proc/self/status")
    doctor(b)
    stand_ins(b)
    podman(b)
    daemon_dies(b)


def doctor(b):
    told = b.sandglass("doctor", "--runtime", "docker", "--image", b.image)
    lines = {line.split()[1]: line.split()[0] for line in told.out.decode().splitlines()}
    wanted = dict.fromkeys(("runtime", "image", "pinned", "container", "limits", "layout", "ptrace", "vdso", "seccomp", "run"), "ok")
    b.tap.case("the doctor tries the runtime", [f"{k} is {lines.get(k)}" for k, v in wanted.items() if lines.get(k) != v])
    gone = b.sandglass("doctor", "--runtime", "docker", env={"DOCKER_HOST": "unix:///nonexistent.sock"})
    b.tap.case("the doctor says that a daemon is not there", [] if gone.status == 2 and b"missing   runtime" in gone.out else [gone.tell()])


def podman(b):
    """With runc, for crun does not start on every host."""
    top = b.scratch.mkdir("podman", h.ROOT)
    words = f"podman --cgroup-manager cgroupfs --runtime runc --root {top}/root --runroot {top}/run --storage-driver vfs"
    name = "podman's container is the native one too"
    try:
        loaded = h.run([*words.split(), "load", "-q", "-i", b.scratch.join("saved.tar")], timeout=120)
        tries = ["--network", "none", "--ulimit", "nofile=1024:1024", "--ulimit", "nproc=1000:1000", "localhost/sandglass-test:1", "/bin/true"]
        probe = h.run([*words.split(), "run", "--rm", *tries], timeout=120)
    except OSError as e:
        b.tap.case(name, [], skip=str(e))
        return
    if loaded.status or probe.status:
        b.tap.case(name, [], skip="podman does not start here: " + (loaded if loaded.status else probe).tell().replace("\n", " ")[-200:])
        return
    native = b.run(script=RACE, runtime="native")
    there = b.sandglass("run", "--allow-tag", "--image", "localhost/sandglass-test:1", "--", "sh", "-c", RACE, runtime="podman",
                        env={"SANDGLASS_PODMAN": words})
    problems = difference(native.out, there.out) + ([there.tell()] if there.status else [])
    left = h.run([*words.split(), "ps", "-aq"]).out.decode().split()
    h.run(["umount", "-R", f"{top}/root"])
    b.tap.case(name, problems + [f"container {c}" for c in left])


WARNS = """#!/bin/sh
[ "$1" != run ] || echo 'WARNING: Your kernel does not support swap limit capabilities. Memory limited without swap.' >&2
exec docker "$@"
"""
# What the row of nerdctl says, done by docker: nerdctl itself is not in Debian.
NERDCTL = """#!/bin/sh
case "$1 $2" in
"image inspect")
	[ "$3 $4 $5" = "--mode dockercompat --format" ] || exit 9
	shift 6
	exec docker image inspect --format '{{json .}}' "$@" ;;
esac
exec docker "$@"
"""


def stand_ins(b):
    for name, text in (("warns", WARNS), ("nerdctl", NERDCTL)):
        with open(b.scratch.join(name), "w", encoding="ascii") as f:
            f.write(text)
        os.chmod(b.scratch.join(name), 0o755)
    status_is(b, "a limit that the runtime leaves out is no success", 121, "degraded: docker: Your kernel", script="true",
              env={"SANDGLASS_DOCKER": b.scratch.join("warns")})
    status_is(b, "nerdctl's row, against a stand-in", 3, "", script="exit 3", runtime="nerdctl", env={"SANDGLASS_NERDCTL": b.scratch.join("nerdctl")})


def daemon_dies(b):
    argv = [b.scratch.join("bin", "sandglass"), "run", "--runtime", "docker", "--image", b.image, "--", "sh", "-c", "while :; do :; done"]
    with subprocess.Popen(argv, env={**h.ENV, **b.env, "TMPDIR": b.scratch.tmp}, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE) as p:
        deadline = time.monotonic() + 60
        while time.monotonic() < deadline and not b.docker.docker("ps", "-q").out.strip():
            time.sleep(0.1)
        b.docker.kill()
        err = p.stderr.read().decode()
        status = p.wait(120)
    problems = [] if status == 125 and err.count("\n") == 1 and "ended while the program ran" in err else [f"exit {status}: {err}"]
    problems += [f"process {h.cmdline(pid)}" for pid in h.processes() if "--connect /.sandglass" in h.cmdline(pid)]
    b.docker.forget()
    b.docker.start()
    b.tap.case("a daemon that dies ends the run with one line, and nothing outlives it", problems + b.left())


def main():
    h.require_programs()
    why = missing()
    if not why and not os.path.exists("/bin/busybox"):
        why = "busybox-static is not installed"
    if why:
        if os.environ.get("SANDGLASS_NEEDS_DOCKER"):
            print(f"1..1\nnot ok 1 - {why}")
            sys.exit(1)
        h.skip_all(why)
    with h.Scratch() as scratch:
        try:
            daemon = Dockerd(scratch.join("docker"))
            daemon.__enter__()
        except RuntimeError as e:
            if os.environ.get("SANDGLASS_NEEDS_DOCKER"):
                print(f"1..1\nnot ok 1 - dockerd starts\n# {e}")
                sys.exit(1)
            h.skip_all(str(e).replace("\n", " ")[-300:])
        try:
            b = Bench(scratch, daemon)
            b.import_image()
            core(b)
            if "--long" in sys.argv:
                long(b)
        finally:
            daemon.__exit__()
        b.tap.finish()


main()
