#!/usr/bin/env python3
"""Checks the JSON that statistics.hip leaves: check_statistics.py FILE STATUS.

Sums must be the sums of the rows, and numbers that follow from the kernels exact.
STATUS is how the last dispatch of the program's own kernels ended.
"""
import json
import sys


def main():
    path, status = sys.argv[1:]
    with open(path, encoding="utf-8") as file:
        document = json.load(file)
    rows = document["dispatches"]
    assert rows[-1]["status"] == status, rows[-1]["status"]
    assert len({row["dispatch"] for row in rows}) == len(rows), "dispatch ids are unique"
    some = [row for row in rows if row["kernel"] == "_Z4someiPi"]
    assert len(some) == 2, some
    for row in some:
        assert row["grid"] == [384, 1, 1] and row["workgroup"] == [128, 1, 1], row
        assert row["waves"] == 6 and row["workgroups"] == 3, row
        assert row["atomic_lanes"] == 30, row
        assert row["instructions_by_class"]["barrier"] == 6, row
        assert row["instructions"] == sum(row["instructions_by_class"].values()), row
        assert row["active_lanes"] < row["lane_slots"], row
        assert 0 < row["lanes_active"] < 1 and 0 < row["occupancy"] < 1, row
        # Each wave is there for a part of the time only.
        assert 0 < row["wave_cycles"] <= 6 * row["modelled_cycles"], row
        assert row["memory_lines"] <= row["l2_misses"], row
    counters = [name for name, value in rows[0].items()
                if isinstance(value, int) and name in document["total"]]
    assert len(counters) > 15, counters
    for name in counters:
        if name == "host_microseconds":
            continue  # Each rounded by itself.
        total = sum(row[name] for row in rows)
        assert document["total"][name] == total, name
        assert sum(row[name] for row in document["kernels"]) == total, name
    assert document["total"]["dispatches"] == len(rows)
    return 0


if __name__ == "__main__":
    sys.exit(main())
