# SPDX-License-Identifier: Apache-2.0
"""gcc -fanalyzer has nothing to say: it follows cleanup attributes, so it is what looks for leaks."""
import os
import subprocess
from concurrent.futures import ThreadPoolExecutor

from source import ROOT, files, tool, verdict

compiler = tool("gcc")
paths = [p for p in files("src/*.c") if "/aarch64/" not in p]


def analyze(path):
    done = subprocess.run([compiler, "-std=gnu17", "-D_GNU_SOURCE", '-DSANDGLASS_VERSION="0"', "-O2", "-Isrc", "-fanalyzer", "-c", "-o", os.devnull, path],
                          cwd=ROOT, capture_output=True, text=True)
    found = [line for line in done.stderr.splitlines() if "-Wanalyzer" in line and ": warning:" in line]
    return found or ([done.stderr] if done.returncode else [])


with ThreadPoolExecutor(os.cpu_count()) as pool:
    problems = [problem for found in pool.map(analyze, paths) for problem in found]
verdict(problems, len(paths), "C files")
