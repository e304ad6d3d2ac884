# SPDX-License-Identifier: Apache-2.0
"""Every check finds a fault that is planted for it, and scripts/summary counts what happened."""
import json
import os
import subprocess
import sys
import tempfile

from source import ROOT

TOP = "/* SPDX-License-Identifier: Apache-2.0 */\n/* A planted fault to be found. */\n"
CLEAN = {
    "src/LAYERS": "base\nwire base\nrun base wire\ncli base\n",
    "src/base/a.h": TOP + "#ifndef A_H\n#define A_H\nint a(void);\n#endif\n",
    "src/base/a.c": TOP + '#include "base/a.h"\n\nint a(void)\n{\n\treturn 0;\n}\n',
    "docs/a.md": "See [the man page](man/a.1).\n",
    ".clang-format": open(os.path.join(ROOT, ".clang-format"), encoding="utf-8").read(),
    "docs/man/a.1": '.\\" SPDX\n.Dd November 29, 2026\n.Dt A 1\n.Os\n.Sh NAME\n.Nm a\n.Nd a planted page\n.Sh DESCRIPTION\nA page.\nIt takes\n.Fl -json .\n',
    "src/cli/commands.def": TOP + "X(command_run)\n",
}
LONG = TOP + "int a(void)\n{\n" + "\ta();\n" * 80 + "}\n"
# check, the file with the fault, its text, a word of the complaint
FAULTS = [
    ("layers", "src/base/b.c", TOP + '#include "wire/x.h"\n', "may not include wire"),
    ("layers", "src/base/b.c", TOP + "#include <seccomp.h>\n", "may not use libseccomp"),
    ("layers", "src/new/b.c", TOP, "no line in src/LAYERS"),
    ("layers", "src/LAYERS", "base wire\nwire\n", "not above it"),
    ("headers", "src/base/b.h", TOP + "size_t b(void);\n", "does not compile alone"),
    ("banned", "src/base/b.c", TOP + "int b(char *s)\n{\n\treturn atoi(s);\n}\n", "atoi is banned"),
    ("banned", "src/base/b.c", TOP + "int b(void)\n{\n\tgoto out;\n}\n", "goto is banned"),
    ("files", "src/base/b.c", "int b;\n", "SPDX"),
    ("files", "src/base/b.c", "/* SPDX-License-Identifier: Apache-2.0 */\nint b;\n", "one sentence"),
    ("files", "src/base/b.c", LONG, "a function of"),
    ("files", "src/base/b.c", TOP + "int b;\n" * 900, "at most 800"),
    ("words", "src/base/b.c", TOP + "/* TO" "DO: later */\n", "unfinished"),
    ("words", "scripts/b", "#!/bin/sh\n# /wor" "k/x\ncd /wor" "k/x\n", "a path of one machine"),
    ("syscalls", "src/wire/syscalls.def", "SYSCALL(read, ALLOW, native, none, \"\")\n", "no row for write"),
    ("syscalls", "src/wire/syscalls.def", "SYSCALL(read, ALLOW, native, none, \"\")\n", "read has no note"),
    ("syscalls", "src/wire/syscalls.def", "SYSCALL(read, STOP, native, none, \"x\")\n", "stops for nothing"),
    ("syscalls", "src/wire/syscalls.def", "SYSCALL(bpf, ENOSYS, read, none, \"x\")\n", "never run"),
    ("syscalls", "src/wire/syscalls.def", "SYSCALL(write, ENOSYS, native, none, \"x\")\n"
     "SYSCALL(read, ENOSYS, native, none, \"x\")\n", "read belongs before write"),
    ("links", "README.md", "See [b](b.md).\n", "b.md is not there"),
    ("links", "README.md", "See `src/b.c`.\n", "src/b.c is not there"),
    ("format", "src/base/b.c", TOP + "int  b( void );\n", "clang-format"),
    ("man", "docs/man/b.1", ".Sh NAME\n", "missing"),
    ("options", "docs/man/b.1", ".Fl -nosuch\n", "--nosuch, which the program does not have"),
    ("options", "docs/man/b.1", ".It Fl -json\n", "a list of options by hand"),
    ("options", "docs/man/b.1", ".Xr sandglass-nosuch 1\n", "sandglass-nosuch(1), which there is not"),
    ("cppcheck", "src/base/b.c", TOP + "int b(void)\n{\n\tint x[2];\n\n\tx[2] = 1;\n\treturn x[0];\n}\n", "out of bounds"),
]
COUNTS = [
    ([{"name": "a", "result": "OK", "stdout": ""}], "1 passed, 0 failed, 0 skipped", 0),
    ([{"name": "a", "result": "FAIL", "stdout": ""}], "0 passed, 1 failed, 0 skipped", 1),
    ([{"name": "a", "result": "TIMEOUT", "stdout": "1..2\nok 1 - x\n"}], "1 passed, 1 failed, 0 skipped", 1),
    ([{"name": "a", "result": "ERROR", "stdout": "1..1\nok 1 - x\n"}], "1 passed, 1 failed, 0 skipped", 1),
    ([{"name": "a", "result": "OK", "stdout": "1..2\nok 1 - x\nok 2 - y # SKIP no root\n"}], "1 passed, 0 failed, 1 skipped", 0),
    ([{"name": "a", "result": "FAIL", "stdout": "1..2\nok 1 - x\nnot ok 2 - y\n"}], "1 passed, 1 failed, 0 skipped", 1),
    ([{"name": "a", "result": "SKIP", "stdout": "skipped: no root\n"}], "0 passed, 0 failed, 1 skipped", 1),
    ([], "0 passed, 0 failed, 0 skipped", 1),
]


def put(root, path, text):
    path = os.path.join(root, path)
    os.makedirs(os.path.dirname(path), exist_ok=True)
    with open(path, "w", encoding="utf-8") as f:
        f.write(text)


def lint(root, check):
    script = os.path.join(ROOT, "tests/lint", check + ".py")
    return subprocess.run([sys.executable, script], env={**os.environ, "SANDGLASS_SOURCE": root},
                          capture_output=True, text=True, stdin=subprocess.DEVNULL)


def tree(extra):
    root = tempfile.TemporaryDirectory()
    for path, text in {**CLEAN, **extra}.items():
        put(root.name, path, text)
    subprocess.run(["git", "init", "-q", root.name], check=True)
    return root


lines = []


def case(name, good, detail="", skip=""):
    number = sum(not line.startswith("#") for line in lines) + 1
    lines.append(f"{'ok' if good else 'not ok'} {number} - {name}" + (f" # SKIP {skip}" if skip else ""))
    if not good:
        lines.extend(f"# {line}" for line in detail.splitlines())


with tree({}) as clean:
    for check in sorted({fault[0] for fault in FAULTS} - {"syscalls"}):
        done = lint(clean, check)
        case(f"{check} passes a clean tree", done.returncode in (0, 77), done.stdout + done.stderr)
for check, path, text, word in FAULTS:
    numbers = {"src/wire/sysnr_x86_64.h": "", "src/wire/sysnr_aarch64.h": ""} if check == "syscalls" else {}
    with tree({path: text, **numbers}) as root:
        done = lint(root, check)
        if done.returncode == 77:
            case(f"{check} finds: {word}", True, skip=done.stdout.strip())
        else:
            case(f"{check} finds: {word}", done.returncode == 1 and word in done.stdout, done.stdout + done.stderr)
for tests, line, status in COUNTS:
    with tempfile.NamedTemporaryFile("w", suffix=".json") as log:
        log.write("".join(json.dumps(test) + "\n" for test in tests))
        log.flush()
        done = subprocess.run([sys.executable, os.path.join(ROOT, "scripts/summary"), log.name], capture_output=True, text=True)
    last = (done.stdout.splitlines() or [""])[-1]
    case(f"summary says: {line} for {[t['result'] for t in tests]}", last == line and done.returncode == status, done.stdout + done.stderr)
print("\n".join(lines))
print(f"1..{sum(not line.startswith('#') for line in lines)}")
