"""heartwall: follows 51 points of a mouse's heart through a film; prints where.

The film is not in the checkouts that git holds; ours is noise with rings, drifting
a little from frame to frame. The points are written into the program: they lie
within 656 rows and 744 columns. Reference: the program built for the host, exactly.
"""
import avi
from programs import Program, require

WIDTH, HEIGHT = 744, 656
FRAMES = {"small": 2, "default": 20}


def frame(number):
    pixels = avi.noise(WIDTH, HEIGHT, 60, 76, seed=1)
    for ring in range(60):
        avi.ring(pixels, WIDTH, 120 + 37 * ring % 380 + number, 230 + 53 * ring % 350 + 2 * number,
                 6, 11, 120 + 13 * ring % 100)
    return bytes(pixels)


def prepare(folder, rodinia, size):
    film = avi.film(WIDTH, HEIGHT, [frame(number) for number in range(FRAMES[size])])
    (folder / "film.avi").write_bytes(film)


def positions(text):
    """Each word of the program's list of points, by frame and wall."""
    require("---Frame 0---" in text, "no points were printed")
    return text[text.index("Total AVI Frames"):].split()


def verify(run):
    got, expected = positions(run.stdout), positions(run.reference.stdout)
    require(len(got) == len(expected), f"{len(got)} words printed, not {len(expected)}")
    for number, (a, b) in enumerate(zip(got, expected)):
        require(a == b, f"word {number} is {a}, not {b}")


PROGRAM = Program("heartwall", "heartwall", ("main.cu",),
                  {size: (("film.avi", str(count)),) for size, count in FRAMES.items()}, verify,
                  prepare, c_sources=("AVI/avilib.c", "AVI/avimod.c"),
                  includes=("../../common", "AVI"), flags=("-DOUTPUT",), host_reference=True)
