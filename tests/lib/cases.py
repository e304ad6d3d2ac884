# SPDX-License-Identifier: Apache-2.0
"""Cases: programs that are run with --verify, three times, as root and as an ordinary user.

A case is a script or a source file whose lines that begin with a sign (`#:`, `//:` in JavaScript,
Java and Go, ` *:` in C, `-- :` in Haskell) say how it is run and judged:

  #: row ROW         the row of the design's table of sources that it stands for (ROWS below); it must
                     be varies or pinned, so that it fails when that row is taken out
  #: needs TOOL ...  programs of the host that it runs
  #: uses NAME ...   programs of tests/guest/parts that are laid into its directory
  #: varies          run natively twice, it differs
  #: pinned          run natively, it prints something else than in the sandbox
  #: native          run natively, it prints the very same: the kernel's own answers
  #: ordinary        run natively as an ordinary user, since it refuses to run as root
  #: patience N      what a native run may take in seconds (5, or 15 if native): an hour of sleep is not waited
                     for, and what was printed until then differs well enough
  #: out TEXT        a line of the expected output; all lines in order
  #: exit N          the expected exit status (0)
  #: option WORD     another option of `run`
  #: variant NAME WORD ...  the case once with these words for its interpreter; of several, each is a case
  #: rootless        run as an ordinary user even without --all
  #: cpuid           a CPU that can fault cpuid; where it cannot, the run says cpuid_unmasked
  #: unenforced CODE  it is not enforced for this reason: run once and without --verify, whose outcome is open
  #: either CODE     enforced, or not for this reason and exit 121, as the runtime's version and its
                     compiler's progress have it: run once and without --verify too
  #: long            in the suite `long` only
  #: once            it computes for so long that one run with --verify must do

Demanded of each: the exit status, verify.identical, enforced, the same output bytes and decisions in
all three runs, and the same output as root and rootless. What came out is kept for the table of
docs/determinism.md (tests/determinism/table.py).
"""
import copy
import fnmatch
import json
import os
import re
import shutil
import time

import harness as h

# The design's table of sources, a word a row.
ROWS = ("clock", "tsc", "cpuid", "entropy", "timers", "external", "procfs", "pinned", "directories", "inodes",
        "times", "fixed", "refused")
GUEST = os.path.join(h.SOURCE, "tests", "guest")
SCRIPTS = os.path.join(h.SOURCE, "tests", "determinism", "cases")
RUNTIMES = os.path.join(h.SOURCE, "tests", "runtimes", "cases")
PROGRAMS = os.path.join(h.BUILD, "tests", "guest")
# A file a case and mode: what the last run of it showed.
RESULTS = os.path.join(h.BUILD, "tests", "determinism", "results")
# Of one run; a busy host is no reason to fail.
TIMEOUT, TIMEOUT_LONG = "60s", "150s"
JUDGED_NATIVELY = {"varies", "pinned", "native"}
FLAGS = JUDGED_NATIVELY | {"ordinary", "rootless", "long", "once", "cpuid"}
TODAY = time.time()
# In every passwd file, which some programs look themselves up in.
NOBODY = 65534


class Language:
    """How files of one ending are run: an interpreter, or a compiler whose last word is the source."""

    def __init__(self, sign, run, compiler=None, env=None):
        self.sign, self.run, self.compiler, self.env = sign, run, compiler, env or {}


# {cache}: a directory that stays. A program in this world is static, so that it needs nothing beside it.
LANGUAGES = {
    ".sh": Language("#: ", ["sh"]),
    ".bash": Language("#: ", ["bash"]),
    ".py": Language("#: ", ["python3"]),
    ".pl": Language("#: ", ["perl"]),
    ".rb": Language("#: ", ["ruby"]),
    ".js": Language("//: ", ["node"]),
    ".java": Language("//: ", ["java", "-cp", ".", "Main"], ["javac", "-d", "."]),
    ".go": Language("//: ", [], ["go", "build", "-o", "{name}"],
                    {"CGO_ENABLED": "0", "GOPROXY": "off", "GOCACHE": "{cache}", "HOME": "{cache}", "GO111MODULE": "off"}),
    ".hs": Language("-- : ", [], ["ghc", "-v0", "-threaded", "-O", "-outputdir", "{cache}", "-o", "{name}"]),
    ".c": Language(" *: ", [], ["musl-gcc", "-O2", "-static", "-pthread", "-o", "{name}"]),
}


class Case:
    """One program with what its head says; of tests/guest it is built already, others may have to be compiled."""

    def __init__(self, path):
        self.path = path
        self.folder = os.path.dirname(path)
        self.name, self.ending = os.path.splitext(os.path.basename(path))
        self.family = os.path.basename(self.folder) if self.folder.startswith(GUEST) else None
        self.language = LANGUAGES[self.ending]
        self.rows, self.needs, self.uses, self.out, self.options = [], [], [], [], []
        self.exit, self.flags, self.patience = 0, set(), None
        self.unenforced = self.either = None
        self.variants, self.words = [], []
        self.compiled = None
        with open(path, encoding="utf-8") as f:
            text = f.read()
        for line in text.splitlines():
            if line.startswith(self.language.sign):
                self.take(*line[len(self.language.sign):].partition(" ")[::2])
        self.what = first_sentence(text)
        if not self.family:
            self.needs += [tool for tool in self.tools() if tool not in self.needs]
        # A formatter that joins the lines of a comment would take them away unseen.
        if self.family and not (self.flags or self.out or self.unenforced or self.exit):
            raise ValueError(f"{path}: nothing in its head says how it is judged")

    def take(self, key, value):
        if key in FLAGS:
            self.flags.add(key)
        elif key in ("exit", "patience"):
            setattr(self, key, int(value))
        elif key in ("unenforced", "either"):
            setattr(self, key, value)
        elif key == "out":
            self.out.append(value)
        elif key == "option":
            self.options.append(value)
        elif key in ("needs", "uses"):
            getattr(self, key).extend(value.split())
        elif key == "variant":
            self.variants.append(value.split())
        elif key == "row" and value in ROWS:
            self.rows.append(value)
        else:
            raise ValueError(f"{self.path}: '{key} {value}' is no line of a case")

    def tools(self):
        """What its language needs to be compiled and run."""
        return [words[0] for words in (self.language.compiler, self.language.run) if words]

    def spread(self):
        """The cases that it stands for: itself, or one a variant."""
        found = []
        for name, *words in self.variants:
            one = copy.copy(self)
            one.name, one.words = f"{self.name}-{name}", words
            one.what = f"{self.what.rstrip('.')} (`{' '.join(words)}`)."
            found.append(one)
        return found or [self]

    def command(self):
        if self.family:
            return [f"./{self.name}"]
        run = self.language.run
        if self.language.compiler:
            return [*run[:1], *self.words, *run[1:]] or [f"./{self.base()}", *self.words]
        return [*run, *self.words, f"./{os.path.basename(self.path)}"]

    def base(self):
        return os.path.splitext(os.path.basename(self.path))[0]

    def compile(self, directory):
        """Natively into a directory of its own; an error is told."""
        os.mkdir(directory)
        cache = os.path.join(h.BUILD, "tests", "runtimes", "cache", self.ending[1:])
        os.makedirs(cache, exist_ok=True)
        known = {"name": self.base(), "cache": cache}
        done = h.run([word.format(**known) for word in self.language.compiler] + [self.path], cwd=directory,
                     env={key: value.format(**known) for key, value in self.language.env.items()}, timeout=600)
        self.compiled = directory
        return [] if done.status == 0 else [f"not compiled: {done.tell()}", done.out.decode("utf-8", "replace")]

    def files(self):
        """What it consists of."""
        if self.family:
            own = [os.path.join(PROGRAMS, self.family, self.name)]
        elif self.compiled:
            own = [os.path.join(self.compiled, name) for name in sorted(os.listdir(self.compiled))]
        else:
            own = [self.path]
        return own + [os.path.join(PROGRAMS, "parts", name) for name in self.uses]

    def lay(self, directory):
        """The same files every time: what a guest sees of an input's time depends on its real one."""
        for path in self.files():
            laid = shutil.copy(path, directory)
            os.utime(laid, (TODAY, TODAY))

    def missing(self):
        tools = [tool for tool in self.needs if not shutil.which(tool, path=h.ENV["PATH"])]
        tools += [file for file in self.files() if not os.path.exists(file)]
        return f"no {' '.join(tools)}" if tools else None


def first_sentence(text):
    """What the file says of itself, behind the licence."""
    words = []
    for line in text.splitlines():
        line = re.sub(r'^(#|//|/\*|--|"""|\s\*)+/?\s?', "", line).strip()
        if not words and (not line or "SPDX" in line or line.startswith(("!", ":", "/"))):
            continue
        if line.startswith(":") or not line or line == "/":
            break
        words.append(line)
        if line.endswith(('."""', ".")):
            break
    return " ".join(words).rstrip('"*/ ')


def cases_of(folder):
    """Those of one folder, by name."""
    found = []
    for file in sorted(os.listdir(folder)):
        if os.path.splitext(file)[1] in LANGUAGES:
            found += Case(os.path.join(folder, file)).spread()
    return found


def families():
    return [name for name in sorted(os.listdir(GUEST)) if name != "parts" and os.path.isdir(os.path.join(GUEST, name))]


def all_cases():
    """The scripts, then the programs family by family, then the runtimes'."""
    found = cases_of(SCRIPTS)
    for family in families():
        found += cases_of(os.path.join(GUEST, family))
    found += cases_of(RUNTIMES)
    names = [case.name for case in found]
    double = {name for name in names if names.count(name) > 1}
    if double:
        raise ValueError(f"two cases of one name: {' '.join(sorted(double))}")
    return found


def differs(what, one, other):
    """One line that shows where two outputs part."""
    a, b = one.splitlines(), other.splitlines()
    for number, (x, y) in enumerate(zip(a, b), 1):
        if x != y:
            return f"{what}, line {number}: {x!r} and {y!r}"
    return f"{what}: {len(a)} and {len(b)} lines"


def judge_one(case, done):
    """What is wrong with one run by itself."""
    problems = []
    report = done.report or {}
    verify = report.get("verify") or {}
    told = [entry.get("reason") for entry in report.get("not_enforced") or []]
    unenforced = case.unenforced or (case.either if told else None)
    status = 121 if case.either and told else case.exit
    if done.status != status:
        problems.append(f"exit status {status} was expected: {done.tell()}")
    if unenforced:
        if told != [unenforced] or report.get("enforced") is not False:
            problems.append(f"{unenforced} was expected: {told}")
    elif not case.either and verify.get("identical") is not True:
        problems.append(f"not identical: {verify.get('first_difference')}")
    if not unenforced and report.get("enforced") is not True:
        problems.append(f"not enforced: {report.get('not_enforced')}")
    if case.out and done.out.decode("utf-8", "backslashreplace").splitlines() != case.out:
        problems.append(differs("another output than expected", done.out, "\n".join(case.out).encode()))
    return problems


def digests(done):
    outputs = (done.report or {}).get("outputs") or {}
    return {name: outputs.get(name) for name in ("stdout", "stderr", "tree", "decisions")}


def run_mode(scratch, case, mode, runs):
    """(problems, the first run) of one privilege."""
    problems, first = [], None
    verify = [] if case.unenforced or case.either else ["--verify"]
    limit = TIMEOUT_LONG if "long" in case.flags else TIMEOUT
    for number in range(1 if case.unenforced or case.either or "once" in case.flags else runs):
        work = scratch.mkdir("work", mode)
        case.lay(work)
        scratch.give(work, mode)
        try:
            done = h.sandglass(scratch, case.command(), options=[*verify, "--timeout", limit, *case.options],
                               mode=mode, cwd=work, timeout=300)
        finally:
            shutil.rmtree(work)
        problems = judge_one(case, done)
        if first and done.out != first.out:
            problems.append(differs(f"run {number + 1} and run 1 of {mode}", done.out, first.out))
        if first and digests(done) != digests(first):
            problems.append(f"the digests of run {number + 1} and run 1 differ: {digests(done)} and {digests(first)}")
        left = h.left_behind()
        if left:
            problems.append(f"left behind: {left}")
        first = first or done
        if problems:
            break
    return problems, first


def native(scratch, case):
    """The output of a run without a sandbox."""
    work = scratch.mkdir("work", h.MODES[0])
    case.lay(work)
    command = case.command()
    if "ordinary" in case.flags and h.IS_ROOT:
        command = ["setpriv", f"--reuid={NOBODY}", f"--regid={NOBODY}", "--clear-groups", "--", *command]
        os.chown(work, NOBODY, NOBODY)
    try:
        limit = case.patience or (15 if "native" in case.flags else 5)
        return h.run(command, cwd=work, env={"LC_ALL": "C.UTF-8", "TZ": "UTC"}, timeout=limit).out
    finally:
        # What a program that was cut off leaves is not the next case's.
        h.left_behind(grace=0)
        shutil.rmtree(work)


def beside_native(scratch, case, sandboxed):
    """A test that would pass without the engine tests nothing; semantics are the kernel's own."""
    problems = []
    if case.rows and not case.flags & {"varies", "pinned"}:
        problems.append("a case for a row has to be varies or pinned")
    if not case.flags & JUDGED_NATIVELY:
        return problems
    # Without a sandbox a busy host may show anything once, and a quiet one the same thing twice.
    outs = [native(scratch, case) for _ in range(2)]
    if "native" in case.flags and sandboxed not in outs:
        outs.append(native(scratch, case))
    while "varies" in case.flags and len(set(outs)) == 1 and len(outs) < 10:
        outs.append(native(scratch, case))
    if "varies" in case.flags and len(set(outs)) == 1:
        problems.append("native runs do not differ, so the case cannot fail")
    if "pinned" in case.flags and outs[0] == sandboxed:
        problems.append("a native run prints the same, so the case cannot fail")
    if "native" in case.flags and sandboxed not in outs:
        problems.append(differs("natively and in the sandbox", outs[0], sandboxed))
    return problems


def cpuid_faults():
    with open("/proc/cpuinfo", encoding="utf-8") as f:
        return " cpuid_fault " in f.read().replace("\n", " \n")


def keep(case, mode, problems, first):
    """For the table: what this run showed, whatever was expected."""
    report = first.report or {}
    told = sorted({entry.get("reason") for entry in report.get("not_enforced") or []})
    verdict = "fails" if problems else "not enforced" if told else "deterministic"
    os.makedirs(RESULTS, exist_ok=True)
    with open(os.path.join(RESULTS, f"{case.name}.{mode}.json"), "w", encoding="utf-8") as f:
        json.dump({"verdict": verdict, "reasons": told, "exit": first.status}, f)


def run_case(scratch, tap, case, args):
    """Judges it in each mode; a program that is missing is a failure, or by args.skip a skip."""
    missing = case.missing()
    if missing:
        tap.case(case.name, [missing], skip=missing if args.skip else None)
        return
    if "cpuid" in case.flags and not cpuid_faults():
        done = h.sandglass(scratch, ["true"], cwd=scratch.tmp)
        said = [a.get("reason") for a in (done.report or {}).get("assumptions", [])]
        tap.case(f"{case.name}: the report says that this CPU cannot fault cpuid",
                 [] if "cpuid_unmasked" in said else [f"assumptions: {said}; {done.tell()}"])
        return
    outs = {}
    for mode in h.MODES:
        if mode == h.ROOTLESS and h.IS_ROOT and not args.all and "rootless" not in case.flags:
            continue
        problems, first = run_mode(scratch, case, mode, 1 if args.quick else args.runs)
        outs[mode] = first.out
        keep(case, mode, problems, first)
        if args.print:
            print(first.out.decode("utf-8", "backslashreplace"), flush=True)
        tap.case(f"{case.name} as {mode}", problems)
    first = next(iter(outs.values()))
    if (case.flags & JUDGED_NATIVELY or case.rows) and not args.quick:
        tap.case(f"{case.name} beside a native run", beside_native(scratch, case, first))
    if len(outs) == 2:
        tap.case(f"{case.name}: root and rootless agree",
                 [] if outs[h.ROOT] == outs[h.ROOTLESS] else
                 [differs("root and rootless", outs[h.ROOT], outs[h.ROOTLESS])])


def options(parser):
    """What the programs that run cases have in common."""
    parser.add_argument("--all", action="store_true", help="rootless for every case")
    parser.add_argument("--long", action="store_true", help="the cases marked long only")
    parser.add_argument("--only", default="*")
    parser.add_argument("--part", default="1/1", help="every N-th case from the K-th on")
    parser.add_argument("--runs", type=int, default=3)
    parser.add_argument("--quick", action="store_true", help="one run, and none without a sandbox")
    parser.add_argument("--print", action="store_true")


def chosen(cases, args):
    """Those of the part that --only and --long name."""
    part, parts = map(int, args.part.split("/"))
    return [case for case in cases[part - 1::parts]
            if fnmatch.fnmatch(case.name, args.only) and (args.only != "*" or ("long" in case.flags) == args.long)]
