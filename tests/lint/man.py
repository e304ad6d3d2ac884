# SPDX-License-Identifier: Apache-2.0
"""mandoc -T lint has nothing to say about the manual pages."""
import os
import subprocess

from source import ROOT, files, tool, verdict

program = tool("mandoc")
pages = files("docs/man/*.1", "docs/man/*.5", "docs/man/*.7")
made = os.path.join(os.environ.get("SANDGLASS_BUILD", ROOT), "docs/man/sandglass-syscalls.7")
if os.path.exists(made):
    pages.append(made)
problems = []
for page in pages:
    # A page that refers to one that is not installed yet is right; style and worse count.
    done = subprocess.run([program, "-T", "lint", "-W", "style", page], cwd=ROOT, capture_output=True, text=True)
    problems += [line for line in done.stdout.splitlines() if "referenced manual not found" not in line]
verdict(problems, len(pages), "pages")
