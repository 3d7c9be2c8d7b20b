#!/usr/bin/env python3
"""What the plug-in adds to compiling Rodinia.

  compile_time.py --rodinia DIR [--rounds N] [--only nn,bfs] [run.py's options]

Compiles the device code of each program without and with the plug-in, in turn, and
compares processor time (user and system, of the compiler and what it starts): medians
of N rounds (default 3), their ratio, and the ratio of the sums.
"""
import os
import resource
import statistics
import subprocess
import sys

import builder
import harness
import programs
import run


def spent(command, environment):
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    subprocess.run([str(word) for word in command], check=True, env=environment,
                   stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def main():
    arguments = sys.argv[1:]
    rounds = 3
    if "--rounds" in arguments:
        at = arguments.index("--rounds")
        rounds = int(arguments[at + 1])
        del arguments[at:at + 2]
    options = run.parse_arguments(arguments)
    try:
        bench = harness.Harness(options)
    except harness.SetupError as error:
        print(f"compile_time.py: error: {error}", file=sys.stderr)
        return 2
    print("| program | without, s | with, s | ratio |\n|---|---|---|---|")
    sums = {"plain": 0.0, "traced": 0.0}
    for name in options.names:
        program = programs.load(name)
        medians = {}
        times = {"plain": [], "traced": []}
        for _ in range(rounds):
            for variant in times:
                total = 0.0
                for source in program.sources:
                    command = bench.builder.device_command(program, variant)
                    total += spent([*command, "--cuda-device-only", "-c",
                                    builder.ours(source, bench.builder.home(program)),
                                    "-o", os.devnull], bench.builder.environment)
                times[variant].append(total)
        for variant, values in times.items():
            medians[variant] = statistics.median(values)
            sums[variant] += medians[variant]
        print(f"| {name} | {medians['plain']:.2f} | {medians['traced']:.2f} | "
              f"{medians['traced'] / medians['plain']:.2f} |", flush=True)
    print(f"| all | {sums['plain']:.2f} | {sums['traced']:.2f} | "
          f"{sums['traced'] / sums['plain']:.2f} |")
    return 0


if __name__ == "__main__":
    sys.exit(main())
