# SPDX-License-Identifier: Apache-2.0
"""Functions with a better sibling are not called, and neither goto nor alloca is used."""
import re

from source import code, files, read, verdict

BANNED = ("strcpy strcat sprintf vsprintf strncpy strtok gets atoi atol atoll system popen tmpnam mktemp "
          "localtime localtime_r rand srand signal alloca").split()
# base/num.c is where numbers are parsed.
NUMBERS = "strtol strtoul strtoll strtoull strtod strtof".split()
CALL = re.compile(r"(?<![\w.>])(" + "|".join(BANNED + NUMBERS) + r")\s*\(|\b(goto)\b")

problems = []
# Guests and attacks under tests call such things in order to see what they get.
paths = files("src/*.c", "src/*.h", "tests/unit/*.c", "tests/fuzz/*.c", "tests/fault/*.c")
for path in paths:
    for number, line in enumerate(code(read(path)).splitlines(), 1):
        for found in CALL.finditer(line):
            name = found[1] or found[2]
            if name in NUMBERS and path == "src/base/num.c":
                continue
            problems.append(f"{path}:{number}: {name} is banned")
verdict(problems, len(paths), "C files")
