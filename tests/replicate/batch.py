# SPDX-License-Identifier: Apache-2.0
"""Manifests drafted by `replicate init`, and many claims at once by `replicate batch`."""
import json
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import time

from kit import ENV, IMAGE, RESULTS, SANDGLASS, Claim, Tap, judge, require_programs


def sandglass(*words, home, **more):
    return subprocess.run([SANDGLASS, "replicate", *words], env=dict(ENV, SANDGLASS_HOME=home), stdin=subprocess.DEVNULL,
                          stdout=subprocess.PIPE, stderr=subprocess.PIPE, timeout=300, check=False, **more)


def init(tap):
    with Claim({"run.sh": RESULTS.encode()}, data={"a/x.csv": b"1\n", "y.csv": b""}) as c:
        words = ("init", "--code-dir", c.join("code"), "--data-dir", c.join("data"), "--image", "claim@" + IMAGE)
        done = sandglass(*words, "--id", "mine", home=c.join("home"))
        problems = [] if done.returncode == 0 else [done.stderr]
        if not problems:
            made = json.loads(done.stdout)
            wanted = dict(c.manifest, entrypoint="sh run.sh", claim={"id": "mine"})
            problems = [f"{k}: {made.get(k)}" for k in ("format", "claim", "code", "image", "entrypoint") if made.get(k) != wanted[k]]
            if [dict(d, sha256=d["sha256"][7:]) for d in made["data"]] != sorted(c.manifest["data"], key=lambda d: d["path"]):
                problems.append(made["data"])
            c.manifest = made
            c.manifest["targets"] = [{"name": "t", "value": 1.5, "tolerance": {"absolute": 0}}]
            problems += judge(*c.run(), "reproduced", "all_within")
        tap.case("a drafted manifest is one, once it has its targets", problems)
        c.write("code", {"new": b""})
        done = sandglass(*words, home=c.join("home"))
        tap.case("a checkout that is not clean is refused", [] if done.returncode == 2 and b"'new'" in done.stderr else [done.stderr])


def place(root, name, claim, image="claim@" + IMAGE):
    """The claim as a directory of a batch."""
    path = os.path.join(root, name)
    os.mkdir(path)
    for part in ("code", "data"):
        os.rename(claim.join(part), os.path.join(path, part))
    with open(os.path.join(path, "manifest.json"), "w", encoding="utf-8") as f:
        json.dump(claim.manifest, f)
    with open(os.path.join(path, "image"), "w", encoding="utf-8") as f:
        f.write(image + "\n")


def outcomes(root):
    with open(os.path.join(root, "summary.json"), encoding="utf-8") as f:
        return {j["name"]: (j["outcome"], j["earlier"]) for j in json.load(f)["jobs"]}


def batch(tap):
    root = tempfile.mkdtemp(prefix="sandglass-test.batch.", dir=os.environ.get("TMPDIR") or "/tmp")
    os.chmod(root, 0o755)
    try:
        for name, entrypoint in (("good", RESULTS), ("bad", "exit 3"), ("other", "echo '{\"t\": 9}' >$DOTLAB_OUT_DIR/results.json")):
            with Claim(entrypoint=entrypoint) as c:
                place(root, name, c)
        with Claim() as c:
            place(root, "tag", c, image="claim:latest")
        with Claim() as c:
            c.manifest["targets"] = []
            place(root, "no-targets", c)
        home = os.path.join(root, "home")
        words = ("batch", root, "--jobs", "2", "--host-programs")
        done = sandglass(*words, home=home)
        wanted = {"bad": "spec_issue", "good": "reproduced", "no-targets": "error", "other": "not_reproduced", "tag": "error"}
        found = outcomes(root)
        problems = [] if done.returncode == 2 else [f"exit {done.returncode}"]
        problems += [] if found == {k: (v, False) for k, v in wanted.items()} else [found]
        lines = done.stdout.decode().splitlines()
        problems += [] if len(lines) == 5 and any(line.startswith("reproduced") and " good " in line for line in lines) else [lines]
        tap.case("one failure stops no other, and each is told", problems)

        shutil.rmtree(os.path.join(root, "tag"))
        shutil.rmtree(os.path.join(root, "no-targets"))
        os.unlink(os.path.join(root, "other", "record.json"))
        done = sandglass(*words, "--json", home=home)
        wanted = {"bad": ("spec_issue", True), "good": ("reproduced", True), "other": ("not_reproduced", False)}
        problems = [] if done.returncode == 1 and outcomes(root) == wanted else [done.returncode, outcomes(root)]
        problems += [] if json.loads(done.stdout)["counts"]["reproduced"] == 1 else [done.stdout]
        tap.case("what has a record is not run again", problems)

        path = os.path.join(root, "bad", "record.json")
        with open(path, encoding="utf-8") as f:
            record = json.load(f)
        record.update(outcome="reproduced", reason={"code": "all_within", "detail": ""})
        with open(path, "w", encoding="utf-8") as f:
            json.dump(record, f)
        done = sandglass(*words, home=home)
        wanted = {"bad": ("spec_issue", False), "good": ("reproduced", True), "other": ("not_reproduced", True)}
        tap.case("what contradicts itself is no record", [] if outcomes(root) == wanted else [done.returncode, outcomes(root)])
    finally:
        shutil.rmtree(root, ignore_errors=True)


def killed(tap):
    root = tempfile.mkdtemp(prefix="sandglass-test.batch.", dir=os.environ.get("TMPDIR") or "/tmp")
    os.chmod(root, 0o755)
    try:
        for name in ("a", "b"):
            # The first to come hangs, as long as it is killed.
            with Claim(entrypoint=(RESULTS if name == "a" else "test -f /work/data/go && " + RESULTS + " || sleep 1000"),
                       data={} if name == "b" else None) as c:
                place(root, name, c)
        env = dict(ENV, SANDGLASS_HOME=os.path.join(root, "home"))
        with subprocess.Popen([SANDGLASS, "replicate", "batch", root, "--host-programs"], env=env,
                              stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL) as running:
            log = os.path.join(root, "b", "log.jsonl")
            for _ in range(2400):
                if os.path.exists(log) and b"run_started" in open(log, "rb").read():
                    break
                time.sleep(0.05)
            running.send_signal(signal.SIGKILL)
        problems = [] if os.path.exists(os.path.join(root, "a", "record.json")) else ["a has no record"]
        problems += ["b has a record"] if os.path.exists(os.path.join(root, "b", "record.json")) else []
        with open(os.path.join(root, "b", "manifest.json"), encoding="utf-8") as f:
            manifest = json.load(f)
        manifest["entrypoint"] = RESULTS
        with open(os.path.join(root, "b", "manifest.json"), "w", encoding="utf-8") as f:
            json.dump(manifest, f)
        # The job of the killed batch ends by itself, by the signal that its death sends.
        for _ in range(2400):
            left = subprocess.run(["pgrep", "-f", os.path.join(root, "b") + "/manifest.json"], stdout=subprocess.DEVNULL, check=False)
            if left.returncode == 1:
                break
            time.sleep(0.05)
        else:
            problems.append("a job outlives its batch")
        done = sandglass("batch", root, "--host-programs", home=os.path.join(root, "home"))
        wanted = {"a": ("reproduced", True), "b": ("reproduced", False)}
        problems += [] if done.returncode == 0 and outcomes(root) == wanted else [done.stdout, done.stderr]
        tap.case("a batch that was killed goes on", problems)
    finally:
        shutil.rmtree(root, ignore_errors=True)


def main():
    require_programs()
    tap = Tap()
    for part in (init, batch, killed):
        part(tap)
    tap.finish()


if __name__ == "__main__":
    sys.exit(main())
