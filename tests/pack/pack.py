# SPDX-License-Identifier: Apache-2.0
"""Packs: TOML against Python's reader, NFC against Python's tables, the hash walk against one of Python, manifests."""
import datetime
import hashlib
import json
import os
import random
import subprocess
import sys
import tempfile
import tomllib
import unicodedata

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "lib"))
from harness import SANDGLASS, SOURCE, Tap, require_programs, run  # noqa: E402

PROBE = sys.argv[1]
MANIFEST = os.path.join(SOURCE, "docs", "howto", "packs", "sh", "manifest.toml")

# Each is valid or not as Python's reader has it.
TOML = [
    "", "a=1", "a = 'x' # c", 'a="\\u00e9\\U0001F600\\t\\\\"', "a=1\na=2", "[a]\n[a]", "[a.b]\n[a]\nc=1", "[a]\nb.c=1\n[a.b]\n",
    "a.b=1\na.c=2\n[a]\n", "a.b=1\n[a.c]\n", "[[a]]\nb=1\n[[a]]\nb=2\n[a.c]\nd=1", "a=[]\n[[a]]", "a={}\n[a.b]", "a={b=1}\na.c=2",
    "[a]\nb={c=1,d.e=2}\n", "a={b=1,}", "a={b=1,b.c=2}", "a={b={c=1},b.d=2}", "a={b.c=1,b.d=2}", "a=[1,2,]", "a=[1,\n# x\n2\n]", "a=[,]", "a=[1 2]",
    'a="""\n x\\\n   y"""', 'a=""""x"""""', "a='''it''s'''", "a='''x''''", "a='''x'''''", "a='''x''''''", 'a="x\ny"', 'a="\\q"', 'a="\\ud800"',
    "a=0x1F", "a=0xg", "a=+0x1", "a=0o17", "a=0b101", "a=1_000", "a=1__0", "a=_1", "a=1_", "a=01", "a=-0", "a=+5", "a=1.5", "a=1.", "a=.5",
    "a=1e5", "a=1e", "a=1.5e-3", "a=6.626e-34", "a=inf", "a=-nan", "a=+inf", "a=infx", "a=1979-05-27", "a=1979-05-27T07:32:00Z",
    "a=1979-05-27 07:32:00.5+01:00", "a=07:32:00", "a=07:32", "a=2023-02-29", "a=2024-02-29", "a=0000-01-01", "a=1979-13-01", "a=1979-05-27T25:00:00",
    "a=1979-05-27T", "a=1979-05-27 ", "a=true", "a=tru", "a=truex", "a=false", "a", "=1", "a=", "a b=1", "a.=1", ".a=1", "a..b=1", '""=1', "'a.b'.c=1", '"a\\n"=1',
    "[]", "[a", "[[a]", "[[a] ]", "[ a . b ]", "[a]x", "[a] # y", "a=1 b=2", "\ta = 1", "a=1\r\nb=2", "a=1\rb=2", "a='\r'", "# \x01", "a='\x7f'", "\ufeffa=1", "a=1\x00",
    "[a]\nb=1\n[a.b]", "[a.b.c]\n[a]\nb=1", "[[a.b]]\n[a]\nb=1", "[a]\n[[a]]", "[[a]]\n[a]", "[[a.b]]\nc=1\n[a]\nd=2", "a=[{b=1},{c=2}]\n[a.d]", "[[a]]\n[[a.b]]\n[[a]]\n[[a.b]]\nx=1",
    "a.b.c=1\na.b=2", "[fruit]\napple.color=1\napple.taste.sweet=true\n[fruit.apple.texture]\ns=1", "[fruit]\napple.color=1\n[fruit.apple]", "a=9223372036854775807", "a=-9223372036854775808",
    "[a]\nb=1\n\n[c]\n\n[a.d]\n", "x={a=[1,{b=2}]}\n", 'a="""x', "a='x", "é=1", "a.b=1\n[x]\n[a]\nc=1", "[x]\na.b=1\n[x.a.c]\nd=1\n[y]\n[x.a]\n", "a=[[[[[[1]]]]]]",
]


class Top:
    def __init__(self, path):
        self.path = path
        self.pack = os.path.join(path, "pack")

    def write(self, name, data):
        path = os.path.join(self.pack, name)
        os.makedirs(os.path.dirname(path), exist_ok=True)
        with open(path, "wb") as f:
            f.write(data if isinstance(data, bytes) else data.encode())
        return path

    def hash(self, status=0):
        done = run([SANDGLASS, "pack", "hash", "--json", self.pack], env={"HOME": self.path})
        if done.status != status:
            raise AssertionError(done.tell())
        return json.loads(done.out) if status == 0 else done.err.decode()

    def files(self):
        for name, data in (("manifest.toml", "x"), ("a/b", "1"), ("a-b", "2"), ("sub/manifest.toml", ""), ("z/é", b"\xff\0")):
            self.write(name, data)


def probe(what, paths):
    done = subprocess.run([PROBE, what, *paths], capture_output=True, check=True, timeout=120)
    return [json.loads(line) for line in done.stdout.splitlines()]


def plain(value):
    """What our reader makes of a value."""
    if isinstance(value, dict):
        return {k: plain(v) for k, v in value.items()}
    if isinstance(value, list):
        return [plain(v) for v in value]
    return 0.0 if isinstance(value, (float, datetime.date, datetime.time)) else value


def is_narrower(value):
    """What TOML allows and ours does not: integers past 64 bits and a NUL in a key."""
    if isinstance(value, dict):
        return any("\0" in k or is_narrower(v) for k, v in value.items())
    if isinstance(value, list):
        return any(is_narrower(v) for v in value)
    return isinstance(value, int) and not -2**63 <= value < 2**63


def mutated(seed, count):
    """Texts near to valid ones."""
    rng = random.Random(seed)
    with open(MANIFEST, encoding="ascii") as f:
        whole = f.read()
    for _ in range(count):
        text = list(rng.choice(TOML) if rng.random() < 0.7 else whole)
        if rng.random() < 0.4:
            text += ["\n"] + list(rng.choice(TOML))
        for _ in range(rng.randrange(1, 4)):
            at = rng.randrange(len(text) + 1)
            action = rng.random()
            if action < 0.4:
                text.insert(at, rng.choice("[]{}=.,\"'\\#\n \t_0123456789aeTZ:+-x\r"))
            elif text and action < 0.8:
                del text[min(at, len(text) - 1)]
            elif text:
                text[min(at, len(text) - 1)] = rng.choice("[]{}=.,\"'\\#\n ab01")
        yield "".join(text)


def toml_is_read_as_python_reads_it(top):
    problems, texts = [], TOML + list(mutated(1, 4000))
    paths = []
    for i, text in enumerate(texts):
        paths.append(os.path.join(top.path, str(i)))
        with open(paths[-1], "wb") as f:
            f.write(text.encode())
    answers = [a for i in range(0, len(paths), 500) for a in probe("toml", paths[i:i + 500])]
    for text, answer in zip(texts, answers, strict=True):
        try:
            wanted = tomllib.loads(text)
        except ValueError:
            wanted = None
        if wanted is not None and is_narrower(wanted):
            wanted = None
        if (wanted is None) != ("error" in answer) or (wanted is not None and answer["value"] != plain(wanted)):
            problems.append(f"{text!r}: {answer}, and Python: {wanted}")
    good = sum("value" in a for a in answers)
    return problems if good > 500 and len(answers) - good > 500 else problems + [f"{good} of {len(answers)} are valid"]


def nfc_is_told_as_python_tells_it(_top):
    rng = random.Random(2)
    skip = {10, 13}
    words = [chr(c) for c in range(1, 0x110000) if not 0xD800 <= c < 0xE000 and c not in skip and unicodedata.category(chr(c)) != "Cn"]
    marks = [w for w in words if unicodedata.combining(w)]
    bases = [w for w in words if unicodedata.decomposition(w) or w.isalpha()][:3000] + [chr(c) for c in range(0x1100, 0x1200)] + ["\uac00", "\uac01"]
    words += ["".join(rng.choice(marks if rng.random() < 0.6 else bases) for _ in range(rng.randrange(1, 7))) for _ in range(20000)]
    for word in list(words[-20000:]):
        words.append(unicodedata.normalize("NFC", word))
    done = subprocess.run([PROBE, "nfc"], input="\n".join(words).encode() + b"\n", capture_output=True, check=True, timeout=200)
    answers = done.stdout.decode()
    if len(answers) != len(words):
        return [f"{len(answers)} answers for {len(words)}"]
    wrong = [w for w, a in zip(words, answers) if unicodedata.is_normalized("NFC", w) != (a == "1")]
    return [f"{len(wrong)} are told wrongly: {[ascii(w) for w in wrong[:5]]}"] if wrong else []


def reference(root, with_manifest):
    """The walk as its page has it, by another hand."""
    found = []
    for at, dirs, names in os.walk(root):
        dirs[:] = [d for d in dirs if not d.startswith(".") and d != "__pycache__"]
        found += [os.path.relpath(os.path.join(at, n), root) for n in names if not n.startswith(".") and not n.endswith(".pyc")
                  and os.path.isfile(os.path.join(at, n))]
    digest = hashlib.sha256()
    for path in sorted(found, key=str.encode):
        if path == "manifest.toml" and not with_manifest:
            continue
        with open(os.path.join(root, path), "rb") as f:
            data = f.read()
        digest.update(path.encode() + b"\0" + len(data).to_bytes(8, "big") + data)
    return "sha256:" + digest.hexdigest()


def hashes_are_those_of_the_page(top):
    top.files()
    found = top.hash()
    if found != {"bundle_hash": reference(top.pack, True), "content_hash": reference(top.pack, False)}:
        return [found]
    return []


def what_is_not_hashed_changes_nothing(top):
    top.files()
    before = top.hash()
    for name in (".hidden", ".git/config", "__pycache__/x.py", "a/__pycache__/y", "m.pyc", "a/n.pyc"):
        top.write(name, "new")
    os.makedirs(os.path.join(top.pack, "empty", "deeper"))
    os.mkfifo(os.path.join(top.pack, "fifo"))
    os.symlink("/nowhere", os.path.join(top.pack, ".link"))
    os.chmod(os.path.join(top.pack, "a-b"), 0o755)
    return [] if top.hash() == before else ["something of it is hashed"]


def a_manifest_moves_the_bundle_hash_alone(top):
    top.files()
    before = top.hash()
    top.write("manifest.toml", "y")
    after = top.hash()
    problems = [] if after["bundle_hash"] != before["bundle_hash"] and after["content_hash"] == before["content_hash"] else [after]
    top.write("sub/manifest.toml", "y")
    last = top.hash()
    return problems if last["content_hash"] != after["content_hash"] else problems + ["one in a directory is not content"]


def links_and_names_that_are_not_nfc_have_no_hash(top):
    top.files()
    os.symlink("a", os.path.join(top.pack, "dir"))
    os.symlink("/nowhere", os.path.join(top.pack, "sub", "dangling"))
    top.write("e\u0301", "x")
    with open(os.path.join(os.fsencode(top.pack), b"\xff"), "wb"):
        pass
    told = top.hash(status=1)
    return [told for part in ("'dir' is a symbolic link", "'sub/dangling' is a symbolic link", "NFC", "not UTF-8") if part not in told]


GOOD = """
[pack]
name = "ab"
version = "1.0rc1.post2.dev3+local.1"
description = "d"
license = ""
unknown = 1
[pack.provenance]
authored_by = "agent"
[pack.integrity]
content_hash = "sha256:%s"
signature = ""
[dependencies]
activegraph = ">=1.5,<2, !=1.7.*"
python = "~=3.11"
python-deps = ["x"]
[dependencies.packs]
other = "==1.0"
[dependencies.optional-packs]
[surface]
object_types = ["a"]
settings_schema = ""
consumes = []
[[surface.capabilities]]
provider = "p"
capability = "c"
credential_ref = ""
risk_class = "low"
action_class = "R4"
[fixtures]
entrypoint = "fixtures/run_fixtures.py"
deterministic = false
""" % ("0" * 64)

# A line, what it becomes, and what is then said.
BAD = [
    ('name = "ab"', 'name = "a"', "pack.name"), ('name = "ab"', 'name = "Ab"', "pack.name"), ('name = "ab"', 'name = 7', "pack.name has to be a string"),
    ("1.0rc1.post2.dev3+local.1", "1.0-x-y", "pack.version"), ('description = "d"', 'description = ""', "description is empty"), ('license = ""\n', "", "pack.license is missing"),
    ('"agent"', '"robot"', "one of human, agent"), ("sha256:0", "sha256:F", "content_hash"), ("sha256:0", "0", "content_hash"),
    ('signature = ""', 'signature = "x"', "signature is reserved"), (">=1.5,<2, !=1.7.*", "", "dependencies.activegraph"), (">=1.5,<2", ">=1.5.*", "dependencies.activegraph"),
    ("~=3.11", "3.11", "dependencies.python"), ('["x"]', '"x"', "python-deps has to be a list"), ('["x"]', "[1]", "python-deps has to be a list"),
    ('other = "==1.0"', 'other = "new"', "dependencies.packs.other"), ('object_types = ["a"]', "object_types = [1]", "surface.object_types"),
    ("consumes = []", "consumes = 1", "surface.consumes"), ('settings_schema = ""', "settings_schema = 1", "settings_schema"),
    ('provider = "p"\n', "", "surface.capabilities[0].provider is missing"), ('"low"', '"lower"', "one of low, medium, high, critical"),
    ('"R4"', '"R5"', "one of R0, R1, R2, R3, R4"), ('risk_class = "low"\n', "", "risk_class is missing"), ("deterministic = false", 'deterministic = "no"', "true or false"),
    ("deterministic = false\n", "", "deterministic is missing"), ('"fixtures/run_fixtures.py"', '""', "entrypoint is empty"), ("[fixtures]", "[fixture]", "[fixtures] is missing"),
]


def manifests_are_judged_key_by_key(top):
    paths = [os.path.join(top.path, f"{i}.toml") for i in range(len(BAD) + 1)]
    for path, (old, new, _) in zip(paths, BAD + [("", "", "")]):
        if old not in GOOD:
            return [f"no {old!r} in the good one"]
        with open(path, "w", encoding="utf-8") as f:
            f.write(GOOD.replace(old, new, 1) if old else GOOD)
    answers = probe("manifest", paths)
    problems = [] if answers[-1] == [] else [answers[-1]]
    return problems + [f"{new!r}: {a}" for a, (_, new, said) in zip(answers, BAD) if len(a) != 1 or said not in a[0]]


def all_faults_are_told_at_once(top):
    top.write("manifest.toml", GOOD.replace('"ab"', '"A"').replace('"d"', '""').replace('"agent"', '"x"'))
    done = run([SANDGLASS, "pack", "check", top.pack], env={"HOME": top.path})
    told = done.err.decode()
    wanted = ("pack.name", "description is empty", "authored_by", "no code", "content's is")
    return [f"{w!r} is missing: {told}" for w in wanted if w not in told] + ([] if done.status == 1 else [done.tell()])


def new_packs_are_as_they_should_be(top):
    problems = []
    for lang in ("sh", "python", "node", "c"):
        path = os.path.join(top.path, f"new_{lang}")
        made = run([SANDGLASS, "pack", "new", path, "--lang", lang], env={"HOME": top.path})
        checked = run([SANDGLASS, "pack", "check", path], env={"HOME": top.path})
        if made.status or checked.status or made.out.decode().strip() != reference(path, True):
            problems.append(f"{lang}: {made.tell()} {checked.tell()}")
    for words, said in ((["new", "Bad"], "cannot be a pack's name"), (["new", "ok", "--lang", "perl"], "no language"), (["new", top.path], "cannot be"),
                        (["hash", "/nonexistent"], "No such file"), (["check"], "check"), (["new", os.path.join(top.path, "new_sh")], "not empty")):
        done = run([SANDGLASS, "pack", *words], cwd=top.path, env={"HOME": top.path})
        if done.status != 2 or said not in done.err.decode():
            problems.append(done.tell())
    return problems


CASES = [toml_is_read_as_python_reads_it, nfc_is_told_as_python_tells_it, hashes_are_those_of_the_page, what_is_not_hashed_changes_nothing,
         a_manifest_moves_the_bundle_hash_alone, links_and_names_that_are_not_nfc_have_no_hash, manifests_are_judged_key_by_key,
         all_faults_are_told_at_once, new_packs_are_as_they_should_be]


def main():
    require_programs()
    tap = Tap()
    for case in CASES:
        with tempfile.TemporaryDirectory(prefix="sandglass-pack.") as top:
            os.mkdir(os.path.join(top, "pack"))
            tap.case(case.__name__.replace("_", " "), case(Top(top)))
    tap.finish()


main()
