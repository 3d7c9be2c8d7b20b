"""Holds the critical path of critical.py against what it does: each cause with
its line, for as long as it took."""
import json
import os
import re
import sys

here = os.path.dirname(os.path.abspath(__file__))
with open(os.path.join(here, "Inputs", "critical.py")) as text:
    lines = {match.group(1): number for number, line in enumerate(text, 1)
             if (match := re.search(r"# LINE (\w+)", line))}
with open(sys.argv[1]) as text:
    path = json.load(text)
segments = path["segments"]
for before, after in zip(segments, segments[1:]):
    assert before["end_ns"] == after["begin_ns"], (before, after)


def spent(kind, place, cause=""):
    """Seconds in segments of a kind whose cause begins so, at this place."""
    return 1e-9 * sum(p["ns"] for s in segments
                      if s["kind"] == kind and s.get("cause", "").startswith(cause)
                      for p in s.get("places", ()) if place in p["place"])


def at(function, name):
    return f"{function} (critical.py:{lines[name]})"


for what, measured, least in (
        ("sleep", spent("blocked", at("sleeper", "sleep"), "timer"), 0.15),
        ("lock", spent("blocked", at("waiter", "lock"), "lock"), 0.19),
        ("child", spent("blocked", at("parent", "child"), "child"), 0.2)):
    print(f"{what}: {measured:.3f} s, at least {least} s")
    assert least - 0.02 <= measured < least + 1, what
assert spent("running", "compute (critical.py:") > 0.03

# The GPU: the loop of the heavy kernel, and which line launched it.
heavy = [s for s in segments if s["kind"] == "device" and s["run"].startswith("heavy(")]
(device,) = heavy
assert device["virtual"]
first = device["places"][0]["place"]
assert "critical.hip:9" in first and at("start_heavy", "heavy") in first, first
share = device["places"][0]["ns"] / (device["end_ns"] - device["begin_ns"])
assert share > 0.5, share
launches = [s for s in segments if s["kind"] == "launch" and s["run"].startswith("heavy(")]
assert launches, "no launch of the heavy kernel on the path"
# Light takes less than a microsecond: it is on the path only if it had not ended when
# the program began to wait for it.
for light in (s for s in segments if s["kind"] == "device" and s["run"].startswith("light(")):
    assert light["end_ns"] <= device["begin_ns"]
