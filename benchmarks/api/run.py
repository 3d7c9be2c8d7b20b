#!/usr/bin/env python3
"""run.py [--build DIR] [--rounds N] [--calls N] [--dispatches N]

Runs calls.hip on the virtual GPU with and without recorded API calls, in turn,
and prints medians: nanoseconds that recording adds to a call and to a dispatch,
and the ratio of the loops' times. `traced` is kprobe-run without --api: its
dispatches are traced, its calls are not; `lttng` is hip,hsa with --lttng and a
session of LTTng-UST that records the events; `tracepoint` is a loop of nothing but
the two LTTng events of a call (tracepoint.cpp), for comparison.
"""
import argparse
import contextlib
import json
import os
import pathlib
import shutil
import statistics
import subprocess
import sys
import tempfile
import time

HERE = pathlib.Path(__file__).resolve().parent
VARIANTS = {"plain": None, "traced": [], "hip": ["--api", "hip"], "hip,hsa": ["--api", "hip,hsa"],
            "lttng": ["--lttng"]}
# Rings so large that the threads' ends and the drain do not decide.
os.environ.setdefault("KPROBE_API_BUFFER", "64M")


class BenchmarkError(Exception):
    pass


def call(command):
    result = subprocess.run([str(part) for part in command], capture_output=True, text=True,
                            check=False)
    if result.returncode:
        raise BenchmarkError(f"{command[0]}: {result.stderr.strip()}")
    return result.stdout


@contextlib.contextmanager
def daemon():
    """The session daemon: the one that runs, else one of our own."""
    def answers():
        return subprocess.run(["lttng", "--no-sessiond", "list"], capture_output=True,
                              check=False).returncode == 0
    own = None
    if not answers():
        own = subprocess.Popen(["lttng-sessiond", "--no-kernel"], stdout=subprocess.DEVNULL,
                               stderr=subprocess.DEVNULL)
        for _ in range(100):
            if answers():
                break
            time.sleep(0.05)
        else:
            raise BenchmarkError("lttng-sessiond does not answer")
    try:
        yield
    finally:
        if own:
            own.terminate()
            own.wait()


@contextlib.contextmanager
def session(folder):
    """A session that records our events; an error if it had to discard any."""
    name = f"kprobe-benchmark-{os.getpid()}"
    trace = folder / "lttng"
    call(["lttng", "create", name, f"--output={trace}"])
    try:
        call(["lttng", "enable-channel", "-s", name, "-u", "c", "--subbuf-size=8M", "--num-subbuf=8"])
        call(["lttng", "enable-event", "-s", name, "-c", "c", "-u", "kprobe:*"])
        call(["lttng", "start", name])
        yield
        if "discarded" in call(["lttng", "stop", name]):
            raise BenchmarkError("LTTng discarded events: the figures would flatter")
    finally:
        call(["lttng", "destroy", name])
        shutil.rmtree(trace, ignore_errors=True)


def own_cost(options, program, folder):
    with session(folder):
        text = call([program, options.calls])
    return {key: int(value) for key, value in (line.split() for line in text.splitlines())}


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
        with session(folder) if variant == "lttng" else contextlib.nullcontext():
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
            # Without the tool it runs its original kernels.
            call(["hipcc", "--offload-arch=gfx906", "-O2",
                  f"-fpass-plugin={options.build / 'lib' / 'kprobe-pass-llvm15.so'}",
                  HERE / "calls.hip", "-o", program])
            tracepoint = folder / "tracepoint"
            root = HERE.parent.parent
            call(["g++", "-std=c++17", "-O2", "-I", root / "runtime", "-I",
                  root / "device-rt" / "include", HERE / "tracepoint.cpp", "-o", tracepoint,
                  "-llttng-ust", "-ldl"])
            rounds = []
            with daemon():
                for _ in range(options.rounds):
                    rounds.append({variant: measure(options, program, folder, variant)
                                   for variant in VARIANTS})
                    rounds[-1]["tracepoint"] = own_cost(options, tracepoint, folder), {}
    except (BenchmarkError, OSError) as error:
        print(f"run.py: error: {error}", file=sys.stderr)
        return 1
    print(f"{options.rounds} rounds, {options.calls} calls of hipGetDevice, "
          f"{options.dispatches} dispatches; medians of paired rounds, by the clock (and by the "
          "thread's processor time)")

    def added(variant, key, count, base="plain"):
        return statistics.median((one[variant][0][key] - one[base][0][key]) / count
                                 for one in rounds)

    per = {key: statistics.median(one["tracepoint"][0][key] for one in rounds) / options.calls
           for key in ("calls_ns", "calls_busy_ns")}
    print(f"LTTng's own two tracepoints: {per['calls_ns']:.1f} ({per['calls_busy_ns']:.1f}) ns a call")

    def ratio(variant, key):
        return statistics.median(one[variant][0][key] / one["plain"][0][key] for one in rounds)

    for what, clock, count in (("calls", "calls_ns", options.calls),
                               ("submit", "submit_ns", options.dispatches),
                               ("submit, typical", "submit_typical_ns", options.dispatches)):
        busy = clock.split("_")[0] + "_busy_ns"
        per = {key: statistics.median(one["plain"][0][key] for one in rounds) / count
               for key in (clock, busy)}
        print(f"{what}, plain: {per[clock]:.1f} ({per[busy]:.1f}) ns each")
        for variant in list(VARIANTS)[1:]:
            print(f"{what}, {variant}: +{added(variant, clock, count):.1f} "
                  f"(+{added(variant, busy, count):.1f}) ns each, "
                  f"x{ratio(variant, clock):.2f} (x{ratio(variant, busy):.2f}); "
                  f"{sum(rounds[0][variant][1].values())} calls recorded in all")
    return 0


if __name__ == "__main__":
    sys.exit(main())
