# SPDX-License-Identifier: Apache-2.0
"""Makes the manual's pages from the program's own tables and from the prose that is beside this file.

    make.py --names COMMANDS_DEF                   the pages of section 1 that there are
    make.py SANDGLASS WIRE_FOLDER OUT PAGE...      makes them

A line of a page's prose that is one of the comments `.\\" COMMANDS`, `SYNOPSIS`, `OPTIONS`, `REASONS` and `SYSCALLS`
is replaced by what the table says. A command without prose gets a page made of the table alone.
"""
import json
import os
import re
import subprocess
import sys
import textwrap

HERE = os.path.dirname(os.path.abspath(__file__))
DATE = "November 29, 2026"
VERDICTS = {"ALLOW": "native", "TIGHT": "native, then mediated", "STOP": "mediated", "ENOSYS": "ENOSYS", "EPERM": "EPERM"}
PLAIN = r'''.\" SPDX-License-Identifier: Apache-2.0
.\" Made from the table of commands by docs/man/make.py.
.Dd {date}
.Dt SANDGLASS-{upper} 1
.Os
.Sh NAME
.Nm sandglass-{name}
.Nd {summary}
.Sh SYNOPSIS
.\" SYNOPSIS
.Sh DESCRIPTION
{description}
.\" OPTIONS
.Sh EXIT STATUS
See
.Xr sandglass 1 .
.Sh SEE ALSO
.Xr sandglass 1 ,
.Xr sandglass 7
'''


def prose(words):
    """Plain sentences as roff text: a line a sentence, no line that roff would take for a request."""
    words = words[:1].upper() + words[1:]
    words += "" if words.endswith((".", "?", "!")) else "."
    lines = []
    for sentence in re.split(r"(?<=[.?!;]) ", words):
        lines += textwrap.wrap(sentence, 76, break_long_words=False, break_on_hyphens=False)
    return "\n".join(("\\&" if line[0] in ".'" else "") + line.replace("\\", "\\e").replace("--", "\\-\\-").replace("()", "\\&()") for line in lines)


def argument(word):
    return f"Cm {word}" if word == word.lower() else f"Ar {word}"


def option(row):
    value = f" {argument(row['value'])}" if row["value"] else ""
    return f".It Fl -{row['name']}{value}\n{prose(row['help'])}\n" + (prose(row["more"]) + "\n" if row["more"] else "")


def synopsis(command):
    # In the order of the table; each stands in brackets, as all options may be left out.
    out = [f".Nm sandglass {command['name']}"]
    for row in command["options"]:
        out.append(f".Op Fl -{row['name']}" + (f" {argument(row['value'])}" if row["value"] else ""))
    out += [f".Ar {word}" if word not in ("[--]", "--") else (".Op Fl -" if word == "[--]" else ".Fl -")
            for word in command["arguments"].split()]
    return "\n".join(out) + "\n"


def about(word):
    """What the page of a group says that it is about, as a sentence."""
    path = os.path.join(HERE, f"sandglass-{word}.1")
    if not os.path.exists(path):
        return ""
    with open(path, encoding="utf-8") as f:
        found = re.search(r"^\.Nd (.*)$", f.read(), re.M)[1]
    return found[:1].upper() + found[1:] + ". "


class Tables:
    def __init__(self, program, wire):
        def ask(*argv):
            return json.loads(subprocess.run([program, *argv, "--json"], check=True, stdout=subprocess.PIPE).stdout)
        self.commands, self.reasons, self.wire = ask("help"), ask("explain"), wire

    def of(self, name):
        """The command of this name, or those of the group."""
        return [c for c in self.commands if c["name"].split()[0] == name]

    def commands_list(self):
        seen = []
        for command in self.commands:
            word, *verb = command["name"].split()
            if word in seen:
                continue
            seen.append(word)
            verbs = ", ".join(c["name"].split()[1] for c in self.of(word) if " " in c["name"])
            what = about(word) if verb else command["summary"] + (". " if verbs else "")
            what += f"Its verb{'s are' if ',' in verbs else ' is'} {verbs}" if verbs else ""
            yield f".It Cm {word}{' Ar verb' if verb else ''}\n{prose(what)}\nSee\n.Xr sandglass-{word} 1 .\n"

    def synopsis(self, name):
        return "".join(synopsis(c) for c in self.of(name))

    def options(self, name):
        out = [".Sh OPTIONS\n"]
        common = (".It Fl -json\nThe result as one line of JSON.\n.It Fl -help\nTells about the command and its options.\n")
        for command in self.of(name):
            is_verb = " " in command["name"]
            if is_verb and not command["options"]:
                continue
            if is_verb:
                out.append(f".Ss {command['name']}\n{prose(command['summary'])}\n")
            out.append(".Bl -tag -width Ds\n" + "".join(map(option, command["options"])) + ("" if is_verb else common) + ".El\n")
        if " " in self.of(name)[0]["name"]:
            out.append(f".Ss Every verb\n.Bl -tag -width Ds\n{common}.El\n")
        return "".join(out)

    def commands_(self, _):
        return "".join(self.commands_list())

    def reasons_(self, _):
        out = []
        for r in self.reasons:
            counts = "The run exits 121." if r["fatal"] else "It is told; the exit status stays."
            out.append(f".It {r['reason']}\n{prose(r['why'])}\n{counts}\n{prose('What to do: ' + r['remedy'])}\n")
        return "".join(out)

    def numbers(self, arch):
        with open(f"{self.wire}/sysnr_{arch}.h", encoding="utf-8") as f:
            return dict(re.findall(r"^#define NR_(\w+) (\S+)", f.read(), re.M))

    def syscalls(self, _):
        by_arch = [("x86-64", self.numbers("x86_64")), ("arm64", self.numbers("aarch64"))]
        with open(f"{self.wire}/syscalls.def", encoding="utf-8") as f:
            rows = re.findall(r'^SYSCALL\((\w+), (\w+), \w+, \w+, "(.*)"\)$', f.read(), re.M)
        out = []
        for call, verdict, note in rows:
            where = ", ".join(f"{label} {found[call]}" for label, found in by_arch if found[call] != "(-1)")
            out.append(f".It Fn {call} Pq {VERDICTS[verdict]}\n{prose(note)}\n.Pq {where}\n")
        return "".join(out)


def page(tables, name):
    source = os.path.join(HERE, name)
    short = name.removeprefix("sandglass").removeprefix("-").rsplit(".", 1)[0]
    if os.path.exists(source):
        with open(source, encoding="utf-8") as f:
            text = f.read()
    else:
        commands = tables.of(short)
        first = commands[0]
        description = "\n".join([prose(first["summary"])] +
                                [f".Bd -literal\n{c['details'].rstrip()}\n.Ed".replace("\\", "\\e") for c in commands if c["details"]])
        text = PLAIN.format(date=DATE, upper=short.upper(), name=short, summary=first["summary"][:1].lower() + first["summary"][1:],
                            description=description)
    marks = {"COMMANDS": tables.commands_, "SYNOPSIS": tables.synopsis, "OPTIONS": tables.options,
             "REASONS": tables.reasons_, "SYSCALLS": tables.syscalls}
    return re.sub(rf'^\.\\" ({"|".join(marks)})\n', lambda found: marks[found[1]](short), text, flags=re.M)


def names(table):
    """The first words of the commands; known before the program is built."""
    with open(table, encoding="utf-8") as f:
        words = set(re.findall(r"^X\(command_([a-z]+)", f.read(), re.M))
    return ["sandglass.1"] + [f"sandglass-{word}.1" for word in sorted(words)]


def main():
    if sys.argv[1] == "--names":
        print("\n".join(names(sys.argv[2])))
        return
    program, wire, out, *pages = sys.argv[1:]
    tables = Tables(program, wire)
    for name in pages:
        with open(os.path.join(out, name), "w", encoding="utf-8") as f:
            f.write(page(tables, name))


main()
