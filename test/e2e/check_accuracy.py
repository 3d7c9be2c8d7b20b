#!/usr/bin/env python3
"""check_accuracy.py ROWS.json: of matmul.hip, whose loop over tiles is known."""
import json
import pathlib
import sys

# matmul.hip: 72 by 72 in tiles of 16 by 16, a workgroup of four waves each.
WAVES, TILES = 100, 5


def main():
    (program,) = json.loads(pathlib.Path(sys.argv[1]).read_text(encoding="utf-8"))
    rows = {row["block"]: row for row in program["blocks"]}
    assert rows
    assert rows["entry"]["visits"] == WAVES, rows["entry"]
    assert max(row["visits"] for row in rows.values()) == WAVES * TILES, rows
    for row in rows.values():
        assert row["cycles"] > 0 and row["traced_cycles"] > 0, row
        error = row["traced_cycles"] / row["cycles"] - 1
        assert abs(error - row["error"]) < 1e-9, row
    print({block: round(row["error"], 3) for block, row in rows.items()})


if __name__ == "__main__":
    main()
