# SPDX-License-Identifier: Apache-2.0
"""src/LAYERS holds: a folder includes only what its line allows, all of it above, and only its libraries."""
import re

from source import files, read, verdict

# The library a system header belongs to; a header of none of these is libc's or the kernel's.
LIBRARIES = {
    "libcrypto": r"openssl/", "libseccomp": r"seccomp\.h$", "jansson": r"jansson\.h$",
    "libarchive": r"archive(_entry)?\.h$", "sqlite3": r"sqlite3\.h$", "libcurl": r"curl/",
    "libgit2": r"git2", "yaml": r"yaml\.h$", "zstd": r"zstd",
}


def layers():
    table, problems = {}, []
    for line in read("src/LAYERS").splitlines():
        if not line.strip() or line.startswith("#"):
            continue
        left, _, right = line.partition("|")
        folder, *allowed = left.split()
        for other in allowed:
            if other not in table:
                problems.append(f"src/LAYERS: {folder} names {other}, which is not above it")
            if other == "supervise":
                problems.append(f"src/LAYERS: {folder} includes supervise, which nobody may")
        table[folder] = (set(allowed) | {folder}, set(right.split()))
    return table, problems


def check(path, table):
    folder = path.split("/")[1]
    if folder not in table:
        return [f"{path}: folder {folder} has no line in src/LAYERS"]
    allowed, libraries = table[folder]
    problems = []
    for number, line in enumerate(read(path).splitlines(), 1):
        found = re.match(r'\s*#\s*include\s*(["<])([^">]+)', line)
        if not found:
            continue
        if found[1] == '"':
            other = found[2].split("/")[0]
            if "/" not in found[2] or ".." in found[2]:
                problems.append(f"{path}:{number}: write the include from src: {found[2]}")
            elif other not in allowed:
                problems.append(f"{path}:{number}: {folder} may not include {other}")
            continue
        for library, pattern in LIBRARIES.items():
            if re.match(pattern, found[2]) and library not in libraries:
                problems.append(f"{path}:{number}: {folder} may not use {library}")
    return problems


table, problems = layers()
paths = [p for p in files("src/*.c", "src/*.h", "src/*.def", "src/*.S") if p.count("/") >= 2]
for path in paths:
    problems += check(path, table)
verdict(problems, len(paths), "source files")
