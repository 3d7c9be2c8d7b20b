"""Holds the folded stacks of profile_shares.py against what it measured."""
import os
import re
import sys

here = os.path.dirname(os.path.abspath(__file__))
with open(os.path.join(here, "Inputs", "profile_shares.py")) as text:
    lines = {match.group(1): number for number, line in enumerate(text, 1)
             if (match := re.search(r"# LINE (\w+)", line))}
with open(sys.argv[1]) as text:
    stacks = [(stack.split(";"), int(weight)) for stack, weight in
              (line.rstrip("\n").rsplit(" ", 1) for line in text)]
with open(sys.argv[2]) as text:
    truth = {name: float(seconds) for name, seconds in map(str.split, text)}

off_processor = ("(waiting)", "(preempted)")
ran = [(s, w) for s, w in stacks if s[-1] not in off_processor]
total = sum(w for _, w in ran)
# Of time on the processor: on a busy machine one preemption may be long.
broken = sum(w for s, w in ran if "(broken stack)" in s)
assert broken < 0.02 * total, broken


def seconds(name, among):
    pattern = re.compile(re.escape(name) + r" \(profile_shares\.py:\d+\)")
    return 1e-9 * sum(w for s, w in among if any(pattern.fullmatch(f) for f in s))


# One sample stands for a millisecond; of few, chance decides.
for name in "half", "quarter", "small", "through_c", "generator":
    key = "<lambda>" if name == "generator" else name
    measured, expected = seconds(name, ran), truth[key]
    print(f"{name}: sampled {measured:.3f} s, measured {expected:.3f} s")
    assert abs(measured - expected) < 0.15 * expected + 0.03, name

# C between: sorted() calls the lambda, which has its own line.
assert any(re.match(r"through_c\.<locals>\.<lambda>", f) for s, _ in ran for f in s)


def waited(function, line):
    frame = f"{function} (profile_shares.py:{lines[line]})"
    return 1e-9 * sum(w for s, w in stacks if s[-1] == "(waiting)" and frame in s)


for function, line, least in (("sleeper", "sleep", 0.08), ("holder", "hold", 0.12),
                              ("waiter", "lock", 0.1), ("parent", "child", 0.08)):
    measured = waited(function, line)
    print(f"{function}, line {lines[line]}: waited {measured:.3f} s, at least {least} s")
    assert least - 0.02 <= measured < least + 0.5, function
