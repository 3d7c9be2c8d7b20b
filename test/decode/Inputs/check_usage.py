"""Exit status and output of wrong command lines."""
import subprocess


def run(*arguments, program="kprobe-decode"):
    return subprocess.run([program, *arguments], capture_output=True, text=True, check=False,
                          stdin=subprocess.DEVNULL)


for wrong in ([], ["stats"], ["dump"], ["frobnicate"], ["stats", "--bogus", "x"],
              ["stats", "--top", "0", "x"], ["stats", "--top", "many", "x"],
              ["dump", "--wave", "x", "y"], ["convert", "x"],
              ["convert", "--to", "pdf", "-o", "y", "x"], ["convert", "--to", "csv", "x"]):
    result = run(*wrong)
    assert result.returncode == 2, (wrong, result)
    assert result.stdout == "", (wrong, result)
    assert result.stderr.startswith("kprobe-decode: error: "), (wrong, result)
    assert result.stderr.count("\n") == 1, (wrong, result)
for right in (["--help"], ["stats", "--help"], ["dump", "-h"], ["convert", "--help"]):
    result = run(*right)
    assert result.returncode == 0 and result.stdout and not result.stderr, (right, result)
assert run(program="kprobe-mkdump").returncode == 2
