"""Holds a speedscope file against the folded stacks of the same dump: the same
stacks with the same weights, and what the format's schema requires."""
import json
import sys

with open(sys.argv[1]) as text:
    document = json.load(text)
assert document["$schema"] == "https://www.speedscope.app/file-format-schema.json"
frames = [frame["name"] for frame in document["shared"]["frames"]]
(profile,) = document["profiles"]
assert profile["type"] == "sampled" and profile["unit"] == "nanoseconds"
assert len(profile["samples"]) == len(profile["weights"])
assert profile["endValue"] - profile["startValue"] == sum(profile["weights"])
own = {";".join(frames[i] for i in sample): weight
       for sample, weight in zip(profile["samples"], profile["weights"])}
with open(sys.argv[2]) as text:
    folded = {stack: int(weight) for stack, weight in
              (line.rstrip("\n").rsplit(" ", 1) for line in text)}
assert own == folded, set(own.items()) ^ set(folded.items())
