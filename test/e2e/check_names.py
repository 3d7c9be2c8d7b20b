#!/usr/bin/env python3
"""check_names.py STATS.json OUTPUT...: the four kernels of Inputs/names.hip, by names that
c++filt gives their symbols, are in each output, whole."""
import json
import pathlib
import subprocess
import sys

kernels = json.loads(pathlib.Path(sys.argv[1]).read_text(encoding="utf-8"))["kernels"]
names = {kernel["mangled"]: kernel["name"] for kernel in kernels if kernel["traced"]}
assert len(names) == 4, names
assert max(map(len, names)) > 1000 and "plain_c" in names, names
assert any("größe(int*)" == name for name in names.values()), names
for symbol, name in names.items():
    shown = subprocess.run(["c++filt", symbol], check=True, capture_output=True,
                           encoding="utf-8").stdout.strip()
    # Demanglers differ in the name of a lambda.
    assert name == shown or "lambda" in shown, (name, shown)
for path in sys.argv[2:]:
    text = pathlib.Path(path).read_bytes().decode("utf-8", errors="replace")
    for name in names.values():
        assert name in text or json.dumps(name, ensure_ascii=False)[1:-1] in text, (path, name)
print(f"longest name: {max(map(len, names.values()))} letters")
