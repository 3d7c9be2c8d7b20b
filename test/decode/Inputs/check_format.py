"""Compares the hex listing in FORMAT.md with the begin of a dump."""
import pathlib
import re
import sys

text = pathlib.Path(sys.argv[1]).read_text(encoding="utf-8")
block = re.search(r"```hex\n(.*?)```", text, re.S).group(1)
shown = bytes.fromhex("".join(line.split(": ")[1] for line in block.splitlines()))
real = pathlib.Path(sys.argv[2]).read_bytes()
assert len(shown) == 128 and real.startswith(shown), (shown, real[:128])
