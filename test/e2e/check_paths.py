#!/usr/bin/env python3
"""check_paths.py ALL MINIMAL WORK [ARGS...]: a program built with an event in every
block (block=all) and with those only that others do not tell of shows the same
paths: for each wave of each dispatch the same sites, in the same order, with the
same lanes. Sites have the same numbers in both. And the second writes less."""
import collections
import csv
import json
import pathlib
import subprocess
import sys


def trace(program, dump, arguments):
    dump.unlink(missing_ok=True)
    subprocess.run(["kprobe-run", "--vgpu", "-o", dump, "--", program, *arguments], check=True,
                   stdout=subprocess.DEVNULL, stdin=subprocess.DEVNULL)
    table = dump.with_suffix(".csv")
    subprocess.run(["kprobe-decode", "convert", "--to", "csv", "-o", table, dump], check=True)
    paths = collections.defaultdict(list)
    with open(table, newline="", encoding="utf-8") as file:
        for row in csv.DictReader(file):
            wave = tuple(row[name] for name in ("dispatch", "kernel", "group_x", "group_y",
                                                "group_z", "wave"))
            paths[wave].append((int(row["site"]), int(row["lanes"])))
    text = subprocess.run(["kprobe-decode", "stats", "--json", dump], check=True,
                          stdout=subprocess.PIPE, text=True).stdout
    return paths, sum(kernel["events"]["written"] for kernel in json.loads(text)["kernels"])


def main():
    work = pathlib.Path(sys.argv[3])
    work.mkdir(parents=True, exist_ok=True)
    (full, every), (short, some) = (trace(program, work / name, sys.argv[4:]) for program, name in
                                    zip(sys.argv[1:3], ("all.kpd", "minimal.kpd")))
    assert full and full.keys() == short.keys(), full.keys() ^ short.keys()
    for wave, path in full.items():
        assert path == short[wave], (wave, path, short[wave])
    assert some < every, (some, every)
    print(f"same paths: {len(full)} waves, {sum(map(len, full.values()))} blocks, "
          f"{every} events or {some}")


if __name__ == "__main__":
    main()
