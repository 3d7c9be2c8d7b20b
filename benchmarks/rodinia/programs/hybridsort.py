"""hybridsort: bucket sort, then merge sort, of floats; compared with Python's sort."""
import random

from programs import Program, require

COUNT = {"small": 4000, "default": 500000}


def prepare(folder, rodinia, size):
    source = random.Random(11)
    numbers = (f"{source.random():.6f}" for _ in range(COUNT[size]))
    (folder / "floats").write_text("\n".join(numbers) + "\n", encoding="utf-8")


def verify(run):
    expected = sorted(float(text) for text in run.read("floats").split())
    written = [float(text) for text in run.read("hybridoutput.txt").split()]
    require(len(written) == len(expected), f"{len(written)} numbers, not {len(expected)}")
    for number, (got, value) in enumerate(zip(written, expected)):
        require(abs(got - value) <= 1.5e-6, f"number {number} is {got}, not {value}")
    require("PASSED" in run.stdout, "the program's own comparison failed")


PROGRAM = Program("hybridsort", "hybridsort",
                  ("bucketsort.hip.cu", "mergesort.hip.cu", "main.hip.cu"),
                  {size: (("floats",),) for size in COUNT}, verify, prepare,
                  flags=("-DVERIFY", "-DOUTPUT"))
