# SPDX-License-Identifier: Apache-2.0
"""Trials: what packs may do to a fork, what they cannot do to anything else, and what is said of it."""
import json
import os
import shutil
import signal
import sqlite3
import subprocess
import sys
import tempfile
import threading
import time

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "lib"))
from harness import SANDGLASS, SOURCE, Tap, require_programs  # noqa: E402
from store import MARK, NOW, PAST, RUN, Top  # noqa: E402

KEYS = {"outcome", "fork_run_id", "events_appended", "behavior_failures", "detail", "exit_code", "warnings", "limits"}


def expect(report, outcome, said="", **members):
    problems = []
    if report["outcome"] != outcome or said not in report["detail"]:
        problems.append(f"not {outcome} ({said}): {report}")
    return problems + [f"{k} is not {v}: {report}" for k, v in members.items() if report.get(k) != v]


def a_good_pack_completes(top):
    problems, before = [], top.rows()
    for lang, scenario in (("sh", "scenario.sh"), ("python", "scenario.py"), ("node", "scenario.js"), ("c", "pack.so")):
        pack = top.pack(lang)
        problems += expect(top.trial(pack), "completed", exit_code=0, events_appended=2)
        report = top.trial(pack, "--scenario", scenario, "--label", "mine")
        problems += expect(report, "completed", exit_code=0, events_appended=6, behavior_failures=0)
        if set(report) != KEYS:
            problems.append(f"members: {sorted(report)}")
        wanted = ["pack.loaded", "greeting.asked", "behavior.started", "greeting.given", "behavior.completed", "runtime.idle"]
        if top.types(report) != wanted or '{"text": "hello, world"}' not in [r[4] for r in top.rows(report["fork_run_id"])]:
            problems.append(f"{lang}: {top.types(report)}")
    return problems + ([] if top.rows() == before else ["the parent has changed"])


def a_fork_has_its_lineage(top):
    report = top.trial(top.pack("sh"), "--at", "evt_003", "--label", "mine")
    db = sqlite3.connect(top.store)
    row = db.execute("SELECT parent_run_id, forked_at_event_id, label FROM runs WHERE run_id = ?", (report["fork_run_id"],)).fetchone()
    db.close()
    return [] if row == (RUN, "evt_003", "mine") else [row]


def pins_are_demanded(top):
    pack, other = top.pack("sh"), top.pack("sh")
    problems = expect(top.trial((pack[0], other[1])), "materialization_failed", "bundle hash mismatch", events_appended=0)
    for bad in ("", "sha256:", pack[1].upper(), pack[1][7:]):
        problems += expect(top.trial((pack[0], bad)), "materialization_failed", "must be sha256:", events_appended=0, exit_code=None)
    report = top.trial(pack, "--extra-pack", f"{other[0]}={pack[1]}")
    problems += expect(report, "materialization_failed", "mismatch", events_appended=0)
    if top.types(report):
        problems.append(top.types(report))
    with open(os.path.join(pack[0], "main.sh"), "a", encoding="ascii") as f:
        f.write("#\n")
    return problems + expect(top.trial(pack), "materialization_failed", "bundle hash mismatch")


def manifests_are_compared_with_the_code(top):
    path, _ = top.pack("python")
    manifest = os.path.join(path, "manifest.toml")
    with open(manifest, encoding="ascii") as f:
        text = f.read()
    problems = []
    for new, said in (('behaviors = []', "the code has 'greet', which surface.behaviors does not declare"),
                      ('behaviors = ["greet", "bow"]', "declares 'bow', which the code does not have")):
        with open(manifest, "w", encoding="ascii") as f:
            f.write(text.replace('behaviors = ["greet"]', new))
        pack = (path, top.pin(path))
        problems += expect(top.trial(pack), "materialization_failed", said, events_appended=0)
        checked = top.command(["pack", "check", "--run", "--json", path])
        if checked.returncode != 1 or said not in checked.stdout.decode():
            problems.append(checked)
        problems += expect(top.trial(pack, "--no-manifest"), "completed")
    with open(manifest, "w", encoding="ascii") as f:
        f.write(text.replace('name = "', 'name = "X').replace("deterministic = true", "deterministic = 1"))
    if top.command(["pack", "check", "--run", top.pack("python")[0]]).returncode != 0:
        problems.append("a good one is not taken")
    report = top.trial((path, top.pin(path)))
    problems += expect(report, "materialization_failed", "pack.name") + expect(report, "materialization_failed", "fixtures.deterministic")
    os.unlink(manifest)
    problems += expect(top.trial((path, top.pin(path))), "materialization_failed", "there is none")
    return problems + expect(top.trial((path, top.pin(path)), "--no-manifest", "--scenario", "scenario.py"), "completed")


def nothing_is_asked_while_it_describes_itself(top):
    """Neither a fork that there is not, nor one that the pack is not loaded on."""
    problems = []
    for ask in ({"append": {"type": "early.bird", "payload": {}}}, {"events": {}}, {"objects": {}}, {"idle": {}}):
        path, _ = top.pack("python")
        main = os.path.join(path, "main.py")
        with open(main, encoding="ascii") as f:
            text = f.read()
        told = f'        if message["do"] == "describe":\n            tell({ask!r})\n            assert "refused" in json.loads(INPUT.readline())\n'
        with open(main, "w", encoding="ascii") as f:
            f.write(text.replace('        if message["do"] == "describe":\n', told))
        problems += expect(top.trial((path, top.pin(path)), "--no-manifest"), "completed", events_appended=2)
        manifest = os.path.join(path, "manifest.toml")
        with open(manifest, encoding="ascii") as f:
            text = f.read()
        content = json.loads(top.command(["pack", "hash", "--json", path]).stdout)["content_hash"]
        with open(manifest, "w", encoding="ascii") as f:
            f.write("".join(f'content_hash = "{content}"\n' if line.startswith("content_hash") else line for line in text.splitlines(True)))
        checked = top.command(["pack", "check", "--run", path])
        if checked.returncode:
            problems.append(checked)
    return problems


def payloads_that_no_ledger_takes_are_refused(top):
    """Else the candidate decides that there is no report. Names are in payloads too, and are actors."""
    deep = "p = {}\nfor i in range(70):\n    p = {'a': p}\n"
    problems = expect(top.scenario(deep + "runtime.append('x.y', p)"), "scenario_failed", "more than 64 levels", events_appended=1)
    for members, said in (('"capabilities": [json.loads("[" * 70 + "]" * 70)]', "more than 64 levels"),
                          ('"name": "x" * 65', "name has more than 64 bytes"),
                          ('"behaviors": [{"name": "x" * 129, "on": []}]', "a name of more than 128 bytes in behaviors")):
        path, _ = top.pack("python")
        main = os.path.join(path, "main.py")
        with open(main, encoding="ascii") as f:
            text = f.read()
        with open(main, "w", encoding="ascii") as f:
            f.write(text.replace('{"surface": describe()}', '{"surface": {**describe(), %s}}' % members))
        problems += expect(top.trial((path, top.pin(path)), "--no-manifest"), "materialization_failed", said, events_appended=0)
    return problems


def a_scenario_that_fails_says_so(top):
    problems = expect(top.scenario("raise ValueError('no good')"), "scenario_failed", "ValueError: no good", exit_code=None)
    pack = top.pack("python")
    problems += expect(top.trial(pack, "--scenario", "scenario.py::other"), "scenario_failed", "KeyError")
    outside = os.path.join(top.path, "outside.py")
    shutil.copy(os.path.join(pack[0], "scenario.py"), outside)
    for name in ("../outside.py", outside, "nothing.py", "./scenario.py", ".hidden.py", ""):
        if name == ".hidden.py":
            shutil.copy(outside, os.path.join(pack[0], name))
        wanted = ("scenario_failed", "no file of the candidate") if name else ("completed", "")
        problems += expect(top.trial(pack, "--scenario", name), *wanted)
    return problems


def behavior_failures_of_the_trial_alone_are_counted(top):
    path, _ = top.pack("python")
    main = os.path.join(path, "main.py")
    with open(main, encoding="ascii") as f:
        text = f.read()
    with open(main, "w", encoding="ascii") as f:
        f.write(text.replace('    runtime.append("greeting.given"', '    raise RuntimeError("cannot")\n    runtime.append("greeting.given"'))
    report = top.trial((path, top.pin(path)), "--scenario", "scenario.py")
    problems = expect(report, "completed", behavior_failures=1)
    failed = [json.loads(r[4]) for r in top.rows(report["fork_run_id"])[len(PAST):] if r[1] == "behavior.failed"]
    return problems + ([] if failed and failed[0]["exception_type"] == "RuntimeError" and failed[0]["event_id"] == "evt_007" else [failed])


def events_are_counted_as_they_are_appended(top):
    report = top.scenario("for i in range(3000):\n    runtime.append('object.created', {'n': i})", "--max-events", "15")
    problems = expect(report, "limits_exceeded", "event budget", events_appended=15)
    if top.types(report)[-1] != "runtime.budget_exhausted" or len(top.types(report)) != 16:
        problems.append(top.types(report))
    report = top.scenario("for i in range(2500):\n    runtime.append('object.created', {'n': i})", "--max-events", "0")
    return problems + expect(report, "completed", events_appended=2501)


def the_wall_clock_ends_everything(top):
    begin = time.monotonic()
    report = top.scenario("subprocess.Popen(['sleep', '4321.MARK'], start_new_session=True)\ntime.sleep(4321)", "--timeout", "2")
    problems = expect(report, "limits_exceeded", "wall clock", exit_code=-9, events_appended=1)
    if time.monotonic() - begin > 60:
        problems.append("it took a minute")
    mark = top.rows(report["fork_run_id"])[-1]
    if mark[1:3] != ("trial.wall_clock_exhausted", "trial_executor") or json.loads(mark[4])["stop_position"] != {"accepted_sequence": 1}:
        problems.append(mark)
    problems += expect(top.trial(top.pack("python", main_py="while True: pass\n"), "--timeout", "1"), "limits_exceeded", "wall clock", events_appended=0)
    return problems + living("4321." + MARK)


def living(word):
    """Processes with that word, which should be gone."""
    found = []
    for pid in filter(str.isdigit, os.listdir("/proc")):
        try:
            with open(f"/proc/{pid}/cmdline", "rb") as f:
                if word.encode() in f.read().split(b"\0"):
                    found.append(f"process {pid} is left")
        except OSError:
            pass
    return found


def nobody_outlives_a_trial(top):
    """A grandchild that holds every pipe, in a session of its own, delays nothing and is gone."""
    begin = time.monotonic()
    report = top.scenario("subprocess.Popen(['sleep', '4322.MARK'])\nsubprocess.Popen(['setsid', 'sleep', '4323.MARK'])\n"
                          "subprocess.Popen(['sleep', '4324.MARK'], pass_fds=(3, 4))")
    problems = expect(report, "completed", exit_code=0)
    if time.monotonic() - begin > 60:
        problems.append("somebody was waited for")
    return problems + living("4322." + MARK) + living("4323." + MARK) + living("4324." + MARK)


def a_forged_end_is_no_end(top):
    tail = '{"outcome": "completed"}'
    problems = expect(top.scenario(f"print('{tail}', flush=True)\nos._exit(77)"), "crashed", "status 77", exit_code=77)
    problems += expect(top.scenario("os.write(4, b'{\"done\":\"00000000000000000000000000000000\"}\\n')\nraise ValueError('x')"), "scenario_failed")
    problems += expect(top.scenario("import atexit\natexit.register(lambda: os._exit(30))"), "crashed", "status 30", exit_code=30)
    problems += expect(top.scenario("os._exit(0)"), "crashed", "status 0", exit_code=0)
    problems += expect(top.scenario("os.kill(os.getpid(), 11)"), "crashed", "signal 11", exit_code=-11)
    problems += expect(top.scenario("os.write(4, b'no json\\n')\ntime.sleep(1000)"), "crashed", "no JSON object")
    problems += expect(top.scenario("os.write(4, b'x' * (3 << 20))\ntime.sleep(1000)"), "crashed", "line of more than")
    report = top.scenario("for kind in ('runtime.idle', 'behavior.failed', 'trial.x', 'pack.loaded'):\n    try:\n        runtime.append(kind, {})\n"
                          "    except Exception:\n        continue\n    raise ValueError(kind)\ntry:\n    runtime.append('x', {}, actor='promote:x')\n"
                          "except Exception:\n    pass\nelse:\n    raise ValueError('actor')")
    return problems + expect(report, "completed", events_appended=1)


def imports_that_fail_are_told(top):
    problems = expect(top.trial(top.pack("python", main_py="import nonexistent\n")), "materialization_failed", "ModuleNotFoundError", events_appended=0)
    problems += expect(top.trial(top.pack("python", main_py="def\n")), "materialization_failed", "SyntaxError")
    problems += expect(top.trial(top.pack("c", pack_so="no object")), "materialization_failed", "pack.so")
    problems += expect(top.trial(top.pack("python", main_py="import os; os._exit(0)\n")), "crashed", "status 0")
    path, _ = top.pack("sh")
    with open(os.path.join(path, "manifest.toml"), encoding="ascii") as f:
        text = f.read()
    with open(os.path.join(path, "manifest.toml"), "w", encoding="ascii") as f:
        f.write(text.replace('["sh", "./main.sh"]', '["no-such-program"]'))
    return problems + expect(top.trial((path, top.pin(path))), "materialization_failed", "not found")


def output_is_captured_and_no_more(top):
    """Bytes that are no text, and 200 MB of them: the memory of the parent does not grow."""
    problems = expect(top.scenario(r"os.write(1, b'\xff\xfe\x00')" + "\nraise ValueError('x')"), "scenario_failed")
    pack = top.pack("python", scenario_py="import os\n\n\ndef main(runtime):\n    for _ in range(200):\n        os.write(1, bytes(1 << 20))\n")
    words = [SANDGLASS, *top.words(pack, "--scenario", "scenario.py", "--max-output", "0")]
    done = subprocess.Popen(words, cwd=top.path, env=top.env, stdout=subprocess.PIPE, stdin=subprocess.DEVNULL)
    out = done.stdout.read()
    _, status, usage = os.wait4(done.pid, 0)
    done.returncode = os.waitstatus_to_exitcode(status)
    problems += expect(json.loads(out), "completed")
    if usage.ru_maxrss > 64 << 10:
        problems.append(f"{usage.ru_maxrss} KiB of memory")
    report = top.trial(pack, "--scenario", "scenario.py", "--max-output", "1M")
    return problems + expect(report, "limits_exceeded", "printed more")


def memory_and_time_are_bounded(top):
    hog = "x = []\nwhile True:\n    x.append(bytearray(b'x' * (1 << 20)))"
    problems = expect(top.scenario(hog, "--memory", "128M"), "limits_exceeded", "memory")
    report = top.trial(top.pack("python", main_py=hog), "--memory", "128M")
    problems += expect({**report, "detail": report["detail"].lower()}, "materialization_failed", "memory")
    problems += expect(top.scenario("while True:\n    pass", "--cpu-seconds", "1"), "limits_exceeded", "CPU time")
    body = "try:\n    with open('/tmp/x', 'wb') as f:\n        f.write(bytes(2 << 20))\nexcept OSError:\n    runtime.append('refused', {})"
    for option in ("--max-file-size", "--max-disk"):
        problems += expect(top.scenario(body, option, "1M"), "completed", events_appended=2)
    problems += expect(top.scenario(body, "--max-file-size", "0", "--max-disk", "0", "--memory", "0", "--pids", "0", "--cpu-seconds", "0", "--max-files", "0"),
                       "completed", events_appended=1)
    body = "kept = []\ntry:\n    for _ in range(100):\n        kept.append(open('/dev/null'))\nexcept OSError:\n    runtime.append('refused', {})"
    problems += expect(top.scenario(body, "--max-files", "32"), "completed", events_appended=2)
    body = "try:\n    for _ in range(50):\n        subprocess.Popen(['sleep', '1000'])\nexcept OSError:\n    runtime.append('refused', {})"
    return problems + expect(top.scenario(body, "--pids", "16"), "completed", events_appended=2)


def the_environment_is_closed(top):
    problems = []
    for more, wanted in (((), {}), (("--env-passthrough", "HANDED", "--env-passthrough", "NOT_SET"), {"HANDED": "on"})):
        report = top.scenario("runtime.append('env', dict(os.environ))", *more)
        env = json.loads(top.rows(report["fork_run_id"])[-1][4])
        allowed = {"PATH", "HOME", "TZ", "LC_ALL", "PYTHONHASHSEED", "GODEBUG", "MALLOC_ARENA_MAX", "SOURCE_DATE_EPOCH", "PYTHONPATH", "PYTHONDONTWRITEBYTECODE",
                   "PWD", "OLDPWD", "SHLVL", "_", "LC_CTYPE"}
        if set(env) - allowed != set(wanted) or env["PYTHONPATH"] != "/pack" or env.get("HANDED") != wanted.get("HANDED"):
            problems.append(env)
    return problems


def nothing_else_is_there(top):
    """No store, no network, no home, no hidden files, nothing to write to but /tmp."""
    pack = top.pack("python", scenario_py="""
import os
import socket


def main(runtime):
    seen = {"pack": sorted(os.listdir("/pack")), "store": os.path.exists(%r), "links": [n for _, n in socket.if_nameindex()]}
    for name, work in (("write", lambda: open("/pack/new", "w")), ("main", lambda: open("/pack/main.py", "a")),
                       ("connect", lambda: socket.create_connection(("192.0.2.1", 80), 2)), ("root", lambda: open("/new", "w"))):
        try:
            work()
            seen[name] = True
        except OSError:
            seen[name] = False
    seen["pids"] = len([p for p in os.listdir("/proc") if p.isdigit()])
    runtime.append("seen", seen)
""" % top.store)
    for name in (".hidden", "x.pyc", "__pycache__/y"):
        os.makedirs(os.path.dirname(os.path.join(pack[0], name)), exist_ok=True)
        with open(os.path.join(pack[0], name), "w", encoding="ascii") as f:
            f.write("x")
    report = top.trial(pack, "--scenario", "scenario.py")
    if report["outcome"] != "completed":
        return [report]
    seen = json.loads(top.rows(report["fork_run_id"])[-1][4])
    pids = seen.pop("pids")
    wanted = {"pack": ["main.py", "manifest.toml", "scenario.py"], "store": False, "links": ["lo"], "write": False, "main": False, "connect": False, "root": False}
    return [] if seen == wanted and pids <= 4 else [seen, pids]


def what_was_hashed_is_what_runs(top):
    """The pack is written to all the time while it is tried."""
    pack = top.pack("python", data_txt="old", scenario_py="import time\n\n\ndef main(runtime):\n    time.sleep(1)\n"
                    "    with open('/pack/data.txt') as f:\n        runtime.append('read', {'text': f.read()})\n")
    done, over = [], threading.Event()

    def swap():
        while not over.wait(0.01):
            with open(os.path.join(pack[0], "data.txt"), "w", encoding="ascii") as f:
                f.write("new")
            with open(os.path.join(pack[0], "main.py"), "w", encoding="ascii") as f:
                f.write("raise SystemExit(99)\n")
    starter = threading.Thread(target=lambda: done.append(top.trial(pack, "--scenario", "scenario.py")))
    swapper = threading.Thread(target=swap)
    starter.start()
    home = os.path.join(top.path, "home", "state", "trials")
    end = time.monotonic() + 30
    # Not before the copy is made: then it would be another pack.
    while time.monotonic() < end and not any("data.txt" in names for _, _, names in os.walk(home)):
        time.sleep(0.005)
    while time.monotonic() < end and starter.is_alive() and not copied(home, "scenario.py"):
        time.sleep(0.005)
    swapper.start()
    starter.join()
    over.set()
    swapper.join()
    problems = expect(done[0], "completed")
    if not problems and json.loads(top.rows(done[0]["fork_run_id"])[-1][4]) != {"text": "old"}:
        problems.append("it has read what was written meanwhile")
    return problems + expect(top.trial(pack), "materialization_failed", "mismatch")


def copied(home, last):
    """Whether the file that is copied last has all its bytes: it is then read-only."""
    for at, _, names in os.walk(home):
        if last in names:
            return os.stat(os.path.join(at, last)).st_mtime == 1700000000
    return False


def packs_work_together(top):
    """An extra pack is loaded first, and both are called on what either appends."""
    helper, _ = top.pack("python")
    with open(os.path.join(helper, "main.py"), encoding="ascii") as f:
        text = f.read()
    with open(os.path.join(helper, "main.py"), "w", encoding="ascii") as f:
        f.write(text.replace('["greeting.asked"]', '["greeting.given"]').replace("greeting.given\", {\"text\"", "note\", {\"text\"")
                .replace("event['payload']['name']", "event['payload']['text']"))
    candidate = top.pack("sh")
    report = top.trial(candidate, "--scenario", "scenario.sh", "--extra-pack", f"{helper}={top.pin(helper)}")
    rows = top.rows(report["fork_run_id"])[len(PAST):]
    loaded = [json.loads(r[4])["name"] for r in rows if r[1] == "pack.loaded"]
    notes = [(r[2], json.loads(r[4])) for r in rows if r[1] == "note"]
    problems = expect(report, "completed", behavior_failures=0)
    if loaded != [os.path.basename(helper), os.path.basename(candidate[0])] or notes != [
            (f"{loaded[0]}.greet", {"text": "hello, hello, world"})]:
        problems.append(rows)
    return problems


def a_recorded_segment_is_replayed(top):
    """The worked example: messages of the past are emitted anew, and the candidate answers them in order."""
    path, _ = top.pack("python", scenario_py="def main(runtime):\n    past = [e for e in runtime.events('chat.message')]\n    for event in past:\n"
                       "        runtime.append('chat.message', event['payload'], actor='trial.replay')\n    runtime.run_until_idle()\n")
    with open(os.path.join(path, "main.py"), encoding="ascii") as f:
        text = f.read()
    with open(os.path.join(path, "main.py"), "w", encoding="ascii") as f:
        f.write(text.replace('["greeting.asked"]', '["chat.message"]').replace("event['payload']['name']", "event['payload']['text']"))
    report = top.trial((path, top.pin(path)), "--scenario", "scenario.py")
    replies = [json.loads(r[4])["text"] for r in top.rows(report["fork_run_id"]) if r[1] == "greeting.given"]
    problems = expect(report, "completed", behavior_failures=0)
    return problems + ([] if replies == ["hello, hello", "hello, what's on today?", "hello, thanks"] else [replies])


def objects_are_what_the_events_say(top):
    """Those of the past and those of the trial; an event that is none is refused, and the trial goes on."""
    def made(number, kind="task"):
        whole = {"id": f"{kind}#{number}", "type": kind, "data": {"n": number}, "version": 1}
        return {"object": whole, "id": whole["id"]}
    store = os.path.join(top.path, "second")
    os.mkdir(store)
    second = Top(store, [("object.created", made(i)) for i in range(1, 151)] + [("object.created", made(151, "claim")), ("object.removed", {"id": "task#7"})])
    body = (f"runtime.append('object.created', {made(200)!r})\n"
            "runtime.append('seen', {'tasks': [o['data']['n'] for o in runtime.objects('task')], 'all': len(list(runtime.objects()))})\n"
            "runtime.append('object.created', {'n': 1})\n"
            "try:\n    list(runtime.objects())\nexcept Exception as problem:\n    runtime.append('refused', {'why': str(problem)})")
    report = second.scenario(body)
    rows = {r[1]: json.loads(r[4]) for r in second.rows(report["fork_run_id"])[152:]}
    problems = expect(report, "completed", behavior_failures=0)
    if not problems and (sorted(rows["seen"]["tasks"]) != [i for i in range(1, 151) if i != 7] + [200] or rows["seen"]["all"] != 151 or not rows["refused"]["why"]):
        problems.append(rows)
    return problems


def what_the_run_had_left_is_done(top):
    """Behaviors are called on events behind the last idle mark that nobody has taken."""
    store = os.path.join(top.path, "second")
    os.mkdir(store)
    past = [("greeting.asked", {"name": "a"}), ("runtime.idle", {}), ("greeting.asked", {"name": "b"}), ("greeting.asked", {"name": "c"}),
            ("behavior.started", {"behavior": "x", "event_id": "evt_003"})] + [("other", {})] * 200
    second = Top(store, past)
    report = second.trial(second.pack("sh"))
    replies = [json.loads(r[4])["text"] for r in second.rows(report["fork_run_id"]) if r[1] == "greeting.given"]
    return expect(report, "completed") + ([] if replies == ["hello, c"] else [replies])


def a_past_that_is_no_text_is_refused(top):
    db = sqlite3.connect(top.store)
    db.execute("INSERT INTO events (id, type, payload, timestamp, run_id) VALUES (CAST(x'ff41' AS TEXT), 'greeting.asked', '{}', ?, ?)", (NOW, RUN))
    db.commit()
    db.close()
    return expect(top.trial(top.pack("python")), "status 2", "not UTF-8")


def a_report_is_written_and_signed(top):
    path = os.path.join(top.path, "report.json")
    pack = top.pack("sh")
    report = top.trial(pack, "--report", path)
    with open(path, encoding="utf-8") as f:
        problems = [] if json.load(f) == report else ["the file is another report"]
    made = top.command(["key", "new", "--json"])
    report = top.trial(pack, "--report", path, "--sign")
    with open(path, encoding="utf-8") as f:
        statement = json.load(f)["statement"]
    if statement["report"] != report or statement["packs"] != [pack[1]] or statement["run"] != RUN:
        problems.append(statement)
    key = json.loads(made.stdout)["keyid"]
    if top.command(["receipt", "verify", "--expected-keyid", key, path]).returncode != 0:
        problems.append("it is not verified")
    with open(path, encoding="utf-8") as f:
        text = f.read()
    with open(path, "w", encoding="utf-8") as f:
        f.write(text.replace('"completed"', '"crashed"'))
    return problems if top.command(["receipt", "verify", "--expected-keyid", key, path]).returncode == 1 else problems + ["another one is verified too"]


def wrong_lines_are_told(top):
    path, pin = top.pack("sh")
    base = ["trial", "--store", top.store, "--run", RUN, "--pack", path, "--bundle-hash", pin]
    problems = []
    for words, said in ((["trial"], "needs --store"), (base[:5], "needs --pack"), (base + ["--max-events", "many"], "--max-events"), (base + ["--sign"], "--report"),
                        (base + ["--extra-pack", "x"], "DIR=HASH"), (base + ["--memory", "9000P"], "--memory"), (base + ["--at", "evt_999"], "evt_999"),
                        (base[:4] + ["nothing"] + base[5:], "nothing"), (base[:2] + ["/nonexistent"] + base[3:], "/nonexistent"),
                        (base + ["--env-passthrough", "A=B"], "no name"), (base + ["x"], "trial")):
        done = top.command(words)
        if done.returncode != 2 or said not in done.stderr.decode():
            problems.append(f"{words[1:]}: {done.returncode} {done.stderr}")
    return problems


def preflight_starts_a_child(top):
    clean = top.command(["preflight", "--json"])
    answer = json.loads(clean.stdout)
    problems = [] if clean.returncode == bool(answer["warnings"]) and answer["limits"]["memory_bytes"] == 1 << 30 else [clean]
    top.env["SANDGLASS_SUPERVISE"] = "/nonexistent"
    failed = top.command(["preflight"])
    return problems if failed.returncode == 2 and b"supervisor" in failed.stderr else problems + [failed]


def a_killed_trial_leaves_the_parent_as_it_was(top):
    before = top.rows()
    pack = top.pack("python", scenario_py="import subprocess\n\n\ndef main(runtime):\n    runtime.append('x', {})\n    subprocess.run(['sleep', '4325.MARK'])\n")
    started = subprocess.Popen([SANDGLASS, *top.words(pack, "--scenario", "scenario.py")], cwd=top.path, env=top.env, stdout=subprocess.DEVNULL)
    end = time.monotonic() + 60
    while not living("4325." + MARK) and time.monotonic() < end:
        time.sleep(0.02)
    started.send_signal(signal.SIGKILL)
    started.wait()
    end = time.monotonic() + 20
    while living("4325." + MARK) and time.monotonic() < end:
        time.sleep(0.02)
    home = os.path.join(top.path, "home", "state", "trials")
    problems = living("4325." + MARK) + ([] if os.listdir(home) else ["there is no tree that was left"])
    problems += [] if top.rows() == before else ["the parent has changed"]
    problems += expect(top.trial(top.pack("sh")), "completed")
    return problems + ([f"left: {os.listdir(home)}"] if os.listdir(home) else [])


def a_killed_child_is_told(top):
    """The container's first process is killed from outside."""
    pack = top.pack("python", scenario_py="import subprocess\n\n\ndef main(runtime):\n    subprocess.run(['sleep', '4326.MARK'])\n")
    done = []
    starter = threading.Thread(target=lambda: done.append(top.trial(pack, "--scenario", "scenario.py")))
    starter.start()
    end = time.monotonic() + 60
    while not living("4326." + MARK) and time.monotonic() < end:
        time.sleep(0.02)
    for word in living("4326." + MARK):
        pid = int(word.split()[1])
        with open(f"/proc/{pid}/stat", encoding="ascii", errors="replace") as f:
            os.kill(int(f.read().rsplit(")", 1)[1].split()[1]), signal.SIGKILL)
    starter.join()
    return expect(done[0], "crashed", "signal 9", exit_code=-9) + living("4326." + MARK)


def a_deterministic_trial_repeats(top):
    """The same candidate on the same fork: the same events and the same report."""
    pack = top.pack("python", scenario_py="import os\nimport random\nimport time\n\n\ndef main(runtime):\n"
                    "    runtime.append('seen', {'time': time.time_ns(), 'random': random.random(), 'bytes': os.urandom(8).hex(), 'pid': os.getpid()})\n")
    made = []
    for _ in range(2):
        copy = os.path.join(top.path, "copy.db")
        shutil.copy(top.store, copy)
        words = top.words(pack, "--scenario", "scenario.py", "--deterministic")
        words[words.index("--store") + 1] = copy
        done = top.command(words)
        db = sqlite3.connect(copy)
        run = json.loads(done.stdout)["fork_run_id"]
        made.append((done.stdout, db.execute("SELECT id, type, payload FROM events WHERE run_id = ? ORDER BY seq", (run,)).fetchall()))
        db.close()
        os.unlink(copy)
    problems = [] if made[0] == made[1] else made
    twice = [top.command(top.words(pack, "--deterministic")) for _ in range(2)]
    if [d.returncode for d in twice] != [0, 2] or b"another --label" not in twice[1].stderr:
        problems.append(twice)
    return problems + expect(json.loads(made[0][0]), "completed", events_appended=2)


def the_examples_are_packs(_top):
    """Each example that needs no compiler is tried as it is in the documentation."""
    problems = []
    for lang, scenario in (("sh", "scenario.sh"), ("python", "scenario.py"), ("node", "scenario.js")):
        path = os.path.join(SOURCE, "docs", "howto", "packs", lang)
        problems += expect(_top.trial((path, _top.pin(path)), "--scenario", scenario), "completed", events_appended=6)
    return problems


CASES = [a_good_pack_completes, a_fork_has_its_lineage, pins_are_demanded, manifests_are_compared_with_the_code,
         nothing_is_asked_while_it_describes_itself, payloads_that_no_ledger_takes_are_refused, a_scenario_that_fails_says_so,
         behavior_failures_of_the_trial_alone_are_counted, events_are_counted_as_they_are_appended, the_wall_clock_ends_everything, nobody_outlives_a_trial,
         a_forged_end_is_no_end, imports_that_fail_are_told, output_is_captured_and_no_more, memory_and_time_are_bounded, the_environment_is_closed,
         nothing_else_is_there, what_was_hashed_is_what_runs, packs_work_together, a_recorded_segment_is_replayed, objects_are_what_the_events_say, what_the_run_had_left_is_done,
         a_past_that_is_no_text_is_refused, a_report_is_written_and_signed, wrong_lines_are_told, preflight_starts_a_child, a_killed_trial_leaves_the_parent_as_it_was, a_killed_child_is_told,
         a_deterministic_trial_repeats, the_examples_are_packs]


def main():
    require_programs()
    tap = Tap()
    only = sys.argv[1:]
    for case in CASES:
        if only and case.__name__ not in only:
            continue
        with tempfile.TemporaryDirectory(prefix="sandglass-trial.") as top:
            tap.case(case.__name__.replace("_", " "), case(Top(top)))
    tap.finish()


main()
