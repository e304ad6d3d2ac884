# SPDX-License-Identifier: Apache-2.0
"""`sandglass image` and `run --image`: every form of archive, layers that want out, what is pinned, what is broken."""
import glob
import gzip
import json
import os
import shutil
import signal
import socket
import subprocess
import sys
import tarfile
import time

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "lib"))
from harness import ENV, IS_ROOT, MODES, ROOT, ROOTLESS, Scratch, Tap, require_programs, run  # noqa: E402
from images import ARCH, BUSYBOX, Image, base, layer, link, member, sha256, write_dir, write_tar  # noqa: E402

WORLD = ["/bin/sh", "-c",
         "id; date; sleep 3600; date; cat /proc/sys/kernel/random/uuid; ls -l / /bin /etc; cat /etc/hosts"]


class Box:
    """A user with a home of its own, and the good image in it."""

    def __init__(self, scratch, name, mode=ROOT):
        self.scratch, self.mode = scratch, mode
        self.home = scratch.mkdir(name, mode)
        self.good = Image([base()], {"Cmd": ["/bin/sh", "-c", "echo cmd"]})

    def path(self, name):
        return os.path.join(self.home, name)

    def sg(self, *words, **more):
        env = {"SANDGLASS_HOME": self.home, "TMPDIR": self.scratch.tmp, **(more.pop("env", None) or {})}
        return run([self.scratch.join("bin", "sandglass"), *words], mode=self.mode, cwd=self.home, env=env, **more)

    def oci(self, image, name, **more):
        """Imports an OCI layout made of the image."""
        path = write_dir(self.path(name), image.oci_files())
        self.scratch.give(path, self.mode)
        return self.sg("image", "import", path, "--name", name, **more)

    def roots(self):
        return sorted(glob.glob(self.path("state/images/roots/*/root")))

    def left(self):
        """What must not be there when nothing runs."""
        return os.listdir(self.path("state/images/tmp"))


def expect(done, status, out="", err=""):
    problems = []
    if done.status != status:
        problems.append(f"status {done.status}, not {status}: {done.tell()}")
    if out not in done.out.decode():
        problems.append(f"'{out}' is not in {done.out!r}")
    if err not in done.err.decode():
        problems.append(f"'{err}' is not in {done.err!r}")
    if status != 0 and done.err.count(b"sandglass: ") != 1:
        problems.append(f"not one line: {done.err!r}")
    return problems


def every_form_is_the_same_image(b):
    problems, outputs = [], set()
    image = Image([base(), layer(member("etc/two", b"2"))], compress=True)
    plain = Image([base(), layer(member("etc/two", b"2"))])
    d = b.path("forms")
    write_dir(d + "/oci", image.oci_files())
    write_tar(d + "/oci.tar", image.oci_files())
    write_tar(d + "/docker.tar", plain.docker_files("app:v1"))
    write_dir(d + "/docker", plain.docker_files())
    # Older archives have a layer that occurs again as a symlink.
    again = Image([base(), layer(member("etc/two", b"2")), layer(member("etc/two", b"2"))])
    write_dir(d + "/linked", again.docker_files())
    os.unlink(d + "/linked/2/layer.tar")
    os.symlink("../1/layer.tar", d + "/linked/2/layer.tar")
    write_dir(d + "/skopeo", {"version": b"Directory Transport Version: 1.1\n", "manifest.json": image.manifest,
                              **{k[7:]: v for k, v in image.blobs.items() if v is not image.manifest}})
    os.mkdir(d + "/root")
    with tarfile.open(fileobj=__import__("io").BytesIO(base())) as t:
        t.extractall(d + "/root")
    with open(d + "/root/etc/two", "wb") as f:
        f.write(b"2")
    subprocess.run(["tar", "-C", d + "/root", "-czf", d + "/root.tar.gz", "."], check=True)
    for form in ("oci", "oci.tar", "docker.tar", "docker", "linked", "skopeo", "root", "root.tar.gz"):
        done = b.sg("image", "import", os.path.join(d, form))
        problems += expect(done, 0, "sha256:")
        digest = done.out.decode().strip()
        if form in ("oci", "oci.tar", "skopeo") and digest != image.digest:
            problems.append(f"{form}: {digest}, not {image.digest}")
        done = b.sg("run", "--image", digest, "--", "/bin/sh", "-c", "ls -l /etc/two | cut -c1-10; cat /etc/two; ls /")
        problems += expect(done, 0)
        outputs.add(done.out)
    if len(outputs) != 1:
        problems.append(outputs)
    # docker's own name, and its id: the digest of the config.
    problems += expect(b.sg("run", "--image", "app:v1@" + sha256(plain.config), "--", "/bin/cat", "/etc/two"), 0, "2")
    return problems + [f"left over: {x}" for x in b.left()]


def layers_are_laid_as_docker_lays_them(b):
    odd = ["sp ace", "new\nline", "-dash", "ünï", "x" * 200, "quote'\"", "..dots", ".wh", "wh."]
    first = layer(member("d"), member("d/a", b"1"), member("d/b", b"1"), member("d/sub"), member("d/sub/x", b"1"),
                  member("gone"), member("gone/deep"), member("gone/deep/file", b"1"), member("file", b"old"),
                  member("dir"), member("dir/inside", b"1"), member("renewed/old", b"1"), member("l1", b"same"), link("l2", "l1", hard=True),
                  link("dangling", "/nowhere"), member("implicit/made/here", b"1"), member("opaque"),
                  member("opaque/low", b"1"), member("opaque/both", b"low"), member("opaque/sub"),
                  member("opaque/sub/low", b"1"), *[member("odd/" + n, n.encode()) for n in odd])
    second = layer(member("d/.wh.a", b""), member("d/sub/.wh.x", b""), member(".wh.gone", b""),
                   member("file"), member("file/now", b"2"), member("dir", b"now a file"),
                   member("l3", None, type=tarfile.LNKTYPE, linkname="l1", mode=0o644),
                   # What this layer has made stays, whatever the order.
                   member("opaque/both", b"high"), member("opaque/sub/high", b"2"), member("opaque/.wh..wh..opq", b""),
                   member("opaque/after", b"2"), member("renewed/new", b"2"), member(".wh.renewed", b""),
                   member(".wh.never", b""), member(".wh..wh.plnk", b""))
    image = Image([base(), first, second])
    problems = expect(b.oci(image, "layers"), 0)
    done = b.sg("run", "--image", image.digest, "--", "/bin/find", "/d", "/gone", "/file", "/dir", "/l1", "/l2", "/l3",
                "/dangling", "/implicit", "/opaque", "/renewed")
    there = done.out.decode().split("\n")
    wanted = ["/d", "/d/b", "/d/sub", "/file", "/file/now", "/dir", "/l1", "/l2", "/l3", "/dangling", "/implicit",
              "/implicit/made", "/implicit/made/here", "/opaque", "/opaque/after", "/opaque/both", "/opaque/sub",
              "/opaque/sub/high", "/renewed", "/renewed/new", ""]
    if sorted(there) != sorted(wanted):
        problems.append(f"too much {set(there) - set(wanted)}, missing {set(wanted) - set(there)}")
    root = [r for r in b.roots() if os.path.exists(r + "/odd")][0]
    if sorted(os.listdir(root + "/odd")) != sorted(odd):
        problems.append(os.listdir(root + "/odd"))
    if len({os.lstat(f"{root}/{n}").st_ino for n in ("l1", "l2", "l3")}) != 1:
        problems.append("hard links are copies")
    with open(root + "/opaque/both", encoding="ascii") as f:
        problems += [] if f.read() == "high" else ["opaque/both is the lower one's"]
    # Nothing of the unpacking's own time.
    for path in ("implicit", "implicit/made", "d", "opaque", "."):
        if os.lstat(os.path.join(root, path)).st_mtime > 1000000001:
            problems.append(f"{path} has the time of the unpacking")
    return problems


def modes_owners_and_attributes_are_kept(b):
    pax = {"SCHILY.xattr.user.kept": "yes", "SCHILY.xattr.trusted.overlay.opaque": "y"}
    image = Image([base(), layer(
        member("m"), member("m/private", b"p", mode=0o600, uid=1234, gid=1235), member("m/setid", b"s", mode=0o4755),
        member("m/attr", b"a", pax_headers=pax), member("m/fifo", type=tarfile.FIFOTYPE, mode=0o644),
        member("m/null", type=tarfile.CHRTYPE, devmajor=1, devminor=3, mode=0o666),
        member("m/closed", mode=0), member("m/closed/in", b"1"), member("m/ro", mode=0o555), member("m/ro/in", b"1"))])
    done = b.oci(image, "modes")
    problems = expect(done, 0)
    root = [r for r in b.roots() if os.path.exists(r + "/m/setid")][0]
    modes = {n: os.lstat(f"{root}/m/{n}").st_mode & 0o7777 for n in ("private", "setid", "closed", "ro")}
    if modes != {"private": 0o600, "setid": 0o4755, "closed": 0, "ro": 0o555}:
        problems.append(modes)
    if os.listxattr(root + "/m/attr") != ["user.kept"]:
        problems.append(os.listxattr(root + "/m/attr"))
    if b.mode == ROOT:
        st = os.lstat(root + "/m/private")
        problems += [] if (st.st_uid, st.st_gid) == (1234, 1235) else ["the owner is not kept"]
    else:
        problems += expect(done, 0, err="left out: ")
    # Its owner can read it, others cannot: as root alone, for without it all is the user's.
    for user, status in (("app", 0), ("0", 1)):
        done = b.sg("run", "--image", image.digest, "--user", user, "--", "/bin/cat", "/m/private")
        if b.mode == ROOT and done.status != status:
            problems.append(f"{user}: {done.tell()}")
    problems += expect(b.sg("image", "verify", image.digest), 0, "intact")
    problems += expect(b.sg("image", "remove", image.digest), 0, "removed")
    return problems + [f"left over: {r}" for r in b.roots() if os.path.exists(r + "/m")]


def layers_cannot_write_outside(b):
    secret = b.path("outside")
    os.mkdir(secret)
    b.scratch.give(secret, b.mode)
    out = link("out", secret)
    up = link("up", "../" * 12 + secret[1:])
    evil = {
        "absolute": [member(secret + "/x", b"1")], "dots": [member("a/../../x", b"1")],
        "dots in the middle": [member("bin/../../../x", b"1")],
        "through a symlink": [out, member("out/x", b"1")], "through a relative one": [up, member("up/x", b"1")],
        "a directory through one": [out, member("out/x")], "a symlink through one": [out, link("out/x", "y")],
        "a hard link through one": [out, link("out/x", "bin/busybox", hard=True)],
        "a hard link to what is behind one": [out, link("x", "out/y", hard=True)],
        "a hard link to dots": [link("x", "../../../etc/passwd", hard=True)],
        "a hard link to an absolute name": [link("x", "/etc/passwd", hard=True)],
        "a whiteout through one": [out, member("out/.wh.keep", b"")],
        "an opaque mark through one": [out, member("out/.wh..wh..opq", b"")],
        "a whiteout of dots": [member("bin/.wh...", b"")],
        "through a file": [member("f", b"1"), member("f/x", b"1")],
        "the root as a file": [member("./", b"1", type=tarfile.SYMTYPE, linkname=secret)],
    }
    with open(secret + "/keep", "wb") as f:
        f.write(b"kept")
    problems = []
    for name, members in evil.items():
        # In one layer, and over two: the symlink below, what goes through it above.
        for layers in ([layer(*members)], [layer(*members[:1]), layer(*members[1:])]):
            done = b.oci(Image([base(), *layers]), "evil")
            shutil.rmtree(b.path("evil"))
            if done.status not in ((2,) if "opaque" not in name else (0, 2)):
                problems.append(f"{name}: {done.tell()}")
    if os.listdir(secret) != ["keep"]:
        problems.append(f"outside: {os.listdir(secret)}")
    problems += expect(b.sg("image", "verify", b.good.digest), 0, "intact")
    return problems + [f"left over: {x}" for x in b.left()]


def bombs_are_bounded(b):
    zeros = layer(member("zeros", b"\0" * (64 << 20)))
    sparse = member("s", b"", type=tarfile.REGTYPE, pax_headers={
        "GNU.sparse.major": "1", "GNU.sparse.minor": "0", "GNU.sparse.name": "s", "GNU.sparse.realsize": str(1 << 50)})
    sparse[0].size = 512
    many = Image([base(), zeros], compress=True)
    problems = expect(b.oci(many, "bomb", timeout=120), 0)
    problems += expect(b.sg("image", "remove", "bomb"), 0)
    with open(b.path("bomb.tgz"), "wb") as f:
        f.write(gzip.compress(zeros, 1))
    for path in ("bomb", "bomb.tgz"):
        problems += expect(b.sg("image", "import", b.path(path), "--max-size", "10M"), 2, err="limit of 10485760 bytes")
    done = b.oci(Image([base(), layer((sparse[0], b"1\n0\n512\n".ljust(512, b"\0")))]), "sparse")
    problems += [] if done.status == 2 else [f"sparse: {done.tell()}"]
    problems += expect(b.sg("image", "verify", b.good.digest), 0, "intact")
    return problems + [f"left over: {x}" for x in b.left()]


def what_is_broken_is_named(b):
    def changed():
        # What is in the store already is not taken from the archive: each time another image.
        image = Image([base(), layer(member("etc/two", os.urandom(9)))], {"User": os.urandom(9).hex()}, compress=True)
        return image, image.oci_files()

    def blob(image, data):
        return "blobs/sha256/" + sha256(data)[7:]

    cases = {}
    image, files = changed()
    files[blob(image, image.layers[1])] = gzip.compress(layer(member("etc/two", b"3")))
    cases["another layer"] = files, 1, "is really sha256:"
    image, files = changed()
    files[blob(image, image.config)] = image.config.replace(b"linux", b"lunix")
    cases["another config"] = files, 1, "is really sha256:"
    image, files = changed()
    files[blob(image, image.manifest)] += b" "
    cases["another manifest"] = files, 1, "is really sha256:"
    image, files = changed()
    del files[blob(image, image.layers[1])]
    cases["a missing layer"] = files, 2, "is not in it"
    image = Image([base(), b"no tar at all" * 100])
    cases["no tar"] = image.oci_files(), 2, "no tar, or a damaged one"
    image = Image([base(), layer(member("f", b"1" * 5000))[:3000]])
    cases["a cut tar"] = image.oci_files(), 2, "cannot be read"
    whole = gzip.compress(layer(member("f", os.urandom(5000))))
    image = Image([base(), layer(member("f", b"1"))], compress=True)
    image.layers[1] = whole[:2000]
    image.manifest = json.dumps({**json.loads(image.manifest), "layers": [
        image.descriptor(x, "application/vnd.oci.image.layer.v1.tar+gzip") for x in image.layers]}).encode()
    image.blobs = {sha256(x): x for x in [*image.layers, image.config, image.manifest]}
    cases["a cut gzip"] = image.oci_files(), 2, "truncated"
    image = Image([base(), layer(member("f", b"1"))])
    image.layers[1] = layer(member("f", b"2"))
    image.manifest = json.dumps({**json.loads(image.manifest), "layers": [
        image.descriptor(x, "application/vnd.oci.image.layer.v1.tar") for x in image.layers]}).encode()
    image.blobs = {sha256(x): x for x in [*image.layers, image.config, image.manifest]}
    cases["a layer that the config does not mean"] = image.oci_files(), 1, "and the config says"
    image, files = changed()
    files["index.json"] = image.index(platform={"os": "linux", "architecture": "s390x"})
    cases["an index for others"] = files, 2, f"not for linux/{ARCH}; it is for s390x"
    image, files = changed()
    files["index.json"] = b'{"manifests": ['
    cases["an index that is no JSON"] = files, 2, "expected near end of file"
    problems = []
    for name, (files, status, text) in cases.items():
        done = b.sg("image", "import", write_dir(b.path("broken"), files))
        shutil.rmtree(b.path("broken"))
        problems += [f"{name}: {p}" for p in expect(done, status, err=text)]
    other = Image([base()], arch="arm64" if ARCH == "amd64" else "amd64")
    problems += expect(b.oci(other, "foreign"), 0, other.digest, "and this is linux/" + ARCH)
    problems += expect(b.sg("run", "--image", other.digest, "--", "/bin/true"), 125, err="the image is for linux/arm64"
                       if ARCH == "amd64" else "the image is for linux/amd64")
    problems += expect(b.sg("image", "verify", b.good.digest), 0, "intact")
    return problems + [f"left over: {x}" for x in b.left()]


def references_are_pinned(b):
    problems = expect(b.sg("run", "--image", "good", "--", "/bin/true"), 125, err="--image good@" + b.good.digest)
    done = b.sg("run", "--image", "good", "--allow-tag", "--json", "--", "/bin/echo", "ran")
    problems += [] if (done.status, done.out) == (0, b"ran\n") else [done.tell()]
    lines = done.err.decode().splitlines()
    problems += [] if lines[0].startswith("sandglass: not pinned: ") else [lines[0]]
    report = json.loads(lines[-1])
    if "image_not_pinned" not in [a["reason"] for a in report["assumptions"]]:
        problems.append(report["assumptions"])
    if report["contract"]["rootfs"] != {"kind": "image", "digest": b.good.digest, "path": None}:
        problems.append(report["contract"]["rootfs"])
    for ref, text in (("Bad Name", "is no reference"), ("a//b", "is no reference"), ("a@sha256:12", "is no reference"),
                      ("a:ta g", "a tag is"), ("nosuch", "sandglass image pull nosuch:latest"),
                      ("x@sha256:" + "0" * 64, "sandglass image pull x@sha256:000"), ("", "is no reference")):
        problems += expect(b.sg("run", "--image", ref, "--", "/bin/true"), 125, err=text)
    for form in ("good@" + b.good.digest, b.good.digest, b.good.digest[7:], "any/name@" + sha256(b.good.config)):
        problems += expect(b.sg("run", "--image", form, "--", "/bin/echo", "ran"), 0, "ran\n")
    problems += expect(b.sg("run", "--user", "1", "--", "/bin/true"), 125, err="go with --image")
    return problems


def the_config_is_honoured(b):
    image = Image([base(), layer(member("app"), member("app/data", b"d"), link("srv", "app"))], {
        "Entrypoint": ["/bin/echo", "entry"], "Cmd": ["cmd"], "WorkingDir": "/app", "User": "app:staff",
        "Env": ["PATH=/app:/bin", "JAVA_HOME=/j", "TZ=Mars"]})
    problems = expect(b.oci(image, "config"), 0)
    ref = image.digest
    problems += expect(b.sg("run", "--image", ref), 0, "entry cmd\n")
    problems += expect(b.sg("run", "--image", ref, "--", "mine"), 0, "entry mine\n")
    problems += expect(b.sg("run", "--image", ref, "--entrypoint", "", "--", "/bin/env"), 0, "PATH=/app:/bin\n")
    done = b.sg("run", "--image", ref, "--entrypoint", "/bin/sh", "--", "-c", "id -u; id -g; pwd; env; touch x && ls")
    problems += expect(done, 0, "1234\n77\n/app\n")
    problems += [f"{w}: {done.out!r}" for w in (b"TZ=UTC\n", b"data\nx\n") if w not in done.out]
    problems += ["JAVA_HOME is taken"] if b"JAVA_HOME" in done.out else []
    out = b.path("out.config")
    done = b.sg("run", "--image", ref, "--entrypoint", "/bin/sh", "--workdir", "/srv", "--out", out, "--verify", "--",
                "-c", "echo new >made; echo more >>data; pwd")
    problems += expect(done, 0, "/app\n")
    with open(out + "/made", encoding="ascii") as f:
        problems += [] if f.read() == "new\n" else ["--out has another file"]
    problems += [] if sorted(os.listdir(out)) == ["data", "made"] else [os.listdir(out)]
    done = b.sg("run", "--image", ref, "--entrypoint", "/bin/sh", "--workdir", "/none/yet", "--out", b.path("out.none"),
                "--user", "0", "--", "-c", "echo 1 >one; id -u; touch /tmp/t; touch /bin/no || echo refused")
    problems += expect(done, 0, "0\nrefused\n") if done.err.count(b"sandglass") == 0 else [done.tell()]
    problems += [] if os.listdir(b.path("out.none")) == ["one"] else [os.listdir(b.path("out.none"))]
    problems += expect(b.sg("run", "--image", ref, "--workdir", "/", "--out", b.path("o")), 125, err="give --workdir DIR")
    problems += expect(b.sg("run", "--image", ref, "--workdir", "rel"), 125, err="is not an absolute path")
    problems += expect(b.sg("run", "--image", ref, "--workdir", "/bin/sh"), 125, err="is no directory")
    problems += expect(b.sg("run", "--image", ref, "--user", "nobody"), 125, err="has no user 'nobody'")
    problems += expect(b.sg("run", "--image", ref, "--entrypoint", "nosuch"), 127, err="'nosuch'")
    none = Image([base()])
    problems += expect(b.oci(none, "none"), 0)
    return problems + expect(b.sg("run", "--image", none.digest), 125, err="the image names no command")


def a_bare_image_gets_what_it_lacks(b):
    with open(BUSYBOX, "rb") as f:
        image = Image([layer(member("busybox", f.read(), mode=0o755))])
    problems = expect(b.oci(image, "bare"), 0)
    done = b.sg("run", "--verify", "--image", image.digest, "--", "/busybox", "sh", "-c",
                "/busybox ls /; /busybox cat /etc/hosts /etc/hostname; /busybox touch /tmp/x && echo ok")
    return problems + expect(done, 0, "busybox\ndev\netc\nproc\nsys\ntmp\n127.0.0.1\tlocalhost sandglass\n") + \
        ([] if done.out.endswith(b"sandglass\nok\n") else [done.out])


def tampering_is_found(b):
    image = Image([base(), layer(member("etc/two", b"2"))], compress=True)
    problems = expect(b.oci(image, "tamper"), 0)
    root = [r for r in b.roots() if os.path.exists(r + "/etc/two")]

    def spoil(path, data):
        os.chmod(path, 0o644)
        with open(path, "wb") as f:
            f.write(data)

    def stored(digest):
        return b.path(f"state/cas/{digest[7:9]}/{digest[7:]}")

    for r in root:
        spoil(r + "/etc/two", b"3")
    problems += expect(b.sg("image", "verify", image.digest), 1, "broken", "'/etc/two' is not as its layer has it")
    problems += expect(b.sg("run", "--image", image.digest, "--", "/bin/cat", "/etc/two"), 0, "2")
    problems += expect(b.sg("image", "verify", image.digest), 0, "intact")
    spoil(stored(sha256(image.layers[1])), b"other")
    problems += expect(b.sg("image", "verify", image.digest), 1, "broken", sha256(image.layers[1])[:19])
    problems += expect(b.sg("image", "gc", "--unpacked"), 0)
    problems += expect(b.sg("run", "--image", image.digest, "--", "/bin/true"), 125, err=sha256(image.layers[1])[:19])
    # The same import mends it.
    problems += expect(b.sg("image", "import", b.path("tamper")), 0, image.digest)
    problems += expect(b.sg("image", "verify", image.digest), 0, "intact")
    os.unlink(stored(sha256(image.layers[1])))
    problems += expect(b.sg("image", "verify", image.digest), 3, "broken")
    problems += expect(b.sg("image", "import", b.path("tamper")), 0, image.digest)
    for data in (image.manifest, image.config):
        spoil(stored(sha256(data)), data.replace(b"linux", b"lunix").replace(b"oci", b"ico"))
        problems += expect(b.sg("run", "--image", image.digest, "--", "/bin/true"), 125, err=sha256(data))
        problems += expect(b.sg("image", "import", b.path("tamper")), 0, image.digest)
    return problems + expect(b.sg("run", "--image", image.digest, "--", "/bin/cat", "/etc/two"), 0, "2")


def importers_at_once_agree_and_second_use_unpacks_nothing(b):
    image = Image([base(), layer(*[member(f"many/{i}", b"%d" % i) for i in range(500)])])
    path = write_dir(b.path("many"), image.oci_files())
    b.scratch.give(path, b.mode)
    env = {**ENV, "SANDGLASS_HOME": b.home}
    command = [b.scratch.join("bin", "sandglass"), "image", "import", path, "--name", "many"]
    if b.mode == ROOTLESS and IS_ROOT:
        from harness import as_mode
        command = as_mode(b.mode, command)
    running = [subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, env=env) for _ in range(4)]
    problems = []
    for p in running:
        out, err = p.communicate(timeout=120)
        if (p.returncode, out.decode()) != (0, image.digest + "\n"):
            problems.append((p.returncode, out, err))
    made = [r for r in b.roots() if os.path.exists(r + "/many")]
    if len(made) != 1:
        return problems + [made]
    before = os.stat(made[0]).st_ino, os.stat(made[0]).st_ctime_ns
    problems += expect(b.sg("run", "--image", image.digest, "--", "/bin/cat", "/many/7"), 0, "7")
    done = b.sg("image", "import", path, "--json")
    if json.loads(done.out)["entries"] != 0:
        problems.append("it was unpacked again")
    if (os.stat(made[0]).st_ino, os.stat(made[0]).st_ctime_ns) != before:
        problems.append("the unpacked files are others")
    return problems + [f"left over: {x}" for x in b.left()]


def killed_importers_leave_the_store_whole(b):
    image = Image([base(), layer(*[member(f"k/{i}", b"%d" % i * 99) for i in range(1500)])], compress=True)
    path = write_dir(b.path("kill"), image.oci_files())
    env = {**ENV, "SANDGLASS_HOME": b.home}
    problems = []
    for delay in (0.01, 0.04, 0.08, 0.15, 0.3, 0.6):
        p = subprocess.Popen([b.scratch.join("bin", "sandglass"), "image", "import", path], env=env,
                             stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        time.sleep(delay)
        p.send_signal(signal.SIGKILL)
        p.wait()
        done = b.sg("image", "verify", timeout=120)
        problems += [] if done.status == 0 else [f"after {delay}: {done.tell()}"]
    problems += expect(b.sg("image", "import", path, timeout=120), 0, image.digest)
    problems += expect(b.sg("run", "--image", image.digest, "--", "/bin/cat", "/k/1"), 0, "1" * 99)
    return problems + [f"left over: {x}" for x in b.left()]


def a_full_disk_is_told(b):
    home = b.path("full")
    os.mkdir(home)
    subprocess.run(["mount", "-t", "tmpfs", "-o", "size=12m", "none", home], check=True)
    try:
        env = {"SANDGLASS_HOME": home}
        small = write_dir(b.path("small"), b.good.oci_files())
        problems = expect(b.sg("image", "import", small, env=env), 0, b.good.digest)
        large = Image([base(), layer(member("large", os.urandom(6 << 20)))])
        done = b.sg("image", "import", write_dir(b.path("large"), large.oci_files()), env=env)
        problems += expect(done, 2, err="No space left on device")
        problems += expect(b.sg("run", "--image", b.good.digest, "--", "/bin/echo", "ran", env=env), 0, "ran")
        problems += expect(b.sg("image", "verify", env=env), 0, "intact")
        return problems + [f"left over: {x}" for x in os.listdir(home + "/state/images/tmp")]
    finally:
        subprocess.run(["umount", home], check=True)


def names_and_images_are_removed(b):
    image = Image([base(), layer(member("etc/removed", b"1"))])
    problems = expect(b.oci(image, "first"), 0)
    problems += expect(b.sg("image", "import", b.path("first"), "--name", "second:v2"), 0)
    listed = [i for i in json.loads(b.sg("image", "list", "--json").out) if i["digest"] == image.digest]
    if [i["names"] for i in listed] != [["first:latest", "second:v2"]]:
        problems.append(listed)
    problems += expect(b.sg("image", "remove", "first"), 0, "only the name")
    problems += expect(b.sg("image", "remove", "first"), 1, err="there is no image 'first:latest'")
    # A run holds it.
    env = {**ENV, "SANDGLASS_HOME": b.home}
    with subprocess.Popen([b.scratch.join("bin", "sandglass"), "run", "--image", image.digest, "--", "/bin/sh", "-c",
                           "echo up; read x"], stdin=subprocess.PIPE, stdout=subprocess.PIPE, env=env, cwd=b.home) as p:
        p.stdout.readline()
        problems += expect(b.sg("image", "remove", "second:v2"), 1, err="a run uses the image")
        p.stdin.close()
        p.wait(timeout=60)
    problems += expect(b.sg("image", "remove", "second:v2"), 0, "removed")
    problems += [f"unpacked: {r}" for r in b.roots() if os.path.exists(r + "/etc/removed")]
    before = json.loads(b.sg("image", "gc", "--dry-run", "--json").out)
    after = json.loads(b.sg("image", "gc", "--json").out)
    problems += [] if before["objects"] == after["objects"] > 0 else [(before, after)]
    problems += expect(b.sg("image", "show", image.digest), 1, err="there is no image")
    return problems + expect(b.sg("image", "verify", b.good.digest), 0, "intact")


def user_0_sees_nothing_of_the_supervisor(b):
    """All names of the system twice: those of init's descriptors and mappings would be the host's."""
    done = b.sg("run", "--verify", "--user", "0", "--image", b.good.digest, "--", "/bin/busybox", "sh", "-c",
                "id -u; find / 2>&1 | sort >/tmp/all; wc -l </tmp/all; grep map_files /tmp/all")
    return expect(done, 0, "0\n", "") + expect(done, 0, "find: /proc/1/map_files: Permission denied\n")


def a_run_is_deterministic_and_replays(b):
    tape = b.path("t.tape")
    problems = expect(b.sg("run", "--verify", "--image", b.good.digest, "--", *WORLD, timeout=120), 0, "2023")
    with subprocess.Popen(["echo", "from outside"], stdout=subprocess.PIPE) as p:
        done = b.sg("run", "--record", tape, "--image", b.good.digest, "--", "/bin/sh", "-c", "cat; date", stdin=p.stdout)
    problems += expect(done, 0, "from outside\n")
    again = b.sg("replay", tape)
    # Whoever has the image makes the run again from its receipt.
    problems += expect(b.sg("key", "new"), 0)
    with open(b.path("keys.json"), "wb") as f:
        f.write(b.sg("key", "jwks").out)
    os.chmod(b.path("keys.json"), 0o644)
    problems += expect(b.sg("run", "--receipt", b.path("r.json"), "--image", b.good.digest, "--user", "app", "--workdir", "/w",
                            "--", "/bin/sh", "-c", "id; date >f"), 0, "uid=1234")
    problems += expect(b.sg("receipt", "verify", "--jwks", b.path("keys.json"), "--recompute", b.path("r.json")), 0, "verified")
    return problems + expect(again, 0) + ([] if again.out == done.out else [again.out])


def free_port():
    with socket.socket() as s:
        s.bind(("127.0.0.1", 0))
        return s.getsockname()[1]


def a_registry_gives_what_was_pushed(b):
    port, top = free_port(), b.path("registry")
    os.mkdir(top)
    with open(top + "/config.yml", "w", encoding="ascii") as f:
        f.write(f"version: 0.1\nstorage: {{filesystem: {{rootdirectory: {top}/data}}}}\nhttp: {{addr: '127.0.0.1:{port}'}}\n")
    image = Image([base(), layer(member("etc/pulled", b"1"))], compress=True)
    path = write_dir(b.path("pushed"), image.oci_files())
    name = f"127.0.0.1:{port}/team/app:v1"
    problems = []
    with subprocess.Popen(["docker-registry", "serve", top + "/config.yml"], stdout=subprocess.DEVNULL,
                          stderr=subprocess.DEVNULL) as p:
        try:
            for _ in range(200):
                with socket.socket() as s:
                    if s.connect_ex(("127.0.0.1", port)) == 0:
                        break
                time.sleep(0.1)
            push = run(["skopeo", "--insecure-policy", "copy", "--dest-tls-verify=false", "oci:" + path,
                        "docker://" + name], env={"HOME": b.home}, timeout=120)
            problems += expect(push, 0)
            problems += expect(b.sg("image", "pull", name, timeout=120), 0, image.digest)
            problems += expect(b.sg("run", "--image", f"{name}@{image.digest}", "--", "/bin/cat", "/etc/pulled"), 0, "1")
            problems += expect(b.sg("run", "--image", name, "--", "/bin/true"), 125,
                               err=f"--image 127.0.0.1:{port}/team/app@{image.digest}")
            problems += expect(b.sg("image", "remove", image.digest), 0, "removed")
            problems += expect(b.sg("image", "pull", f"127.0.0.1:{port}/team/app@{image.digest}", timeout=120), 0, image.digest)
            problems += expect(b.sg("image", "pull", f"127.0.0.1:{port}/team/app@sha256:" + "0" * 64, timeout=120), 2,
                               err="manifest unknown")
        finally:
            p.terminate()
    problems += expect(b.sg("image", "pull", name, timeout=120), 2, err="connection refused\n")
    return problems + expect(b.sg("image", "verify", image.digest), 0, "intact") + [f"left over: {x}" for x in b.left()]


ANYBODY = [modes_owners_and_attributes_are_kept, layers_cannot_write_outside, the_config_is_honoured,
           importers_at_once_agree_and_second_use_unpacks_nothing, a_run_is_deterministic_and_replays,
           user_0_sees_nothing_of_the_supervisor]
ROOT_TOO = [every_form_is_the_same_image, layers_are_laid_as_docker_lays_them, bombs_are_bounded, what_is_broken_is_named,
            references_are_pinned, a_bare_image_gets_what_it_lacks, tampering_is_found, killed_importers_leave_the_store_whole,
            names_and_images_are_removed]


def skip_for(case, mode):
    if case is a_full_disk_is_told and not IS_ROOT:
        return "only root can mount a small disk"
    return None


def main():
    require_programs()
    for name in (BUSYBOX, "skopeo", "docker-registry"):
        assert shutil.which(name), f"{name} is not here: scripts/deps test installs it"
    tap = Tap()
    with Scratch() as scratch:
        worlds = set()
        for mode in MODES:
            b = Box(scratch, "home." + mode, mode)
            done = b.oci(b.good, "good")
            tap.case(f"a layout is imported as {mode}", expect(done, 0, b.good.digest))
            cases = ANYBODY + (ROOT_TOO + [a_full_disk_is_told, a_registry_gives_what_was_pushed]
                               if mode == MODES[0] else [])
            for case in cases:
                if len(sys.argv) > 1 and sys.argv[1] not in case.__name__:
                    continue
                why = skip_for(case, mode)
                tap.case(f"{case.__name__.replace('_', ' ')} ({mode})", [] if why else case(b), why)
            worlds.add(b.sg("run", "--image", b.good.digest, "--", *WORLD).out)
        tap.case("root and an ordinary user see the same", [] if len(worlds) == 1 else list(worlds))
    tap.finish()


if __name__ == "__main__":
    main()
