# SPDX-License-Identifier: Apache-2.0
"""The doctor finds what is taken away: calls, settings, /proc, the supervisor; and says what it means."""
import json
import os
import resource
import shutil
import struct
import sys

import jsonschema

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "lib"))
from harness import BUILD, IS_ROOT, PLAIN_UID, ROOT, ROOTLESS, SOURCE, SUPERVISE, Scratch, Tap, require_programs, run  # noqa: E402

WITHOUT = os.path.join(BUILD, "tests/doctor/doctor-without")
EPERM, ENOSYS, EOPNOTSUPP = "1", "38", "95"
PR_SET_TSC = 26

# name, what is taken away, check -> its level, words that its detail or remedy has to hold. A check that is
# "missing" makes the status 2; without one it is 1.
TAKEN = [
    ("namespaces that a container's profile hides", [ENOSYS, "clone3"], {"namespaces": "missing", "kernel": "missing"},
     "seccomp profile"),
    ("namespaces that are refused", [EPERM, "clone3"], {"namespaces": "missing", "overlay": "untried"}, "refuses user namespaces"),
    ("tracing", [EPERM, "ptrace"], {"ptrace": "missing", "run": "missing", "kernel": "missing"}, "SYS_PTRACE"),
    ("seccomp", [ENOSYS, "seccomp"], {"seccomp": "missing", "run": "missing"}, "CONFIG_SECCOMP_FILTER"),
    ("Landlock", [ENOSYS, "landlock_create_ruleset"], {"landlock": "degraded", "run": "ok"}, "lsm="),
    ("Landlock that cannot be enforced", [EPERM, "landlock_restrict_self"], {"landlock": "missing", "run": "missing"}, "ENOSYS"),
    ("fixed addresses", [EPERM, "personality"], {"layout": "degraded", "run": "degraded"}, "personality(2)"),
    ("the trap of the counter", [EPERM, f"prctl:{PR_SET_TSC}"], {"counter_trap": "missing", "run": "missing"}, "PR_SET_TSC"),
    ("user xattrs", [EOPNOTSUPP, "fsetxattr"], {"overlay": "degraded", "run": "ok"}, "no user xattrs"),
    ("mounts by descriptor", [ENOSYS, "fsopen"], {"kernel": "missing", "namespaces": "missing", "proc": "missing"}, "fsopen"),
    ("id-mapped mounts", [EPERM, "mount_setattr"], {"kernel": "missing"}, "mount_setattr"),
    ("writing to processes", [EPERM, "pwrite64"], {"vdso": "degraded", "run": "degraded"}, "vdso_unpatched"),
    ("a call whose use is death", ["kill", "fsopen"], {"namespaces": "missing", "proc": "missing"}, "without an answer"),
]

with open(os.path.join(SOURCE, "docs/format/doctor.schema.json"), encoding="utf-8") as f:
    SCHEMA = json.load(f)


class Doctor:
    """One diagnosis: its checks by name, and what is wrong with the answer as a whole."""

    def __init__(self, scratch, mode, before=(), env=None):
        argv = [*before, scratch.join("bin", "sandglass"), "doctor", "--json"]
        self.done = run(argv, mode=mode, cwd=scratch.join("tmp"), env=env, timeout=120)
        self.problems, self.checks = [], {}
        try:
            answer = json.loads(self.done.out)
            jsonschema.validate(answer, SCHEMA)
        except (ValueError, jsonschema.ValidationError) as e:
            self.problems.append(f"{str(e)[:300]}: {self.done.out[:300]!r}; {self.done.tell()}")
            return
        self.checks = {c["check"]: c for c in answer["checks"]}
        levels = {c["level"] for c in answer["checks"]}
        worst = "missing" if "missing" in levels else "degraded" if "degraded" in levels else "ok"
        status = ["ok", "degraded", "missing"].index(worst)
        if answer["verdict"] != worst or self.done.status != status:
            self.problems.append(f"verdict {answer['verdict']}, status {self.done.status}: the worst level is {worst}")
        if "Sanitizer" in self.done.err.decode("utf-8", "replace"):
            self.problems.append(self.done.tell())

    def expect(self, levels, words=""):
        for name, level in levels.items():
            if self.checks.get(name, {}).get("level") != level:
                self.problems.append(f"{name} is not {level}: {self.checks.get(name)}")
        told = " ".join(f"{c['detail']} {c['remedy']}" for c in self.checks.values() if c["level"] in ("degraded", "missing"))
        if words not in told:
            self.problems.append(f"nobody says '{words}': {told}")
        return self.problems


def elf_for(machine, scratch):
    """The supervisor with another machine's number in its header."""
    path = scratch.join("foreign")
    shutil.copy(SUPERVISE, path)
    os.chmod(path, 0o755)
    with open(path, "r+b") as f:
        f.seek(18)
        f.write(struct.pack("<H", machine))
    return path


def text_file(scratch, name, text):
    path = scratch.join(name)
    with open(path, "w", encoding="ascii") as f:
        f.write(text)
    os.chmod(path, 0o755)
    return path


def supervisors(scratch, mode):
    """name, the supervisor, its level, what is said."""
    yield "no supervisor", "/no/such/file", "/no/such/file"
    yield "a dynamic supervisor", "/bin/true", "-static-pie"
    yield "a foreign supervisor", elf_for(183, scratch), "it is for aarch64, this machine is x86_64"
    yield "a supervisor that is no program", text_file(scratch, "text", "#!/bin/sh\necho hello\n"), "no ELF program"


def settings(scratch, tap):
    """What a host's settings forbid; in namespaces of our own, where they can be set."""
    done = Doctor(scratch, ROOTLESS, ["unshare", "-Ur", "sh", "-c", 'echo 0 >/proc/sys/user/max_user_namespaces; exec "$@"', "sh"])
    tap.case("no user namespaces at all", done.expect(
        {"namespace_limits": "missing", "namespaces": "missing"}, "user.max_user_namespaces = 0"))
    for name, value, words in (("unprivileged_userns_clone", 0, "kernel.unprivileged_userns_clone = 0"),
                               ("apparmor_restrict_unprivileged_userns", 1, "kernel.apparmor_restrict_unprivileged_userns = 1")):
        script = f'mount -t tmpfs none /proc/sys/kernel; echo {value} >/proc/sys/kernel/{name}; exec "$@"'
        done = Doctor(scratch, ROOTLESS, ["unshare", "-Urm", "sh", "-c", script, "sh"])
        tap.case(f"{name} is {value}", done.expect({"namespace_limits": "degraded"}, words))
    script = ('mount -t tmpfs none /proc/sys/kernel; mkdir /proc/sys/kernel/yama; echo 3 >/proc/sys/kernel/yama/ptrace_scope; '
              f'exec {scratch.join("bin", "doctor-without")} {EPERM} ptrace -- "$@"')
    done = Doctor(scratch, ROOTLESS, ["unshare", "-Urm", "sh", "-c", script, "sh"])
    tap.case("yama refuses to trace", done.expect({"ptrace": "missing"}, "kernel.yama.ptrace_scope = 3"))
    done = Doctor(scratch, ROOTLESS, ["unshare", "-Urm", "sh", "-c", 'mount -t tmpfs none /proc; exec "$@"', "sh"])
    tap.case("a hidden /proc", done.expect({"namespaces": "missing", "proc": "missing", "supervisor": "missing"}, "mount /proc"))
    done = Doctor(scratch, ROOTLESS, ["unshare", "-Urmpf", "--mount-proc", "sh", "-c", 'mount -t tmpfs none /proc/sys; exec "$@"', "sh"])
    tap.case("a masked /proc, as in a container", done.expect({"proc": "missing", "run": "missing"}, "systempaths=unconfined"))


def main():
    require_programs()
    tap = Tap()
    modes = [ROOT, ROOTLESS] if IS_ROOT else [ROOTLESS]
    with Scratch() as scratch:
        os.chmod(scratch.path, 0o755)
        shutil.copy(WITHOUT, scratch.join("bin"))
        for mode in modes:
            before = sum(resource.getrusage(resource.RUSAGE_CHILDREN)[:2])
            done = Doctor(scratch, mode)
            spent = sum(resource.getrusage(resource.RUSAGE_CHILDREN)[:2]) - before
            tap.case(f"{mode}: this host can run programs", done.expect(
                {"namespaces": "ok", "proc": "ok", "supervisor": "ok", "ptrace": "ok", "seccomp": "ok", "run": "ok"}))
            # Of the processor, not of a loaded machine's wall.
            tap.case(f"{mode}: it takes less than a second", [] if spent < 1 else [f"{spent:.2f} s"])
        for name, taken, levels, words in TAKEN:
            done = Doctor(scratch, ROOTLESS, [scratch.join("bin", "doctor-without"), *taken, "--"])
            tap.case(f"without: {name}", done.expect(levels, words))
        for name, path, words in supervisors(scratch, ROOTLESS):
            done = Doctor(scratch, ROOTLESS, env={"SANDGLASS_SUPERVISE": path})
            tap.case(name, done.expect({"supervisor": "missing", "run": "missing", "vdso": "untried"}, words))
        settings(scratch, tap)
        text = run([scratch.join("bin", "sandglass"), "doctor"], mode=ROOTLESS, cwd=scratch.join("tmp"))
        lines = text.out.decode().splitlines()
        tap.case("the table has a line for each check, and a verdict",
                 [] if sum(not line.startswith(" ") for line in lines) == len(SCHEMA["properties"]["checks"]["items"]["properties"]["check"]["enum"]) + 2
                 and lines[-1].startswith("This host ") else [text.out.decode()])
    tap.finish()


main()
