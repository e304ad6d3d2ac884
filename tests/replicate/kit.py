# SPDX-License-Identifier: Apache-2.0
"""What the tests of `sandglass replicate` share: a claim in a scratch directory, and one run of it."""
import hashlib
import json
import os
import shutil
import subprocess
import sys
import tempfile

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "lib"))
from harness import ENV as PLAIN, SANDGLASS, Tap, require_programs  # noqa: E402,F401

# A daemon of the test's own is where DOCKER_HOST says.
ENV = dict(PLAIN, **{k: os.environ[k] for k in ("DOCKER_HOST",) if k in os.environ})
IMAGE = "sha256:" + hashlib.sha256(b"an image").hexdigest()
RESULTS = 'printf \'{"t": 1.5}\' >"$DOTLAB_OUT_DIR/results.json"'
TARGET = {"name": "t", "value": 1.5, "tolerance": {"absolute": 0.25}}
WHO = ["-c", "user.name=n", "-c", "user.email=e", "-c", "commit.gpgsign=false", "-c", "init.defaultBranch=main"]


def sha256(data):
    return hashlib.sha256(data).hexdigest()


def git(path, *words):
    """Of a repository that is ours; nobody's configuration counts."""
    env = dict(ENV, GIT_CONFIG_GLOBAL="/dev/null", GIT_CONFIG_SYSTEM="/dev/null", HOME="/nonexistent")
    return subprocess.run(["git", *WHO, "-C", path, *words], env=env, check=True, stdout=subprocess.PIPE,
                          stderr=subprocess.PIPE).stdout.decode().strip()


class Claim:
    """Code, data, output and manifest of a claim, below one directory that is removed at the end."""

    def __init__(self, files=None, data=None, **members):
        self.path = tempfile.mkdtemp(prefix="sandglass-test.replicate.", dir=os.environ.get("TMPDIR") or "/tmp")
        os.chmod(self.path, 0o755)
        for name in ("code", "data", "out"):
            os.mkdir(self.join(name))
        self.write("code", {"README": b"a claim\n", **(files or {})})
        git(self.join("code"), "init", "-q")
        git(self.join("code"), "add", "-A")
        git(self.join("code"), "commit", "-q", "-m", "claim")
        data = {"x.csv": b"1\n2\n"} if data is None else data
        self.write("data", data)
        self.manifest = {
            "format": "sandglass.replication/1", "claim": {"id": "claim-0001"},
            "code": {"commit": git(self.join("code"), "rev-parse", "HEAD")},
            "data": [{"name": n, "path": n, "sha256": sha256(d), "bytes": len(d)} for n, d in data.items()],
            "image": {"digest": IMAGE}, "entrypoint": RESULTS, "targets": [TARGET],
            # Long enough for the slowest machine.
            "limits": {"timeout_seconds": 120, "memory": "256M", "output_bytes": "8M", "output_files": 64,
                       "tmp_bytes": "8M", "tmp_files": 64, "pids": 64}}
        self.change(**members)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        shutil.rmtree(self.path, ignore_errors=True)

    def join(self, *parts):
        return os.path.join(self.path, *parts)

    def write(self, where, files):
        for name, content in files.items():
            path = self.join(where, name)
            os.makedirs(os.path.dirname(path), exist_ok=True)
            with open(path, "wb") as f:
                f.write(content)

    def change(self, **members):
        """Members of the manifest; of `limits` each by itself."""
        limits = members.pop("limits", {})
        self.manifest["limits"].update(limits)
        self.manifest.update(members)

    def run(self, *options, image="claim@" + IMAGE, program=(SANDGLASS, "replicate"), as_user=(), env=None,
            seconds=300):
        """(status, record or None, what it said)."""
        with open(self.join("manifest.json"), "w", encoding="utf-8") as f:
            json.dump(self.manifest, f)
        if "--runtime" not in options and "--rootfs" not in options:
            options += ("--host-programs",)
        done = subprocess.run(
            [*as_user, *program, self.join("manifest.json"), "--code-dir", self.join("code"), "--data-dir",
             self.join("data"), "--out-dir", self.join("out"), "--image", image, "--json", *options],
            stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE, env=dict({"SANDGLASS_HOME": self.join("home")}, **(env or ENV)), timeout=seconds,
            cwd=self.path, check=False)
        text = done.stdout.decode()
        record = json.loads(text) if text.startswith("{") else None
        return done.returncode, record, done.stderr.decode("utf-8", "backslashreplace") + text

    def empty(self):
        """The output directory as it was."""
        shutil.rmtree(self.join("out"))
        os.mkdir(self.join("out"))


def judge(status, record, said, outcome, reason):
    """What is wrong with how a run came out."""
    if record is None:
        return [f"no record, exit {status}: {said[-600:]}"]
    problems = []
    if (record["outcome"], record["reason"]["code"]) != (outcome, reason):
        problems.append(f"{record['outcome']} {record['reason']}, wanted {outcome} {reason}")
    if status != (0 if outcome == "reproduced" else 1):
        problems.append(f"exit {status}")
    return problems
