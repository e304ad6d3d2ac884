# SPDX-License-Identifier: Apache-2.0
"""Trials of candidate packs, as functions: what `sandglass trial` and `sandglass preflight` do, under the names of activegraph.sandbox.

Standard library alone. The program is `sandglass` of the PATH, or what SANDGLASS names.

    report = run_forked_trial("runs.db", parent_run_id=run, at_event="evt_005",
                              pack_source=PackSource("greeter", expected_bundle_hash=pin), scenario="scenario.py")
    report.outcome  # "completed", "scenario_failed", "limits_exceeded", "materialization_failed" or "crashed"

Whatever a pack does is an outcome. What is wrong on this side raises: TrialError, and SandboxStartupError of a preflight.
Unlike the original, an empty pin is refused, and the child is contained: it has no network and no file of the store.
"""
import json
import logging
import os
import re
import subprocess
from dataclasses import dataclass, field

__all__ = ["PackSource", "SandboxStartupError", "TrialError", "TrialLimits", "TrialReport", "preflight", "run_forked_trial"]

LOGGER = logging.getLogger("sandglass.trial")
PIN = re.compile(r"sha256:[0-9a-f]{64}")


class TrialError(RuntimeError):
    """No trial could be made: the store, the run, the event, the host."""


class SandboxStartupError(RuntimeError):
    """No child can start on this host."""


@dataclass(frozen=True)
class PackSource:
    """Where a pack is, and the hash that its bytes have to have."""

    root_dir: str
    expected_bundle_hash: str = ""
    manifest_required: bool = True

    def __post_init__(self):
        if not PIN.fullmatch(self.expected_bundle_hash):
            raise ValueError("expected_bundle_hash must be sha256: and 64 lowercase hex digits, as 'sandglass pack hash' prints it")


@dataclass(frozen=True)
class TrialLimits:
    """0 or None takes a net away. The first five are the original's; what is left None is the program's default."""

    wall_clock_seconds: float = 120.0
    max_rss_bytes: int | None = None
    max_events: int = 2000
    max_llm_calls: int = 0
    env_passthrough: tuple = ()
    cpu_seconds: int | None = None
    max_processes: int | None = None
    max_open_files: int | None = None
    max_file_bytes: int | None = None
    max_disk_bytes: int | None = None
    max_output_bytes: int | None = None


@dataclass(frozen=True)
class TrialReport:
    """What a trial produced; the numbers are the ledger's."""

    outcome: str
    fork_run_id: str
    events_appended: int
    behavior_failures: int
    detail: str
    exit_code: int | None
    warnings: tuple = ()
    limits: dict = field(default_factory=dict)


def program():
    return os.environ.get("SANDGLASS") or "sandglass"


def limit_words(limits, is_probe=False):
    """The options of these limits."""
    words = ["--max-events", str(int(limits.max_events or 0)), "--max-llm-calls", str(int(limits.max_llm_calls or 0))]
    if not is_probe:
        words += ["--timeout", f"{float(limits.wall_clock_seconds or 0):.6f}s"]
    # Unset is no limit, as it is the original's; a probe has one of its own then.
    if limits.max_rss_bytes is not None or not is_probe:
        words += ["--memory", str(int(limits.max_rss_bytes or 0))]
    for option, value in (("cpu-seconds", limits.cpu_seconds), ("pids", limits.max_processes), ("max-files", limits.max_open_files),
                          ("max-file-size", limits.max_file_bytes), ("max-disk", limits.max_disk_bytes), ("max-output", limits.max_output_bytes)):
        if value is not None:
            words += [f"--{option}", str(int(value))]
    return words


def call(words):
    try:
        return subprocess.run([program(), *words], stdin=subprocess.DEVNULL, capture_output=True, check=False)
    except OSError as problem:
        raise TrialError(f"{program()}: {problem.strerror}; put sandglass into the PATH, or set SANDGLASS") from problem


def said(done):
    """The last line of what it said, without its name."""
    lines = done.stderr.decode("utf-8", "replace").strip().splitlines()
    return lines[-1].removeprefix("sandglass: ") if lines else f"status {done.returncode}"


def run_forked_trial(store_path, *, parent_run_id, at_event, pack_source, scenario="", limits=TrialLimits(), label="trial", extra_packs=(),
                     deterministic=False):
    """Tries a pack on a fork of the run after at_event. Returns a TrialReport; raises TrialError for what is wrong on this side."""
    path = os.fspath(store_path).removeprefix("sqlite:///")
    packs = (*extra_packs, pack_source)
    if len({p.manifest_required for p in packs}) != 1:
        raise ValueError("manifest_required has to be the same for all packs")
    words = ["trial", "--json", "--store", path, "--run", parent_run_id, "--at", at_event, "--pack", os.fspath(pack_source.root_dir),
             "--bundle-hash", pack_source.expected_bundle_hash, "--label", label, *limit_words(limits)]
    for extra in extra_packs:
        words += ["--extra-pack", f"{os.fspath(extra.root_dir)}={extra.expected_bundle_hash}"]
    for name in limits.env_passthrough:
        words += ["--env-passthrough", name]
    words += ["--scenario", scenario] if scenario else []
    words += [] if pack_source.manifest_required else ["--no-manifest"]
    words += ["--deterministic"] if deterministic else []
    done = call(words)
    if done.returncode not in (0, 1):
        raise TrialError(said(done))
    answer = json.loads(done.stdout)
    answer["warnings"] = tuple(answer["warnings"])
    for warning in answer["warnings"]:
        LOGGER.warning("%s", warning)
    return TrialReport(**answer)


def preflight(*, limits=TrialLimits(), timeout=30.0):
    """Starts an empty child under these limits: what is weaker than asked, () when all hold. Raises SandboxStartupError."""
    done = call(["preflight", "--json", "--timeout", f"{float(timeout):.6f}s", *limit_words(limits, is_probe=True)])
    if done.returncode not in (0, 1):
        raise SandboxStartupError(said(done))
    warnings = tuple(json.loads(done.stdout)["warnings"])
    for warning in warnings:
        LOGGER.warning("%s", warning)
    return warnings
