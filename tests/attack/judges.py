# SPDX-License-Identifier: Apache-2.0
"""Judges of attacks: each looks at what a run left outside and names the escape, or gives None.

A judge gets the case's directories (cwd, bind, out), the finished runs and the canaries."""
import os
import stat

import canaries


def walk(path):
    """(path, lstat) of everything below; a tree deeper than a path can be is walked by descriptor."""
    for _, dirs, names, fd in os.fwalk(path, follow_symlinks=False, onerror=None):
        for name in dirs + names:
            yield name, os.stat(name, dir_fd=fd, follow_symlinks=False), fd


def cwd_untouched(ctx):
    with open(os.path.join(ctx.cwd, "given"), encoding="utf-8") as f:
        if f.read() != "given\n":
            return "the host's file was changed"
    names = sorted(os.listdir(ctx.cwd))
    return None if names == ctx.names else f"the host's directory now holds {names}"


def no_setuid(ctx):
    for top in (ctx.out, ctx.bind):
        for name, st, _ in walk(top):
            if stat.S_ISREG(st.st_mode) and st.st_mode & 0o6000:
                return f"'{name}' has mode {st.st_mode & 0o7777:o} and belongs to {st.st_uid}"
    if not os.path.exists(os.path.join(ctx.out, "planted")):
        return "nothing was exported, so nothing was tested"
    return None


def flood_is_not_kept(ctx):
    run = ctx.runs[-1]
    if len(run.err) < 24 << 20:
        return f"only {len(run.err)} bytes of stderr arrived"
    if not run.peak_kib:
        return "nobody saw the host side, so nothing was tested"
    if run.peak_kib > 32 << 10:
        return f"the host side grew to {run.peak_kib} KiB"
    return None


def timed_out(ctx):
    run = ctx.runs[-1]
    # The engine may see at once that nobody can ever go on: 123.
    if run.status not in (123, 124):
        return f"--timeout did not fire: {run.tell()}"
    return gone_in_time(ctx)


def gone_in_time(ctx):
    run = ctx.runs[-1]
    if run.seconds > 10:
        return f"a time-out of 2 s took {run.seconds:.0f} s"
    return nothing_left(ctx)


def nothing_left(ctx):
    return f"left behind: {ctx.left}" if ctx.left else None


def out_has_no_secret(ctx):
    for name, st, fd in walk(ctx.out):
        if stat.S_ISREG(st.st_mode):
            with open(os.open(name, os.O_RDONLY | os.O_NOFOLLOW, dir_fd=fd), "rb") as f:
                if canaries.MARK.encode() in f.read(1 << 20):
                    return f"'{name}' in the output holds the secret"
    with open(ctx.secret, encoding="utf-8") as f:
        if f.read() != canaries.MARK + "\n":
            return "the secret was overwritten"
    if not os.listdir(ctx.out):
        return "nothing was exported, so nothing was tested"
    return None


def regular_out(ctx):
    for name, st, _ in walk(ctx.out):
        if not stat.S_ISREG(st.st_mode) and not stat.S_ISDIR(st.st_mode) and not stat.S_ISLNK(st.st_mode):
            return f"'{name}' in the output is no regular file"
    return None


def out_is_small(ctx):
    used = sum(st.st_blocks * 512 for _, st, _ in walk(ctx.out))
    return f"the output takes {used >> 20} MiB" if used > 64 << 20 else None


def names_are_escaped(ctx):
    for run in ctx.runs:
        if b"\033" in run.err:
            return "stderr has a raw escape"
    held = {os.fsencode(name) for name in os.listdir(ctx.out)}
    wanted = {b"-rf", b"new\nline", b"esc\033]0;owned\007", b"not\xff\xfeutf8", b'quote"\\back'}
    return None if wanted <= held else f"not all were exported: {sorted(held)}"


def out_ends(ctx):
    return None


def same_detail(ctx):
    """Two runs say the same, or the run says that it is not enforced."""
    said = [(run.status, run.out) for run in ctx.runs]
    if all(status == 121 for status, _ in said):
        return None
    return None if said[0] == said[1] else f"two runs differ: {said}"
