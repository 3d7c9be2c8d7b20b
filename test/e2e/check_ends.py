#!/usr/bin/env python3
"""check_ends.py PROGRAM FOLDER: however a program ends, but by a signal that
nothing runs after, every call it made before is in the dump, its exit status is
its own, and nothing is said to be lost; what a small ring could not hold is
counted, call by call, by thread."""
import json
import os
import pathlib
import signal
import subprocess
import sys
import time

ENDS = {"return": 7, "underscore": 7, "exec": 7, "quick": 7, "thread": 7, "handler": 7,
        "abort": -signal.SIGABRT, "threads": 7, "fork": 7, "spawn": 7, "daemon": 0, "burst": 7}
# Calls of hipGetDeviceCount, where they are not the worker's thousand.
COUNTS = {"threads": 1000 + 16 * 500, "burst": 1000 + 100000}


def decode(dump):
    return subprocess.run(["kprobe-decode", "stats", "--json", dump], check=False,
                          capture_output=True, text=True)


def main():
    program, folder = sys.argv[1], pathlib.Path(sys.argv[2])
    for end, status in ENDS.items():
        dump = folder / f"{end}.kpd"
        environment = dict(os.environ, **({"KPROBE_API_BUFFER": "64K"} if end == "burst" else {}))
        run = subprocess.run(["kprobe-run", "--vgpu", "--api", "hip", "-o", dump, "--", program, end],
                             check=False, capture_output=True, text=True, env=environment)
        assert run.returncode == status, (end, run.returncode, run.stderr)
        decoded = decode(dump)
        for _ in range(100):
            if end != "daemon" or decoded.returncode == 0:
                break
            time.sleep(0.1)  # the daemon is still at it
            decoded = decode(dump)
        stats = json.loads(decoded.stdout)
        calls = {row["function"]: row["ended"] for row in stats["calls"]}
        lost = [count for key, count in stats["lost"].items() if key.startswith("host_events")]
        assert calls["hipGetDevice"] == 1, (end, calls, lost)
        assert not lost or end == "burst", (end, calls, lost)
        assert calls["hipGetDeviceCount"] + sum(lost) == COUNTS.get(end, 1000), (end, calls, lost)
        print(end, run.returncode, "complete" if decoded.returncode == 0 else "cut short")


if __name__ == "__main__":
    main()
