"""Holds critical paths against their segments. The file has, for each path, a line
`run ARGUMENTS` of `kprobe-decode critical-path`, then `BEGIN END KIND THREAD
[CAUSE]` of each segment, in order and none besides."""
import json
import pathlib
import subprocess
import sys

paths = []
for line in pathlib.Path(sys.argv[1]).read_text().splitlines():
    if line.startswith("run "):
        paths.append((line.split()[1:], []))
    elif line and not line.startswith("#"):
        paths[-1][1].append(line)
for arguments, expected in paths:
    text = subprocess.run(["kprobe-decode", "critical-path", "--json"] + arguments, check=True,
                          capture_output=True, text=True).stdout
    got = [f"{s['begin_ns']} {s['end_ns']} {s['kind']} {s['thread']} {s.get('cause', '')}".strip()
           for s in json.loads(text)["segments"]]
    assert got == expected, (arguments, "got", got, "expected", expected)
print(len(paths), "paths")
