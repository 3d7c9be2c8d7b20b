"""nw: alignment of two random sequences; writes the scores along the best path.

Reference: the whole score matrix here, then the same walk back. The sequences
come from the C library's rand() with the program's seed, the substitution table
from its source.
"""
import ctypes
import re

from programs import Program, require

EDGE = {"small": 64, "default": 2048}
PENALTY = 10
OUTSIDE = -999  # the program's score beyond the border


def substitution_table(run):
    source = (run.rodinia / "hip/nw/needle_hip.cu").read_text(encoding="utf-8")
    body = re.search(r"blosum62\[24\]\[24\]\s*=\s*\{(.*?)\};", source, re.DOTALL)[1]
    return [[int(text) for text in row.split(",")] for row in re.findall(r"\{([^}]*)\}", body)]


def expected_path(edge, table):
    libc = ctypes.CDLL("libc.so.6")
    libc.srand(7)
    down = [0] + [libc.rand() % 10 + 1 for _ in range(edge)]
    right = [0] + [libc.rand() % 10 + 1 for _ in range(edge)]

    scores = [[-column * PENALTY for column in range(edge + 1)]]
    for row in range(1, edge + 1):
        above, line = scores[-1], [-row * PENALTY]
        match, left = table[down[row]], -row * PENALTY
        for column in range(1, edge + 1):
            left = max(above[column - 1] + match[right[column]], left - PENALTY,
                       above[column] - PENALTY)
            line.append(left)
        scores.append(line)

    # The program starts one before the last row and column.
    row = column = edge - 1
    path = [scores[row][column]]
    while row or column:
        diagonal = scores[row - 1][column - 1] if row and column else OUTSIDE
        left = scores[row][column - 1] if column else OUTSIDE
        above = scores[row - 1][column] if row else OUTSIDE
        match = table[down[row]][right[column]] if row and column else 0
        best = max(diagonal + match, left - PENALTY, above - PENALTY)
        # Later ones win, as in the program; so does the order of the steps.
        step = best
        if step == diagonal + match:
            step = diagonal
        if step == left - PENALTY:
            step = left
        if step == above - PENALTY:
            step = above
        path.append(step)
        if step == diagonal:
            row, column = row - 1, column - 1
        elif step == left:
            column -= 1
        else:
            row -= 1
    return path


def verify(run):
    words = run.read("result.txt").split(":", 1)
    require(len(words) == 2, "result.txt has no path")
    written = [int(text) for text in words[1].split()]
    expected = expected_path(EDGE[run.size], substitution_table(run))
    require(len(written) == len(expected), f"path of {len(written)}, not {len(expected)} steps")
    for number, (got, value) in enumerate(zip(written, expected)):
        require(got == value, f"step {number} has score {got}, not {value}")


PROGRAM = Program("nw", "nw", ("needle_hip.cu",),
                  {size: ((str(edge), str(PENALTY)),) for size, edge in EDGE.items()}, verify)
