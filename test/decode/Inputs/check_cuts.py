"""Lists a dump cut at every 13th byte and around each chunk's end."""
import pathlib
import subprocess
import sys

whole = pathlib.Path(sys.argv[1]).read_bytes()
part = pathlib.Path(sys.argv[1] + ".cut")
cuts = set(range(0, len(whole), 13))
at = whole.find(b"KPCH")
while at >= 0:
    cuts |= {at - 1, at, at + 1}
    at = whole.find(b"KPCH", at + 1)
shown = ""
for size in sorted(cuts):
    part.write_bytes(whole[:size])
    result = subprocess.run(["kprobe-decode", "dump", part], capture_output=True, text=True,
                            check=False)
    assert result.returncode == 1, (size, result)
    assert result.stderr.count("\n") == 1, (size, result.stderr)
    assert result.stderr.startswith(f"kprobe-decode: error: {part}: offset "), result.stderr
    assert result.stdout.startswith(shown), (size, result.stdout)
    shown = result.stdout
part.write_bytes(whole)
result = subprocess.run(["kprobe-decode", "dump", part], capture_output=True, text=True,
                        check=True)
assert result.stdout == shown and result.stdout.count("cycles") == 10 and not result.stderr
print("every cut: one error, a growing prefix")
