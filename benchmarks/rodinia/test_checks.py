#!/usr/bin/env python3
"""Tests that run.py's checks can fail; needs neither Rodinia nor a device.

For each program a right result is made, mostly by the check's own reference: the
check must accept it. Then the result is damaged, in one way after the other:
the check must find each. Prints a line per program; exit status 1 on failure.
"""
import array
import copy
import dataclasses
import importlib
import math
import pathlib
import random
import re
import shutil
import sys
import tempfile

import particles
import programs
from programs import Mismatch, Run

NAN = math.nan


def module(name):
    return importlib.import_module(f"programs.{name}")


# ------------------------------------------------------------------- damages
# Each takes a Run whose files and stdout it may change.
def without(name):
    def damage(run):
        (run.folder / name).unlink()
    return f"no {name}", damage


def truncated(name):
    def damage(run):
        data = run.read_bytes(name)
        (run.folder / name).write_bytes(data[:len(data) // 2])
    return f"half of {name}", damage


def replaced(name, pattern, new):
    """Replaces the last match of a pattern in a file, or in stdout when name is None."""
    def damage(run):
        text = run.stdout if name is None else run.read(name)
        match = list(re.finditer(pattern, text, re.MULTILINE))[-1]
        text = text[:match.start()] + match.expand(new) + text[match.end():]
        if name is None:
            run.stdout = text
        else:
            (run.folder / name).write_text(text, encoding="utf-8")
    return f"'{new}' for '{pattern}' in {name or 'stdout'}", damage


def single(name, where, change, kind="f"):
    """Changes one number of a binary file."""
    def damage(run):
        values = array.array(kind, run.read_bytes(name))
        values[where] = change(values[where])
        (run.folder / name).write_bytes(values.tobytes())
    return f"number {where} of {name}", damage


def silent():
    def damage(run):
        run.stdout = ""
    return "no stdout", damage


def floats(path, values):
    path.write_bytes(array.array("f", values).tobytes())


# --------------------------------------------------------- a right result each
# Each writes inputs and outputs into run.folder, and returns the damages.
def nn(run):
    source = random.Random(1)
    lines = []
    for _ in range(300):
        latitude, longitude = source.uniform(7, 60), source.uniform(5, 99)
        lines.append(f"{'':28}{latitude:5.1f}{longitude:5.1f}")
    (run.folder / "cane4_0.db").write_text("\n".join(lines) + "\n", encoding="utf-8")
    (run.folder / "list").write_text("cane4_0.db\n", encoding="utf-8")
    known = module("nn")
    run.stdout = "".join(f"record --> Distance={distance:.6f}\n"
                         for distance in known.distances(run)[:known.RESULTS])
    return [silent(), replaced(None, r"=(\d+)", r"=9\1"), replaced(None, r"=\d+.*", "=nan"),
            replaced(None, r"record.*", "Failed results"), replaced(None, r"record.*\n", "")]


def hotspot(run):
    known, source = module("hotspot"), random.Random(2)
    edge = known.EDGE["small"]
    start = [source.uniform(320, 330) for _ in range(edge * edge)]
    power = [source.uniform(0, 0.02) for _ in range(edge * edge)]
    for name, values in (("temp", start), ("power", power)):
        (run.folder / name).write_text("\n".join(f"{value:.6f}" for value in values),
                                       encoding="utf-8")
    result = known.reference(start, power, edge, known.STEPS)
    (run.folder / "out").write_text("".join(f"{number}\t{value:.6g}\n"
                                            for number, value in enumerate(result)),
                                    encoding="utf-8")
    return [without("out"), truncated("out"), replaced("out", r"\t.*", "\tnan"),
            replaced("out", r"\t3", r"\t4")]


def pathfinder(run):
    known, source = module("pathfinder"), random.Random(3)
    columns, rows = known.GRID["small"]
    grid = [[source.randrange(10) for _ in range(columns)] for _ in range(rows)]
    lines = grid + [grid[0], known.cheapest(grid)]
    run.stdout = "".join(" ".join(map(str, line)) + "\n" for line in lines)
    return [silent(), replaced(None, r"\d+$", "99"), replaced(None, r".*\n", ""),
            replaced(None, r"\d+$", r"\g<0>\nfailed results")]


def bfs(run):
    source = random.Random(4)
    count, degree = 40, 2
    edges = [source.randrange(count) for _ in range(count * degree)]
    words = [count]
    for node in range(count):
        words += [node * degree, degree]
    words += [0, len(edges)]
    for target in edges:
        words += [target, 1]
    (run.folder / "graph").write_text(" ".join(map(str, words)), encoding="utf-8")
    costs = module("bfs").costs(words)
    (run.folder / "result.txt").write_text(
        "".join(f"{node}) cost:{cost}\n" for node, cost in enumerate(costs)), encoding="utf-8")
    return [without("result.txt"), truncated("result.txt"),
            replaced("result.txt", r"cost:.*", "cost:77")]


def lud(run):
    edge = module("lud").EDGE["small"]
    before = [[10 * math.exp(-0.001 * abs(i - j)) for j in range(edge)] for i in range(edge)]
    after = copy.deepcopy(before)
    for pivot in range(edge):
        for row in range(pivot + 1, edge):
            after[row][pivot] /= after[pivot][pivot]
            for column in range(pivot + 1, edge):
                after[row][column] -= after[row][pivot] * after[pivot][column]
    floats(run.folder / "lud.bin", sum(before, []) + sum(after, []))
    last = 2 * edge * edge - 1
    return [without("lud.bin"), truncated("lud.bin"),
            single("lud.bin", last, lambda value: value + 0.01),
            single("lud.bin", last, lambda value: NAN), single("lud.bin", 0, lambda value: 9.0)]


def nw(run):
    known, source = module("nw"), random.Random(5)
    table = [[source.randrange(-4, 5) for _ in range(24)] for _ in range(24)]
    text = ",\n".join("{" + ",".join(map(str, row)) + "}" for row in table)
    path = run.rodinia / "hip/nw/needle_hip.cu"
    path.parent.mkdir(parents=True)
    path.write_text(f"int blosum62[24][24] = {{\n{text}\n}};\n", encoding="utf-8")
    steps = known.expected_path(known.EDGE["small"], table)
    (run.folder / "result.txt").write_text("print traceback value GPU:\n"
                                           + " ".join(map(str, steps)), encoding="utf-8")
    return [without("result.txt"), truncated("result.txt"),
            replaced("result.txt", r"-?\d+ (?=\S+$)", "12345 ")]


def backprop(run):
    known = module("backprop")
    count, hidden = known.COUNT["small"], known.HIDDEN
    weights, output, units = known.network(count)
    new_output, new_weights = known.trained(weights, output, units)
    text = "weights\n" + "".join(f"{j},1,{weight:.6f}\n" for j, weight in enumerate(new_output))
    (run.folder / "out_hip.txt").write_text(text, encoding="utf-8")
    floats(run.folder / "copies.bin", [0.0] * 10 + [w for row in new_weights for w in row])
    last = 10 + (count + 1) * (hidden + 1) - 1
    return [without("out_hip.txt"), replaced("out_hip.txt", r"1,-?\d", "1,7"),
            without("copies.bin"), truncated("copies.bin"),
            single("copies.bin", last, lambda value: value + 1e-3),
            single("copies.bin", last, lambda value: NAN)]


def gaussian(run):
    source = random.Random(6)
    edge = 12
    rows = [[source.uniform(-1, 1) + (5 if i == j else 0) for j in range(edge)]
            for i in range(edge)]
    solution = array.array("f", (source.uniform(-2, 2) for _ in range(edge)))
    right = [sum(a * b for a, b in zip(row, solution)) for row in rows]
    (run.folder / "matrix").write_text(
        f"{edge}\n" + "\n".join(" ".join(f"{value:.9f}" for value in row) for row in rows)
        + "\n" + " ".join(f"{value:.9f}" for value in right), encoding="utf-8")
    floats(run.folder / "solution.bin", solution)
    return [without("solution.bin"), truncated("solution.bin"),
            single("solution.bin", 3, lambda value: value + 0.01),
            single("solution.bin", 0, lambda value: NAN)]


def hybridsort(run):
    module("hybridsort").prepare(run.folder, run.rodinia, "small")
    values = sorted(float(word) for word in run.read("floats").split())
    (run.folder / "hybridoutput.txt").write_text("\n".join(f"{value:.6f}" for value in values),
                                                 encoding="utf-8")
    run.stdout = "PASSED.\n"
    name = "hybridoutput.txt"
    return [without(name), truncated(name), silent(), replaced(name, r"\d\.\d+", "0.500000"),
            replaced(name, r"\d\.\d+", "nan")]


def kmeans(run):
    source = random.Random(7)
    lines = [f"{number} " + " ".join(f"{source.gauss(number % 5 * 20, 2):.3f}" for _ in range(4))
             for number in range(60)]
    (run.folder / "points").write_text("\n".join(lines) + "\n", encoding="utf-8")
    points = [[float(word) for word in line.split()[1:]] for line in lines]
    run.stdout = "".join(f"{number}: " + " ".join(f"{value:.2f}" for value in centre) + "\n"
                         for number, centre in enumerate(module("kmeans").clustering(points)))
    return [silent(), replaced(None, r"\S+$", "12345.00"), replaced(None, r"\S+$", "nan"),
            replaced(None, r" \S+$", "")]


def lavamd(run):
    known = module("lavamd")
    edge = known.BOXES["small"]
    places, charges = known.particles(edge)
    lines = []
    for number, place in enumerate(places):
        around = known.neighbours(number // known.PARTICLES, edge)
        lines.append(", ".join(f"{value:.6f}"
                               for value in known.force(place, places, charges, around)))
    (run.folder / "result.txt").write_text("\n".join(lines) + "\n", encoding="utf-8")
    name = "result.txt"
    return [without(name), truncated(name), replaced(name, r"\S+$", "nan"),
            replaced(name, r"\.(\d)(\d+)$", r".\g<1>9\2")]


def btree(run):
    known = module("btree")
    known.prepare(run.folder, run.rodinia, "small")
    ranges, values = known.expected_results("small")
    text = f"******command: j count={known.QUERIES['small'][0]}\n"
    text += "".join(f"{number} {start} {length}\n"
                    for number, (start, length) in enumerate(ranges))
    text += f"\n******command: k count={known.QUERIES['small'][1]}\n"
    text += "".join(f"{number} {value}\n" for number, value in enumerate(values))
    (run.folder / "output.txt").write_text(text, encoding="utf-8")
    name = "output.txt"
    return [without(name), truncated(name), replaced(name, r"\d+$", "-1"),
            replaced(name, r" (\d+)\n\n\*", r" 7\n\n*")]


def srad_v1(run):
    known, source = module("srad_v1"), random.Random(8)
    image = array.array("f", (source.uniform(0, 255) for _ in range(known.ROWS * known.COLUMNS)))
    for folder in (run.folder, run.reference.folder):
        floats(folder / "copies.bin", [1.0, 2.0] + list(image))
        (folder / "image_out.pgm").write_text(
            f"P2\n{known.COLUMNS} {known.ROWS}\n255\n"
            + " ".join(str(int(value)) for value in image), encoding="utf-8")
    return [without("copies.bin"), truncated("copies.bin"), without("image_out.pgm"),
            truncated("image_out.pgm"), single("copies.bin", 100, lambda value: value + 0.1),
            single("copies.bin", -1, lambda value: NAN), replaced("image_out.pgm", r"\d+$", "999")]


def srad_v2(run):
    known = module("srad_v2")
    start = known.speckled(known.EDGE["small"])
    image = known.diffuse(list(start), known.EDGE["small"], known.SPECKLE["small"])
    run.stdout = "Printing Output:\n" + " ".join(f"{value:.5f}" for value in image) \
        + "\nComputation Done\n"
    return [silent(), replaced(None, r"\d\.\d+", "9.87654"), replaced(None, r"\d\.\d+", "nan"),
            replaced(None, r"\d\.\d+", "")]


def cfd(run):
    known, source = module("cfd"), random.Random(9)
    columns, rows = known.MESH["small"]
    for name, width in (("density", 1), ("momentum", 3), ("density_energy", 1)):
        lines = [" ".join(f"{source.uniform(1, 2):.6g}" for _ in range(width))
                 for _ in range(columns * rows)]
        text = f"{columns * rows} {columns * rows}\n" + "\n".join(lines) + "\n"
        for folder in (run.folder, run.reference.folder):
            (folder / name).write_text(text, encoding="utf-8")
    return [without("density"), truncated("momentum"), replaced("density", r"\S+$", "2.5"),
            replaced("density_energy", r"\S+$", "nan"), replaced("momentum", r"\S+$", "0")]


def dwt2d(run):
    source = random.Random(10)
    run.command = run.reference.command = ("480x64", "-d", "480x64", "-f", "-5", "-l", "3")
    for colour in "rgb":
        data = source.randbytes(480 * 64)
        for folder in (run.folder, run.reference.folder):
            (folder / f"480x64.dwt.{colour}").write_bytes(data)
    return [without("480x64.dwt.b"), truncated("480x64.dwt.r"),
            single("480x64.dwt.g", 1000, lambda value: (value + 1) % 256, "B")]


def particlefilter_naive(run):
    known = module("particlefilter_naive")
    estimates = particles.track(known.FRAMES["small"], known.PARTICLES["small"], wrap=False)
    run.stdout = "".join(f"XE: {x:.6f}\nYE: {y:.6f}\n1.0\n"
                         for x, y in zip(estimates[::2], estimates[1::2]))
    return [silent(), replaced(None, r"YE: \d+", "YE: 1"), replaced(None, r"XE: .*", "XE: nan"),
            replaced(None, r"XE.*", "")]


def particlefilter_float(run):
    known = module("particlefilter_float")
    x, y = particles.track(known.FRAMES["small"], known.PARTICLES["small"], wrap=True)[-2:]
    run.stdout = f"XE: {x:.6f}\nYE: {y:.6f}\n1.0\n"
    return [silent(), replaced(None, r"YE: \d+", "YE: 1"), replaced(None, r"XE: .*", "XE: nan"),
            replaced(None, r"XE.*", "")]


def streamcluster(run):
    for folder in (run.folder, run.reference.folder):
        (folder / "output.txt").write_text("27\n20.000000\n0.733826 0.740576 \n\n", "utf-8")
    name = "output.txt"
    return [without(name), truncated(name), replaced(name, "^27", "28"),
            replaced(name, "20.000000", "21.000000"), replaced(name, r"0\.740576", "nan"),
            replaced(name, r"0\.740576", "0.740586")]


def myocyte(run):
    source = random.Random(11)
    values = [source.uniform(-100, 100) for _ in range(94)] + [NAN, math.inf]
    # Sums of terms that cancel: 72 is off by two places of a float of 75's size.
    values[72], values[75] = 1e6, 1e12
    floats(run.reference.folder / "copies.bin", values)
    values[72] += 2 ** 17
    floats(run.folder / "copies.bin", values)

    def second_mode(run):
        run.command = ("2", "1", "1", "run")
    return [single("copies.bin", 72, lambda value: value + 2 ** 21),
            single("copies.bin", 71, lambda value: value + 2 ** 17),
            ("a rounding in the second mode", second_mode),
            without("copies.bin"), truncated("copies.bin"),
            single("copies.bin", 10, lambda value: value * 1.01 + 0.01),
            single("copies.bin", 0, lambda value: value * 1.01 + 0.01),
            single("copies.bin", 10, lambda value: NAN), single("copies.bin", 94, lambda value: 0),
            single("copies.bin", 95, lambda value: 1e30)]


def leukocyte(run):
    source = random.Random(12)
    values = [source.uniform(0, 10) for _ in range(100)]
    for side in (run, run.reference):
        floats(side.folder / "copies.bin", values)
        side.stdout = "Cells detected: 2\n"
        (side.folder / "result.txt").write_text("\n0,516.855,143.180\n1,305.007,146.190", "utf-8")
    return [silent(), without("copies.bin"), truncated("copies.bin"), without("result.txt"),
            replaced(None, "2", "3"), replaced("result.txt", "305.007", "305.107"),
            single("copies.bin", 50, lambda value: value * 1.1 + 0.1),
            single("copies.bin", 50, lambda value: NAN)]


def heartwall(run):
    known = module("heartwall")
    expected = {"endo": [(369, 408), (400, 406)], "epi": [(390, 457)]}
    source = ""
    for wall, points in expected.items():
        for number, (row, column) in enumerate(points):
            source += f"common.{wall}Row[ {number}] = {row};\n"
            source += f"common.{wall}Col[ {number}] = {column};\n"
    path = run.rodinia / "hip/heartwall/main.cu"
    path.parent.mkdir(parents=True)
    path.write_text(source, encoding="utf-8")
    run.stdout = "Total AVI Frames: 2\n"
    for number in range(known.FRAMES["small"]):
        run.stdout += f"\n---Frame {number}---"
        for wall, points in expected.items():
            run.stdout += f"\n--{wall}--"
            for axis in (0, 1):
                run.stdout += "\n" + "".join(f"{point[axis] + known.shift(number)[axis]}\t"
                                             for point in points)
    return [silent(), replaced(None, r"\d+\t$", r"0\t"), replaced(None, r"\d+\t$", ""),
            replaced(None, r"\n---Frame 1[^X]*", "")]


# ------------------------------------------------------------------------ test
def fresh(run):
    """A copy of a Run that damages may touch."""
    target = run.folder.parent / "damaged"
    shutil.rmtree(target, ignore_errors=True)
    shutil.copytree(run.folder, target)
    return dataclasses.replace(run, folder=target)


def check(name, make, folder):
    """What is wrong with a program's check, as a list of lines."""
    reference = Run(folder / "reference", folder / "rodinia", "small", "")
    run = Run(folder / "good", folder / "rodinia", "small", "", reference=reference)
    for path in (run.folder, reference.folder, run.rodinia):
        path.mkdir(parents=True)
    damages = make(run)
    verify = programs.load(name).check
    wrong = []
    try:
        verify(fresh(run))
    except Mismatch as error:
        wrong.append(f"a right result is refused: {error}")
    for what, damage in damages:
        damaged = fresh(run)
        damage(damaged)
        try:
            verify(damaged)
            wrong.append(f"not found: {what}")
        except Mismatch:
            pass
    return wrong, len(damages)


def main():
    failed = False
    for name in programs.NAMES:
        make = globals().get(name)
        if make is None:
            wrong, count = ["no test of its check"], 0
        else:
            with tempfile.TemporaryDirectory() as folder:
                wrong, count = check(name, make, pathlib.Path(folder))
        failed = failed or bool(wrong)
        print(f"{name}: " + ("; ".join(wrong) if wrong else f"finds {count} of {count} damages"),
              flush=True)
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
