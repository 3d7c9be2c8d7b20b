"""Holds folded stacks of python_shapes.py against who calls whom there: each stack is
right or says that it is broken."""
import collections
import os
import re
import sys

here = os.path.dirname(os.path.abspath(__file__))
callers = {}
with open(os.path.join(here, "Inputs", "python_shapes.py")) as text:
    outer = []
    for line in text:
        if (match := re.match(r"( *)(?:async )?(def|class) (\w+)", line)):
            del outer[len(match.group(1)) // 4:]
            outer.append(match.group(3) + (".<locals>" if match.group(2) == "def" else ""))
            if (called := re.search(r"# CALLED BY (.*)", line)):
                name = ".".join(outer).removesuffix(".<locals>")
                callers[name] = {"lambdas.<locals>.closed" if c == "closed" else c
                                 for c in called.group(1).split()}
FRAME = re.compile(r"(\S+) \(python_shapes\.py:\d+\)")
seen, broken, total = collections.Counter(), 0, 0
with open(sys.argv[1]) as text:
    for line in text:
        stack, weight = line.rstrip("\n").rsplit(" ", 1)
        names = [m.group(1) for f in stack.split(";") if (m := FRAME.fullmatch(f))]
        names = [n for n in names if not n.endswith(("<listcomp>", "<genexpr>"))]
        total += int(weight)
        if "(broken stack)" in stack:
            broken += int(weight)
            assert not names, line
            continue
        if not names:
            continue
        seen[names[-1]] += int(weight)
        for caller, callee in zip(["nobody"] + names, names):
            assert callee == "<module>" or caller in callers[callee], (caller, callee, line)
        for name in names:
            seen["in " + name] += int(weight)
# Each shape, about as long as it took: 0.12 s, of which samples themselves use a part.
for name in ("generator", "inner", "compare", "reduce", "leaf", "lambdas.<locals>.closed",
             "Thing.__getitem__", "first", "second", "pushes"):
    seconds = seen["in " + name] * 1e-9
    print(f"{name}: {seconds:.3f} s")
    assert 0.05 < seconds < 0.16, name
print(f"broken: {broken * 1e-9:.3f} s of {total * 1e-9:.3f}")
# The other interpreter's, and little besides.
assert broken * 1e-9 < 0.16 + 0.02 * total * 1e-9
