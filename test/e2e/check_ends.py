#!/usr/bin/env python3
"""check_ends.py PROGRAM FOLDER: however a program ends, but by a signal that
nothing runs after, every call it made before is in the dump, its exit status is
its own, and nothing is said to be lost."""
import json
import pathlib
import signal
import subprocess
import sys

ENDS = {"return": 7, "underscore": 7, "exec": 7, "quick": 7, "thread": 7, "handler": 7,
        "abort": -signal.SIGABRT}


def main():
    program, folder = sys.argv[1], pathlib.Path(sys.argv[2])
    for end, status in ENDS.items():
        dump = folder / f"{end}.kpd"
        run = subprocess.run(["kprobe-run", "--vgpu", "--api", "hip", "-o", dump, "--", program, end],
                             check=False, capture_output=True, text=True)
        assert run.returncode == status, (end, run.returncode, run.stderr)
        decoded = subprocess.run(["kprobe-decode", "stats", "--json", dump], check=False,
                                 capture_output=True, text=True)
        stats = json.loads(decoded.stdout)
        calls = {row["function"]: row["ended"] for row in stats["calls"]}
        assert calls["hipGetDeviceCount"] == 1000 and calls["hipGetDevice"] == 1, (end, calls)
        assert not [key for key in stats["lost"] if key.startswith("host_events")], stats["lost"]
        print(end, run.returncode, "complete" if decoded.returncode == 0 else "cut short")


if __name__ == "__main__":
    main()
