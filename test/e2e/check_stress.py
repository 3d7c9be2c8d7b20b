#!/usr/bin/env python3
"""check_stress.py PROGRAM MODULE WORK: stress.hip prints the same and ends the same
without kprobe and under it, however it ends and whatever is asked of kprobe; the dump
has every dispatch of `add` that it was to have, or says which are missing."""
import json
import pathlib
import subprocess
import sys

# Threads 4 x 4 x 5, the module's 5.
DISPATCHES = 85
RUNS = [(end, ()) for end in ("return", "thread", "underscore", "signal")]
RUNS += [("return", options) for options in (
    ("--mode", "exact", "--ring", "64"), ("--sample", "groups:1/2", "--every", "2"),
    ("--buffer", "16K", "--api", "hip,hsa"))]


def run(launcher, program, module, end):
    result = subprocess.run([*launcher, "--", program, end, module], check=False,
                            stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, text=True)
    return result.returncode, result.stdout


def main():
    program, module, work = sys.argv[1], sys.argv[2], pathlib.Path(sys.argv[3])
    alone = {}
    for number, (end, options) in enumerate(RUNS):
        dump = work / f"{number}.kpd"
        dump.unlink(missing_ok=True)
        if end not in alone:
            alone[end] = run(["kprobe-vgpu"], program, module, end)
        plain, traced = alone[end], run(["kprobe-run", "--vgpu", "-o", dump, *options], program, module, end)
        assert plain == traced and plain[1] == "stress: 0 wrong\n", (end, options, plain, traced)
        decoded = subprocess.run(["kprobe-decode", "stats", "--json", dump], check=False,
                                 capture_output=True, text=True)
        stats = json.loads(decoded.stdout)
        # Nothing of ours runs after these two, and a reader is told.
        cut = end in ("underscore", "signal")
        assert stats["processes"][0]["complete"] != cut, (end, options)
        assert decoded.returncode == cut and ("without a summary" in decoded.stderr) == cut
        add = next(kernel for kernel in stats["kernels"] if kernel["name"].startswith("add"))
        refused = sum(count for reason, count in stats["lost"].items()
                      if reason.startswith("dispatches_status"))
        assert add["traced"] + refused == DISPATCHES or cut, (end, options, add, stats["lost"])
        print(end, *options, add["traced"])


if __name__ == "__main__":
    main()
