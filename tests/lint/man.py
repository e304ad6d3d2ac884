# SPDX-License-Identifier: Apache-2.0
"""mandoc -T lint has nothing to say about the manual pages."""
import glob
import os
import re
import subprocess

from source import ROOT, files, read, tool, verdict

program = tool("mandoc")
# Prose with a mark in it is a page only when the program's tables are filled in.
MARK = re.compile(r'^\.\\" (COMMANDS|SYNOPSIS|OPTIONS|REASONS|SYSCALLS)$', re.M)
pages = [page for page in files("docs/man/*.1", "docs/man/*.5", "docs/man/*.7") if not MARK.search(read(page))]
pages += sorted(glob.glob(os.path.join(os.environ.get("SANDGLASS_BUILD", ROOT), "docs/man/*.[17]")))
problems = []
for page in pages:
    # A page that refers to one that is not installed yet is right; style and worse count.
    done = subprocess.run([program, "-T", "lint", "-W", "style", page], cwd=ROOT, capture_output=True, text=True)
    problems += [line for line in done.stdout.splitlines() if "referenced manual not found" not in line]
verdict(problems, len(pages), "pages")
