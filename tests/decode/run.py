#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Holds the decoder of machine code against objdump: every instruction of a library, its length and whether it stores.

run.py INSNS [LIBRARY ...]
"""
import os
import re
import shutil
import subprocess
import sys

LINE = re.compile(r"^\s*[0-9a-f]+:\t((?:[0-9a-f]{2} )+)\s*(?:\t(.*))?$")
# What objdump prints with a memory operand in first place and does not store there.
READS = re.compile(r"^(?:lock |rep[nz]* |bnd |notrack |cs |ds |es |ss |fs |gs |data16 |rex\.\w+ )*"
                   r"(?:cmp|test|jmp|call|push|prefetch\w*|nop|bt|mul|imul|div|idiv|cmps|scas|lods|verr|verw|fld\w*|fild|"
                   r"fadd|fmul|fsub|fsubr|fdiv|fdivr|fcom|fcomp|fiadd|fimul|fisub|fisubr|fidiv|fidivr|ficom|ficomp|fbld|"
                   r"frstor|fxrstor\w*|xrstor\w*|ldmxcsr|vldmxcsr|clflush\w*|clwb|lgdt|lidt|lldt|ltr|lmsw|invlpg|"
                   r"ud[01]|kortest\w|vptest|ptest|vucomis\w|ucomis\w|vcomis\w|comis\w)\b")


def instructions(library):
    """(bytes, text) of each, once a pair."""
    text = subprocess.run(["objdump", "-d", "-w", "-M", "intel", "--insn-width=16", library], check=True, capture_output=True,
                          text=True, timeout=300).stdout
    seen = {}
    for line in text.splitlines():
        match = LINE.match(line)
        if match and match.group(2):
            seen.setdefault(match.group(1).replace(" ", ""), match.group(2).split("#")[0].split("<")[0].strip())
    return seen


def stores(text):
    """Whether what objdump prints writes to memory; pushes and calls are known by name."""
    words = text.split()
    while words and words[0] in ("lock", "rep", "repz", "repnz", "bnd", "notrack", "cs", "ds", "es", "ss", "fs", "gs", "data16",
                                 "addr32") or words and words[0].startswith("rex"):
        words = words[1:]
    name = words[0] if words else ""
    if name in ("call", "push", "movs", "stos") or name.startswith(("movsb", "stos")):
        return True
    operands = text.partition(" ")[2] if not words else " ".join(words[1:])
    first = operands.split(",")[0]
    if name in ("xchg", "xadd") and "[" in operands:
        return True
    return ("[" in first or " PTR " in f" {first}") and not READS.match(" ".join(words)) and name != "lea"


def main():
    if not shutil.which("objdump"):
        print("no objdump")
        return 77
    libraries = sys.argv[2:] or [p for p in ("/lib/x86_64-linux-gnu/libc.so.6", "/lib64/libc.so.6", "/usr/lib/libc.so.6") if os.path.exists(p)][:1]
    wrong, total, opaque = [], 0, 0
    for library in libraries:
        found = instructions(library)
        # More bytes than the instruction has follow in memory too.
        feed = "".join(f"{code}cccccccccccccccccccc\n" for code in found)
        said = subprocess.run([sys.argv[1]], input=feed, check=True, capture_output=True, text=True, timeout=60).stdout.splitlines()
        for (code, text), answer in zip(found.items(), said):
            if "(bad)" in text or text.startswith("."):
                continue
            total += 1
            length, _, what = answer.partition(" ")
            if int(length) != len(code) // 2:
                wrong.append(f"{code} {text}: length {length}")
            elif "o" in what:
                opaque += 1
            elif stores(text) != ("s" in what):
                wrong.append(f"{code} {text}: '{what}'")
    if total < 1000:
        wrong.append(f"only {total} instructions were found")
    elif opaque > total // 10 and len(sys.argv) < 3:
        wrong.append(f"{opaque} of {total} are opaque")
    print("\n".join(f"# {line}" for line in wrong[:60]))
    print(f"# {total} different instructions, {opaque} of them opaque, {len(wrong)} wrong")
    print(f"1..1\n{'not ok' if wrong else 'ok'} 1 - every instruction of {' '.join(libraries)} is decoded as objdump does")
    return 1 if wrong else 0


sys.exit(main())
