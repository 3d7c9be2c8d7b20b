#!/usr/bin/env python3
"""Counters of blocks say what a trace of all events says.

check_visits.py TRACED COUNTED WORK runs a program built in mode ring, with rings that
hold everything, and the same built in mode counters. Each block of each kernel was
visited as often and by as many lanes in the one as in the other; the second run
wrote no event, and none of its blocks has a time.
"""
import json
import os
import pathlib
import subprocess
import sys


def kernels_of(program, work, name, *options):
    dump = work / f"{name}.kpd"
    dump.unlink(missing_ok=True)
    subprocess.run(["kprobe-run", "--vgpu", *options, "-o", dump, "--", program], check=True,
                   stdout=subprocess.DEVNULL, stdin=subprocess.DEVNULL,
                   env=dict(os.environ, KPROBE_RING="1M"))
    text = subprocess.run(["kprobe-decode", "stats", "--json", "--top", "1000000", dump],
                          check=True, stdout=subprocess.PIPE, text=True).stdout
    return {kernel["mangled"]: kernel for kernel in json.loads(text)["kernels"]
            if kernel["traced"]}


def visits(kernel):
    return {block["site"]: (block["hits"], block["lanes"]) for block in kernel["blocks"]
            if block["hits"]}


def main():
    traced_program, counted_program, work = sys.argv[1:3] + [pathlib.Path(sys.argv[3])]
    work.mkdir(parents=True, exist_ok=True)
    traced = kernels_of(traced_program, work, "traced")
    counted = kernels_of(counted_program, work, "counted", "--mode", "counters")
    assert traced.keys() == counted.keys() and traced, (traced.keys(), counted.keys())
    for name, kernel in traced.items():
        assert kernel["events"]["kept"] == kernel["events"]["written"] > 0, name
        other = counted[name]
        assert other["modes"] == {"counters": other["traced"]}, other["modes"]
        assert not other["modes_refused"] and not any(other["events"].values()), other
        assert not any(block["timed_hits"] for block in other["blocks"]), name
        assert visits(kernel) == visits(other), (name, visits(kernel), visits(other))
        print(f"{name}: {len(visits(other))} blocks, "
              f"{sum(hits for hits, _ in visits(other).values())} visits")


if __name__ == "__main__":
    main()
