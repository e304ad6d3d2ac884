# SPDX-License-Identifier: Apache-2.0
"""The manual's prose names no option and no command that the program does not have, and its pages have all of them."""
import glob
import os
import re

from source import ROOT, files, read, verdict

COMMON = {"json", "help", "version"}

problems, looked_at, known = [], 0, set(COMMON)
for path in files("src/cli/cmd_*.c"):
    text = read(path)
    known |= set(re.findall(r'^\s*\{"([a-z][a-z-]*)", CLI_', text, re.M))
words = set(re.findall(r"^X\(command_([a-z]+)", read("src/cli/commands.def"), re.M))
for page in files("docs/man/*.1", "docs/man/*.7"):
    text = read(page)
    for option in re.findall(r"\bFl -([a-z][a-z-]*)", text) + re.findall(r"\bsandglass [a-z ]*--([a-z][a-z-]*)", text):
        looked_at += 1
        if option not in known:
            problems.append(f"{page}: --{option}, which the program does not have")
    for reference in re.findall(r"^\.Xr sandglass-([a-z]+) 1", text, re.M):
        looked_at += 1
        if reference not in words:
            problems.append(f"{page}: sandglass-{reference}(1), which there is not")
    if re.search(r"^\.It Fl -", text, re.M):
        problems.append(f"{page}: a list of options by hand; the mark `OPTIONS` makes it from the table")
made = glob.glob(os.path.join(os.environ.get("SANDGLASS_BUILD", ROOT), "docs/man/sandglass-*.1"))
told = {os.path.basename(path)[len("sandglass-"):-len(".1")] for path in made}
if made and words - told:
    problems.append(f"no page of {sorted(words - told)}")
verdict(problems, looked_at, "options and pages")
