#!/usr/bin/env python3
"""check_conversions.py FOLDER: statistics, CSV, Chrome trace and babeltrace2's
reading of the CTF trace (ctf.txt) agree on how much there is."""
import csv
import json
import pathlib
import re
import sys


def refuse(text):
    raise ValueError(f"{text} is no JSON")


def main():
    folder = pathlib.Path(sys.argv[1])
    kernels = [kernel for kernel in json.loads((folder / "stats.json").read_text())["kernels"]
               if kernel["traced"]]
    # Blocks that ran, those without an event of their own included.
    events = sum(site["hits"] for kernel in kernels for site in kernel["blocks"])
    assert events > sum(kernel["events"]["kept"] for kernel in kernels) > 0
    waves = sum(kernel["waves"]["ended"] for kernel in kernels)
    dispatches = sum(kernel["traced"] for kernel in kernels)
    assert events and waves and dispatches == 2, (events, waves, dispatches)

    with open(folder / "events.csv", newline="", encoding="utf-8") as file:
        rows = list(csv.DictReader(file))
    assert len(rows) == events, len(rows)
    times = [int(row["time_ns"]) for row in rows]
    assert times == sorted(times), "the CSV is not in the order of time"

    chrome = json.loads((folder / "chrome.json").read_text(encoding="utf-8"),
                        parse_constant=refuse)["traceEvents"]
    count = {kind: sum(event.get("cat") == kind for event in chrome)
             for kind in ("kernel", "wave", "block")}
    assert count == {"kernel": dispatches, "wave": waves, "block": events}, count
    assert all(event["dur"] >= 0 for event in chrome if event["ph"] == "X")
    spans = {}
    for event in chrome:
        if event.get("cat") in ("wave", "block"):
            spans.setdefault((event["pid"], event["tid"]), []).append(event)
    for track in spans.values():
        for block in (event for event in track if event["cat"] == "block"):
            assert any(wave["ts"] <= block["ts"] and
                       block["ts"] + block["dur"] <= wave["ts"] + wave["dur"] + 0.0015
                       for wave in track if wave["cat"] == "wave"), block

    text = (folder / "ctf.txt").read_text(encoding="utf-8")
    names = re.findall(r"kprobe:(\w+):", text)
    print({name: names.count(name) for name in sorted(set(names))})
    assert names.count("wave_begin") == names.count("wave_end") == waves
    assert names.count("kernel_begin") == names.count("kernel_end") == dispatches
    assert sum(names.count(name) for name in ("block", "block_begin")) == events


if __name__ == "__main__":
    main()
