# SPDX-License-Identifier: Apache-2.0
"""`sandglass receipt`, `key` and `run --receipt`: what is signed is checked, what is forged is refused."""
import base64
import copy
import hashlib
import json
import os
import subprocess
import sys
import tempfile
import time

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "lib"))
from harness import IS_ROOT, PLAIN_UID, SANDGLASS, Tap, require_programs, run  # noqa: E402

TYPE = b"application/vnd.sandglass.statement+json"
DER = bytes.fromhex("302a300506032b6570032100")  # what stands before the 32 bytes of a public key


def jcs(value):
    """RFC 8785 of what receipts hold: no fractions, no key past U+FFFF."""
    return json.dumps(value, sort_keys=True, separators=(",", ":"), ensure_ascii=False).encode()


def b64(data):
    return base64.urlsafe_b64encode(data).decode().rstrip("=")


def unb64(text):
    return base64.urlsafe_b64decode(text + "=" * (-len(text) % 4))


def pae(statement):
    body = jcs(statement)
    return b"DSSEv1 %d %s %d " % (len(TYPE), TYPE, len(body)) + body


class Place:
    """A user with a key, a run, its receipt, and openssl as the other implementation."""

    def __init__(self, top):
        self.top = top
        self.work = os.path.join(top, "work")
        os.mkdir(self.work)
        self.write("work/in", b"input\n")
        done = self.sandglass("key", "new")
        if done.status != 0:
            raise SystemExit(done.tell())
        self.keyid = done.out.decode().split()[0]
        self.receipt = os.path.join(top, "receipt.json")
        self.command = ["--", "sh", "-c", "cat in; date; echo err >&2; echo out >new; exit 3"]
        done = self.make(self.receipt)
        if done.status != 3:
            raise SystemExit(done.tell())
        with open(self.receipt, "rb") as f:
            self.bytes = f.read()
        self.file = json.loads(self.bytes)
        self.key = os.path.join(top, "home", "state", "keys", "signing.pem")
        self.other = os.path.join(top, "other.pem")
        subprocess.run(["openssl", "genpkey", "-algorithm", "ed25519", "-out", self.other], check=True)

    def make(self, path, *options, **more):
        return self.sandglass("run", "--receipt", path, *options, *self.command, cwd=self.work, **more)

    def sandglass(self, *words, cwd=None, env=(), **more):
        home = {"SANDGLASS_HOME": os.path.join(self.top, "home")}
        return run([SANDGLASS, *words], cwd=cwd or self.top, env={**home, **dict(env)}, **more)

    def write(self, name, data):
        path = os.path.join(self.top, name)
        with open(path, "wb") as f:
            f.write(data)
        return path

    def verify(self, path, *options, **more):
        return self.sandglass("receipt", "verify", "--json", path, *options, **more)

    def sign(self, statement, key):
        signed = self.write("signed", pae(statement))
        return subprocess.run(["openssl", "pkeyutl", "-sign", "-rawin", "-inkey", key, "-in", signed],
                              check=True, stdout=subprocess.PIPE).stdout

    def seal(self, statement, key, **envelope):
        """A signed file as another program would make it."""
        public = subprocess.run(["openssl", "pkey", "-in", key, "-pubout", "-outform", "DER"], check=True,
                                stdout=subprocess.PIPE).stdout
        x = b64(public[len(DER):])
        thumb = hashlib.sha256(jcs({"crv": "Ed25519", "kty": "OKP", "x": x})).digest()
        head = {"alg": "EdDSA", "keyid": b64(thumb), "public_key": x, "signature": b64(self.sign(statement, key)),
                "spki_digest": "sha256:" + hashlib.sha256(public).hexdigest(),
                "statement_digest": "sha256:" + hashlib.sha256(jcs(statement)).hexdigest()}
        head.update(envelope)
        return jcs({"envelope": head, "format": "sandglass.signed/1", "statement": statement}) + b"\n"


def answer(done):
    try:
        return json.loads(done.out)
    except ValueError:
        return {"verdict": f"no JSON: {done.tell()}", "reasons": []}


def judged(done, status, verdict, code=None):
    """What is wrong with the answer; code is that of the first reason."""
    got = answer(done)
    codes = [r["code"] for r in got["reasons"]]
    if done.status != status or got["verdict"] != verdict or (code and codes[:1] != [code]):
        return [f"status {done.status}, {got['verdict']}, {codes}; not {status}, {verdict}, {code}"]
    return []


def the_same_run_gives_the_same_bytes(p):
    again = os.path.join(p.top, "again.json")
    p.make(again)
    with open(again, "rb") as f:
        same = f.read() == p.bytes
    problems = [] if same else ["another receipt"]
    words = set(p.bytes.decode().split('"'))
    if os.uname().nodename in words:
        problems.append("the host's name is in it")
    return problems


def openssl_and_hashlib_agree(p):
    statement, envelope = p.file["statement"], p.file["envelope"]
    problems = []
    if p.bytes != jcs(p.file) + b"\n":
        problems.append("not the bytes of RFC 8785")
    if p.seal(statement, p.key) != p.bytes:
        problems.append("openssl signs it with other bytes")
    signature, signed = p.write("signature", unb64(envelope["signature"])), p.write("signed", pae(statement))
    der = p.write("key.der", DER + unb64(envelope["public_key"]))
    done = run(["openssl", "pkeyutl", "-verify", "-pubin", "-inkey", der, "-keyform", "DER", "-rawin", "-in", signed,
                "-sigfile", signature])
    if done.status != 0:
        problems.append(done.tell())
    for path, want in (("/usr/bin/date", None), ("work/in", None)):
        digest = "sha256:" + hashlib.sha256(open(os.path.join(p.top, path), "rb").read()).hexdigest()
        want = [o["sha256"] for o in statement["programs"] if o["path"] == path]
        if want and want != [digest]:
            problems.append(f"{path}: {want}, not {digest}")
    if hashlib.sha256(statement["contract"].encode()).hexdigest() != statement["contract_digest"][7:]:
        problems.append("the contract's digest")
    if hashlib.sha256(b"input\nTue Nov 14 22:13:20 UTC 2023\n").hexdigest() != statement["outputs"]["stdout"][7:]:
        problems.append("the output's digest")
    return problems


def each_verdict_has_its_status(p):
    jwks = p.write("jwks.json", p.sandglass("key", "jwks").out)
    spki = p.file["envelope"]["spki_digest"]
    problems = judged(p.verify(p.receipt), 3, "unanchored", "no_anchor")
    for options in (["--expected-keyid", p.keyid], ["--expected-keyid", spki], ["--jwks", jwks],
                    ["--jwks", jwks, "--recompute"]):
        problems += judged(p.verify(p.receipt, *options), 0, "verified")
    problems += judged(p.verify(p.receipt, "--expected-keyid", "x"), 1, "failed", "key_unexpected")
    for words in (["nowhere"], ["a", "b"], [], [p.receipt, "--jwks", "nowhere"],
                  [p.receipt, "--jwks", p.write("bad", b"{}")], [p.receipt, "--nonsense"],
                  [p.receipt, "--store", p.write("file", b"")]):
        done = p.sandglass("receipt", "verify", *words)
        if done.status != 2 or done.err.count(b"\n") != 1:
            problems.append(f"{words}: {done.tell()}")
    text = p.sandglass("receipt", "verify", p.receipt, "--jwks", jwks)
    if not text.out.endswith(b": verified\n"):
        problems.append(text.tell())
    return problems


def what_cannot_be_read_is_told(p):
    fifo, away = os.path.join(p.top, "fifo"), os.path.join(p.top, "link")
    os.mkfifo(fifo)
    os.symlink(p.receipt, away)
    problems = judged(p.verify(fifo), 4, "unreadable", "receipt_unreadable")
    problems += judged(p.verify(p.work), 4, "unreadable", "receipt_unreadable")
    problems += judged(p.verify(away, "--expected-keyid", p.keyid), 0, "verified")
    if IS_ROOT:
        closed = p.write("closed", p.bytes)
        os.chmod(closed, 0)
        os.chmod(p.top, 0o755)
        done = run(["setpriv", f"--reuid={PLAIN_UID}", "--regid=65534", "--clear-groups", SANDGLASS, "receipt", "verify",
                    "--json", closed], cwd="/", env={"SANDGLASS_HOME": "/nonexistent"})
        problems += judged(done, 4, "unreadable", "receipt_unreadable")
    return problems


def objects_of_the_store_are_hashed_again(p):
    store = os.path.join(p.top, "store")
    data = b"input\nTue Nov 14 22:13:20 UTC 2023\n"
    digest = p.file["statement"]["outputs"]["stdout"][7:]
    bundle = os.path.join(p.top, "bundle.tar")
    make_bundle(bundle, digest, data)
    done = p.sandglass("cas", "import", "--store", store, bundle)
    problems = [] if done.status == 0 else [done.tell()]
    path = os.path.join(store, digest[:2], digest)
    options = ["--store", store, "--expected-keyid", p.keyid]
    done = p.verify(p.receipt, *options)
    problems += judged(done, 0, "verified")
    if {"what": "stdout", "digest": "sha256:" + digest} not in answer(done)["checked"]:
        problems.append("the output was not checked")
    os.chmod(path, 0o600)
    with open(path, "wb") as f:
        f.write(b"x" * len(data))
    problems += judged(p.verify(p.receipt, *options), 1, "failed", "object_tampered")
    os.unlink(path)
    os.symlink("/etc/passwd", path)
    problems += judged(p.verify(p.receipt, *options), 4, "unreadable", "object_unreadable")
    os.unlink(path)
    shard = os.path.dirname(path)
    os.rename(shard, shard + ".away")
    os.symlink(shard + ".away", shard)
    problems += judged(p.verify(p.receipt, *options), 4, "unreadable", "object_unreadable")
    return problems


def make_bundle(path, digest, data):
    import io
    import tarfile
    index = json.dumps({"format": "sandglass.export/1", "objects": [], "roots": ["sha256:" + digest]}).encode()
    with tarfile.open(path, "w", format=tarfile.USTAR_FORMAT) as t:
        for name, content in (("index.json", index), ("sha256/" + digest, data)):
            info = tarfile.TarInfo(name)
            info.size = len(content)
            t.addfile(info, io.BytesIO(content))


def a_run_is_made_again(p):
    anchor = ["--expected-keyid", p.keyid, "--recompute"]
    problems = judged(p.verify(p.receipt, *anchor), 0, "verified")
    p.write("work/in", b"other\n")
    problems += judged(p.verify(p.receipt, *anchor), 5, "incomplete", "not_recomputable")
    p.write("work/in", b"input\n")
    # The right key over what the run did not do: only making it again shows that.
    lie = copy.deepcopy(p.file["statement"])
    lie["outputs"]["stdout"] = "sha256:" + "0" * 64
    path = p.write("lie.json", p.seal(lie, p.key))
    problems += judged(p.verify(path, *anchor[:2]), 0, "verified")
    problems += judged(p.verify(path, *anchor), 1, "failed", "recompute_differs")
    gone = copy.deepcopy(p.file["statement"])
    gone["programs"][0]["path"] = "/usr/bin/no-such-program"
    problems += judged(p.verify(p.write("gone", p.seal(gone, p.key)), *anchor[:2]), 5, "incomplete", "object_absent")
    gone["programs"][0]["path"] = "/usr/bin/tail"
    problems += judged(p.verify(p.write("gone", p.seal(gone, p.key)), *anchor[:2]), 5, "incomplete", "program_differs")
    # With a standard input, an option of every kind, and what the host lends.
    source = p.write("stdin", b"from a file\n")
    lent = p.write("lent", b"lent\n")
    full = os.path.join(p.top, "full.json")
    options = ["--env", "A=b c", "--epoch", "2030-01-02T03:04:05Z", "--memory", "1G", "--pids", "99", "--workflow-id", "w x",
               "--sched-seed", "5", "--workdir", "/tmp", "--bind-ro", f"{lent}:/lent"]
    with open(source, "rb") as f:
        done = p.sandglass("run", "--receipt", full, *options, "--", "sh", "-c", "cat - /lent; echo $A; date", cwd=p.work,
                           stdin=f)
    if done.out != b"from a file\nlent\nb c\nWed Jan  2 03:04:05 UTC 2030\n":
        problems.append(done.tell())
    problems += judged(p.verify(full, *anchor), 5, "incomplete", "not_recomputable")
    problems += judged(p.verify(full, *anchor, "--stdin", source, "--bind-ro", f"{lent}:/lent"), 0, "verified")
    return problems


def leaves(value, path=()):
    if isinstance(value, dict):
        for key in value:
            yield from leaves(value[key], path + (key,))
    elif isinstance(value, list) and value:
        for i in range(min(len(value), 2)):
            yield from leaves(value[i], path + (i,))
    else:
        yield path


def changed(value):
    if isinstance(value, bool):
        return not value
    if isinstance(value, int):
        return value + 1
    if isinstance(value, str):
        return value[:-1] + ("0" if value[-1:] != "0" else "1")
    return "x" if value is None else ["x"]


def with_change(file, path, value=None):
    file = copy.deepcopy(file)
    at = file
    for step in path[:-1]:
        at = at[step]
    at[path[-1]] = changed(at[path[-1]]) if value is None else value
    return file


def without(file, path):
    file = copy.deepcopy(file)
    at = file
    for step in path[:-1]:
        at = at[step]
    del at[path[-1]]
    return file


def rehashed(file):
    file["envelope"]["statement_digest"] = "sha256:" + hashlib.sha256(jcs(file["statement"])).hexdigest()
    return file


def everybodys(p):
    """The neutral point as the key: R = that point and S = 0 satisfy the equation for any text."""
    s, neutral = p.file["statement"], b"\x01" + bytes(31)
    thumb = hashlib.sha256(jcs({"crv": "Ed25519", "kty": "OKP", "x": b64(neutral)})).digest()
    return p.seal(s, p.key, keyid=b64(thumb), public_key=b64(neutral), signature=b64(neutral + bytes(32)),
                  spki_digest="sha256:" + hashlib.sha256(DER + neutral).hexdigest())


def programs_are_not_believed(p):
    """Statements of the right key whose programs would lead the check astray."""
    s, zero, problems = p.file["statement"], "sha256:" + "0" * 64, []

    def verify(path, **more):
        sealed = p.write("astray.json", p.seal({**s, "programs": [{"path": path, "sha256": zero}], **more}, p.key))
        return p.verify(sealed, "--expected-keyid", p.keyid, timeout=30)

    for path in ("/proc/self/pagemap", "/proc/self/status", "/dev/zero", "/usr"):
        problems += judged(verify(path), 4, "unreadable", "object_unreadable")
    for path in ("bin/sh", None):
        done = verify(path)
        problems += judged(done, 0, "verified")
        if {"what": path or "", "digest": zero} not in answer(done)["unchecked"]:
            problems.append(f"{path} is not told as unchecked: {done.tell()}")
    # As if the host's programs were the run's own.
    contract = {**json.loads(s["contract"]), "cwd": {"digest": None, "path": "/"}}
    text = json.dumps(contract, sort_keys=True, separators=(",", ":"))
    digest = "sha256:" + hashlib.sha256(text.encode()).hexdigest()
    return problems + judged(verify("/usr/bin/env", contract=text, contract_digest=digest), 5, "incomplete", "program_differs")


def a_check_that_is_killed_ends_its_run(p):
    """The command has no end of its own, and its words are found nowhere else."""
    mark = "sleep 86397"

    def count():
        found = 0
        for pid in filter(str.isdigit, os.listdir("/proc")):
            try:
                with open(f"/proc/{pid}/cmdline", "rb") as f:
                    found += mark.encode() in f.read()
            except OSError:
                pass
        return found

    def wait(ready):
        for _ in range(300):
            if ready():
                return True
            time.sleep(0.1)
        return False
    contract = {**json.loads(p.file["statement"]["contract"]), "argv": ["sh", "-c", f"while :; do {mark}; done"]}
    text = json.dumps(contract, sort_keys=True, separators=(",", ":"))
    digest = "sha256:" + hashlib.sha256(text.encode()).hexdigest()
    path = p.write("endless.json", p.seal({**p.file["statement"], "contract": text, "contract_digest": digest}, p.key))
    env = {**os.environ, "SANDGLASS_HOME": os.path.join(p.top, "home")}
    with subprocess.Popen([SANDGLASS, "receipt", "verify", "--recompute", path], env=env, stdout=subprocess.DEVNULL) as check:
        started = wait(lambda: count() > 0)
        check.kill()
    problems = [] if started else ["the run never started"]
    return problems if wait(lambda: count() == 0) else problems + ["it goes on"]


def forgeries(p):
    """(name, bytes, the first reason's code): none may pass, and each has its one reason."""
    f, s = p.file, p.file["statement"]

    def text(file):
        return jcs(file) + b"\n"

    for path in leaves(s):
        name = ".".join(map(str, path))
        yield f"{name} changed", text(with_change(f, ("statement",) + path)), "statement_digest_wrong"
        yield (f"{name} changed and hashed", text(rehashed(with_change(f, ("statement",) + path))), "signature_wrong")
    for key, code in (("alg", "malformed"), ("keyid", "keyid_wrong"), ("spki_digest", "keyid_wrong"),
                      ("statement_digest", "statement_digest_wrong")):
        yield f"envelope {key} changed", text(with_change(f, ("envelope", key))), code
    flipped = unb64(f["envelope"]["signature"])
    yield "a bit of the signature", text(with_change(f, ("envelope", "signature"), b64(bytes([flipped[0] ^ 1]) + flipped[1:]))), \
        "signature_wrong"
    yield "another public key", text(with_change(f, ("envelope", "public_key"), b64(bytes(32)))), "keyid_wrong"
    # S + L of Ed25519 would be a second signature of the same text.
    order = 2**252 + 27742317777372353535851937790883648493
    big = int.from_bytes(flipped[32:], "little") + order
    if big < 2**256:
        yield "a second signature", text(with_change(f, ("envelope", "signature"), b64(flipped[:32] + big.to_bytes(32, "little")))), \
            "signature_wrong"
    yield "signed with another key", p.seal(s, p.other), "key_unexpected"
    yield "another key's signature", text(with_change(f, ("envelope", "signature"), b64(p.sign(s, p.other)))), "signature_wrong"
    yield "another key under this name", p.seal(s, p.other, keyid=p.keyid), "keyid_wrong"
    for key in ("format", "envelope", "statement"):
        yield f"without {key}", text(without(f, (key,))), "malformed"
    for key in f["envelope"]:
        yield f"envelope without {key}", text(without(f, ("envelope", key))), "malformed"
        yield f"envelope {key} a number", text(with_change(f, ("envelope", key), 1)), "malformed"
    for key in s:
        if key != "format":
            yield f"statement without {key}, signed", p.seal(without(s, (key,)), p.key), "malformed"
    yield "one more member", text({**f, "more": 1}), "malformed"
    yield "one more in the envelope", text(with_change(f, ("envelope", "more"), 1) if "more" in f["envelope"] else
                                           {**f, "envelope": {**f["envelope"], "more": 1}}), "malformed"
    yield "one more in the statement, signed", p.seal({**s, "more": 1}, p.key), "malformed"
    yield "another format", text(with_change(f, ("format",), "sandglass.signed/2")), "malformed"
    yield "an unknown statement, signed", p.seal({"format": "sandglass.other/1"}, p.key), "unknown_statement"
    yield "no format, signed", p.seal({"a": 1}, p.key), "malformed"
    yield "swapped outputs", text(with_change(f, ("statement", "outputs", "stdout"), s["outputs"]["stderr"])), "statement_digest_wrong"
    yield "swapped digests, signed", p.seal({**s, "contract_digest": s["outputs"]["stdout"]}, p.key), "contract_digest_wrong"
    yield "another contract, signed", p.seal({**s, "contract": s["contract"].replace("input", "x").replace("date", "dat")}, p.key), \
        "contract_digest_wrong"
    yield "a contract that is none, signed", p.seal({**s, "contract": "{"}, p.key), "malformed"
    yield "a contract with a blank, signed", p.seal({**s, "contract": " " + s["contract"]}, p.key), "malformed"
    yield "enforced and 121, signed", p.seal({**s, "enforced": True, "status": 121}, p.key), "contradiction"
    yield "runs that differ and 3, signed", p.seal({**s, "verify": {"runs": 2, "identical": False}}, p.key), "contradiction"
    yield "enforced with reasons, signed", p.seal({**s, "not_enforced": ["clock_spin"]}, p.key), "contradiction"
    yield "another code than the status, signed", p.seal({**s, "exit": {"code": 4, "oom": False}}, p.key), "contradiction"
    yield "compared and run once, signed", p.seal({**s, "verify": {"runs": 1, "identical": True}}, p.key), "contradiction"
    yield "an exit with more, signed", p.seal({**s, "exit": {"code": 3, "oom": False, "x": 1}}, p.key), "malformed"
    yield "a verify of another type, signed", p.seal({**s, "verify": {"runs": "1", "identical": None}}, p.key), "malformed"
    yield "a status of 300, signed", p.seal({**s, "status": 300}, p.key), "contradiction"
    yield "a number past 2^53, signed", p.seal({**s, "status": 2**53}, p.key), "malformed"
    yield "a digest in capitals, signed", p.seal({**s, "contract_digest": s["contract_digest"].upper()}, p.key), "malformed"
    yield "a program's digest that is none, signed", p.seal({**s, "programs": [{"path": "/usr/bin/cat", "sha256": "x"}]}, p.key), "malformed"
    yield "a key under which all verifies", everybodys(p), "signature_wrong"
    yield "a blank more", p.bytes.replace(b"{", b"{ ", 1), "not_canonical"
    yield "no newline", p.bytes[:-1], "not_canonical"
    yield "two newlines", p.bytes + b"\n", "not_canonical"
    yield "keys in another order", b'{"format":"sandglass.signed/1","envelope":' + jcs(f["envelope"]) + b',"statement":' + jcs(s) + \
        b"}\n", "not_canonical"
    yield "an escape that need not be", p.bytes.replace(b"sandglass.signed", b"sandglass\\u002esigned", 1), "not_canonical"
    yield "indented", json.dumps(f, indent=1).encode() + b"\n", "not_canonical"
    for name, data in (("nothing", b""), ("cut in the middle", p.bytes[:len(p.bytes) // 2]), ("cut at the end", p.bytes[:-2]),
                       ("cut at the start", p.bytes[1:]), ("binary", bytes(range(256))), ("zeros", bytes(4096)), ("NaN", b"NaN\n"),
                       ("a NaN inside", p.bytes.replace(b'"status":3', b'"status":NaN')),
                       ("a fraction", p.bytes.replace(b'"status":3', b'"status":3.0')),
                       ("an exponent", p.bytes.replace(b'"status":3', b'"status":3e0')),
                       ("infinite", p.bytes.replace(b'"status":3', b'"status":1e999')),
                       ("a key twice", p.bytes.replace(b'"status":3', b'"status":3,"status":3')),
                       ("deep", b"[" * 100000 + b"]" * 100000), ("a list", b"[]\n"), ("a number", b"1\n"), ("text", b'"x"\n'),
                       ("two values", p.bytes + p.bytes), ("a mark before it", b"\xef\xbb\xbf" + p.bytes),
                       ("no UTF-8", p.bytes.replace(b"sandglass.signed", b"sandglass\xff")),
                       ("half a surrogate", p.bytes.replace(b"sandglass.signed", b"\\ud800")),
                       ("a zero inside", p.bytes.replace(b"sandglass.signed", b"\\u0000")),
                       ("seventeen megabytes", b" " * (17 << 20) + p.bytes)):
        yield name, data, "malformed"


def forged_receipts_are_refused(p):
    problems, count = [], 0
    for name, data, code in forgeries(p):
        count += 1
        path = p.write("forged.json", data)
        wrong = judged(p.verify(path, "--expected-keyid", p.keyid), 1, "failed", code)
        problems += [f"{name}: {w}" for w in wrong]
    if count < 60:
        problems.append(f"only {count} forgeries")
    sparse = p.write("sparse", b"")
    os.truncate(sparse, 5 << 30)
    return problems + judged(p.verify(sparse), 1, "failed", "malformed")


def keys_follow_their_rules(p):
    problems = []
    for words, status, err in ((["key", "new"], 2, "already"), (["key", "show", "x"], 2, "usage: sandglass key show"),
                               (["key", "new", "--passphrase-file", p.write("loose", b"x")], 2, "chmod 600")):
        done = p.sandglass(*words)
        if done.status != status or err not in done.err.decode():
            problems.append(f"{words}: {done.tell()}")
    loose = p.write("loose.pem", open(p.key, "rb").read())
    os.chmod(loose, 0o644)
    made = os.path.join(p.top, "x.json")
    done = p.make(made, env={"SANDGLASS_KEY": loose})
    if done.status != 125 or b"chmod 600" not in done.err or os.path.exists(made):
        problems.append(done.tell())
    done = p.make(made, env={"SANDGLASS_HOME": os.path.join(p.top, "empty")})
    if done.status != 125 or b"key new" not in done.err or os.path.exists(made):
        problems.append(done.tell())
    os.chmod(p.other, 0o600)
    done = p.make(made, env={"SANDGLASS_KEY": p.other})
    shown = json.loads(p.sandglass("key", "show", "--json", env={"SANDGLASS_KEY": p.other}).out)
    problems += judged(p.verify(made, "--expected-keyid", shown["keyid"]), 0, "verified")
    # An encrypted one, and its passphrase from a file.
    secret = p.write("secret", b"correct horse\n")
    os.chmod(secret, 0o600)
    env = {"SANDGLASS_HOME": os.path.join(p.top, "second"), "SANDGLASS_KEY_PASSPHRASE_FILE": secret}
    done = p.sandglass("key", "new", "--passphrase-file", secret, env=env)
    keyid = done.out.decode().split()[0]
    p.make(made, env=env)
    problems += judged(p.verify(made, "--expected-keyid", keyid), 0, "verified")
    del env["SANDGLASS_KEY_PASSPHRASE_FILE"]
    done = p.make(made, env=env)
    if done.status != 125 or b"SANDGLASS_KEY_PASSPHRASE_FILE" not in done.err:
        problems.append(done.tell())
    # What an old key signed stays good, and it signs no more.
    old = json.loads(p.sandglass("key", "rotate", "--json").out)
    if old["replaced"] != p.keyid:
        problems.append(old)
    jwks = p.write("jwks2.json", p.sandglass("key", "jwks").out)
    problems += judged(p.verify(p.receipt, "--jwks", jwks), 0, "verified")
    p.make(made)
    problems += judged(p.verify(made, "--jwks", jwks, "--expected-keyid", p.keyid), 1, "failed", "key_unexpected")
    log = p.sandglass("audit", "show").out.decode()
    for event in ("key.new", "key.rotate", "receipt.signed"):
        if event not in log:
            problems.append(f"no {event} in the audit log")
    return problems


def main():
    require_programs()
    tap = Tap()
    cases = [the_same_run_gives_the_same_bytes, openssl_and_hashlib_agree, each_verdict_has_its_status,
             what_cannot_be_read_is_told, objects_of_the_store_are_hashed_again, a_run_is_made_again,
             forged_receipts_are_refused, programs_are_not_believed,
             a_check_that_is_killed_ends_its_run, keys_follow_their_rules]
    with tempfile.TemporaryDirectory(prefix="sandglass-receipts-") as top:
        place = Place(top)
        for case in cases:
            tap.case(case.__name__.replace("_", " "), case(place))
    tap.finish()


main()
