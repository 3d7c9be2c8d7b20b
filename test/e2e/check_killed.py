#!/usr/bin/env python3
"""check_killed.py PROGRAM WORK: kills a traced program with SIGKILL after some of
its launches and demands that the dump has the launches before that."""
import json
import os
import pathlib
import signal
import subprocess
import sys
import time

LAUNCHES = 40


def main():
    program, work = sys.argv[1], pathlib.Path(sys.argv[2])
    dump = work / "killed.kpd"
    dump.unlink(missing_ok=True)
    with subprocess.Popen(["kprobe-run", "--vgpu", "-o", dump, "--", program, "1000000"],
                          stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, text=True,
                          start_new_session=True) as child:
        for line in child.stdout:
            if line == f"launch {LAUNCHES}\n":
                break
        else:
            sys.exit(f"the program ended by itself: {child.wait()}")
        # Dumping is off the program's path: give it a moment.
        time.sleep(0.5)
        os.killpg(child.pid, signal.SIGKILL)
    assert child.returncode == -signal.SIGKILL, child.returncode

    decoded = subprocess.run(["kprobe-decode", "stats", "--json", dump], check=False,
                             capture_output=True, text=True)
    # The cut may have hit the middle of a chunk; then one line says so.
    assert decoded.returncode in (0, 1), decoded
    if decoded.returncode:
        lines = decoded.stderr.strip().splitlines()
        assert len(lines) == 1 and "kprobe-decode: error: " in lines[0], decoded.stderr
    statistics = json.loads(decoded.stdout)
    assert not statistics["processes"][0]["complete"]
    kernel = next(k for k in statistics["kernels"] if k["traced"])
    assert kernel["traced"] >= LAUNCHES - 2, kernel["traced"]
    events, waves = kernel["events"], kernel["waves"]
    assert events["kept"] == events["written"] > 0, events
    assert waves["ended"] == waves["sampled"] - waves["absent"], waves
    print(f"killed: {kernel['traced']} dispatches, {events['kept']} events")


if __name__ == "__main__":
    main()
