# SPDX-License-Identifier: Apache-2.0
"""Writes the table of templates.h from the examples: templates_make.py FILE..."""
import os
import sys


def literal(text):
    out = []
    for line in text.splitlines(keepends=True):
        escaped = line.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n").replace("\t", "\\t")
        out.append(f'"{escaped}"')
    return "\n\t".join(out)


print('#include "pack/templates.h"\n\nconst struct pack_template pack_templates[] = {')
for path in sys.argv[1:]:
    if os.path.basename(path) == "sandglass_pack.h":
        lang, name = "c", "sandglass_pack.h"
    else:
        lang, name = os.path.basename(os.path.dirname(path)), os.path.basename(path)
    with open(path, encoding="ascii") as f:
        print(f'\t{{"{lang}", "{name}",\n\t{literal(f.read())}}},')
print("};\nconst size_t pack_template_count = sizeof(pack_templates) / sizeof(pack_templates[0]);")
