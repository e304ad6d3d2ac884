# SPDX-License-Identifier: Apache-2.0
"""Claims replicated in docker's containers, and natively from the very same image of our own store.

The daemon is the test's own: its socket, its data, no network. The image is busybox alone.
"""
import json
import os
import shutil
import signal
import subprocess
import sys
import time

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "lib"))
import harness as h  # noqa: E402
from dockerd import Dockerd, busybox_tar, missing  # noqa: E402
from kit import RESULTS, Claim, Tap, judge, require_programs  # noqa: E402
from misbehaving import CASES, run_case  # noqa: E402

# Of the table of misbehaving analyses: what needs a shell alone, one of each kind.
QUICK = ["exits_125_by_itself", "hangs", "leaves_daemon", "results_is_a_symlink", "writes_code", "outside"]
LONG = ["exits_3", "exits_126_by_itself", "exits_127_by_itself", "exits_137_by_itself", "kills_itself", "command_not_found", "spins",
        "ignores_signals", "fills_output", "fills_tmp", "writes_data", "writes_root", "symlink_deep", "fifo", "hard_link", "no_results",
        "nan", "missing_target", "floods_stdout"]


class Bench:
    def __init__(self, scratch, docker):
        self.scratch, self.docker, self.tap = scratch, docker, Tap()
        self.env = {**h.ENV, **docker.env, "SANDGLASS_HOME": scratch.join("home")}
        self.image = None

    def take_image(self, name="claim"):
        tar, saved = self.scratch.join("image.tar"), self.scratch.join("saved.tar")
        busybox_tar(tar, self.scratch.path)
        made = self.docker.docker("import", tar, name)
        if made.status or self.docker.docker("save", "-o", saved, name).status:
            raise RuntimeError("docker import: " + made.tell())
        done = subprocess.run([h.SANDGLASS, "image", "import", saved], env=self.env, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                              check=False)
        if done.returncode:
            raise RuntimeError(f"image import: {done.stderr}")
        return f"{name}@{made.out.decode().strip()}"

    def left(self, claim):
        """What a run has not removed: the removal comes after its end."""
        for _ in range(400):
            with open("/proc/self/mounts", encoding="utf-8") as f:
                problems = [line for line in f if claim.path + "/" in line]
            problems += self.docker.containers()
            if not problems:
                return []
            time.sleep(0.05)
        return problems

    def case(self, name, claim, outcome, reason, *options, **more):
        claim.change(image={"digest": self.image.rsplit("@", 1)[1]})
        status, record, said = claim.run(*options, image=self.image, env=self.env)
        problems = judge(status, record, said, outcome, reason)
        if record and record["isolation"]:
            degraded = [d["setting"] for d in record["isolation"]["degraded"]]
            if degraded != more.get("degraded", []):
                problems.append(f"degraded: {degraded}")
        self.tap.case(name, problems + self.left(claim))
        return record


def same_image(b):
    """One claim and one image, in both worlds: what comes out is the same."""
    script = "cat /work/data/x.csv; id -u; id -g; pwd; ls /work/code; echo $DOTLAB_SEED $HOME; " + RESULTS
    runs = []
    for runtime in ("docker", "native"):
        with Claim(entrypoint=script, seed=5) as c:
            record = b.case(f"the image in {runtime}", c, "reproduced", "all_within", "--runtime", runtime)
            runs.append((record["runs"][0]["stdout"], record["runs"][0]["outputs"]) if record and record["runs"] else runtime)
    b.tap.case("both have written the same", [] if runs[0] == runs[1] else runs)


def not_started(b):
    with Claim() as c:
        c.manifest["code"]["working_dir"] = "nowhere"
        b.case("a working directory that is not there", c, "spec_issue", "not_started", "--runtime", "docker")


def engine(b):
    with Claim() as c:
        c.change(image={"digest": "sha256:" + "0" * 64})
        for name, image, env in (("an image that the daemon has not", "claim@sha256:" + "0" * 64, b.env),
                                 ("no daemon", "claim@sha256:" + "0" * 64, {**b.env, "DOCKER_HOST": "unix:///nowhere/d.sock"})):
            status, record, said = c.run("--runtime", "docker", "--record", c.join("r.json"), image=image, env=env)
            problems = [] if status == 2 and record is None and not os.path.exists(c.join("r.json")) else [status, said]
            b.tap.case(f"no record of {name}", problems + b.left(c))


def dry(b):
    with Claim() as c:
        c.change(image={"digest": b.image.rsplit("@", 1)[1]})
        status, _, said = c.run("--runtime", "docker", "--dry-run", image=b.image, env=b.env)
        wanted = ("--network none", "--read-only", "--tmpfs /tmp:", "--cap-drop ALL", "no-new-privileges", "--user 10001:10001",
                  "--pids-limit 64", "--memory 268435456b", "--memory-swap 268435456b", "--cpus 1.000", "--ulimit core=0", "--init",
                  "target=/work/code,readonly", "target=/work/data,readonly", "target=/work/out", "seccomp=")
        b.tap.case("a dry run prints the command with every setting",
                   [f"no {w}: {said}" for w in wanted if w not in said] + ([] if status == 0 else [status]))


def killed(b):
    """kill -9 of the runner: its janitor removes the container and the mount."""
    with Claim(entrypoint="sleep 1000") as c:
        c.change(image={"digest": b.image.rsplit("@", 1)[1]})
        with open(c.join("manifest.json"), "w", encoding="utf-8") as f:
            json.dump(c.manifest, f)
        with subprocess.Popen([h.SANDGLASS, "replicate", c.join("manifest.json"), "--code-dir", c.join("code"), "--data-dir",
                               c.join("data"), "--out-dir", c.join("out"), "--image", b.image, "--runtime", "docker"], env=b.env,
                              stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL) as running:
            for _ in range(1200):
                if b.docker.docker("ps", "-q").out.strip():
                    break
                time.sleep(0.05)
            running.send_signal(signal.SIGKILL)
        b.tap.case("a runner that is killed leaves nothing", b.left(c))


def main():
    require_programs()
    why = missing()
    if not why and not os.path.exists("/bin/busybox"):
        why = "busybox-static is not installed"
    if why:
        h.skip_all(why)
    with h.Scratch() as scratch, Dockerd(scratch.join("docker")) as docker:
        os.environ["DOCKER_HOST"] = docker.env["DOCKER_HOST"]
        b = Bench(scratch, docker)
        b.image = b.take_image()
        same_image(b)
        engine(b)
        dry(b)
        killed(b)
        if "--long" in sys.argv:
            not_started(b)
        for case in CASES:
            if case[0] in QUICK or ("--long" in sys.argv and case[0] in LONG):
                b.tap.case("docker: " + case[0], run_case(case, ["--runtime", "docker"], b.image, b.env))
        shutil.rmtree(scratch.join("home"), ignore_errors=True)
        b.tap.finish()


if __name__ == "__main__":
    main()
