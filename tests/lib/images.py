# SPDX-License-Identifier: Apache-2.0
"""Container images made by another program than ours: layers, OCI layouts, docker archives."""
import gzip
import hashlib
import io
import json
import os
import tarfile

ARCH = {"x86_64": "amd64", "aarch64": "arm64"}[os.uname().machine]
BUSYBOX = "/bin/busybox"
APPLETS = ["sh", "ls", "cat", "date", "echo", "id", "sleep", "mkdir", "touch", "env", "pwd", "find", "stat", "true"]


def sha256(data):
    return "sha256:" + hashlib.sha256(data).hexdigest()


def member(name, data=None, **more):
    """A TarInfo and its bytes; type, linkname, mode, mtime, uid... as keywords."""
    info = tarfile.TarInfo(name)
    info.mtime = 1000000000
    info.mode = 0o755 if data is None else 0o644
    info.type = tarfile.DIRTYPE if data is None else tarfile.REGTYPE
    info.size = len(data or b"")
    for key, value in more.items():
        setattr(info, key, value)
    return info, data


def link(name, target, hard=False):
    return member(name, type=tarfile.LNKTYPE if hard else tarfile.SYMTYPE, linkname=target, mode=0o777)


def layer(*members, form=tarfile.PAX_FORMAT):
    out = io.BytesIO()
    with tarfile.open(fileobj=out, mode="w", format=form) as t:
        for info, data in members:
            t.addfile(info, io.BytesIO(data) if data is not None else None)
    return out.getvalue()


def base():
    """A layer with busybox, its shell and what goes with it."""
    with open(BUSYBOX, "rb") as f:
        program = f.read()
    return layer(member("bin"), member("bin/busybox", program, mode=0o755),
                 *[link("bin/" + a, "busybox") for a in APPLETS], member("etc"),
                 member("etc/passwd", b"root:x:0:0:root:/root:/bin/sh\napp:x:1234:1235::/app:/bin/sh\n"),
                 member("etc/group", b"root:x:0:\napp:x:1235:\nstaff:x:77:\n"))


class Image:
    """Parts of an image, to be written in any form; a part may be changed before."""

    def __init__(self, layers, config=None, arch=ARCH, compress=False):
        self.layers = [gzip.compress(x, 1, mtime=0) if compress else x for x in layers]
        self.config = json.dumps({"architecture": arch, "os": "linux", "config": config or {}, "rootfs": {
            "type": "layers", "diff_ids": [sha256(x) for x in layers]}}).encode()
        kind = "tar+gzip" if compress else "tar"
        self.manifest = json.dumps({
            "schemaVersion": 2, "mediaType": "application/vnd.oci.image.manifest.v1+json",
            "config": self.descriptor(self.config, "application/vnd.oci.image.config.v1+json"),
            "layers": [self.descriptor(x, "application/vnd.oci.image.layer.v1." + kind) for x in self.layers]}).encode()
        self.blobs = {sha256(x): x for x in [*self.layers, self.config, self.manifest]}

    @staticmethod
    def descriptor(data, kind, **more):
        return {"mediaType": kind, "digest": sha256(data), "size": len(data), **more}

    @property
    def digest(self):
        return sha256(self.manifest)

    def index(self, **more):
        return json.dumps({"schemaVersion": 2, "manifests": [
            self.descriptor(self.manifest, "application/vnd.oci.image.manifest.v1+json", **more)]}).encode()

    def oci_files(self, index=None):
        files = {"oci-layout": b'{"imageLayoutVersion":"1.0.0"}', "index.json": index or self.index()}
        files.update({"blobs/sha256/" + digest[7:]: data for digest, data in self.blobs.items()})
        return files

    def docker_files(self, name=None):
        files = {sha256(self.config)[7:] + ".json": self.config}
        names = []
        for i, data in enumerate(self.layers):
            names.append(f"{i}/layer.tar")
            files[names[-1]] = data
        files["manifest.json"] = json.dumps([{"Config": sha256(self.config)[7:] + ".json",
                                              "RepoTags": [name] if name else None, "Layers": names}]).encode()
        return files


def write_dir(path, files):
    for name, data in files.items():
        full = os.path.join(path, name)
        os.makedirs(os.path.dirname(full), exist_ok=True)
        with open(full, "wb") as f:
            f.write(data)
    return path


def write_tar(path, files):
    with open(path, "wb") as f:
        f.write(layer(*[member(name, data) for name, data in files.items()]))
    return path
