#!/usr/bin/env python3
"""run.py [--build DIR] [--json FILE]: what an event costs as kprobe and as other tools
write it, on the virtual GPU (gfx906, modelled).

Runs peers.hip, once as it is and once with the plug-in and traced, for two numbers of
rounds. An event's cost is what a further round takes more than a round without events:
cycles of the whole dispatch, in which 240 waves write one event each, and instructions
of one wave. What waves do at their begin and end is in neither; it is the last column.
"""
import argparse
import json
import os
import pathlib
import subprocess
import sys
import tempfile

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent))
import measure  # noqa: E402

FEW, MANY, WAVES = 16, 80, 240
# Kernel: what it is, and bytes of an event as it is stored.
KERNELS = {
    "kprobe": ("kprobe, an event of every block", 8),
    "scalar": ("scalar stores, two full waits", 24),
    "atomic": ("an atomic on memory for each event", 16),
    "lock": ("spin lock, one line to the host", 64),
    "leader": ("a leading lane, ring in LDS", 8),
}


def run(command, settings=None):
    environment = {name: value for name, value in os.environ.items()
                   if not name.startswith(("KPROBE_", "HSA_TOOLS"))}
    result = subprocess.run([str(word) for word in command], capture_output=True, text=True,
                            check=False, env={**environment, **(settings or {})})
    if result.returncode:
        raise measure.MeasureError(f"{command[0]}: {result.stderr.strip()}")
    return result.stdout


def counters(launcher, program, rounds, statistics):
    """{kernel: its counters} of one run."""
    statistics.unlink(missing_ok=True)
    run([*launcher, program, rounds], {"KPROBE_VGPU_STATS": str(statistics)})
    return dict(measure.dispatches(statistics))


def main():
    parser = argparse.ArgumentParser(description="cost of an event beside other tools' events")
    parser.add_argument("--build", type=pathlib.Path, default=HERE.parents[1] / "build" / "release")
    parser.add_argument("--json", type=pathlib.Path)
    options = parser.parse_args()
    programs = options.build.resolve() / "bin"
    try:
        with tempfile.TemporaryDirectory() as name:
            folder = pathlib.Path(name)
            compiler = ["hipcc", "--offload-arch=gfx906", "-O3", HERE / "peers.hip"]
            plugin = run([programs / "kprobe-config", "--plugin"]).strip()
            run([*compiler, "-o", folder / "peers"])
            run([*compiler, f"-fpass-plugin={plugin}", "-o", folder / "probed"],
                {"KPROBE_PASS": "kernels=bare"})
            found, events = {}, {}
            for rounds in (FEW, MANY):
                found[rounds] = counters([programs / "kprobe-vgpu", "--"], folder / "peers", rounds,
                                         folder / "statistics")
                dump = folder / f"{rounds}.kpd"
                probed = counters([programs / "kprobe-run", "--vgpu", "-o", dump, "--"],
                                  folder / "probed", rounds, folder / "statistics")
                found[rounds]["kprobe"] = probed["bare" + measure.CLONE]
                events[rounds] = measure.trace(programs / "kprobe-decode", dump)["events"]
    except (measure.MeasureError, OSError) as error:
        print(f"run.py: error: {error}", file=sys.stderr)
        return 1

    def round_of(kernel, counter):
        return (found[MANY][kernel][counter] - found[FEW][kernel][counter]) / (MANY - FEW)

    rows = []
    for kernel, (text, size) in KERNELS.items():
        # Every kernel writes one event a wave and round: checked by the program; ours here.
        if kernel == "kprobe":
            assert events[MANY] - events[FEW] == WAVES * (MANY - FEW), events
        cost = {counter: round_of(kernel, counter) - round_of("bare", counter)
                for counter in ("modelled-cycles", "instructions")}
        fixed = found[FEW][kernel]["modelled-cycles"] - found[FEW]["bare"]["modelled-cycles"] \
            - FEW * cost["modelled-cycles"]
        rows.append({"kernel": kernel, "text": text, "bytes": size,
                     "cycles": cost["modelled-cycles"],
                     "instructions": cost["instructions"] / WAVES, "fixed_cycles": fixed})
    bare = round_of("bare", "modelled-cycles")
    print(f"A round without an event: {bare:.0f} cycles.\n\n"
          "| event | bytes | cycles | instructions | cycles once a wave |\n|---|---|---|---|---|")
    for row in rows:
        print(f"| {row['text']} | {row['bytes']} | {row['cycles']:.0f} | "
              f"{row['instructions']:.1f} | {row['fixed_cycles']:.0f} |")
    if options.json:
        options.json.write_text(json.dumps({"round": bare, "rows": rows}, indent=1), encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
