#!/usr/bin/env python3
"""A ring that is too small loses the oldest events, and says exactly how many.

check_overflow.py PROBED DROPPING WORK runs a program with rings that hold everything
and with rings of 64 bytes (8 events), and compares the decoder's accounts: both
runs wrote the same number of events; kept + overwritten = written; each wave of
the second kept 8, or all it wrote. The kept events are the last of the first run's,
as sites (clocks differ between runs). The same program built in mode drop keeps 7,
and they are the first.
"""
import collections
import csv
import json
import os
import pathlib
import subprocess
import sys

RING_EVENTS = 8


def trace(program, work, name, ring, mode="ring"):
    dump, table = work / f"{name}.kpd", work / f"{name}.csv"
    dump.unlink(missing_ok=True)
    subprocess.run(["kprobe-run", "--vgpu", "--mode", mode, "-o", dump, "--", program], check=True,
                   stdout=subprocess.DEVNULL, stdin=subprocess.DEVNULL,
                   env=dict(os.environ, KPROBE_RING=ring))
    text = subprocess.run(["kprobe-decode", "stats", "--json", dump], check=True,
                          stdout=subprocess.PIPE, text=True).stdout
    totals = collections.Counter()
    for kernel in json.loads(text)["kernels"]:
        totals.update(kernel["events"])
    subprocess.run(["kprobe-decode", "convert", "--to", "csv", "-o", table, dump], check=True)
    waves = collections.defaultdict(list)
    with open(table, newline="", encoding="utf-8") as file:
        for row in csv.DictReader(file):
            key = tuple(row[name] for name in ("dispatch", "group_x", "group_y", "group_z", "wave"))
            waves[key].append(int(row["site"]))
    return totals, waves


def main():
    program, dropping, work = *sys.argv[1:3], pathlib.Path(sys.argv[3])
    work.mkdir(parents=True, exist_ok=True)
    (full, all_events), (small, kept) = (trace(program, work, "full", "1M"),
                                         trace(program, work, "small", str(8 * RING_EVENTS)))
    assert full["overwritten"] == 0 and full["kept"] == full["written"] > 0, full
    assert small["overwritten"] > 0, small
    assert small["kept"] + small["overwritten"] == small["written"], small
    assert small["written"] == full["written"], (small, full)
    assert small["missing"] == small["damaged"] == 0, small
    assert sum(map(len, kept.values())) == small["kept"], "listing and account differ"
    assert kept.keys() == all_events.keys()
    for wave, sites in kept.items():
        assert sites == all_events[wave][-RING_EVENTS:], wave
    dropped, first = trace(dropping, work, "drop", str(8 * RING_EVENTS), "drop")
    assert dropped["overwritten"] == dropped["missing"] == dropped["damaged"] == 0, dropped
    assert dropped["kept"] + dropped["dropped"] == dropped["written"] == full["written"], dropped
    assert first.keys() == all_events.keys()
    for wave, sites in first.items():
        assert sites == all_events[wave][:RING_EVENTS - 1], wave
    print(f"overflow: {small['kept']} kept + {small['overwritten']} overwritten "
          f"= {small['written']} written")


if __name__ == "__main__":
    main()
