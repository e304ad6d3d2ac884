# SPDX-License-Identifier: Apache-2.0
"""The code of the pack: its behaviors, and the loop that serves them; docs/format/pack.md."""
import json
import os
import runpy

INPUT, OUTPUT = os.fdopen(3, encoding="utf-8"), os.fdopen(4, "w", encoding="utf-8")


class Refused(Exception):
    """What was asked for cannot be had."""


class Runtime:
    """What a behavior or scenario can do to the fork."""

    def ask(self, request):
        tell(request)
        for line in INPUT:
            message = json.loads(line)
            if "reply" in message:
                return message["reply"]
            if "refused" in message:
                raise Refused(message["refused"])
            do_one(message)
        raise SystemExit(0)

    def append(self, event_type, payload, **more):
        """Appends an event and returns its id; more: actor, caused_by."""
        return self.ask({"append": {"type": event_type, "payload": payload, **more}})["id"]

    def events(self, event_type=None, after=0):
        """The fork's events in order, those of its past first."""
        while True:
            found = self.ask({"events": {"after": after, **({"type": event_type} if event_type else {})}})
            yield from found["events"]
            if not found["more"]:
                return
            after = found["after"]

    def objects(self, object_type=None):
        """What objects there are, by their ids."""
        after = {}
        while True:
            found = self.ask({"objects": {**after, **({"type": object_type} if object_type else {})}})
            yield from found["objects"]
            if not found["more"]:
                return
            after = {"after": found["objects"][-1]["id"]}

    def run_until_idle(self):
        """Behaviors do what there is to do."""
        self.ask({"idle": {}})


def greet(runtime, event):
    runtime.append("greeting.given", {"text": f"hello, {event['payload']['name']}"})


BEHAVIORS = {"greet": (greet, ["greeting.asked"])}


def tell(message):
    OUTPUT.write(json.dumps(message) + "\n")
    OUTPUT.flush()


def describe():
    return {"name": "example", "version": "0.1.0",
            "behaviors": [{"name": name, "on": on} for name, (_, on) in BEHAVIORS.items()]}


def do_one(message):
    nonce, done = message.get("nonce"), {}
    try:
        if message["do"] == "describe":
            done = {"surface": describe()}
        elif message["do"] == "scenario":
            runpy.run_path(message["file"])[message["function"]](Runtime())
        elif message["do"] == "behavior":
            BEHAVIORS[message["behavior"]][0](Runtime(), message["event"])
        else:
            raise SystemExit(0)
    except Exception as problem:  # whatever it is, it is told
        tell({"failed": f"{type(problem).__name__}: {problem}", "nonce": nonce})
    else:
        tell({"done": nonce, **done})


def main():
    for line in INPUT:
        do_one(json.loads(line))


if __name__ == "__main__":
    main()
