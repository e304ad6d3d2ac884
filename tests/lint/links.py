# SPDX-License-Identifier: Apache-2.0
"""Every relative link in a Markdown page, and every path of the tree that one names, is there."""
import os
import re

from source import ROOT, files, read, verdict

problems, looked_at = [], 0
for page in files("*.md"):
    text = read(page)
    here = os.path.dirname(page)
    targets = [(t, os.path.join(here, t)) for t in re.findall(r"\]\((?!\w+:|#)([^)#\s]+)", text)]
    targets += [(t, t) for t in re.findall(r"`((?:src|tests|docs|scripts|examples|cross)/[\w./-]+)`", text) if "NAME" not in t]
    for told, path in targets:
        looked_at += 1
        if not os.path.exists(os.path.join(ROOT, path)):
            problems.append(f"{page}: {told} is not there")
verdict(problems, looked_at, "links")
