#!/usr/bin/env python3
"""What each level and mode costs: run.py's ratios side by side, as Markdown.

  modes.py --rodinia DIR [--only nn,bfs] [--columns NAME,...] [run.py's options]

Each program is built for each column, run plain and traced, and verified. A cell is
the clone's cycles over the original's (on the virtual GPU: modelled), or why there is
none; the last row has geometric means over the programs that every column has.
"""
import math
import sys

import harness
import programs
import run

# Heading: options of run.py.
COLUMNS = {
    "block": [],
    "block=all": ["--pass", "block=all"],
    "loop": ["--pass", "level=loop"],
    "function": ["--pass", "level=function"],
    "drop": ["--pass", "mode=drop", "--mode", "drop"],
    "counters": ["--pass", "mode=counters", "--mode", "counters"],
    "1 wave in 64": ["--sample", "1/64"],
}


def take(arguments, option):
    """The value of an option, which is removed."""
    if option not in arguments:
        return None
    at = arguments.index(option)
    value = arguments[at + 1]
    del arguments[at:at + 2]
    return value


def main():
    arguments = sys.argv[1:]
    wanted = take(arguments, "--columns")
    names = wanted.split(",") if wanted else list(COLUMNS)
    for name in names:
        if name not in COLUMNS:
            print(f"modes.py: error: unknown column '{name}'; known: {', '.join(COLUMNS)}",
                  file=sys.stderr)
            return 2
    ratios = {}
    try:
        benches = {name: harness.Harness(run.parse_arguments(arguments + COLUMNS[name]))
                   for name in names}
    except harness.SetupError as error:
        print(f"modes.py: error: {error}", file=sys.stderr)
        return 2
    print("| program | " + " | ".join(names) + " |")
    print("|---" * (1 + len(names)) + "|")
    for program in run.parse_arguments(arguments).names:
        cells = []
        for name in names:
            row = benches[name].measure(programs.load(program))
            if row["verified"] and row["ratio"]:
                ratios.setdefault(program, {})[name] = row["ratio"]
                cells.append(f"{row['ratio']:.3f}")
            else:
                cells.append("LIMIT" if not row["finished"] else "FAILED")
                print(f"modes.py: {program}, {name}: {row['error']}", file=sys.stderr)
        print(f"| {program} | " + " | ".join(cells) + " |", flush=True)
    whole = [row for row in ratios.values() if len(row) == len(names)]
    if whole:
        means = [math.exp(sum(math.log(row[name]) for row in whole) / len(whole))
                 for name in names]
        print(f"| geometric mean of {len(whole)} | "
              + " | ".join(f"{mean:.3f}" for mean in means) + " |")
    return 0 if len(whole) == len(ratios) and ratios else 1


if __name__ == "__main__":
    sys.exit(main())
