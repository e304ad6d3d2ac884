# SPDX-License-Identifier: Apache-2.0
"""A source file says its licence and purpose on top, and keeps to the lengths of the style guide."""
import re

from source import code, files, read, verdict

FILE_MAX = 800  # tables (.def) excepted
FUNCTION_MAX = 70  # with both braces; clang-format puts a function's own braces into column 0


def check_top(path, text):
    lines = text.splitlines()
    if lines and lines[0].startswith("#!"):
        lines = lines[1:]
    if not lines or "SPDX-License-Identifier: Apache-2.0" not in lines[0]:
        return [f"{path}: the first line has to be the SPDX line"]
    rest = next((line for line in lines[1:] if line.strip(" \t/*#\"")), "")
    comment = len(lines) > 1 and re.match(r'\s*(/\*|\*|//|#|"""|\.\\")', lines[1])
    words = re.sub(r'[/*#"\\.]', " ", rest).split()
    if not comment or len(words) < 2:
        return [f"{path}: under the SPDX line, say in one sentence what the file is for"]
    return []


def check_functions(path, text):
    problems, start = [], None
    for number, line in enumerate(code(text).splitlines(), 1):
        if line.rstrip() == "{":
            start = number
        elif line.rstrip() == "}" and start is not None:
            if number - start + 1 > FUNCTION_MAX:
                problems.append(f"{path}:{start}: a function of {number - start + 1} lines (at most {FUNCTION_MAX})")
            start = None
    return problems


problems = []
sources = files("*.c", "*.h", "*.S")
scripts = files("scripts/*", "tests/*.py", "tests/*.sh", "Makefile", ".ci/run", "*.def")
for path in sources + scripts:
    text = read(path)
    problems += check_top(path, text)
    if not path.endswith(".def") and text.count("\n") > FILE_MAX:
        problems.append(f"{path}: {text.count(chr(10))} lines (at most {FILE_MAX})")
    if path.endswith((".c", ".h")):
        problems += check_functions(path, text)
verdict(problems, len(sources), "source files")
