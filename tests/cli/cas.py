# SPDX-License-Identifier: Apache-2.0
"""`sandglass cas`: lists, verifies, collects, carries from store to store; wrong lines are told."""
import hashlib
import json
import os
import sys
import tempfile

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "lib"))
from harness import SANDGLASS, Tap, require_programs, run  # noqa: E402


class Store:
    """Two stores: `a` has an export of three objects imported, `b` is empty."""

    def __init__(self, top):
        self.top = top
        self.a, self.b = os.path.join(top, "a"), os.path.join(top, "b")
        self.objects = [b"one", b"two", b"three" * 1000]
        self.digests = ["sha256:" + hashlib.sha256(o).hexdigest() for o in self.objects]
        done = self.cas("import", "--store", self.a, self.bundle("in.tar", roots=self.digests[:2]))
        if done.status != 0:
            raise SystemExit(done.tell())

    def bundle(self, name, roots, objects=None):
        """What an export is, written by another program than ours."""
        import io
        import tarfile
        path = os.path.join(self.top, name)
        index = json.dumps({"format": "sandglass.export/1", "objects": [], "roots": roots}).encode()
        members = {"index.json": index}
        for digest, data in zip(self.digests, self.objects) if objects is None else objects:
            members["sha256/" + digest[7:]] = data
        with tarfile.open(path, "w", format=tarfile.USTAR_FORMAT) as t:
            for member in sorted(members):
                info = tarfile.TarInfo(member)
                info.size = len(members[member])
                t.addfile(info, io.BytesIO(members[member]))
        return path

    def cas(self, *words, **more):
        return run([SANDGLASS, "cas", *words], cwd=self.top, env={"HOME": self.top}, **more)

    def path(self, number):
        digest = self.digests[number][7:]
        return os.path.join(self.a, digest[:2], digest)


def expect(done, status, out="", err=""):
    problems = []
    if done.status != status:
        problems.append(f"status {done.status}, not {status}: {done.tell()}")
    if out not in done.out.decode():
        problems.append(f"'{out}' is not in {done.out!r}")
    if err not in done.err.decode():
        problems.append(f"'{err}' is not in {done.err!r}")
    return problems


def list_shows_objects_and_roots(s):
    done = s.cas("list", "--store", s.a)
    found = json.loads(s.cas("list", "--json", "--store", s.a).out)
    problems = expect(done, 0, f"import-{s.digests[0][7:]}")
    if [o["digest"] for o in found] != sorted(s.digests):
        problems.append(found)
    sizes = {o["digest"]: (o["size"], len(o["roots"])) for o in found}
    if [sizes[d] for d in s.digests] != [(3, 1), (3, 1), (5000, 0)]:
        problems.append(sizes)
    return problems


def verify_tells_them_apart(s):
    problems = expect(s.cas("verify", "--store", s.a), 0, "3 intact, 0 tampered, 0 absent, 0 unreadable")
    os.chmod(s.path(0), 0o644)
    with open(s.path(0), "w", encoding="ascii") as f:
        f.write("eno")
    problems += expect(s.cas("verify", "--store", s.a), 1, f"tampered {s.digests[0]}", "tampered with")
    os.unlink(s.path(1))
    problems += expect(s.cas("verify", "--store", s.a, s.digests[1]), 3, f"absent {s.digests[1]}")
    os.mkfifo(s.path(1))
    problems += expect(s.cas("verify", "--store", s.a, s.digests[1], s.digests[2]), 4, "1 intact, 0 tampered, 0 absent, 1 unr")
    os.unlink(s.path(1))
    done = s.cas("verify", "--json", "--store", s.a)
    problems += expect(done, 1)
    want = {"intact": 1, "tampered": [s.digests[0]], "absent": [s.digests[1]], "unreadable": []}
    return problems + ([] if json.loads(done.out) == want else [done.out])


def a_huge_hole_is_not_read(s):
    """Eight terabytes of nothing would be an hour's reading."""
    kept = os.path.join(s.top, "kept")
    os.rename(s.path(0), kept)
    try:
        with open(s.path(0), "wb") as f:
            f.truncate(8 << 40)
    except OSError:
        os.truncate(s.path(0), 2 << 40)  # what this file system can
    problems = expect(s.cas("verify", "--store", s.a, timeout=30), 1, f"tampered {s.digests[0]}", "holes")
    os.rename(kept, s.path(0))
    return problems + expect(s.cas("verify", "--store", s.a), 0, "3 intact")


def gc_removes_what_no_root_names(s):
    dry = s.cas("gc", "--dry-run", "--store", s.a)
    problems = expect(dry, 0, s.digests[2]) + expect(s.cas("verify", "--store", s.a), 0, "3 intact")
    problems += expect(s.cas("gc", "--store", s.a), 0, "removed 1 objects of")
    problems += expect(s.cas("gc", "--store", s.a, "--unroot", "nothing"), 2, err="no root 'nothing'")
    name = f"import-{s.digests[0][7:]}"
    done = s.cas("gc", "--json", "--store", s.a, "--unroot", name)
    problems += expect(done, 0)
    answer = json.loads(done.out)
    if answer["removed"] != [s.digests[0]] or answer["kept"] != 1:
        problems.append(answer)
    return problems


def objects_travel(s):
    out = os.path.join(s.top, "out.tar")
    root = f"import-{s.digests[0][7:]}"
    problems = expect(s.cas("export", "--store", s.a, "--out", out, root, s.digests[2]), 0, out)
    problems += expect(s.cas("import", "--store", s.b, out), 0, s.digests[2])
    problems += expect(s.cas("verify", "--store", s.b), 0, "2 intact")
    piped = s.cas("export", "--store", s.a, "--out", "-", s.digests[1])
    with open(out, "wb") as f:
        f.write(piped.out)
    with open(out, "rb") as f:
        problems += expect(s.cas("import", "--store", s.b, "-", stdin=f), 0, s.digests[1])
    if sorted(os.listdir(s.top)) != ["a", "b", "in.tar", "out.tar"]:
        problems.append(os.listdir(s.top))
    return problems


def a_false_file_brings_nothing_in(s):
    lie = s.bundle("lie.tar", [s.digests[0]], [(s.digests[0], b"not one")])
    problems = expect(s.cas("import", "--store", s.b, lie), 1, err="bytes are those of")
    problems += expect(s.cas("list", "--store", s.b), 0)
    if s.cas("list", "--store", s.b).out:
        problems.append("something got in")
    with open(lie, "wb") as f:
        f.write(b"x" * 20000)
    problems += expect(s.cas("import", "--store", s.b, lie), 1, err="no canonical tar")
    return problems + expect(s.cas("import", "--store", s.b, s.bundle("m.tar", [s.digests[0]], [])), 2, err="no object")


def wrong_lines_are_told(s):
    problems = []
    for words, err in ((["list", "x"], "no arguments"), (["gc", "x"], "no arguments"), (["export", s.digests[0]], "--out"),
                       (["export", "--out", "f"], "needs a digest"), (["import"], "needs one file"),
                       (["import", "/nonexistent"], "No such file"), (["verify", "--store", s.a, "../x"], "cannot be the name"),
                       (["verify", "--store", s.a, "nothing"], "neither a digest nor"), (["list", "--stoer", s.a], "did you mean"),
                       (["list"], "No such file"), ([], "needs a verb"), (["lst"], "no verb")):
        problems += expect(s.cas(*words), 2, err=err)
    return problems


CASES = [list_shows_objects_and_roots, verify_tells_them_apart, a_huge_hole_is_not_read, gc_removes_what_no_root_names, objects_travel,
         a_false_file_brings_nothing_in, wrong_lines_are_told]


def main():
    require_programs()
    tap = Tap()
    for case in CASES:
        with tempfile.TemporaryDirectory(prefix="sandglass-cas.") as top:
            tap.case(case.__name__.replace("_", " "), case(Store(top)))
    tap.finish()


main()
