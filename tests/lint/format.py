# SPDX-License-Identifier: Apache-2.0
"""clang-format has nothing to change."""
import subprocess

from source import ROOT, files, tool, verdict

program = tool("clang-format")
problems = []
paths = files("*.c", "*.h")
for path in paths:
    done = subprocess.run([program, "--dry-run", "--Werror", path], cwd=ROOT, capture_output=True, text=True)
    if done.returncode:
        first = next((line for line in done.stderr.splitlines() if "error" in line), "")
        problems.append(f"{path}: run clang-format -i on it ({first})")
verdict(problems, len(paths), "C files")
