"""Makes a dump of Python stacks out of code objects of the standard library, and
what flame has to make of it; needs CPython 3.11 with its symbols.

    python_stacks.py DUMP EXPECTED
    python_stacks.py --check FOLDED EXPECTED
"""
import bisect
import inspect
import json
import os
import subprocess
import sys
import textwrap
import types


def codes():
    """Functions with loops, nested ones, generators, comprehensions, and gaps."""
    found = []

    def add(code):
        found.append(code)
        for constant in code.co_consts:
            if isinstance(constant, types.CodeType):
                add(constant)

    for module in (inspect, textwrap, bisect):
        for value in vars(module).values():
            if isinstance(value, types.FunctionType) and value.__module__ == module.__name__:
                add(value.__code__)
    exec_source = "def wide():\n" + "\n" * 700 + "    return (\n" + "\n" * 90 + "        1 + f)\n"
    add(compile(exec_source, "wide.py", "exec"))
    return found


def interpreter():
    """Path, address range and the interpreter function's address of python3."""
    path = os.path.realpath("/usr/bin/python3")
    output = subprocess.run(["readelf", "-sW", "--dyn-syms", path], check=True,
                            capture_output=True, text=True).stdout
    for line in output.splitlines():
        words = line.split()
        if words and words[-1] == "_PyEval_EvalFrameDefault":
            return path, int(words[1], 16)
    raise SystemExit("python3 has no symbols")


def escape(text):
    return '"' + text.replace("\\", "\\\\").replace('"', '\\"') + '"'


def make(dump, expected):
    path, address = interpreter()
    weights = {}
    lines = ["process monotonic=1000000000",
             f"module begin=0x1000 end=0x7fffffff bias=0 path={path}",
             "thread id=1 tid=77 name=main", "host thread=1"]
    inside, outside, start = address + 5, 0x9000000000, 1000000000

    def label(code, line):
        return f"{code.co_qualname} ({os.path.basename(code.co_filename)}:{line})"

    def expect(*frames):
        stack = ";".join(("main (77)",) + frames)
        weights[stack] = weights.get(stack, 0) + 1000

    for number, code in enumerate(codes(), 1):
        lines.append(f"pycode id={number} name={escape(code.co_qualname)} "
                     f"file={escape(code.co_filename)} line={code.co_firstlineno} "
                     f"table={code.co_linetable.hex()}")
        for begin, end, line in code.co_lines():
            for offset in range(begin, end, 2):
                lines.append(f"ran ns={start} weight=1000 native={inside:#x},{outside:#x} "
                             f"python={number}:{offset}:1")
                expect("[0x8fffffffff]", label(code, line or code.co_firstlineno))
    first = codes()[0]
    line = first.co_firstlineno
    # Called from Python without C between: one evaluation, two frames.
    lines.append(f"ran ns={start} weight=1000 native={inside:#x},{outside:#x} "
                 "python=1:-2:0,1:-2:1")
    expect("[0x8fffffffff]", label(first, line), label(first, line))
    # C code between two evaluations, and C called by the innermost.
    lines.append(f"ran ns={start} weight=1000 native=0x10,{inside:#x},{outside:#x},"
                 f"{inside:#x} python=1:-2:1,1:-2:1")
    expect(label(first, line), "[0x8fffffffff]", label(first, line), "[0x10]")
    # As many evaluations as entries, or the Python stack is not believed.
    lines.append(f"ran ns={start} weight=1000 native={inside:#x},{inside:#x} python=1:-2:1")
    expect("(broken stack)", "_PyEval_EvalFrameDefault", "_PyEval_EvalFrameDefault")
    # The reader said that it is broken.
    lines.append(f"ran ns={start} weight=1000 native={inside:#x} python=1:-2:1 flags=2")
    expect("(broken stack)", "_PyEval_EvalFrameDefault")
    lines += ["end", "summary"]
    with open(dump, "w") as text:
        text.write("\n".join(lines) + "\n")
    with open(expected, "w") as text:
        json.dump(weights, text)


def check(folded, expected):
    with open(expected) as text:
        wanted = json.load(text)
    with open(folded) as text:
        got = {stack: int(weight) for stack, weight in
               (line.rstrip("\n").rsplit(" ", 1) for line in text)}
    assert len(wanted) > 1000, len(wanted)
    for stack in wanted.keys() | got.keys():
        assert wanted.get(stack) == got.get(stack), (stack, wanted.get(stack), got.get(stack))


if sys.argv[1] == "--check":
    check(*sys.argv[2:])
else:
    make(*sys.argv[1:])
