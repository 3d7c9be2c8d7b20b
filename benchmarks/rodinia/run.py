#!/usr/bin/env python3
"""Builds Rodinia's HIP programs with and without kprobe, runs both, checks both.

  run.py --rodinia DIR [--only nn,bfs] [--arch gfx906|gfx90a|gfx1030]
         [--compiler hipcc|clang-19] [--size small|default] [--json FILE] ...

DIR is the folder rodinia_3.0 of a checkout (HIP-Examples has it); nothing is
written there. A line per program says whether the results of the plain and of
the traced run are right, checked here and never by exit status, and what tracing
cost; the lines below it say what each kernel and its clone need. Without a GPU
everything runs on the virtual one, and then cycles are modelled. Exit status 1
when a program fails or does not finish.

  run.py --rodinia DIR --plain

runs without kprobe, checks, and ends with the virtual GPU's speed over all of it.
"""
import argparse
import json
import math
import os
import pathlib
import sys

import builder
import harness
import programs
import resources


def parse_arguments(arguments=None, checked=True, compilers=builder.COMPILERS):
    parser = argparse.ArgumentParser(
        description="Rodinia with and without kprobe, verified",
        epilog="programs: " + ", ".join(programs.NAMES))
    parser.add_argument("--rodinia", metavar="DIR", default=os.environ.get("RODINIA_DIR"),
                        help="rodinia_3.0 of a checkout (or the environment's RODINIA_DIR)")
    parser.add_argument("--only", metavar="NAMES", help="comma-separated programs")
    parser.add_argument("--arch", choices=sorted(resources.TARGETS), default="gfx906",
                        help="target (default gfx906)")
    parser.add_argument("--compiler", choices=sorted(compilers), default="hipcc")
    parser.add_argument("--size", choices=programs.SIZES, default="small")
    parser.add_argument("--json", metavar="FILE", help="also write the table as JSON")
    parser.add_argument("--plain", action="store_true",
                        help="only the runs without kprobe")
    parser.add_argument("--pass", dest="pass_options", metavar="OPTIONS",
                        help="the pass's options in the traced builds (KPROBE_PASS)")
    parser.add_argument("--mode", help="mode of the traced runs (kprobe-run --mode)")
    parser.add_argument("--sample", help="their sampling (kprobe-run --sample)")
    parser.add_argument("--work", metavar="DIR", help="where to build and run "
                        "(default rodinia/ in the build tree)")
    parser.add_argument("--build", metavar="DIR", help="kprobe's build tree or prefix "
                        "(default build/release of this source tree)")
    parser.add_argument("--device", choices=("auto", "vgpu", "gpu"), default="auto",
                        help="auto: the virtual GPU when there is no /dev/kfd")
    parser.add_argument("--limit", type=float, default=600, metavar="SECONDS",
                        help="most time for one run of a program (default 600)")
    options = parser.parse_args(arguments)

    if not options.rodinia:
        parser.error("--rodinia DIR is needed (or RODINIA_DIR in the environment)")
    options.rodinia = pathlib.Path(options.rodinia).resolve()
    if checked and not (options.rodinia / "hip").is_dir():
        parser.error(f"{options.rodinia} has no folder hip: not rodinia_3.0 of a checkout")
    source = pathlib.Path(__file__).resolve().parents[2]
    options.build = pathlib.Path(options.build or source / "build/release").resolve()
    options.work = pathlib.Path(options.work or options.build / "rodinia").resolve()
    options.names = options.only.split(",") if options.only else list(programs.NAMES)
    for name in options.names:
        if name not in programs.NAMES:
            parser.error(f"unknown program '{name}'; known: {', '.join(programs.NAMES)}")
    if options.device == "auto":
        options.device = "gpu" if os.path.exists("/dev/kfd") else "vgpu"
    return options


def count(value):
    return "-" if value is None else f"{value:,}".replace(",", " ")


def seconds(value):
    return "-" if value is None else f"{value:.1f}"


COLUMNS = "{:<21} {:<9} {:>15} {:>15} {:>6} {:>11} {:>12} {:>9} {:>7} {:>7} {:>7}"


def row_text(row, unit):
    result = "verified" if row["verified"] else "FAILED" if row["finished"] else "LIMIT"
    line = COLUMNS.format(
        row["name"], result, count(row[f"{unit}_plain"]), count(row[f"{unit}_traced"]),
        f"{row['ratio']:.3f}" if row["ratio"] else "-", count(row["events"]),
        count(row["bytes"]), count(row["overwritten"]), count(row["lost"]),
        seconds(row["seconds_plain"]), seconds(row["seconds_traced"]))
    return line + (f"  {row['error']}" if row["error"] else "")


def kernel_text(kernel):
    plain, clone = kernel["plain"], kernel["clone"]

    def change(what):
        return f"{plain[what]}" + (f">{clone[what]}" if clone else "")

    cycles = [kernel.get(f"cycles_{variant}") for variant in ("plain", "traced")]
    ratio = f"{cycles[1] / cycles[0]:.3f}" if all(cycles) else "-"
    return (f"    {kernel['name'][:44]:<44} {count(cycles[0]):>13} {ratio:>7}  VGPRs {change('vgprs'):<7} "
            f"SGPRs {change('sgprs'):<7} LDS {change('lds'):<11} "
            f"scratch {change('scratch'):<7} waves {change('waves_per_simd')}")


def summary(rows, size):
    """The last lines, and the same as data."""
    ratios = [row["ratio"] for row in rows if row["verified"] and row["ratio"]]
    report = {"programs": rows, "size": size, "geomean": None, "instructions_per_second": None}
    lines = []
    instructions = sum(row["instructions"] or 0 for row in rows)
    spent = sum(row["host_seconds"] or 0 for row in rows)
    if spent:
        report["instructions_per_second"] = instructions / spent
        lines.append(f"virtual GPU, plain runs: {count(instructions)} wave-instructions in "
                     f"{spent:.1f} s of processor time, {instructions / spent / 1e6:.1f} million "
                     "a second")
    late = [row["name"] for row in rows if not row["finished"]]
    if late:
        lines.append(f"not finished within the limit: {', '.join(late)}")
    lines.append(f"{sum(row['verified'] for row in rows)} of {len(rows)} programs verified")
    if ratios:
        report["geomean"] = math.exp(sum(map(math.log, ratios)) / len(ratios))
        lines.append(f"geometric mean of the ratio: {report['geomean']:.3f} "
                     f"({len(ratios)} programs)")
    return lines, report


def main():
    options = parse_arguments()
    try:
        bench = harness.Harness(options)
    except harness.SetupError as error:
        print(f"run.py: error: {error}", file=sys.stderr)
        return 2

    unit = harness.UNITS[options.device]
    modelled = " (virtual GPU: cycles are modelled)" if options.device == "vgpu" else ""
    print(f"Rodinia, {options.size} inputs, {options.arch}, {options.compiler}{modelled}")
    print(COLUMNS.format("program", "result", unit, "traced", "ratio", "events", "bytes",
                         "overwrit.", "lost", "s plain", "traced"))
    rows = []
    for name in options.names:
        rows.append(bench.measure(programs.load(name)))
        print(row_text(rows[-1], unit))
        for kernel in rows[-1]["kernels"]:
            print(kernel_text(kernel))
        sys.stdout.flush()

    lines, report = summary(rows, options.size)
    print("\n".join(lines))
    report["device"] = options.device
    if options.json:
        try:
            pathlib.Path(options.json).write_text(json.dumps(report, indent=2) + "\n",
                                                  encoding="utf-8")
        except OSError as error:
            print(f"run.py: error: {error}", file=sys.stderr)
            return 1
    return 0 if all(row["verified"] for row in rows) else 1


if __name__ == "__main__":
    sys.exit(main())
