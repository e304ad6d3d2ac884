# SPDX-License-Identifier: Apache-2.0
"""clang-format has nothing to change."""
import re
import subprocess

from source import ROOT, files, tool, verdict

program = tool("clang-format")
paths = files("*.c", "*.h")
done = subprocess.run([program, "--dry-run", "--Werror", *paths], cwd=ROOT, capture_output=True, text=True)
first = {}
for path, line in re.findall(r"^([^\s:]+):(\d+):\d+: error:", done.stderr, re.M):
    first.setdefault(path, line)
problems = [f"{path}:{line}: run clang-format -i on it" for path, line in first.items()]
if done.returncode and not problems:
    problems = [done.stderr]
verdict(problems, len(paths), "C files")
