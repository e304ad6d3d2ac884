# SPDX-License-Identifier: Apache-2.0
"""What the checks share: the project's files, C without its comments and strings, and the verdict."""
import os
import re
import shutil
import subprocess
import sys

ROOT = os.environ.get("SANDGLASS_SOURCE") or os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
SKIP = 77


def files(*patterns):
    """Tracked files (and new ones that git would add) that match, sorted, relative to the root."""
    out = subprocess.run(
        ["git", "-c", "safe.directory=*", "ls-files", "-z", "--cached", "--others", "--exclude-standard", "--", *patterns],
        cwd=ROOT, check=True, capture_output=True).stdout.decode()
    return sorted({p for p in out.split("\0") if p and os.path.isfile(os.path.join(ROOT, p))})


def read(path):
    with open(os.path.join(ROOT, path), encoding="utf-8") as f:
        return f.read()


TOKEN = re.compile(r"""/\*.*?\*/|//[^\n]*|"(?:\\.|[^"\\\n])*"|'(?:\\.|[^'\\\n])*'""", re.S)


def code(text):
    """C with comments and literals blanked; line numbers stay."""
    def blank(found):
        return re.sub(r"[^\n]", " ", found[0])
    return TOKEN.sub(blank, text)


def tool(*names):
    """The first of these programs that is installed; skips the check where none is."""
    for name in names:
        if shutil.which(name):
            return name
    skip(f"{names[0]} is not installed")


def skip(why):
    print(f"skipped: {why}")
    sys.exit(SKIP)


def verdict(problems, looked_at, what):
    """Prints the problems and ends the check; one that looked at nothing has failed."""
    for problem in problems:
        print(problem)
    if not looked_at:
        print(f"looked at no {what}")
    print(f"{looked_at} {what}, {len(problems)} problems")
    sys.exit(1 if problems or not looked_at else 0)
