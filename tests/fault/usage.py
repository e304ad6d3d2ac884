# SPDX-License-Identifier: Apache-2.0
"""Faults of the command line and of what it names: refused before anything runs, with one line."""
import os
import stat
import subprocess

import kit
from kit import case, expect, h


def refused(option, value, *patterns):
    """A case for one option with a value that cannot be."""
    name = f"{option} {value!r} is refused" if value is not None else f"{option} is refused"

    @case(name, modes=[h.MODES[0]])
    def try_it(place):
        options = [option] if value is None else [option, value]
        return expect(place.run("true", options=options), 125, *patterns)


refused("--frobnicate", None, "frobnicate")
refused("--epoch", "yesterday", "epoch.*yesterday|yesterday.*epoch")
refused("--epoch", "2023-13-45T00:00:00Z", "2023-13-45")
refused("--epoch", "99999999999999999999", "99999999999999999999")
refused("--epoch", "", "epoch")
refused("--memory", "much", "much")
refused("--memory", "1K", "memory")
refused("--memory", "99999999999G", "99999999999G|memory")
refused("--pids", "0x", "0x")
refused("--pids", "-1", "-1")
refused("--timeout", "soon", "soon")
refused("--clock-step-ns", "fast", "fast")
refused("--env", "NOVALUE", "NOVALUE")
refused("--network", "hosts", "hosts")
refused("--network", "allow=", "allow=HOST:PORT|HOST:PORT")
refused("--network", "allow=localhost", "localhost")
refused("--network", "allow=localhost:0", "localhost:0")
refused("--network", "allow=localhost:80,::1:80", "::1:80")
refused("--bind-ro", "/nonexistent/thing", "/nonexistent/thing")
refused("--bind", "/nonexistent/thing:/x", "/nonexistent/thing")
refused("--bind-ro", "relative:also/relative", "also/relative")
refused("--bind-ro", "/usr/../etc:/", "'?/'?")
refused("--rootfs", "/nonexistent/root", "/nonexistent/root")
refused("--rootfs", "/etc/passwd", "/etc/passwd")
refused("--report", "/nonexistent/dir/report", "/nonexistent/dir")
refused("--out", "/proc/nowhere", "/proc/nowhere")


@case("what cannot be written at the end is told before the program runs", modes=[h.MODES[0]])
def unwritable(place):
    problems = []
    for options in (["--report", "/nonexistent/dir/r"], ["--report", "/tmp"], ["--out", "/nonexistent/dir"]):
        done = place.run("echo", "ran", options=options)
        problems += expect(done, 125, options[1])
        if done.out:
            problems.append(f"{options}: the program ran all the same")
    return problems


@case("no command is refused", modes=[h.MODES[0]])
def no_command(place):
    return expect(place.run(), 125, "command")


@case("an option that needs a value and has none is refused", modes=[h.MODES[0]])
def no_value(place):
    done = h.run([place.sandglass, "run", "--epoch"], mode=place.mode, cwd=place.cwd)
    return expect(done, 125, "epoch")


@case("a program that is not there is 127")
def missing_program(place):
    return expect(place.run("no-such-program"), 127, "no-such-program")


@case("a program outside the view is 127 and the option that would show it is named")
def hidden_program(place):
    path = place.write("tool", "#!/bin/sh\necho shown\n", 0o755)
    problems = expect(place.run(path), 127, f"--bind-ro.*{os.path.dirname(path)}", lines=2)
    done = place.run(path, options=["--bind-ro", path])
    if done.status != 0 or done.out != b"shown\n":
        problems.append(f"with --bind-ro: {done.out!r}, {done.tell()}")
    return problems


@case("a file that cannot be executed is 126")
def not_executable(place):
    with open(os.path.join(place.cwd, "text"), "w", encoding="utf-8") as f:
        f.write("words\n")
    place.scratch.give(place.cwd, place.mode)
    return expect(place.run("./text"), 126, "text")


@case("a file of no known format is 126")
def no_format(place):
    path = os.path.join(place.cwd, "junk")
    with open(path, "wb") as f:
        f.write(b"\x7fELF junk")
    os.chmod(path, 0o755)
    place.scratch.give(place.cwd, place.mode)
    return expect(place.run("./junk"), 126, "junk")


@case("a script whose interpreter is not in the view is told")
def no_interpreter(place):
    path = os.path.join(place.cwd, "script")
    with open(path, "w", encoding="utf-8") as f:
        f.write("#!/opt/none/interpreter\n")
    os.chmod(path, 0o755)
    place.scratch.give(place.cwd, place.mode)
    return expect(place.run("./script"), (126, 127), "script|interpreter")


@case("a bind that cannot be read is refused", modes=[h.ROOTLESS], needs_root=True)
def unreadable_bind(place):
    path = place.write("closed", "x\n")
    os.chmod(path, 0)
    os.chown(path, 0, 0)
    return expect(place.run("cat", path, options=["--bind-ro", path]), 125, "closed")


@case("a working directory that cannot be entered is refused", modes=[h.MODES[0]])
def bad_workdir(place):
    return expect(place.run("true", options=["--workdir", "/nonexistent"]), 125, "/nonexistent")


@case("the root directory as working directory is refused", modes=[h.MODES[0]])
def root_workdir(place):
    return expect(place.run("true", cwd="/"), 125, "/")


@case("a contract over its limits is refused: arguments", modes=[h.MODES[0]])
def many_arguments(place):
    return expect(place.run("true", *["x"] * 5000), 125, "4096|arguments|argv")


@case("a contract over its limits is refused: binds", modes=[h.MODES[0]])
def many_binds(place):
    options = [word for n in range(65) for word in ("--bind-ro", f"/etc/hostname:/tmp/b{n}")]
    return expect(place.run("true", options=options), 125, "64|binds")


@case("a contract over its limits is refused: text", modes=[h.MODES[0]])
def much_text(place):
    return expect(place.run("true", *["x" * 100000] * 11), 125, "limit|bytes|text")


@case("a non-empty --out is refused and left as it is", modes=[h.MODES[0]])
def full_out(place):
    out = os.path.join(place.top, "out")
    os.mkdir(out)
    place.write("out/mine", "mine\n")
    problems = expect(place.run("true", options=["--out", out]), 125, "out")
    return problems + ([] if os.listdir(out) == ["mine"] else ["the directory was touched"])


@case("--out holds what was written, and nothing else")
def good_out(place):
    out = os.path.join(place.top, "out")
    with open(os.path.join(place.cwd, "given"), "w", encoding="utf-8") as f:
        f.write("given\n")
    place.scratch.give(place.top, place.mode)
    done = place.run("sh", "-c", "mkdir d; echo new >d/new; chmod 750 d; echo x >run; chmod 755 run; ln -s run link",
                     options=["--out", out])
    problems = expect(done, 0)
    held = sorted(os.path.relpath(os.path.join(top, n), out) for top, dirs, names in os.walk(out) for n in dirs + names)
    if held != ["d", "d/new", "link", "run"]:
        problems.append(f"the output holds {held}")
    elif not os.stat(os.path.join(out, "run")).st_mode & stat.S_IXUSR:
        problems.append("the mode was lost")
    if sorted(os.listdir(place.cwd)) != ["given"]:
        problems.append(f"the working directory now holds {sorted(os.listdir(place.cwd))}")
    return problems


@case("a full disk in --out is told, and what was copied is removed", needs_root=True)
def full_disk(place):
    disk = os.path.join(place.top, "disk")
    os.mkdir(disk)
    subprocess.run(["mount", "-t", "tmpfs", "-o", "size=1m,mode=777", "none", disk], check=True)
    try:
        out = os.path.join(disk, "out")
        done = place.run("sh", "-c", "head -c 8000000 /dev/zero | tr '\\0' x >big", options=["--out", out])
        problems = expect(done, 125, "[Nn]o space left")
        left = os.listdir(out) if os.path.isdir(out) else []
        return problems + ([f"half of it was left: {left}"] if left else [])
    finally:
        subprocess.run(["umount", disk], check=True)


@case("a report on a full disk is told", needs_root=True)
def full_report(place):
    return expect(place.run("true", options=["--report", "/dev/full"]), 125, "/dev/full")


@case("without its supervisor it says so", modes=[h.MODES[0]])
def no_supervisor(place):
    alone = os.path.join(place.top, "alone")
    os.mkdir(alone)
    subprocess.run(["cp", place.sandglass, alone], check=True)
    done = h.run([os.path.join(alone, "sandglass"), "run", "--", "true"], mode=place.mode, cwd=place.cwd)
    return expect(done, 125, "sandglass-supervise")


@case("few descriptors are enough, or it says so")
def few_descriptors(place):
    problems = []
    for count in (8, 12, 16, 24):
        done = h.run(["sh", "-c", f'ulimit -n {count}; exec "$0" run -- echo fine', place.sandglass], mode=place.mode,
                     cwd=place.cwd)
        if done.status == 0 and done.out == b"fine\n":
            continue
        problems += [f"with {count}: {one}" for one in expect(done, 125, "[Tt]oo many open files")]
    return problems


@case("a working directory with sockets, fifos and unreadable files is no obstacle")
def odd_cwd(place):
    os.mkfifo(os.path.join(place.cwd, "fifo"))
    for name in ("new\nline", "esc\033[31m", "closed"):
        with open(os.path.join(place.cwd, name), "w", encoding="utf-8") as f:
            f.write("x\n")
    place.scratch.give(place.top, place.mode)
    os.chmod(os.path.join(place.cwd, "closed"), 0)
    done = place.run("sh", "-c", "ls | wc -l; cat closed >/dev/null 2>&1; echo $?", options=["--verify"])
    problems = expect(done, 0, lines=len(kit.messages(done.err)))
    if b"\033" in done.err:
        problems.append("a raw escape was printed")
    return problems


@case("--print-contract prints the same JSON twice and runs nothing", modes=[h.MODES[0]])
def print_contract(place):
    one = place.run("touch", "made", options=["--print-contract"])
    other = place.run("touch", "made", options=["--print-contract"])
    problems = expect(one, 0)
    if one.out != other.out or not one.out.startswith(b"{"):
        problems.append(f"{one.out[:200]!r} and {other.out[:200]!r}")
    return problems
