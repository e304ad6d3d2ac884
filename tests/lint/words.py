# SPDX-License-Identifier: Apache-2.0
"""No marks of unfinished work and no paths of a developer's machine in any file."""
import re

from source import files, read, verdict

# In pieces, so that this file does not find itself.
MARKS = re.compile(r"\b(" + "|".join(("TO" "DO", "FIX" "ME", "XX" "X", "[Nn]ot " "implemented")) + r")\b")
# Inside a replication code, data and output are in directories of those names: docs/format/replication.
PLACES = re.compile(r"(?<![\w./])/(wor" r"k|home/\w+|root/\.\w+)/(?!\.\.\.|(?:code|data|out)\b)")

problems = []
paths = files()
for path in paths:
    try:
        text = read(path)
    except UnicodeDecodeError:
        continue
    for number, line in enumerate(text.splitlines(), 1):
        # TAP's own directive is a word of its format.
        if MARKS.search(line) and "SKIP|" not in line:
            problems.append(f"{path}:{number}: unfinished: {line.strip()}")
        if path.startswith(("src/", "scripts/", "docs/", ".ci/")) and PLACES.search(line):
            problems.append(f"{path}:{number}: a path of one machine: {line.strip()}")
verdict(problems, len(paths), "files")
