"""lud: LU decomposition in place.

The program's check only looks for differences above a limit, which NaN never
is, and prints no matrix. So its lud_verify is set aside at build time and ours
(lud_verify.c) writes both matrices to a file; here L times U is compared with
the input, and the input with the formula that the program documents.
"""
import math

from programs import Program, require

EDGE = {"small": 64, "default": 256}


def verify(run):
    edge = EDGE[run.size]
    values = run.floats("lud.bin")
    require(len(values) == 2 * edge * edge, f"{len(values)} values, not {2 * edge * edge}")
    before, after = values[:edge * edge], values[edge * edge:]
    upper = [after[column::edge] for column in range(edge)]
    for row in range(edge):
        lower = list(after[row * edge:row * edge + row]) + [1.0]
        for column in range(edge):
            expected = 10 * math.exp(-0.001 * abs(row - column))
            require(abs(before[row * edge + column] - expected) < 1e-4, "the input is not the one")
            product = sum(a * b for a, b in zip(lower[:column + 1], upper[column]))
            require(abs(product - expected) < 1e-3,
                    f"L*U at ({row}, {column}) is {product:.6g}, not {expected:.6g}")


PROGRAM = Program("lud", "lud", ("lud.hip.cu", "lud_kernel.hip.cu"),
                  {size: (("-s", str(edge), "-v"),) for size, edge in EDGE.items()}, verify,
                  c_sources=("common/common.c", "kprobe:lud_verify.c"),
                  c_flags=("-Dlud_verify=lud_verify_of_rodinia",))
