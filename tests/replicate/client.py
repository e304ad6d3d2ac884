# SPDX-License-Identifier: Apache-2.0
"""A container of a runtime whose client ends before it does: no run has an end that nobody has seen.

The client is a script that plays one, so that this needs no daemon.
"""
import json
import os
import subprocess
import sys
import time

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "lib"))
from kit import ENV, IMAGE, SANDGLASS, Claim, Tap, judge, require_programs  # noqa: E402

CLIENT = r"""#!/bin/sh
echo "$1 $2" >>"$0.log"
case "$1 $2" in
"image inspect") echo '{"Id": "IMAGE", "RepoDigests": ["claim@IMAGE"], "Architecture": "'"$(uname -m | sed 's/x86_64/amd64/; s/aarch64/arm64/')"'", "Os": "linux", "Config": {}}' ;;
"run --pull")
	for word; do
		case "$word" in type=bind,source=*,target=/work/out*) out=${word#*source=}; out=${out%%,target=*} ;; esac
	done
	printf '{"t": 1.5}' >"$out/results.json"
	exit CODE ;;
"container inspect")
	running=RUNNING
	grep -q '^kill' "$0.log" && running=false
	printf '%s\n' "$4" | sed "s/{{.State.ExitCode}}/CODE/; s/{{.State.OOMKilled}}/false/; s/{{.State.Running}}/$running/
		s/{{.HostConfig.Memory}}/268435456/; s/{{.HostConfig.MemorySwap}}/268435456/; s/{{.HostConfig.PidsLimit}}/64/
		s/{{.HostConfig.NanoCpus}}/1000000000/; s/{{.State.StartedAt}}/2026-01-01T00:00:00Z/; s/{{.State.Error}}//" ;;
esac
"""


def run(running, code=0):
    with Claim() as c:
        path = c.join("docker")
        with open(path, "w", encoding="ascii") as f:
            f.write(CLIENT.replace("IMAGE", IMAGE).replace("RUNNING", running).replace("CODE", str(code)))
        os.chmod(path, 0o755)
        os.chmod(c.join("out"), 0o777)
        came = c.run("--runtime", "docker", env={**ENV, "SANDGLASS_DOCKER": path})
        with open(path + ".log", encoding="ascii") as f:
            return came, [line.split()[0] for line in f]


def planted():
    """A file under the profile's name that is another one: whoever can write there does not loosen the container."""
    with Claim() as c:
        path, cache = c.join("docker"), c.join("home", "cache")
        with open(path, "w", encoding="ascii") as f:
            f.write(CLIENT.replace("IMAGE", IMAGE).replace("RUNNING", "false").replace("CODE", "0"))
        os.chmod(path, 0o755)
        os.chmod(c.join("out"), 0o777)
        texts = []
        for text in (None, '{"defaultAction": "SCMP_ACT_ALLOW"}', ""):
            for name in [] if text is None else os.listdir(cache):
                with open(os.path.join(cache, name), "w", encoding="ascii") as f:
                    f.write(text)
            c.empty()
            os.chmod(c.join("out"), 0o777)
            came = c.run("--runtime", "docker", env={**ENV, "SANDGLASS_DOCKER": path})
            names = os.listdir(cache)
            with open(os.path.join(cache, names[0]), encoding="ascii") as f:
                texts.append((names, f.read()))
            if judge(*came, "reproduced", "all_within"):
                return judge(*came, "reproduced", "all_within")
        return [] if texts[0] == texts[1] == texts[2] and "SCMP_ACT_ERRNO" in texts[0][1] else texts


# A daemon that was asked makes the container, whether its client lives or not: here after it was told to remove it.
LATE = r"""#!/bin/sh
echo "$1 $2" >>"$0.log"
case "$1 $2" in
"run --pull") sleep 60 ;;
"rm -f")
	rm -f "$0.container"
	grep -q '^made' "$0.log" || { echo >"$0.container"; echo made >>"$0.log"; } ;;
*) exec "$0.first" "$@" ;;
esac
"""


def wait_for(path, word):
    for _ in range(1200):
        if os.path.exists(path):
            with open(path, encoding="ascii") as f:
                if word in f.read():
                    return
        time.sleep(0.05)


def killed_early():
    """kill -9 of the runner while the daemon has not made the container yet."""
    with Claim() as c:
        path = c.join("docker")
        for name, text in ((path, LATE), (path + ".first", CLIENT.replace("IMAGE", IMAGE))):
            with open(name, "w", encoding="ascii") as f:
                f.write(text)
            os.chmod(name, 0o755)
        os.chmod(c.join("out"), 0o777)
        with open(c.join("manifest.json"), "w", encoding="utf-8") as f:
            json.dump(c.manifest, f)
        with subprocess.Popen([SANDGLASS, "replicate", c.join("manifest.json"), "--code-dir", c.join("code"), "--data-dir", c.join("data"),
                               "--out-dir", c.join("out"), "--image", "claim@" + IMAGE, "--runtime", "docker"], stdout=subprocess.DEVNULL,
                              stderr=subprocess.DEVNULL, env={**ENV, "SANDGLASS_HOME": c.join("home"), "SANDGLASS_DOCKER": path}) as running:
            wait_for(path + ".log", "run")
            running.kill()
        wait_for(path + ".log", "made")
        for _ in range(1200):
            with open("/proc/self/mounts", encoding="utf-8") as f:
                left = [line for line in f if c.path + "/" in line] + ([path + ".container"] if os.path.exists(path + ".container") else [])
            if not left:
                return []
            time.sleep(0.05)
        return left


def main():
    require_programs()
    tap = Tap()
    came, _ = run("false")
    tap.case("one that has ended is judged by its end", judge(*came, "reproduced", "all_within"))
    came, _ = run("false", 3)
    tap.case("also by a status", judge(*came, "spec_issue", "exited"))
    (status, record, said), log = run("true")
    problems = [] if status == 2 and record is None and "still running" in said else [status, said]
    tap.case("one that runs on has none, and is killed", problems + ([] if "kill" in log and "rm" in log else log))
    tap.case("its profile is what it should be", planted())
    tap.case("one that is made after its runner was killed is removed", killed_early())
    tap.finish()


main()
