#!/usr/bin/env python3
"""The numbers of README's limits section, measured on this machine.

  speed.py [--build DIR] [--rodinia DIR]

  1. virtual GPU: wave-instructions a second of the processor time spent in
     dispatches (the virtual GPU's own count), one core, timing model on.
  2. decoder: events a second of processor time, `kprobe-decode stats` from process
     start to end.
  3. modelled kernel cycles without and with probes, for the programs of
     benchmarks/kernels and, with --rodinia, for Rodinia's.
"""
import argparse
import math
import os
import pathlib
import resource
import shutil
import subprocess
import sys

import measure

HERE = pathlib.Path(__file__).resolve().parent
KERNELS = ("vecadd", "matmul", "reduce", "histogram", "divergent", "nbody", "anonymous", "printf")
# Sizes at which the kernels, not the start of the program, take the time.
LARGE = {"matmul": 384, "nbody": 2000, "divergent": 100000, "histogram": 1000000}


def processor_time():
    """Of all children so far; does not grow when the machine is busy."""
    usage = resource.getrusage(resource.RUSAGE_CHILDREN)
    return usage.ru_utime + usage.ru_stime


class Bench:
    def __init__(self, build):
        self.bin = build / "bin"
        self.work = build / "speed"
        shutil.rmtree(self.work, ignore_errors=True)
        self.work.mkdir(parents=True)
        plugin = self.call([self.bin / "kprobe-config", "--plugin"]).strip()
        for variant, flags in (("plain", ()), ("traced", (f"-fpass-plugin={plugin}",))):
            self.call([HERE / "kernels/build.sh", self.work / variant, *flags])

    def call(self, command, **settings):
        environment = {name: value for name, value in os.environ.items()
                       if not name.startswith(("KPROBE_", "HSA_"))}
        environment.update(settings)
        result = subprocess.run([str(word) for word in command], check=False, env=environment,
                                stdin=subprocess.DEVNULL, capture_output=True, text=True)
        if result.returncode:
            sys.exit(f"speed.py: error: {command[0]}: exit status {result.returncode}: "
                     f"{(result.stderr or result.stdout).strip()[-300:]}")
        return result.stdout

    def run(self, name, variant, *arguments):
        """Processor time, statistics file and dump (None when plain) of one run."""
        statistics, dump = self.work / f"{name}.stats", None
        statistics.unlink(missing_ok=True)
        launcher = [self.bin / "kprobe-vgpu"]
        if variant == "traced":
            dump = self.work / f"{name}.kpd"
            dump.unlink(missing_ok=True)
            launcher = [self.bin / "kprobe-run", "--vgpu", "-o", dump]
        start = processor_time()
        self.call([*launcher, "--", self.work / variant / name, *arguments],
                  KPROBE_VGPU_STATS=str(statistics))
        return processor_time() - start, statistics, dump

    def instructions(self):
        print("virtual GPU, one core:")
        for name, size in LARGE.items():
            _, statistics, _ = self.run(name, "plain", str(size))
            many = measure.total(statistics, "instructions")
            seconds = measure.total(statistics, "host-microseconds") / 1e6
            print(f"  {name:<10} {many:>12} wave-instructions  {seconds:6.2f} s  "
                  f"{many / seconds / 1e6:6.1f} M/s", flush=True)

    def decoding(self):
        print("decoder, one core, kprobe-decode stats:")
        for name in ("nbody", "matmul"):
            _, _, dump = self.run(name, "traced", str(LARGE[name]))
            start = processor_time()
            events = measure.trace(self.bin / "kprobe-decode", dump)["events"]
            elapsed = processor_time() - start
            print(f"  {name:<10} {events:>12} events  {dump.stat().st_size:>12} bytes  "
                  f"{elapsed:6.2f} s  {events / elapsed / 1e6:6.1f} M/s", flush=True)

    def cycles(self):
        print("modelled kernel cycles, own programs, all blocks:")
        ratios = []
        for name in KERNELS:
            values = []
            for variant in ("plain", "traced"):
                _, statistics, dump = self.run(name, variant)
                # Not those of the HIP library and of ROCr, which have no name.
                names = {measure.original(kernel)
                         for kernel, _ in measure.dispatches(statistics)
                         if not kernel.startswith(("__amd_rocclr", "0x"))}
                values.append(measure.total(statistics, "modelled-cycles", names))
            ratios.append(values[1] / values[0])
            events = measure.trace(self.bin / "kprobe-decode", dump)["events"]
            print(f"  {name:<10} {values[0]:>10} plain  {values[1]:>10} traced  "
                  f"{ratios[-1]:5.3f}  {events:>8} events", flush=True)
        print(f"  geometric mean {math.exp(sum(map(math.log, ratios)) / len(ratios)):.3f}")


def main():
    parser = argparse.ArgumentParser(description="speed of kprobe on this machine")
    parser.add_argument("--build", default=HERE.parent / "build/release", type=pathlib.Path)
    parser.add_argument("--rodinia", metavar="DIR", default=os.environ.get("RODINIA_DIR"))
    options = parser.parse_args()
    options.build = options.build.resolve()
    try:
        bench = Bench(options.build)
        bench.instructions()
        bench.decoding()
        bench.cycles()
    except measure.MeasureError as error:
        print(f"speed.py: error: {error}", file=sys.stderr)
        return 1
    if not options.rodinia:
        return 0
    sys.stdout.flush()
    return subprocess.run([sys.executable, str(HERE / "rodinia/run.py"), "--rodinia",
                           options.rodinia, "--build", str(options.build)], check=False).returncode


if __name__ == "__main__":
    sys.exit(main())
