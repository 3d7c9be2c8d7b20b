"""heartwall: follows 51 points of a mouse's heart through a film; prints where.

The film is not in the checkouts that git holds; ours shows one picture, rings in
noise, that moves as a whole, so that where each point goes is known. Where the
points start is written into the program: within 656 rows and 744 columns.

A build for the host is no reference here: the kernel lacks a barrier before its
second horizontal sum, and is right only where the waves of a group keep step.
"""
import re

import avi
from programs import Program, require

WIDTH, HEIGHT = 744, 656
FRAMES = {"small": 2, "default": 20}
MARGIN = 16                 # of the picture around what a frame shows of it
ROWS, COLUMNS = "Row", "Col"


def shift(number):
    """By how many rows and columns the picture has moved in a frame."""
    return (2 * number % 7 - 3) * (number > 0), (3 * number % 8 - 4) * (number > 0)


def picture():
    width, height = WIDTH + 2 * MARGIN, HEIGHT + 2 * MARGIN
    pixels = avi.noise(width, height, 60, 76, seed=1)
    for ring in range(60):
        avi.ring(pixels, width, 120 + 37 * ring % 380, 230 + 53 * ring % 350, 6, 11,
                 120 + 13 * ring % 100)
    return pixels, width


def frame(pixels, width, number):
    down, right = shift(number)
    rows = []
    for row in range(HEIGHT):
        start = (row + MARGIN - down) * width + MARGIN - right
        rows.append(pixels[start:start + WIDTH])
    return b"".join(rows)


def prepare(folder, rodinia, size):
    pixels, width = picture()
    frames = [frame(pixels, width, number) for number in range(FRAMES[size])]
    (folder / "film.avi").write_bytes(avi.film(WIDTH, HEIGHT, frames))


def starts(source, wall):
    """(row, column) of each point of a wall, from the program's text."""
    found = [[int(value) for value in
              re.findall(rf"{wall}{axis}\[ *\d+\] *= *(\d+)", source)] for axis in (ROWS, COLUMNS)]
    require(found[0] and len(found[0]) == len(found[1]), f"the program has no {wall} points")
    return list(zip(*found))


def positions(text):
    """{(frame, wall): [(row, column)]} as printed."""
    found = {}
    for number, part in enumerate(re.split(r"---Frame \d+---", text)[1:]):
        for wall in ("endo", "epi"):
            match = re.search(rf"--{wall}--\n([\d\t-]*)\n([\d\t-]*)", part)
            require(match, f"frame {number} has no {wall} points")
            found[number, wall] = list(zip(*([int(word) for word in match[axis].split()]
                                             for axis in (1, 2))))
    return found


def compare(printed, expected, frames):
    require(len(printed) == 2 * frames, f"points of {len(printed) / 2:g} frames, not {frames}")
    for (number, wall), points in printed.items():
        require(len(points) == len(expected[wall]), f"frame {number}: {len(points)} {wall} points")
        down, right = shift(number)
        for which, (got, (row, column)) in enumerate(zip(points, expected[wall])):
            require(got == (row + down, column + right),
                    f"frame {number}: {wall} point {which} at {got}, "
                    f"not {(row + down, column + right)}")


def verify(run):
    source = (run.rodinia / "hip/heartwall/main.cu").read_text(encoding="utf-8", errors="replace")
    compare(positions(run.stdout), {wall: starts(source, wall) for wall in ("endo", "epi")},
            FRAMES[run.size])


PROGRAM = Program("heartwall", "heartwall", ("main.cu",),
                  {size: (("film.avi", str(count)),) for size, count in FRAMES.items()}, verify,
                  prepare, c_sources=("AVI/avilib.c", "AVI/avimod.c"),
                  includes=("../../common", "AVI"), flags=("-DOUTPUT",))
