# SPDX-License-Identifier: Apache-2.0
"""Completion in the shells themselves: bash and zsh are typed at on a terminal, fish is asked."""
import os
import pty
import re
import select
import shutil
import subprocess
import sys
import tempfile
import time

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "lib"))
from harness import BUILD, ENV, SANDGLASS, Tap, require_programs, run  # noqa: E402

TAB, SHOW = "\t", "\x0f"
# what is typed before the tab, and what the line is then; FILE and SESSION stand for ones that there are
TYPED = [
    ("a command", "sandglass expla", "sandglass explain "),
    ("a group", "sandglass sessi", "sandglass session "),
    ("a verb", "sandglass session for", "sandglass session fork "),
    ("an option", "sandglass run --ver", "sandglass run --verify "),
    ("an option of a verb", "sandglass session fork --cou", "sandglass session fork --count "),
    ("one of the values that there are", "sandglass session snapshot --git norm", "sandglass session snapshot --git normalise "),
    ("a backend", "sandglass session create --backend work", "sandglass session create --backend worktree "),
    ("a reason", "sandglass explain clock_s", "sandglass explain clock_spin "),
    ("a session", "sandglass session show SESS", "sandglass session show SESSION "),
    ("a file as the value of an option", "sandglass run --report some-f", "sandglass run --report some-file "),
    ("a file as an argument", "sandglass cas import some-f", "sandglass cas import some-file "),
    ("a directory, and no file", "sandglass run --out some-", "sandglass run --out some-dir/"),
    ("a program after --", "sandglass run -- a-program-of-t", "sandglass run -- a-program-of-tests "),
    ("a file after the program", "sandglass run -- cat some-f", "sandglass run -- cat some-file "),
    ("a verb as a topic", "sandglass help session snap", "sandglass help session snapshot "),
]
INIT = {
    "bash": ["PS1=; PS2=; bind 'set enable-bracketed-paste off'; bind 'set bell-style none'",
             "_show() { printf '\\nBUF<%s>\\n' \"$READLINE_LINE\"; READLINE_LINE=; }; bind -x '\"\\C-o\": _show'",
             ". <(sandglass completion bash)"],
    "zsh": ["PS1=; PS2=; unsetopt zle_bracketed_paste prompt_sp beep; zstyle ':completion:*' list-prompt ''",
            "autoload -Uz compinit && compinit -u -D",
            "show() { print -r -- $'\\n'\"BUF<$BUFFER>\"; BUFFER= }; zle -N show; bindkey '^o' show",
            ". <(sandglass completion zsh)"],
}
START = {"bash": ["bash", "--norc", "--noprofile", "-i"], "zsh": ["zsh", "-f", "-i"]}


class Typed:
    """A shell on a terminal of its own."""

    def __init__(self, shell, home, env):
        self.seen = ""
        self.pid, self.fd = pty.fork()
        if self.pid == 0:
            os.chdir(home)
            os.execvpe(START[shell][0], START[shell], {**env, "TERM": "dumb", "COLUMNS": "200"})
        for line in INIT[shell]:
            self.write(line + "\n")
        self.write("echo read''y\n")
        self.until(r"ready\r?\n")

    def write(self, text):
        os.write(self.fd, text.encode())

    def until(self, pattern, timeout=60):
        end = time.monotonic() + timeout
        while not (found := re.search(pattern, self.seen)):
            if not select.select([self.fd], [], [], max(0, end - time.monotonic()))[0]:
                raise TimeoutError(f"no {pattern} in {self.seen[-600:]!r}")
            try:
                self.seen += os.read(self.fd, 4096).decode("utf-8", "replace")
            except OSError as e:
                raise TimeoutError(f"the shell ended: {self.seen[-600:]!r}") from e
        self.seen = self.seen[found.end():]
        return found

    def complete(self, line):
        self.write(line + TAB + SHOW)
        return self.until(r"BUF<(.*?)>\r?\n")[1]

    def close(self):
        os.close(self.fd)
        os.kill(self.pid, 9)
        os.waitpid(self.pid, 0)


def typed(tap, shell, home, env, session):
    try:
        terminal = Typed(shell, home, env)
    except TimeoutError as e:
        tap.case(f"{shell} starts", [str(e)])
        return
    for name, line, expected in TYPED:
        line = line.replace("SESS", session[:-2])
        expected = expected.replace("SESSION", session)
        try:
            got = terminal.complete(line)
            tap.case(f"{shell}: {name}", [] if got == expected else [f"{line!r} became {got!r}, not {expected!r}"])
        except TimeoutError as e:
            tap.case(f"{shell}: {name}", [str(e)])
            break
    terminal.close()


def asked(tap, home, env, session):
    """fish tells what it would complete."""
    for name, line, expected in TYPED:
        line, expected = line.replace("SESS", session[:-2]), expected.replace("SESSION", session)
        done = subprocess.run(["fish", "--no-config", "-c", "sandglass completion fish | source; complete -C $argv[1]", line],
                              cwd=home, env=env, capture_output=True, text=True, check=False, stdin=subprocess.DEVNULL, timeout=60)
        words = [row.split("\t")[0] for row in done.stdout.splitlines()]
        last = expected.rstrip(" ").split(" ")[-1]
        tap.case(f"fish: {name}", [] if words == [last] else [f"{line!r}: {done.stdout!r} {done.stderr!r}"])


def main():
    require_programs()
    tap = Tap()
    for shell in ("bash", "zsh", "fish"):
        installed = {"bash": "completion/sandglass", "zsh": "completion/_sandglass", "fish": "completion/sandglass.fish"}[shell]
        script = run([SANDGLASS, "completion", shell]).out
        with open(os.path.join(BUILD, installed), "rb") as f:
            same = f.read() == script and script
        tap.case(f"what is installed for {shell} is what the program prints", [] if same else [installed])
    with tempfile.TemporaryDirectory(prefix="sandglass-completion.") as home:
        os.mkdir(os.path.join(home, "bin"))
        os.symlink(SANDGLASS, os.path.join(home, "bin", "sandglass"))
        os.symlink("/bin/true", os.path.join(home, "bin", "a-program-of-tests"))
        os.mkdir(os.path.join(home, "some-dir"))
        with open(os.path.join(home, "some-file"), "w", encoding="ascii"):
            pass
        env = {**ENV, "HOME": home, "XDG_CONFIG_HOME": home + "/config", "SANDGLASS_HOME": home + "/state",
               "PATH": f"{home}/bin:{ENV['PATH']}"}
        made = run([SANDGLASS, "session", "create", "--backend", "worktree"], env=env, cwd=home)
        session = made.out.decode().strip()
        tap.case("a session to complete", [] if session.startswith("s-") else [made.tell()])
        for shell in START:
            if not shutil.which(shell):
                tap.case(shell, [f"{shell} is not installed: scripts/deps test"])
            else:
                typed(tap, shell, home, env, session)
        if shutil.which("fish"):
            asked(tap, home, env, session)
        else:
            tap.case("fish", ["fish is not installed: scripts/deps test"])
        run([SANDGLASS, "session", "destroy", session], env=env, cwd=home)
    tap.finish()


main()
