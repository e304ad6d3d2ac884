# SPDX-License-Identifier: Apache-2.0
"""clang-tidy with .clang-tidy has nothing to say."""
import json
import os
import re
import subprocess
import tempfile
from concurrent.futures import ThreadPoolExecutor

from source import ROOT, files, tool, verdict

program = tool("clang-tidy")
build = os.environ.get("SANDGLASS_BUILD", os.path.join(ROOT, "build"))
with open(os.path.join(build, "compile_commands.json"), encoding="utf-8") as f:
    commands = json.load(f)
ours = set(files("src/*.c"))
paths, kept = [], []
for command in commands:
    path = os.path.relpath(os.path.join(command["directory"], command["file"]), ROOT)
    if path in ours and path not in paths:
        paths.append(path)
        # gcc's own options are not clang's.
        command["command"] = re.sub(r"-W\S+|-fcf-protection|-fstack-clash-protection", "", command["command"])
        kept.append(command)
with tempfile.TemporaryDirectory() as scratch:
    with open(os.path.join(scratch, "compile_commands.json"), "w", encoding="utf-8") as f:
        json.dump(kept, f)

    def tidy(path):
        return subprocess.run([program, "--quiet", "-p", scratch, path], cwd=ROOT, capture_output=True, text=True)

    with ThreadPoolExecutor(os.cpu_count()) as pool:
        runs = list(pool.map(tidy, paths))
problems = [line for done in runs for line in re.findall(r"^\S+: (?:warning|error): .*$", done.stdout, re.M)]
problems = [re.sub(r"^(build/\.\./|.*/(?=src/))", "", p) for p in dict.fromkeys(problems)]
problems += [f"{program} ended with {done.returncode}: {done.stderr[-500:]}" for done in runs if done.returncode and not problems]
verdict(problems, len(paths), "C files")
