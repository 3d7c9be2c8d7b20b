#!/usr/bin/env python3
"""How right and how costly samples are.

    measure.py [--build DIR] [--runs N] [--seconds S] [--parts accuracy,floor,…]

accuracy: shares.cpp and shares.py under `kprobe-run --profile=cpu-clock:1ms`; the
error of each function's share in points of a percent against what the program
measured of itself, median over the runs.
floor: what the machine takes for an overflow before any profiler works (floor.cpp).
handler: the handler's own time by depth (handler.py), if the target
kprobe-handler-benchmark was built.
slowdown: the same program plain, profiled and, where perf is installed, under
`perf record -g`, one after another in each run; median of the ratios of their
processor times, for stack depths 1 to 100, and what that is for one sample.
"""
import argparse
import os
import re
import resource
import shutil
import statistics
import subprocess
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))


def processor_time(command, **options):
    """Output and user + system seconds of a command."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    text = subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True,
                          stderr=subprocess.DEVNULL, **options).stdout
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return text, (after.ru_utime - before.ru_utime) + (after.ru_stime - before.ru_stime)


def shares(text):
    times = {name: float(value) for name, value in map(str.split, text.splitlines()[1:])}
    return {name: 100 * value / sum(times.values()) for name, value in times.items()}


def sampled(folded, names):
    """Percent and number of samples by function, of what lies in one of them."""
    weights = dict.fromkeys(names, 0)
    for line in folded.splitlines():
        stack, weight = line.rsplit(" ", 1)
        for frame in stack.split(";"):
            name = re.split(r"[( ]", frame)[0]
            if name in weights:
                weights[name] += int(weight)
    total = sum(weights.values())
    return {name: 100 * w / total for name, w in weights.items()}, total / 1e6


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--build", default=os.path.join(HERE, "../../build/release"))
    parser.add_argument("--runs", type=int, default=10)
    parser.add_argument("--seconds", default="10")
    parser.add_argument("--depths", default="1,10,100")
    parser.add_argument("--parts", default="accuracy,floor,handler,slowdown")
    arguments = parser.parse_args()
    tools = os.path.join(arguments.build, "bin")
    with tempfile.TemporaryDirectory() as folder:
        native = os.path.join(folder, "shares")
        subprocess.run(["c++", "-O1", "-g", os.path.join(HERE, "shares.cpp"), "-o", native],
                       check=True)
        programs = {"native": [native],
                    "python": ["/usr/bin/python3", os.path.join(HERE, "shares.py")]}

        def profile(command, period="1ms"):
            dump = os.path.join(folder, "run.kpd")
            if os.path.exists(dump):
                os.unlink(dump)
            run = [os.path.join(tools, "kprobe-run"), f"--profile=cpu-clock:{period}", "-o", dump,
                   "--"]
            return processor_time(run + command), dump

        parts = arguments.parts.split(",")
        for kind, program in programs.items() if "accuracy" in parts else ():
            errors, counts = {}, []
            for _ in range(arguments.runs):
                (text, _), dump = profile(program + [arguments.seconds])
                truth = shares(text)
                folded, _ = processor_time([os.path.join(tools, "kprobe-decode"), "flame",
                                            "--of", "samples", dump])
                got, count = sampled(folded, truth)
                counts.append(count)
                for name in truth:
                    errors.setdefault(name, []).append(got[name] - truth[name])
            print(f"{kind}: {statistics.median(counts):.0f} samples a run, {arguments.runs} runs; "
                  "median error of each share, points:")
            print("  " + ", ".join(f"{name} {statistics.median(e):+.2f}"
                                   for name, e in errors.items()))
            print(f"  largest of all runs {max(abs(x) for e in errors.values() for x in e):.2f}")

        if "floor" in parts:
            floor = os.path.join(folder, "floor")
            subprocess.run(["c++", "-O1", os.path.join(HERE, "floor.cpp"), "-o", floor],
                           check=True)
            print("floor:", processor_time([floor])[0], end="", flush=True)
        library = os.path.join(arguments.build, "benchmarks", "libkprobe-handler-benchmark.so")
        if "handler" in parts and os.path.exists(library):
            print(processor_time(["/usr/bin/python3", os.path.join(HERE, "handler.py"), library])[0],
                  end="", flush=True)

        for kind, program in programs.items() if "slowdown" in parts else ():
            for depth in map(int, arguments.depths.split(",")):
                command = program + [arguments.seconds, str(depth)]
                # The same work in all runs that are compared.
                command.append(processor_time(command)[0].split()[1])
                perf = ["perf", "record", "-q", "-e", "cpu-clock:u", "-c", "1000000", "-g", "-o",
                        os.path.join(folder, "perf.data"), "--"]
                tools_by_name = {"kprobe": lambda: profile(command)[0][1],
                                 "kprobe without a sample": lambda: profile(command, "1000s")[0][1]}
                if shutil.which("perf"):
                    tools_by_name["perf"] = lambda: processor_time(perf + command)[1]
                ratios = {name: [] for name in tools_by_name}
                # Each beside two plain runs: a virtual machine's speed changes by the second.
                before = processor_time(command)[1]
                for _ in range(arguments.runs):
                    for tool, cost in tools_by_name.items():
                        own, after = cost(), processor_time(command)[1]
                        ratios[tool].append(2 * own / (before + after))
                        before = after
                for tool, values in ratios.items():
                    slow = statistics.median(values) - 1
                    print(f"{kind}, depth {depth}, {tool}: {100 * slow:+.2f} % at 1000 samples a "
                          "second", flush=True)


if __name__ == "__main__":
    sys.exit(main())
