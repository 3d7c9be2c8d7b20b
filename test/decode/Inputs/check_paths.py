"""Makes a dump of each description in a folder and holds its critical path
against the lines `# expect BEGIN END KIND THREAD [CAUSE]` in it: the same
segments, and none besides."""
import json
import pathlib
import subprocess
import sys

checked = 0
for description in sorted(pathlib.Path(sys.argv[1]).glob("*.txt")):
    expected = [line.split(maxsplit=6)[2:] for line in description.read_text().splitlines()
                if line.startswith("# expect ")]
    if not expected:
        continue
    dump = description.with_suffix(".kpd")
    dump.unlink(missing_ok=True)
    subprocess.run(["kprobe-mkdump", description, "-o", dump], check=True)
    text = subprocess.run(["kprobe-decode", "critical-path", "--json", dump], check=True,
                          capture_output=True, text=True).stdout
    path = json.loads(text)
    got = [[str(s["begin_ns"]), str(s["end_ns"]), s["kind"], str(s["thread"])]
           + ([s["cause"]] if "cause" in s else []) for s in path["segments"]]
    for own, wanted in zip(got, expected):
        if wanted[3] == "*":
            own[3] = "*"
    assert got == expected, (description.name, "got", got, "expected", expected)
    assert path["ns"] == int(got[-1][1]) - int(got[0][0])
    for before, after in zip(got, got[1:]):
        assert before[1] == after[0], (description.name, before, after)
    assert sum(group["ns"] for group in path["groups"]) == path["ns"]
    checked += 1
assert checked == 8, checked
