#!/usr/bin/env python3
"""check_sampling.py TARGET PROGRAM WORK [ARGS...]: a traced run in which only some waves
are sampled has exactly the waves that its rate says, each with the same blocks and
lanes as in a run in which all are, and the program's output stays the same. The
statistics state rate and count."""
import collections
import csv
import json
import os
import pathlib
import subprocess
import sys


def run(target, program, dump, arguments, *options):
    dump.unlink(missing_ok=True)
    output = subprocess.run(["kprobe-run", f"--vgpu={target}", "-o", dump, *options, "--", program,
                             *arguments], check=True, stdout=subprocess.PIPE,
                            stdin=subprocess.DEVNULL,
                            env=dict(os.environ, KPROBE_BUFFER="1G")).stdout
    table = dump.with_suffix(".csv")
    subprocess.run(["kprobe-decode", "convert", "--to", "csv", "-o", table, dump], check=True)
    waves = collections.defaultdict(list)
    with open(table, newline="", encoding="utf-8") as file:
        for row in csv.DictReader(file):
            key = tuple(int(row[name]) for name in ("dispatch", "group_z", "group_y", "group_x",
                                                    "wave"))
            waves[key].append((int(row["site"]), int(row["lanes"])))
    text = subprocess.run(["kprobe-decode", "stats", "--json", dump], check=True,
                          stdout=subprocess.PIPE, text=True).stdout
    return output, waves, json.loads(text)["kernels"]


def chosen(full, by_groups, rate):
    """The waves that the rate chooses: of each dispatch, in the order of its grid."""
    wanted = {}
    for dispatch in {key[0] for key in full}:
        keys = sorted(key for key in full if key[0] == dispatch)
        groups = {key: number for number, key in enumerate(sorted({key[1:4] for key in keys}))}
        group_waves = 1 + max(key[4] for key in keys)
        for key in keys:
            number = groups[key[1:4]]
            if not by_groups:
                number = number * group_waves + key[4]
            if number % rate == 0:
                wanted[key] = full[key]
    return wanted


def main():
    target, program, work = sys.argv[1], sys.argv[2], pathlib.Path(sys.argv[3])
    arguments = sys.argv[4:]
    work.mkdir(parents=True, exist_ok=True)
    output, full, _ = run(target, program, work / "full.kpd", arguments)
    for by_groups, rate in ((False, 4), (True, 2), (False, 64)):
        option = f"{'groups' if by_groups else 'waves'}:1/{rate}"
        same, some, kernels = run(target, program, work / f"{rate}.kpd", arguments,
                                  "--sample", option)
        assert same == output, (same, output)
        wanted = chosen(full, by_groups, rate)
        assert some.keys() == wanted.keys(), (option, some.keys() ^ wanted.keys())
        for wave, path in wanted.items():
            assert some[wave] == path, (option, wave, path, some[wave])
        shift = rate.bit_length() - 1
        for kernel in kernels:
            if kernel["traced"]:
                shifts = kernel["sample_shifts"]
                assert shifts["groups" if by_groups else "waves"] == [shift, shift], shifts
                assert shifts["waves" if by_groups else "groups"] == [0, 0], shifts
        assert sum(kernel["waves"]["sampled"] for kernel in kernels) == len(wanted)
        print(f"{option}: {len(some)} of {len(full)} waves")


if __name__ == "__main__":
    main()
