#!/usr/bin/env python3
"""check_exact.py PROGRAM WORK: in mode exact, with rings of 8 events, nothing is lost
of inplace.hip's kernels, whose results would be wrong if their memory were not put
back: output and every wave's blocks are those of a run with rings that hold all.
The dispatch that writes to host memory is traced once, and the statistics say why."""
import collections
import csv
import json
import pathlib
import subprocess
import sys


def run(program, dump, *options):
    dump.unlink(missing_ok=True)
    output = subprocess.run(["kprobe-run", "--vgpu", "-o", dump, *options, "--", program],
                            check=True, stdout=subprocess.PIPE, stdin=subprocess.DEVNULL).stdout
    table = dump.with_suffix(".csv")
    subprocess.run(["kprobe-decode", "convert", "--to", "csv", "-o", table, dump], check=True)
    waves = collections.defaultdict(list)
    with open(table, newline="", encoding="utf-8") as file:
        for row in csv.DictReader(file):
            key = (int(row["dispatch"]), row["kernel"], row["group_x"], row["wave"])
            waves[key].append((int(row["site"]), int(row["lanes"])))
    text = subprocess.run(["kprobe-decode", "stats", "--json", dump], check=True,
                          stdout=subprocess.PIPE, text=True).stdout
    kernels = {kernel["name"].split("(")[0]: kernel for kernel in json.loads(text)["kernels"]
               if kernel["traced"]}
    return output, waves, kernels


def main():
    program, work = sys.argv[1], pathlib.Path(sys.argv[2])
    work.mkdir(parents=True, exist_ok=True)
    output, full, _ = run(program, work / "full.kpd", "--ring", "1M")
    same, exact, kernels = run(program, work / "exact.kpd", "--ring", "64", "--mode", "exact")
    assert same == output, (same, output)
    refused = "it may reach memory that the host sees"
    assert kernels["update"]["modes"] == {"ring": 1, "exact": 2}, kernels["update"]["modes"]
    assert kernels["update"]["modes_refused"] == {refused: 1}, kernels["update"]
    assert kernels["update"]["events"]["overwritten"] > 0
    for name in ("count", "chase"):
        kernel = kernels[name]
        assert kernel["modes"] == {"exact": 1} and not kernel["modes_refused"], kernel
        assert kernel["events"]["written"] == kernel["events"]["kept"] > 8, kernel["events"]
    assert full.keys() == exact.keys(), full.keys() ^ exact.keys()
    last = max(key[0] for key in full if key[1].startswith("update"))
    whole = 0
    for wave, path in full.items():
        if wave[0] != last:
            assert exact[wave] == path, (wave, path, exact[wave])
            whole += len(path)
    print(f"exact: {whole} blocks, none lost")


if __name__ == "__main__":
    main()
