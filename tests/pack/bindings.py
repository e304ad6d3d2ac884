# SPDX-License-Identifier: Apache-2.0
"""The Python module over the command line: the original's names, its outcomes, and what it raises."""
import os
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(HERE, "..", "lib"))
sys.path.insert(0, os.path.join(HERE, "..", "..", "bindings", "python"))
from harness import SANDGLASS, Tap, require_programs  # noqa: E402
from store import RUN, Top  # noqa: E402

import sandglass_trial as trial  # noqa: E402


def raises(kind, call, *words, **members):
    try:
        call(*words, **members)
    except kind as problem:
        return [] if str(problem) else ["it does not say why"]
    return [f"no {kind.__name__}"]


def made(top, pack, **more):
    limits = {"limits": trial.TrialLimits(wall_clock_seconds=60, env_passthrough=("HANDED",)), "at_event": "evt_003", **more}
    return trial.run_forked_trial(top.store, parent_run_id=RUN, pack_source=trial.PackSource(*pack), **limits)


def a_trial_is_reported(top):
    report = made(top, top.pack("python"), scenario="scenario.py")
    problems = [] if (report.outcome, report.events_appended, report.behavior_failures, report.exit_code, report.warnings) == (
        "completed", 6, 0, 0, ()) else [report]
    report = made(top, top.pack("python"), scenario="scenario.py::nothing")
    problems += [] if report.outcome == "scenario_failed" and "KeyError" in report.detail else [report]
    report = made(top, top.pack("python"), scenario="scenario.py", limits=trial.TrialLimits(max_events=2))
    problems += [] if report.outcome == "limits_exceeded" and report.events_appended == 2 and report.limits["memory_bytes"] == 0 else [report]
    helper = trial.PackSource(*top.pack("sh"))
    report = made(top, top.pack("node"), scenario="scenario.js", extra_packs=(helper,))
    return problems + ([] if report.outcome == "completed" and report.events_appended == 10 else [report])


def what_is_wrong_here_raises(top):
    pack = top.pack("sh")
    problems = raises(ValueError, trial.PackSource, pack[0]) + raises(ValueError, trial.PackSource, pack[0], pack[1].upper())
    problems += raises(trial.TrialError, made, top, pack, at_event="evt_999")
    os.environ["SANDGLASS"] = "/nonexistent"
    problems += raises(trial.TrialError, made, top, pack)
    os.environ["SANDGLASS"] = SANDGLASS
    return problems


def preflight_tells_or_raises(_top):
    problems = [] if isinstance(trial.preflight(), tuple) else ["no tuple"]
    before = os.environ.get("SANDGLASS_SUPERVISE")
    os.environ["SANDGLASS_SUPERVISE"] = "/nonexistent"
    problems += raises(trial.SandboxStartupError, trial.preflight, timeout=20)
    if before is None:
        del os.environ["SANDGLASS_SUPERVISE"]
    else:
        os.environ["SANDGLASS_SUPERVISE"] = before
    return problems


def main():
    require_programs()
    tap = Tap()
    os.environ["SANDGLASS"] = SANDGLASS
    for case in (a_trial_is_reported, what_is_wrong_here_raises, preflight_tells_or_raises):
        with tempfile.TemporaryDirectory(prefix="sandglass-bindings.") as top:
            os.environ["SANDGLASS_HOME"] = os.path.join(top, "home")
            tap.case(case.__name__.replace("_", " "), case(Top(top)))
    tap.finish()


main()
