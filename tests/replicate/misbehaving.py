# SPDX-License-Identifier: Apache-2.0
"""Analyses that misbehave: each has its one right outcome, whatever it does inside.

    misbehaving.py [--long] [--only NAME] [--image REF@DIGEST --runtime RUNTIME OPTION...]

A third of the table runs in `make test`, all of it with --long.
"""
import os
import sys

from kit import RESULTS, Claim, Tap, judge, require_programs

SPEC, NOT, YES = "spec_issue", "not_reproduced", "reproduced"
OUT = '"$DOTLAB_OUT_DIR"'


def results(text):
    return f"printf '%s' '{text}' >{OUT}/results.json"


def python(*lines):
    return "python3 - <<'END'\nimport os, json\nout = os.environ['DOTLAB_OUT_DIR']\n" + "\n".join(lines) + "\nEND\n"


FINE = RESULTS
# (name, entrypoint, outcome, reason, more): more has `limits`, and `quick` for what runs in `make test`.
CASES = [
    # How it ends.
    ("exits_3", FINE + "; exit 3", SPEC, "exited", {}),
    ("exits_125_by_itself", FINE + "; exit 125", SPEC, "exited", {"quick": True}),
    ("exits_126_by_itself", FINE + "; exit 126", SPEC, "exited", {}),
    ("exits_127_by_itself", FINE + "; exit 127", SPEC, "exited", {}),
    ("exits_137_by_itself", FINE + "; exit 137", SPEC, "exited", {"quick": True}),
    ("kills_itself", FINE + "; kill -9 $$", SPEC, "signalled", {"quick": True}),
    ("aborts", FINE + "; kill -ABRT $$", SPEC, "signalled", {}),
    ("command_not_found", FINE + "; no-such-program", SPEC, "exited", {}),
    ("shell_syntax", "if", SPEC, "exited", {}),
    ("hangs", FINE + "; sleep 1000", SPEC, "timed_out", {"limits": {"timeout_seconds": 2}, "quick": True}),
    ("spins", FINE + "; while :; do :; done", SPEC, "timed_out", {"limits": {"timeout_seconds": 2}}),
    ("stops_itself", FINE + "; kill -STOP $$", SPEC, "timed_out", {"limits": {"timeout_seconds": 2}}),
    ("ignores_signals", FINE + "; trap '' TERM INT HUP; while :; do sleep 1; done", SPEC, "timed_out",
     {"limits": {"timeout_seconds": 2}}),
    ("kills_init", FINE + "; kill -9 1; kill -TERM 1; exit 0", YES, "all_within",
     # The init of a container passes it on.
     {"either": [(SPEC, "exited"), (SPEC, "signalled")]}),
    ("kills_everything", FINE + "; kill -9 -1; exit 0", YES, "all_within", {}),
    # What it leaves running.
    ("leaves_daemon", FINE + "; (setsid sleep 1000 >/dev/null 2>&1 &) ; exit 0", YES, "all_within", {"quick": True}),
    ("leaves_daemon_with_stdout", FINE + "; (setsid sleep 1000 &) ; exit 0", YES, "all_within", {}),
    # Its bounds.
    ("fork_bomb", "f() { f | f & }; f 2>/dev/null; sleep 1; " + FINE, YES, "all_within",
     {"limits": {"pids": 32, "timeout_seconds": 60}, "either": [(SPEC, "exited"), (SPEC, "timed_out"), (SPEC, "signalled")]}),
    ("many_processes", python("n = 0", "try:", "    while n < 200:", "        if os.fork() == 0:",
                              "            import time; time.sleep(100)", "        n += 1", "except OSError:",
                              "    pass", "json.dump({'t': 1.5 if n < 64 else 99}, open(out + '/results.json', 'w'))"),
     YES, "all_within", {"quick": True}),
    ("memory_bomb", python("b = []", "while True:", "    b.append(bytearray(os.urandom(1 << 20)))"), SPEC, "*memory", {}),
    ("memfd_hoard", python("f = os.memfd_create('x')", "while True:", "    os.write(f, b'x' * (1 << 20))"), SPEC, "*memory", {}),
    ("fills_output", f"head -c 100000000 /dev/zero >{OUT}/big; " + FINE, SPEC, "*full", {"quick": True}),
    ("fills_output_with_many_files",
     python("for i in range(1000):", "    open(f'{out}/{i}', 'w').close()"), SPEC, "*full", {}),
    ("fills_output_with_directories", python("for i in range(1000):", "    os.mkdir(f'{out}/{i}')"), SPEC, "*full", {}),
    ("fills_tmp", "head -c 100000000 /dev/zero >/tmp/x 2>/dev/null && exit 9; " + FINE, YES, "all_within", {}),
    ("fills_tmp_with_files", python("import sys", "try:", "    for i in range(1000):",
                                    "        open(f'/tmp/{i}', 'w').close()", "    sys.exit(9)",
                                    "except OSError:", "    pass",
                                    "json.dump({'t': 1.5}, open(out + '/results.json', 'w'))"), YES, "all_within", {}),
    ("sparse_file", python("os.truncate(os.open(out + '/s', os.O_CREAT | os.O_RDWR), 1 << 40)",
                           "json.dump({'t': 1.5}, open(out + '/results.json', 'w'))"), SPEC, "*sparse", {"quick": True}),
    ("floods_stdout", "yes | head -c 50000000; " + FINE, YES, "all_within",
     {"limits": {"timeout_seconds": 100}}),
    ("floods_stderr", "head -c 50000000 /dev/zero >&2; " + FINE, YES, "all_within", {}),
    ("core_dump", "ulimit -c unlimited 2>/dev/null; " + FINE + "; sh -c 'kill -SEGV $$'; exit 0", YES, "all_within", {}),
    # What it must not reach.
    ("uses_network", python("import socket, sys", "try:", "    socket.create_connection(('192.0.2.1', 80), 3)",
                            "    sys.exit(9)", "except OSError:", "    pass",
                            "json.dump({'t': 1.5}, open(out + '/results.json', 'w'))"), YES, "all_within", {"quick": True}),
    ("writes_code", "echo x >/work/code/README && exit 9; echo x >/work/code/new && exit 9; " + FINE, YES, "all_within",
     {"quick": True}),
    ("writes_data", "echo x >/work/data/x.csv && exit 9; rm -f /work/data/x.csv 2>/dev/null; test -s /work/data/x.csv || exit 9; " + FINE,
     YES, "all_within", {}),
    ("writes_root", "echo x >/usr/x && exit 9; echo x >/etc/x && exit 9; " + FINE, YES, "all_within", {}),
    ("remounts", "mount -o remount,rw / 2>/dev/null && exit 9; umount /work/data 2>/dev/null && exit 9; " + FINE, YES, "all_within", {}),
    ("clock_tampering", "date -s 2001-01-01 2>/dev/null && exit 9; " + FINE, YES, "all_within", {}),
    ("becomes_root", python("import sys", "try:", "    os.setuid(0)", "    sys.exit(9)", "except OSError:", "    pass",
                            "assert os.getuid() == 10001 and os.getgid() == 10001",
                            "json.dump({'t': 1.5}, open(out + '/results.json', 'w'))"), YES, "all_within", {}),
    ("user_namespace", "unshare -Ur true 2>/dev/null && exit 9; " + FINE, YES, "all_within", {}),
    ("io_uring", python("import ctypes, sys", "r = ctypes.CDLL(None, use_errno=True).syscall(425, 8, 0)",
                        "if r >= 0 or ctypes.get_errno() not in (1, 38):", "    sys.exit(9)",
                        "json.dump({'t': 1.5}, open(out + '/results.json', 'w'))"), YES, "all_within", {}),
    # What it plants.
    ("results_is_a_symlink", f"printf '{{\"t\": 1.5}}' >/tmp/r; ln -s /tmp/r {OUT}/results.json", SPEC, "output_symlink",
     {"quick": True}),
    ("symlink_to_passwd", f"{FINE}; ln -s /etc/passwd {OUT}/p", SPEC, "output_symlink", {}),
    ("symlink_deep", f"{FINE}; mkdir -p {OUT}/a/b; ln -s / {OUT}/a/b/c", SPEC, "output_symlink", {}),
    ("dangling_symlink", f"{FINE}; ln -s nowhere {OUT}/p", SPEC, "output_symlink", {}),
    ("results_is_a_fifo", f"mkfifo {OUT}/results.json", SPEC, "output_special", {"quick": True}),
    ("fifo", f"{FINE}; mkfifo {OUT}/p", SPEC, "output_special", {}),
    ("socket", python("import socket", "socket.socket(socket.AF_UNIX).bind(out + '/s')",
                      "json.dump({'t': 1.5}, open(out + '/results.json', 'w'))"), SPEC, "output_special", {}),
    ("device", f"{FINE}; mknod {OUT}/d c 1 3 && exit 9; exit 0", YES, "all_within", {}),
    ("results_is_a_directory", f"mkdir {OUT}/results.json", SPEC, "results_malformed", {}),
    ("hard_link", f"{FINE}; ln {OUT}/results.json {OUT}/again", YES, "all_within", {}),
    ("hard_link_to_data", f"{FINE}; ln /work/data/x.csv {OUT}/x 2>/dev/null && exit 9; exit 0", YES, "all_within", {}),
    ("set_uid", f"{FINE}; cp /bin/sh {OUT}/sh; chmod 6755 {OUT}/sh; exit 0", YES, "all_within", {}),
    ("deep", python("os.chdir(out)", "for i in range(60):", "    os.mkdir('d'); os.chdir('d')",
                    "json.dump({'t': 1.5}, open(out + '/results.json', 'w'))"), SPEC, "output_depth", {"limits": {"output_files": 100}}),
    ("odd_names", python("for n in (b'a\\nb', b'\\x1b[2J', b'-rf', b'\\xff\\xfe', b'...', b' '):",
                         "    open(os.fsencode(out) + b'/' + n, 'w').close()",
                         "json.dump({'t': 1.5}, open(out + '/results.json', 'w'))"), YES, "all_within", {"quick": True}),
    ("no_rights", f"{FINE}; mkdir {OUT}/d; chmod 000 {OUT}/d {OUT}/results.json", YES, "all_within",
     {"either": [(SPEC, "output_unreadable")]}),
    # results.json itself.
    ("no_results", ":", SPEC, "results_missing", {"quick": True}),
    ("empty_results", f": >{OUT}/results.json", SPEC, "results_malformed", {}),
    ("nan", results('{"t": NaN}'), SPEC, "results_malformed", {"quick": True}),
    ("infinity", results('{"t": Infinity}'), SPEC, "results_malformed", {}),
    ("too_large_a_number", results('{"t": 1e999}'), SPEC, "results_malformed", {}),
    ("number_as_text", results('{"t": "1.5"}'), SPEC, "results_malformed", {}),
    ("nested", results('{"t": {"value": 1.5}}'), SPEC, "results_malformed", {}),
    ("array", results('[1.5]'), SPEC, "results_malformed", {}),
    ("twice", results('{"t": 1.5, "t": 1.5}'), SPEC, "results_malformed", {}),
    ("two_objects", results('{"t": 1.5}{"t": 1.5}'), SPEC, "results_malformed", {}),
    ("too_deep", python("open(out + '/results.json', 'w').write('[' * 100000 + ']' * 100000)"), SPEC, "results_too_large", {}),
    ("two_megabytes", python("open(out + '/results.json', 'w').write('{\"t\": 1.5' + ' ' * (2 << 20) + '}')"), SPEC,
     "results_too_large", {}),
    ("200_megabytes", python("open(out + '/results.json', 'w').write('{\"t\": 1.5' + ' ' * (200 << 20) + '}')"), SPEC,
     "results_too_large", {"limits": {"output_bytes": "300M", "memory": "1G"}}),
    ("bytes_that_are_no_text", f"printf '{{\"\\377\": 1.5}}' >{OUT}/results.json", SPEC, "results_malformed", {}),
    # The numbers.
    ("outside", results('{"t": 2.5}'), NOT, "target_outside", {"quick": True}),
    ("missing_target", results('{"u": 1.5}'), NOT, "target_missing", {"quick": True}),
    ("no_target_at_all", results('{}'), NOT, "target_missing", {}),
    ("more_than_the_targets", results('{"t": 1.5, "u": 7}'), YES, "all_within", {}),
    ("border", results('{"t": 1.75}'), YES, "all_within", {}),
]
# Where a bound is met is the program's own doing: it fails, or leaves what is too much.
SETS = {
    "*memory": ("out_of_memory", "exited", "signalled"),
    "*full": ("exited", "output_bytes", "output_files"),
    "*sparse": ("exited", "output_bytes", "signalled"),
}


def run_case(case, options, image=None, env=None):
    _, entrypoint, outcome, reason, more = case
    with Claim(entrypoint=entrypoint, limits=more.get("limits", {})) as claim:
        if image:
            claim.change(image={"digest": image.rsplit("@", 1)[1]})
        status, record, said = claim.run(*options, env=env, **({"image": image} if image else {}))
        # A container's init tells of a signal by 128 and its number.
        if image and reason == "signalled":
            reason = "exited"
        wanted = [(outcome, code) for code in SETS.get(reason, (reason,))] + more.get("either", [])
        if record and (record["outcome"], record["reason"]["code"]) in wanted:
            outcome, reason = record["outcome"], record["reason"]["code"]
        problems = judge(status, record, said, outcome, reason)
        for root, _, files in os.walk(claim.join("out")):
            for f in files:
                mode = os.lstat(os.path.join(root, f)).st_mode
                if mode & 0o6000:
                    problems.append(f"{f!r} came out with mode {mode:o}")
        with open(claim.join("data", "x.csv"), "rb") as f:
            if f.read() != b"1\n2\n":
                problems.append("the data changed")
        return problems


def main():
    require_programs()
    argv = sys.argv[1:]
    only = argv[argv.index("--only") + 1] if "--only" in argv else None
    image = argv[argv.index("--image") + 1] if "--image" in argv else None
    options = argv[argv.index("--runtime"):] if "--runtime" in argv else []
    tap = Tap()
    for case in CASES:
        if only and case[0] != only:
            continue
        if not only and "--long" not in argv and not case[4].get("quick"):
            continue
        tap.case(case[0], run_case(case, options, image))
    tap.finish()


if __name__ == "__main__":
    main()
