# SPDX-License-Identifier: Apache-2.0
"""Writes nfc.def, what composing and decomposing need, from Python's Unicode data: python3 nfc_make.py >nfc.def"""
import unicodedata

HEAD = """/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Unicode {version}: CLASS(first, last, canonical combining class), PAIR(code point, first, second of its
 * canonical decomposition; 0: of one) and ONE_WAY(code point) for those that are never composed.
 * Made by nfc_make.py.
 */"""


def rows(words, width=100):
    line = ""
    for word in words:
        if line and len(line) + 1 + len(word) > width:
            yield line
            line = ""
        line += (" " if line else "") + word
    yield line


def classes():
    first = last = number = 0
    for code in range(0x110001):
        found = unicodedata.combining(chr(code)) if code < 0x110000 else 0
        if found != number or code != last + 1:
            if number:
                yield f"CLASS(0x{first:x}, 0x{last:x}, {number})"
            first, number = code, found
        last = code


def pairs():
    for code in range(0x110000):
        found = unicodedata.decomposition(chr(code))
        if found and not found.startswith("<"):
            parts = [int(p, 16) for p in found.split()] + [0]
            yield code, f"PAIR(0x{code:x}, 0x{parts[0]:x}, 0x{parts[1]:x})"


def main():
    both = list(pairs())
    print(HEAD.format(version=unicodedata.unidata_version))
    for name, words in (("CLASS", classes()), ("PAIR", (row for _, row in both)),
                        ("ONE_WAY", (f"ONE_WAY(0x{c:x})" for c, _ in both if unicodedata.normalize("NFC", chr(c)) != chr(c)))):
        print(f"#ifdef {name}\n" + "\n".join(rows(words)) + f"\n#undef {name}\n#endif")


main()
