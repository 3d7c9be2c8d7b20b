"""hotspot: temperatures of a chip by finite differences; writes the grid.

Reference: the same differences here, in double precision, over the whole grid
without the program's overlapping tiles.
"""
import shutil

from programs import Program, require

EDGE = {"small": 64, "default": 512}
STEPS = 20
AMBIENT = 80.0


def prepare(folder, rodinia, size):
    for kind in ("temp", "power"):
        shutil.copy(rodinia / "data/hotspot" / f"{kind}_{EDGE[size]}", folder / kind)


def reference(temperature, power, edge, steps):
    height = width = 0.016 / edge
    thickness, conductivity, heat = 0.0005, 100.0, 1.75e6
    capacity = 0.5 * heat * thickness * width * height
    across = 1 / (width / (2 * conductivity * thickness * height))
    upward = 1 / (thickness / (conductivity * height * width))
    factor = 0.001 / (3.0e6 / (0.5 * thickness * heat)) / capacity
    for _ in range(steps):
        result = [0.0] * (edge * edge)
        for row in range(edge):
            here = row * edge
            north, south = max(row - 1, 0) * edge, min(row + 1, edge - 1) * edge
            for column in range(edge):
                center = temperature[here + column]
                west = temperature[here + max(column - 1, 0)]
                east = temperature[here + min(column + 1, edge - 1)]
                around = temperature[north + column] + temperature[south + column] + west + east
                result[here + column] = center + factor * (
                    power[here + column] + (around - 4 * center) * across
                    + (AMBIENT - center) * upward)
        temperature = result
    return temperature


def verify(run):
    edge = EDGE[run.size]
    start = [float(text) for text in run.read("temp").split()]
    power = [float(text) for text in run.read("power").split()]
    expected = reference(start, power, edge, STEPS)
    rows = [line.split() for line in run.read("out").splitlines()]
    require(len(rows) == edge * edge, f"{len(rows)} cells written, not {edge * edge}")
    # The file has six digits: 5e-4 at 300 degrees. The steps must have moved more
    # than that, or an idle kernel would pass.
    tolerance = 2e-3
    moved = max(abs(a - b) for a, b in zip(expected, start))
    require(moved > 10 * tolerance, "the input hardly changes")
    for number, (row, value) in enumerate(zip(rows, expected)):
        got = float(row[1])
        require(int(row[0]) == number and abs(got - value) <= tolerance,
                f"cell {number} is {got}, not {value:.6g}")


def command(edge):
    return (str(edge), "2", str(STEPS), "temp", "power", "out")


PROGRAM = Program("hotspot", "hotspot", ("hotspot.cu",),
                  {size: (command(edge),) for size, edge in EDGE.items()}, verify, prepare)
