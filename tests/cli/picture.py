# SPDX-License-Identifier: Apache-2.0
"""A run drawn as a page: what a browser makes of it, and that no tape can put anything of its own into it."""
import html.parser
import os
import subprocess
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "lib"))
from harness import ENV, MODES, Scratch, Tap, as_mode, require_programs  # noqa: E402

HOSTILE = """x</script></title><img src=x onerror="document.title='taken'"><script>document.title='taken'</script>'"`&lt;"""
PROGRAM = """
import sys, threading, time
def tick(n):
    time.sleep(n * 100)
    print(n)
threads = [threading.Thread(target=tick, args=(n,)) for n in (1, 2)]
for t in threads: t.start()
sys.stdin.read()
for t in threads: t.join()
"""


KINDS = ("run", "timer", "input", "effect", "signal", "create", "exit")


class Page(html.parser.HTMLParser):
    """What is in a document: tags, links, ids, marks of the drawing, rows of the list, all text."""

    def __init__(self, text):
        super().__init__()
        self.tags, self.links, self.ids, self.shapes, self.text, self.handlers, self.title = {}, [], set(), [], "", [], ""
        self.last = ""
        self.feed(text)

    def handle_starttag(self, tag, attrs):
        at, self.last = dict(attrs), tag
        self.tags[tag] = self.tags.get(tag, 0) + 1
        self.handlers += [name for name in at if name.startswith("on") or name in ("src", "srcset", "action", "data")]
        if "href" in at:
            self.links.append(at["href"])
        if "id" in at:
            self.ids.add(at["id"])
        if tag in ("rect", "path", "circle"):
            self.shapes.append(at.get("class"))

    def handle_data(self, data):
        self.text += data
        if self.last == "title" and self.tags["title"] == 1 and not self.title:
            self.title = data


class Drawing:
    def __init__(self, scratch, mode):
        self.scratch, self.mode = scratch, mode
        self.home, self.top = scratch.mkdir("home-" + mode, mode), scratch.mkdir("top-" + mode, mode)
        self.tape = os.path.join(self.top, "tape")

    def run(self, *words, typed=b""):
        p = subprocess.run(as_mode(self.mode, [self.scratch.join("bin", "sandglass"), *words]), cwd=self.home, input=typed, timeout=100,
                           capture_output=True, check=False, env={**ENV, "TMPDIR": self.scratch.tmp, "SANDGLASS_HOME": self.top})
        return p.returncode, p.stdout, p.stderr.decode()

    def browse(self, page):
        """The document as the browser has it once it is loaded."""
        path = os.path.join(self.top, "page.html")
        with open(path, "wb") as f:
            f.write(page)
        p = subprocess.run(["chromium", "--headless", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage", "--user-data-dir=" +
                            os.path.join(self.top, "browser"), "--dump-dom", "file://" + path], capture_output=True, timeout=300, check=False,
                           env={**ENV, "HOME": self.top})
        return p.stdout.decode("utf-8", "replace")


def check_safe(page, dom):
    problems = [f"a tag {tag}" for tag in ("script", "img", "iframe", "object", "embed", "form", "link", "base") if tag in dom.tags]
    problems += [f"an attribute {name}" for name in dom.handlers]
    problems += [f"a link to {link}" for link in dom.links if not link.startswith("#") or link[1:] not in dom.ids]
    problems += [f"'{word}' in the page" for word in ("url(", "@import", "http:", "https:", "//") if word in page.decode()]
    if "default-src 'none'" not in page.decode():
        problems.append("no policy")
    # The page's, and one a mark; the key has no titles.
    marks = sum(kind in KINDS for kind in dom.shapes) - len(KINDS)
    if dom.title != "A run of Sandglass" or dom.tags.get("title", 0) != 1 + marks:
        problems.append(f"titles: '{dom.title}' and {dom.tags.get('title')}, with {marks} marks")
    return problems


def drawn(d):
    done = d.run("run", "--record", d.tape, "--", "python3", "-c", PROGRAM, HOSTILE, typed=HOSTILE.encode())
    status, page, said = d.run("tape", "export", "--html", d.tape)
    problems = [] if done[0] == status == 0 and not said else [f"{done} {status} {said}"]
    dom = Page(d.browse(page))
    problems += check_safe(page, dom)
    # The key shows each kind once.
    for kind, least in (("run", 6), ("timer", 2), ("input", 2), ("create", 2), ("exit", 1)):
        if dom.shapes.count(kind) - 1 < least:
            problems.append(f"{dom.shapes.count(kind) - 1} of {kind}")
    for text in ("task 1", "task 2", "task 3", "1m 40.000s", "3m 20.000s", "a timer comes due", HOSTILE[:40], "the end of standard input",
                 "a replay of the tape", "creates task 3", "exits with 0"):
        if text not in dom.text:
            problems.append(f"no '{text}'")
    if "prefers-color-scheme:dark" not in page.decode():
        problems.append("no dark colours")
    return problems


def told(d):
    """Where the run cannot be made again, or only in part."""
    problems = []
    with open(d.tape, "rb") as f:
        data = f.read()
    with open(os.path.join(d.home, "new"), "w", encoding="utf-8") as f:
        f.write("a file more\n")
    status, page, said = d.run("tape", "export", "--html", d.tape)
    dom = Page(page.decode())
    if status != 1 or "the page shows the records alone" not in said or "the tape alone" not in dom.text or dom.shapes.count("input") != 3:
        problems.append(f"another directory: {status} {said} {dom.shapes}")
    problems += check_safe(page, dom)
    os.unlink(os.path.join(d.home, "new"))
    with open(d.tape, "wb") as f:
        f.write(data[:data.rindex(b"x</script>") + 3])
    status, page, said = d.run("tape", "export", "--html", d.tape)
    dom = Page(page.decode())
    if status != 1 or "MissingRecord" not in said or "ends at byte" not in dom.text or dom.shapes.count("run") < 3:
        problems.append(f"a cut tape: {status} {said}")
    problems += check_safe(page, dom)
    if d.run("tape", "export", "--html", "/etc/passwd")[0] != 2:
        problems.append("a file that is no tape")
    return problems


def main():
    require_programs()
    tap = Tap()
    with Scratch() as scratch:
        d = Drawing(scratch, MODES[0])
        tap.case("a browser shows tasks, timers and input, and nothing of a tape's own", drawn(d))
        tap.case("what cannot be replayed is drawn as far as it goes", told(d))
    tap.finish()


main()
