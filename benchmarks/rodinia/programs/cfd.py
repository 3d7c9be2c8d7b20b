"""cfd (euler3d): flow of a gas through a mesh of cells, in 2000 steps.

No mesh comes with the checkouts that git holds; ours is a channel of four-sided
cells over a bump, a wall below and far field on the other sides. Reference: the
program built for the host, in the tolerance of Rodinia's own check.
"""
import math

from programs import Program, numbers, require, require_close

# Columns and rows of cells; the default has as many cells as Rodinia's 097K.
MESH = {"small": (16, 12), "default": (312, 311)}
TOLERANCE = 1e-3
WALL, FAR = 0, -2           # how the file marks a side without a neighbour
BUMP = 0.08                 # its height, of the channel's


def corner(column, row, columns, rows):
    """Cells are as high as wide where the bump does not press them flat."""
    bump = BUMP * rows * (1 - math.cos(2 * math.pi * column / columns)) / 2
    return column, row + bump * (1 - row / rows)


def mesh(columns, rows):
    """Lines of the file: the count; then of each cell its area and, for each side,
    the neighbour's number from 1 and the side's inward normal."""
    lines = [str(columns * rows)]
    for row in range(rows):
        for column in range(columns):
            corners = [corner(column + x, row + y, columns, rows)
                       for x, y in ((0, 0), (1, 0), (1, 1), (0, 1))]
            area, sides = 0.0, []
            # Counterclockwise: the side below, right, above, left.
            for number, (across, up) in enumerate(((0, -1), (1, 0), (0, 1), (-1, 0))):
                (x0, y0), (x1, y1) = corners[number], corners[(number + 1) % 4]
                area += (x0 * y1 - x1 * y0) / 2
                x, y = column + across, row + up
                if 0 <= x < columns and 0 <= y < rows:
                    neighbour = y * columns + x + 1
                else:
                    neighbour = WALL if y < 0 else FAR
                sides += [f"{neighbour}", f"{y0 - y1:.6f}", f"{x1 - x0:.6f}", "0.0"]
            lines.append(" ".join([f"{area:.6f}", *sides]))
    return lines


def prepare(folder, rodinia, size):
    (folder / "mesh").write_text("\n".join(mesh(*MESH[size])) + "\n", encoding="utf-8")


def verify(run):
    columns, rows = MESH[run.size]
    for name, width in (("density", 1), ("momentum", 3), ("density_energy", 1)):
        got = numbers(run.read(name))[2:]
        expected = numbers(run.reference.read(name))[2:]
        require(len(expected) == width * columns * rows, f"the reference's {name} is incomplete")
        require(max(expected[::width]) - min(expected[::width]) > 100 * TOLERANCE,
                f"the flow has no {name} to speak of")
        require_close(name, got, expected, TOLERANCE, TOLERANCE)


PROGRAM = Program("cfd", "cfd", ("euler3d.cu",), {size: (("mesh",),) for size in MESH}, verify,
                  prepare, host_reference=True)
