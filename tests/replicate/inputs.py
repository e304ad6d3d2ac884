# SPDX-License-Identifier: Apache-2.0
"""Nothing runs unless code, data and image are the manifest's; and what the operator did wrong is no outcome."""
import json
import os
import socket
import subprocess
import sys

from kit import IMAGE, SANDGLASS, Claim, Tap, git, judge, require_programs, sha256
from harness import ENV, IS_ROOT, PLAIN_UID, Scratch

LFS = b"version https://git-lfs.github.com/spec/v1\noid sha256:" + b"0" * 64 + b"\nsize 9\n"
# Proof that nothing was run: what it would leave.
RAN = 'printf \'{"t": 1.5}\' >"$DOTLAB_OUT_DIR/results.json"'


def put(claim, path, content=b"other\n"):
    with open(claim.join(path), "wb") as f:
        f.write(content)


def modified(c):
    put(c, "code/README", b"a CLAIM\n")


def assumed(c):
    git(c.join("code"), "update-index", "--assume-unchanged", "README")
    modified(c)


def skipped(c):
    git(c.join("code"), "update-index", "--skip-worktree", "README")
    os.unlink(c.join("code/README"))


def same_times(c):
    before = os.stat(c.join("code/README"))
    modified(c)
    os.utime(c.join("code/README"), ns=(before.st_atime_ns, before.st_mtime_ns))


def ignored(c):
    put(c, "code/.git/info/exclude", b"*.pyc\n")
    put(c, "code/x.pyc")


def staged(c):
    put(c, "code/README", b"staged\n")
    git(c.join("code"), "add", "README")
    put(c, "code/README", b"a claim\n")


def another_commit(c):
    git(c.join("code"), "commit", "-q", "--allow-empty", "-m", "more")


def executable(c):
    os.chmod(c.join("code/README"), 0o755)


def code_link(c):
    os.unlink(c.join("code/README"))
    os.symlink("/etc/passwd", c.join("code/README"))


def code_fifo(c):
    os.unlink(c.join("code/README"))
    os.mkfifo(c.join("code/README"))


def data_link(c):
    os.rename(c.join("data/x.csv"), c.join("elsewhere"))
    os.symlink("../elsewhere", c.join("data/x.csv"))


def data_fifo(c):
    os.unlink(c.join("data/x.csv"))
    os.mkfifo(c.join("data/x.csv"))


def data_socket(c):
    with socket.socket(socket.AF_UNIX) as s:
        os.chdir(c.join("data"))
        s.bind("s")
        os.chdir("/")


def lfs_content(c):
    put(c, "code/big.bin", b"the real content")


def run_hooks(c):
    """What git would run of a checkout, were git run in it."""
    hook = c.join("code/.git/hooks/post-checkout")
    put(c, "code/.git/hooks/post-checkout", b"#!/bin/sh\ntouch %s\n" % os.fsencode(c.join("ran")))
    os.chmod(hook, 0o755)
    git(c.join("code"), "config", "core.fsmonitor", "touch " + c.join("ran"))
    git(c.join("code"), "config", "filter.x.clean", "touch " + c.join("ran"))
    put(c, "code/.git/info/attributes", b"* filter=x\n")


MISMATCHES = [
    ("a modified file", modified, "code_modified"),
    ("a modified file that git is told to assume unchanged", assumed, "code_modified"),
    ("a modified file with the times of before", same_times, "code_modified"),
    ("another mode of a file", executable, "code_modified"),
    ("a link in the place of a file", code_link, "code_modified"),
    ("a fifo in the place of a file", code_fifo, "code_modified"),
    ("a file that a sparse checkout left out", skipped, "code_deleted"),
    ("an untracked file", lambda c: put(c, "code/new"), "code_extra"),
    ("an ignored file", ignored, "code_extra"),
    ("an empty directory", lambda c: os.mkdir(c.join("code/dir")), "code_extra"),
    ("a staged change", staged, "code_staged"),
    ("another commit", another_commit, "code_commit"),
    ("a data set that is not there", lambda c: os.unlink(c.join("data/x.csv")), "data_missing"),
    ("a data set of another size", lambda c: put(c, "data/x.csv", b"1\n2\n3\n"), "data_size"),
    ("a data set of another content", lambda c: put(c, "data/x.csv", b"1\n3\n"), "data_digest"),
    ("a data set behind a link", data_link, "data_special"),
    ("a fifo in the place of a data set", data_fifo, "data_special"),
    ("another file beside the data", lambda c: put(c, "data/y.csv"), "data_extra"),
    ("another directory beside the data", lambda c: os.mkdir(c.join("data/d")), "data_extra"),
    ("a socket beside the data", data_socket, "data_extra"),
    ("content where the commit has a pointer", lfs_content, "code_lfs"),
]


def mismatches(tap):
    for name, change, code in MISMATCHES:
        with Claim({"big.bin": LFS} if code == "code_lfs" else None, entrypoint=RAN) as c:
            change(c)
            status, record, said = c.run()
            problems = judge(status, record, said, "input_mismatch", code)
            if record and (record["runs"] or record["isolation"] is not None) or os.listdir(c.join("out")):
                problems.append("something was run")
            tap.case("mismatch: " + name, problems)


def other_image(tap):
    with Claim() as c:
        tap.case("mismatch: another image", judge(*c.run(image="x@sha256:" + sha256(b"other")), "input_mismatch",
                                                  "image_digest"))


def allowed(tap):
    with Claim({"big.bin": LFS}, entrypoint="test \"$(cat README)\" = 'a claim' && " + RAN) as c:
        put(c, "data/y.csv")
        run_hooks(c)
        status, record, said = c.run("--allow-extra-data")
        problems = judge(status, record, said, "reproduced", "all_within")
        if record and "big.bin" not in " ".join(record["inputs"]["code"]["notes"]):
            problems.append(f"the pointer is not told: {record['inputs']['code']}")
        if os.path.exists(c.join("ran")):
            problems.append("something of the checkout was run on the host")
        tap.case("extra data where it is allowed, hooks and filters that are not run", problems)


def all_at_once(tap):
    with Claim() as c:
        modified(c)
        put(c, "data/y.csv")
        os.unlink(c.join("data/x.csv"))
        _, record, said = c.run()
        codes = sorted(f["code"] for f in record["findings"]) if record else said
        tap.case("every mismatch is told at once",
                 [] if codes == ["code_modified", "data_extra", "data_missing"] else [codes])


def contract(tap):
    code = ('test "$DOTLAB_SEED" = -3 && test "$PWD" = /work/code/sub && test "$DOTLAB_DATA_DIR" = /work/data && '
            'test "$DOTLAB_OUT_DIR" = /work/out && test "$HOME" = /tmp && test "$A" = "b c" && test "$(id -u)" = 10001 && '
            'test "$(cat /work/data/x.csv)" = "$(printf "1\\n2")" && touch /tmp/x && ' + RAN)
    with Claim({"sub/run.sh": b"#\n"}, entrypoint=code, seed=-3, environment={"A": "b c"}) as c:
        c.manifest["code"]["working_dir"] = "sub"
        tap.case("the contract of execution", judge(*c.run(), "reproduced", "all_within"))
        c.manifest["code"]["working_dir"] = "nowhere"
        c.empty()
        tap.case("a working directory that is not there", judge(*c.run(), "spec_issue", "not_started"))


def operator(tap):
    def bad(name, c, wanted, *options, **more):
        status, record, said = c.run("--record", c.join("record.json"), *options, **more)
        problems = [] if status == 2 and record is None else [f"exit {status}: {said[-300:]}"]
        if wanted not in said:
            problems.append(f"'{wanted}' is not said: {said[-300:]}")
        if os.path.exists(c.join("record.json")):
            problems.append("there is a record")
        tap.case("operator: " + name, problems)

    with Claim() as c:
        bad("a tag is no digest", c, "is not pinned", image="claim:latest")
        bad("an unknown runtime", c, "there are", "--runtime", "none")
        bad("the output in the code", c, "lie in each other", "--out-dir", c.join("code"))
        bad("no such output directory", c, "--out-dir", "--out-dir", c.join("nowhere"))
        bad("a record in the output", c, "lies in", "--log-file", c.join("out/log"))
        bad("a log in the data", c, "lies in", "--log-file", c.join("data/log"))
        bad("too many runs", c, "at most", "--repeat", "100000")
        put(c, "out/old")
        bad("an output that is not empty", c, "has to be empty")
    with Claim(hardware={"cpu": ["no_such_flag"]}) as c:
        bad("a CPU that is not here", c, "no_such_flag")
    with Claim(hardware={"gpu": True}) as c:
        bad("a GPU", c, "GPU")
    with Claim() as c:
        os.rename(c.join("code/.git"), c.join("git"))
        bad("code that is no checkout", c, "--code-dir")
    with Claim(targets=[], entrypoint=7, extra=1) as c:
        bad("a manifest of another form", c, "targets: ")
        tap.case("operator: all violations at once", [
            f"{w} is not told" for w in ("targets: ", "entrypoint: ", "extra: ") if w not in c.run()[2]])


def dry(tap):
    with Claim() as c:
        status, record, said = c.run("--dry-run", "--record", c.join("r.json"))
        problems = [] if status == 0 and record is None and "sh -c" in said else [f"exit {status}: {said}"]
        if os.listdir(c.join("out")) or os.path.exists(c.join("r.json")):
            problems.append("it left something")
        tap.case("a dry run checks and runs nothing", problems)
        modified(c)
        tap.case("a dry run finds what is wrong", judge(*c.run("--dry-run"), "input_mismatch", "code_modified"))


def records(tap):
    with Claim() as c:
        env = dict(ENV, SANDGLASS_HOME=c.join("home"))
        subprocess.run([SANDGLASS, "key", "new"], env=env, check=True, stdout=subprocess.DEVNULL)
        keys = subprocess.run([SANDGLASS, "key", "jwks"], env=env, check=True, stdout=subprocess.PIPE).stdout
        put(c, "keys.json", keys)
        names = []
        for i in (1, 2):
            names.append(c.join(f"r{i}.json"))
            c.run("--record", names[-1], "--sign", "--job-id", "j", "--log-file", c.join("log"), env=env)
            c.empty()
        files = [open(n, "rb").read() for n in names]
        tap.case("the same replication has the same signed bytes", [] if files[0] == files[1] else ["they differ"])

        def verify(path):
            return subprocess.run([SANDGLASS, "receipt", "verify", "--jwks", c.join("keys.json"), path], env=env,
                                  stdout=subprocess.PIPE, check=False)
        done = verify(names[0])
        tap.case("receipt verify takes a record", [] if done.returncode == 0 else [done.stdout])
        put(c, "forged.json", files[0].replace(b'"reproduced"', b'"not_reproduced"'))
        done = verify(c.join("forged.json"))
        tap.case("receipt verify refuses a forged one", [] if done.returncode == 1 else [done.stdout])
        with open(c.join("log"), encoding="utf-8") as f:
            lines = [json.loads(line) for line in f]
        events = [line["event"] for line in lines[:len(lines) // 2]]
        wanted = ["started", "image_checked", "code_checked", "data_checked", "run_started", "run_ended", "output_checked",
                  "ended"]
        tap.case("the log has each event once a run", [] if events == wanted and len(lines) == 16 else [events])


def deterministic(tap):
    draw = "python3 -c \"import os, json, random, time; json.dump({'t': random.random() + time.time() % 1}, open(os.environ['DOTLAB_OUT_DIR'] + '/results.json', 'w'))\""
    target = {"name": "t", "value": 1, "tolerance": {"interval": [0, 2]}}
    if not IS_ROOT:
        return
    with Claim(entrypoint=draw, targets=[target]) as c:
        for options, stable in (((), False), (("--deterministic",), True)):
            status, record, said = c.run("--repeat", "2", *options)
            problems = judge(status, record, said, "reproduced", "all_within")
            if record and record["targets"] and record["targets"][0]["spread"]["stable"] != stable:
                problems.append(record["targets"])
            if record and stable and not all(r["enforced"] for r in record["runs"]):
                problems.append([r["not_enforced"] for r in record["runs"]])
            if sorted(os.listdir(c.join("out"))) != ["run-1", "run-2"]:
                problems.append(os.listdir(c.join("out")))
            tap.case("two runs that draw lots " + ("agree" if stable else "do not agree by themselves"), problems)
            c.empty()


def other_ways(tap):
    with Claim() as c:
        os.symlink(SANDGLASS, c.join("dotlab-runner"))
        tap.case("dotlab-runner run is the same", judge(
            *c.run(program=(c.join("dotlab-runner"), "run"), env=dict(ENV, SANDGLASS_SUPERVISE=os.environ.get(
                "SANDGLASS_SUPERVISE", os.path.join(os.path.dirname(SANDGLASS), "sandglass-supervise")))),
            "reproduced", "all_within"))
    if not IS_ROOT:
        return
    with Scratch() as scratch, Claim() as c:
        for root, dirs, files in os.walk(c.path):
            for name in dirs + files:
                os.lchown(os.path.join(root, name), PLAIN_UID, PLAIN_UID)
        os.chown(c.path, PLAIN_UID, PLAIN_UID)
        status, record, said = c.run(program=(scratch.join("bin", "sandglass"), "replicate"), as_user=(
            "setpriv", f"--reuid={PLAIN_UID}", f"--regid={PLAIN_UID}", "--clear-groups"), env=dict(
                ENV, SANDGLASS_SUPERVISE=scratch.join("bin", "sandglass-supervise")))
        problems = judge(status, record, said, "reproduced", "all_within")
        settings = [d["setting"] for d in record["isolation"]["degraded"]] if record and record["isolation"] else []
        if "output_bytes" not in settings:
            problems.append(f"what does not hold without root is not told: {settings}")
        tap.case("an ordinary user replicates, and is told what does not hold", problems)


def main():
    require_programs()
    tap = Tap()
    for part in (mismatches, other_image, allowed, all_at_once, contract, operator, dry, records, deterministic, other_ways):
        part(tap)
    tap.finish()


if __name__ == "__main__":
    main()
