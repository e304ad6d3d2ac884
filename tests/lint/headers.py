# SPDX-License-Identifier: Apache-2.0
"""Each header compiles alone."""
import subprocess

from source import ROOT, files, tool, verdict

compiler = tool("gcc", "cc", "clang")
problems = []
paths = [p for p in files("src/*.h") if "/aarch64/" not in p]
for path in paths:
    done = subprocess.run(
        [compiler, "-std=gnu17", "-D_GNU_SOURCE", "-Wall", "-Wextra", "-Wno-unused", "-Werror", "-fsyntax-only",
         "-Isrc", "-include", path, "-x", "c", "/dev/null"],
        cwd=ROOT, capture_output=True, text=True)
    if done.returncode:
        problems.append(f"{path} does not compile alone:\n{done.stderr}")
verdict(problems, len(paths), "headers")
