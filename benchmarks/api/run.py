#!/usr/bin/env python3
"""run.py [--build DIR] [--rounds N] [--calls N] [--dispatches N]

Runs calls.hip on the virtual GPU with and without recorded API calls, in turn,
and prints medians: nanoseconds that recording adds to a call and to a dispatch,
and the ratio of the loops' times. `watched` is kprobe-run without --api: what
watching dispatches costs by itself.
"""
import argparse
import json
import pathlib
import statistics
import subprocess
import sys
import tempfile

HERE = pathlib.Path(__file__).resolve().parent
VARIANTS = {"plain": None, "watched": [], "hip": ["--api", "hip"], "hip,hsa": ["--api", "hip,hsa"]}


class BenchmarkError(Exception):
    pass


def call(command):
    result = subprocess.run([str(part) for part in command], capture_output=True, text=True,
                            check=False)
    if result.returncode:
        raise BenchmarkError(f"{command[0]}: {result.stderr.strip()}")
    return result.stdout


def measure(options, program, folder, variant):
    """The loops' times, and what was recorded."""
    bin_folder = options.build / "bin"
    numbers = [str(options.calls), str(options.dispatches)]
    if VARIANTS[variant] is None:
        text = call([bin_folder / "kprobe-vgpu", "--", program, *numbers])
        recorded = {}
    else:
        dump = folder / "calls.kpd"
        dump.unlink(missing_ok=True)
        text = call([bin_folder / "kprobe-run", "--vgpu", *VARIANTS[variant], "-o", dump, "--",
                     program, *numbers])
        stats = json.loads(call([bin_folder / "kprobe-decode", "stats", "--json", dump]))
        recorded = {row["function"]: row["calls"] for row in stats["calls"]}
        lost = [key for key in stats["lost"] if key.startswith("host_events")]
        if lost:
            raise BenchmarkError(f"events were lost ({lost}): the figures would flatter")
    times = {key: int(value) for key, value in (line.split() for line in text.splitlines())}
    return times, recorded


def main():
    parser = argparse.ArgumentParser(description="overhead of recorded API calls")
    parser.add_argument("--build", type=pathlib.Path,
                        default=HERE.parent.parent / "build" / "release")
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--calls", type=int, default=100000)
    parser.add_argument("--dispatches", type=int, default=10000)
    options = parser.parse_args()
    options.build = options.build.resolve()
    try:
        with tempfile.TemporaryDirectory() as name:
            folder = pathlib.Path(name)
            program = folder / "calls"
            call(["hipcc", "--offload-arch=gfx906", "-O2", HERE / "calls.hip", "-o", program])
            rounds = [{variant: measure(options, program, folder, variant) for variant in VARIANTS}
                      for _ in range(options.rounds)]
    except (BenchmarkError, OSError) as error:
        print(f"run.py: error: {error}", file=sys.stderr)
        return 1
    print(f"{options.rounds} rounds, {options.calls} calls of hipGetDevice, "
          f"{options.dispatches} dispatches; medians of paired rounds, by the clock (and by the "
          "thread's processor time)")

    def added(variant, key, count, base="plain"):
        return statistics.median((one[variant][0][key] - one[base][0][key]) / count
                                 for one in rounds)

    def ratio(variant, key):
        return statistics.median(one[variant][0][key] / one["plain"][0][key] for one in rounds)

    for what, count in (("calls", options.calls), ("submit", options.dispatches)):
        per = {key: statistics.median(one["plain"][0][key] for one in rounds) / count
               for key in (f"{what}_ns", f"{what}_busy_ns")}
        print(f"{what}, plain: " + " ({:.1f}) ns each".format(per[f"{what}_busy_ns"]).join(
            [f"{per[f'{what}_ns']:.1f}", ""]))
        for variant in list(VARIANTS)[1:]:
            print(f"{what}, {variant}: +{added(variant, f'{what}_ns', count):.1f} "
                  f"(+{added(variant, f'{what}_busy_ns', count):.1f}) ns each, "
                  f"x{ratio(variant, f'{what}_ns'):.2f} (x{ratio(variant, f'{what}_busy_ns'):.2f}); "
                  f"{sum(rounds[0][variant][1].values())} calls recorded in all")
    return 0


if __name__ == "__main__":
    sys.exit(main())
