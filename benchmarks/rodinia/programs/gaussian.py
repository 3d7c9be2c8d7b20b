"""gaussian: solves a linear system by elimination.

The program checks the solution against the system that the GPU has already
eliminated. Ours (gaussian_solution.c, linked in) writes the solution at exit;
here it is put into the system of the input file.
"""
import shutil

from programs import Program, require

MATRIX = {"small": "matrix16.txt", "default": "matrix208.txt"}


def prepare(folder, rodinia, size):
    shutil.copy(rodinia / "data/gaussian" / MATRIX[size], folder / "matrix")


def verify(run):
    numbers = [float(text) for text in run.read("matrix").split()]
    edge = int(numbers[0])
    right = numbers[1 + edge * edge:1 + edge * edge + edge]
    solution = run.floats("solution.bin")
    require(len(solution) == edge, f"{len(solution)} unknowns, not {edge}")
    for row in range(edge):
        line = numbers[1 + row * edge:1 + (row + 1) * edge]
        # Single precision, no pivots: the error grows with the size of the terms and of
        # the system. The host's float arithmetic misses by up to 0.0042 for 208 rows.
        terms = [a * b for a, b in zip(line, solution)]
        limit = 2.5e-5 * edge * (1 + max(map(abs, terms)))
        require(abs(sum(terms) - right[row]) <= limit,
                f"row {row} gives {sum(terms):.6g}, not {right[row]:.6g}")


PROGRAM = Program("gaussian", "gaussian", ("gaussian.cu",),
                  {size: (("-f", "matrix"),) for size in MATRIX}, verify, prepare,
                  c_sources=("kprobe:gaussian_solution.c",))
