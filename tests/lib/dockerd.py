# SPDX-License-Identifier: Apache-2.0
"""A docker daemon of the test's own: its socket, its data, no network of its own, and gone afterwards."""
import os
import shutil
import signal
import subprocess
import time

import harness as h

START_S = 90


def missing():
    """Why there can be no daemon here, or None."""
    if not h.IS_ROOT:
        return "dockerd needs root"
    for program in ("dockerd", "docker", "containerd", "runc"):
        if not shutil.which(program):
            return f"{program} is not installed"
    if os.path.exists("/proc/self/attr/apparmor/current") and shutil.which("apparmor_parser") is None:
        return "dockerd needs apparmor_parser on this kernel"
    return None


class Dockerd:
    """with Dockerd(directory) as d: d.env is what its clients need."""

    def __init__(self, path):
        self.path = path
        os.makedirs(path, exist_ok=True)
        self.socket = os.path.join(path, "d.sock")
        self.env = {"DOCKER_HOST": "unix://" + self.socket, "DOCKER_CONFIG": os.path.join(path, "config")}
        os.makedirs(self.env["DOCKER_CONFIG"], exist_ok=True)
        with open(os.path.join(self.env["DOCKER_CONFIG"], "config.json"), "w", encoding="ascii") as f:
            f.write("{}\n")
        self.process = None

    def start(self):
        log = open(os.path.join(self.path, "log"), "ab")
        self.process = subprocess.Popen(
            ["dockerd", "--iptables=false", "--bridge=none", "--host", "unix://" + self.socket, "--data-root", os.path.join(self.path, "data"),
             "--exec-root", os.path.join(self.path, "exec"), "--pidfile", os.path.join(self.path, "pid")],
            stdin=subprocess.DEVNULL, stdout=log, stderr=log, env=h.ENV, start_new_session=True)
        log.close()
        end = time.monotonic() + START_S
        while time.monotonic() < end:
            if self.process.poll() is not None:
                raise RuntimeError("dockerd ended: " + self.tail())
            if os.path.exists(self.socket) and self.docker("version").status == 0:
                return
            time.sleep(0.1)
        raise RuntimeError(f"dockerd did not answer in {START_S} s: " + self.tail())

    def tail(self):
        with open(os.path.join(self.path, "log"), encoding="utf-8", errors="replace") as f:
            return f.read()[-600:]

    def kill(self):
        """As a daemon dies: at once, and with it its containerd."""
        for pid in [self.process.pid] + h.descendants(self.process.pid):
            if "shim" not in h.cmdline(pid):
                os.kill(pid, signal.SIGKILL)
        self.process.wait()

    def unmount(self):
        with open("/proc/self/mounts", encoding="utf-8") as f:
            points = [line.split()[1] for line in f]
        for point in sorted((p for p in points if p.startswith(self.path + "/")), reverse=True):
            subprocess.run(["umount", "-l", point], stderr=subprocess.DEVNULL, check=False)

    def forget(self):
        """After kill: what a reboot would do to the state of its containerd and the shims."""
        for pid in h.processes():
            if self.path in h.cmdline(pid) and pid != os.getpid():
                h.end_process(pid)
        self.unmount()
        shutil.rmtree(os.path.join(self.path, "exec"), ignore_errors=True)

    def stop(self):
        if self.process.poll() is None:
            self.process.terminate()
            try:
                self.process.wait(60)
            except subprocess.TimeoutExpired:
                self.kill()

    def __enter__(self):
        try:
            self.start()
        except BaseException:
            self.__exit__()
            raise
        return self

    def __exit__(self, *_):
        if self.process:
            self.stop()
        self.unmount()
        shutil.rmtree(self.path, ignore_errors=True)

    def docker(self, *words, timeout=120, **more):
        return h.run(["docker", *words], env=self.env, timeout=timeout, **more)

    def containers(self):
        return self.docker("ps", "-aq").out.decode().split()

    def volumes(self):
        return self.docker("volume", "ls", "-q").out.decode().split()


def busybox_tar(path, top):
    """A root file system of busybox alone, as a tar file."""
    root = os.path.join(top, "busybox-root")
    for d in ("bin", "etc", "tmp", "work"):
        os.makedirs(os.path.join(root, d))
    shutil.copy("/bin/busybox", os.path.join(root, "bin"))
    for name in subprocess.run(["/bin/busybox", "--list"], stdout=subprocess.PIPE, check=True, text=True).stdout.split():
        if name != "busybox":
            os.symlink("busybox", os.path.join(root, "bin", name))
    os.chmod(os.path.join(root, "tmp"), 0o1777)
    with open(os.path.join(root, "etc", "passwd"), "w", encoding="ascii") as f:
        f.write("root:x:0:0:root:/root:/bin/sh\n")
    subprocess.run(["tar", "-C", root, "--sort=name", "--owner=0", "--group=0", "--numeric-owner", "-cf", path, "."], check=True)
    shutil.rmtree(root)
