#!/usr/bin/env python3
"""Builds Rodinia's HIP programs with and without kprobe, runs both, checks both.

  run.py --rodinia DIR [--only nn,bfs] [--size small|default] [--json FILE] ...

DIR is the folder rodinia_3.0 of a checkout (HIP-Examples has it); nothing is
written there. A line per program says whether the results of the plain and of
the traced run are right, checked here and never by exit status, and what tracing
cost. Without a GPU everything runs on the virtual one, and then cycles are
modelled. Exit status 1 when a program fails.
"""
import argparse
import json
import math
import os
import pathlib
import sys

import harness
import programs


def parse_arguments():
    parser = argparse.ArgumentParser(
        description="Rodinia with and without kprobe, verified",
        epilog="programs: " + ", ".join(programs.NAMES))
    parser.add_argument("--rodinia", metavar="DIR", default=os.environ.get("RODINIA_DIR"),
                        help="rodinia_3.0 of a checkout (or the environment's RODINIA_DIR)")
    parser.add_argument("--only", metavar="NAMES", help="comma-separated programs")
    parser.add_argument("--arch", default="gfx906", help="target (default gfx906)")
    parser.add_argument("--compiler", choices=sorted(harness.COMPILERS), default="hipcc")
    parser.add_argument("--size", choices=programs.SIZES, default="small")
    parser.add_argument("--json", metavar="FILE", help="also write the table as JSON")
    parser.add_argument("--work", metavar="DIR", help="where to build and run "
                        "(default rodinia/ in the build tree)")
    parser.add_argument("--build", metavar="DIR", help="kprobe's build tree or prefix "
                        "(default build/release of this source tree)")
    parser.add_argument("--device", choices=("auto", "real", "virtual"), default="auto",
                        help="auto: the virtual GPU when there is no /dev/kfd")
    parser.add_argument("--timeout", type=float, default=600, metavar="SECONDS",
                        help="for one run of a program (default 600)")
    options = parser.parse_args()

    if not options.rodinia:
        parser.error("--rodinia DIR is needed (or RODINIA_DIR in the environment)")
    options.rodinia = pathlib.Path(options.rodinia).resolve()
    if not (options.rodinia / "hip").is_dir():
        parser.error(f"{options.rodinia} has no folder hip: not rodinia_3.0 of a checkout")
    source = pathlib.Path(__file__).resolve().parents[2]
    options.build = pathlib.Path(options.build or source / "build/release").resolve()
    options.work = pathlib.Path(options.work or options.build / "rodinia").resolve()
    options.names = options.only.split(",") if options.only else list(programs.NAMES)
    for name in options.names:
        if name not in programs.NAMES:
            parser.error(f"unknown program '{name}'; known: {', '.join(programs.NAMES)}")
    if options.device == "auto":
        options.device = "real" if os.path.exists("/dev/kfd") else "virtual"
    return options


def count(value):
    return "-" if value is None else f"{value:,}".replace(",", " ")


COLUMNS = "{:<12} {:<9} {:>13} {:>13} {:>6} {:>11} {:>12} {:>9} {:>9}  {}"


def row_text(row, unit):
    costs = "; ".join(
        f"{kernel['name']} {kernel['vgprs']}+{kernel['vgprs_added']}v "
        f"{kernel['waves_per_simd']}->{kernel['clone_waves_per_simd']}w"
        for kernel in row["kernels"])
    return COLUMNS.format(
        row["name"], "verified" if row["verified"] else "FAILED",
        count(row[f"{unit}_plain"]), count(row[f"{unit}_traced"]),
        f"{row['ratio']:.3f}" if row["ratio"] else "-", count(row["events"]),
        count(row["bytes"]), count(row["overwritten"]), count(row["lost"]),
        costs if row["verified"] else row["error"])


def main():
    options = parse_arguments()
    try:
        bench = harness.Harness(options)
    except harness.SetupError as error:
        print(f"run.py: error: {error}", file=sys.stderr)
        return 2

    unit = "cycles" if options.device == "virtual" else "time_ns"
    modelled = " (virtual GPU: cycles are modelled)" if unit == "cycles" else ""
    print(f"Rodinia, {options.size} inputs, {options.arch}, {options.compiler}{modelled}")
    print(COLUMNS.format("program", "result", f"{unit}", "traced", "ratio", "events",
                         "bytes", "overwrit.", "lost", "kernel VGPRs+added, waves a SIMD"))
    rows = []
    for name in options.names:
        rows.append(bench.measure(programs.load(name)))
        print(row_text(rows[-1], unit), flush=True)

    ratios = [row["ratio"] for row in rows if row["verified"] and row["ratio"]]
    geomean = math.exp(sum(map(math.log, ratios)) / len(ratios)) if ratios else None
    failed = sum(not row["verified"] for row in rows)
    print(f"geometric mean of the ratio: {geomean:.3f}" if geomean else "no ratio")
    print(f"{len(rows) - failed} of {len(rows)} programs verified")
    if options.json:
        report = {"programs": rows, "geomean": geomean, "size": options.size,
                  "device": options.device}
        try:
            pathlib.Path(options.json).write_text(json.dumps(report, indent=2) + "\n",
                                                  encoding="utf-8")
        except OSError as error:
            print(f"run.py: error: {error}", file=sys.stderr)
            return 1
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
