#!/usr/bin/env python3
"""Prints reports of run.py --json as one Markdown table, side by side.

  table.py [--verified] FILE...

Several files may hold parts of one run (--only): those of the same target, compiler
and size become one pair of columns. With --verified one column says which results were
right, of the plain and of the traced run, and how long the plain one took if its inputs
are the default ones.
"""
import json
import math
import pathlib
import sys


def load(paths):
    """{(arch, compiler, size): {program: row}}, in the order of the files."""
    found = {}
    for path in paths:
        for row in json.loads(pathlib.Path(path).read_text(encoding="utf-8"))["programs"]:
            key = (row["arch"], row["compiler"], row["size"])
            found.setdefault(key, {})[row["name"]] = row
    return found


def cells(row):
    """Plain cycles (or times), and the ratio or why there is none."""
    if row is None:
        return "", ""
    plain = row["cycles_plain"] or row["time_ns_plain"]
    shown = f"{plain:,}".replace(",", " ") if plain else ""
    if not row["finished"]:
        return shown, "limit"
    if not row["verified"]:
        return shown, "FAILED"
    return shown, f"{row['ratio']:.3f}" if row["ratio"] else "verified"


def verdict(row):
    """Which runs gave right results."""
    if row is None:
        return ""
    if not row["finished"]:
        return row["error"]
    if not row["verified"]:
        return "FAILED"
    runs = "both" if row["events"] else "plain"
    return runs if row["size"] == "small" else f"{runs}, {row['seconds_plain']:.0f} s"


def print_verdicts(reports, heads, names):
    print("| program | " + " | ".join(heads) + " |")
    print("|---" * (1 + len(heads)) + "|")
    for name in names:
        print(f"| {name} | " + " | ".join(verdict(rows.get(name)) for rows in reports.values())
              + " |")
    right = [sum(row["verified"] for row in rows.values()) for rows in reports.values()]
    print("| verified | " + " | ".join(f"{number} of {len(rows)}" for number, rows
                                       in zip(right, reports.values())) + " |")


def main():
    verdicts = "--verified" in sys.argv
    if verdicts:
        sys.argv.remove("--verified")
    if len(sys.argv) < 2:
        print(__doc__.strip(), file=sys.stderr)
        return 2
    try:
        reports = load(sys.argv[1:])
    except (OSError, ValueError, KeyError) as error:
        print(f"table.py: error: {error!r}", file=sys.stderr)
        return 1
    heads = [f"{arch}, {compiler}" + ("" if size == "small" else f", {size}")
             for arch, compiler, size in reports]
    names = list(dict.fromkeys(name for rows in reports.values() for name in rows))
    if verdicts:
        print_verdicts(reports, heads, names)
        return 0
    print("| program | " + " | ".join(f"{head} | traced" for head in heads) + " |")
    print("|---" * (1 + 2 * len(heads)) + "|")
    for name in names:
        row = [cell for rows in reports.values() for cell in cells(rows.get(name))]
        print(f"| {name} | " + " | ".join(row) + " |")
    means = []
    for rows in reports.values():
        ratios = [row["ratio"] for row in rows.values() if row["verified"] and row["ratio"]]
        mean = math.exp(sum(map(math.log, ratios)) / len(ratios)) if ratios else None
        means += [f"{len(ratios)} programs", f"{mean:.3f}" if mean else ""]
    print("| geometric mean | " + " | ".join(means) + " |")
    return 0


if __name__ == "__main__":
    sys.exit(main())
