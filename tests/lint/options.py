# SPDX-License-Identifier: Apache-2.0
"""The manual names every command and every option that the program has, and no other."""
import os
import re

from source import ROOT, files, read, verdict

COMMON = {"json", "help"}  # every command takes them; sandglass.1 says so

main = read("docs/man/sandglass.1")
problems, looked_at, known = [], 0, {}
for path in files("src/cli/cmd_*.c"):
    text = read(path)
    # cmd_GROUP.c has a group's verbs, cmd_GROUP_VERB.c one of them; the page is the group's.
    command = re.search(r"cmd_([a-z]+)(_\w+)?\.c", path)[1]
    looked_at += 1
    if not re.search(rf"^\.It Cm {command}\b", main, re.M):
        problems.append(f"docs/man/sandglass.1: no {command}")
    options = set(re.findall(r'^\s*\{"([a-z][a-z-]*)", CLI_', text, re.M))
    page = f"docs/man/sandglass-{command}.1"
    if not os.path.exists(os.path.join(ROOT, page)):
        if options:
            problems.append(f"{page} is not there, and {command} has options")
        continue
    told = set(re.findall(r"^\.It Fl -([a-z][a-z-]*)", read(page), re.M))
    problems += [f"{page}: no --{name}" for name in sorted(options - told)]
    known.setdefault(page, set()).update(options)
    for name in sorted(options & told):
        looked_at += 1
for page, options in known.items():
    told = set(re.findall(r"^\.It Fl -([a-z][a-z-]*)", read(page), re.M))
    problems += [f"{page}: --{name}, which the program does not have" for name in sorted(told - options - COMMON)]
verdict(problems, looked_at, "commands and options")
