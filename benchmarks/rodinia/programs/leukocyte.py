"""leukocyte: finds white blood cells in a film and follows them.

The film is in no checkout; ours is noise with bright rings that move. Reference:
the program built for the host; compared are what comes back from the device
(recorded_copies.h) and the places of the cells that the program writes.

Built with MEMCPYTOSYMBOL, as Rodinia does for NVIDIA: without it the program
copies the structuring element the wrong way and dilates with whatever was in the
device's memory.
"""
import re

import avi
from programs import Program, numbers, require, require_close

WIDTH, HEIGHT = {"small": 200, "default": 640}, 480
FRAMES = {"small": 1, "default": 10}
CELLS = {"small": 3, "default": 12}
# The matrix library's sources that the program needs.
MATRICES = tuple(f"meschach_lib/{name}.c" for name in (
    "copy err matrixio memory vecop matop pxop submat init otherio machine matlab ivecop version "
    "meminfo memstat lufactor bkpfacto chfactor qrfactor solve hsehldr givens update norm hessen "
    "symmeig schur svd fft mfunc bdfactor sparse sprow sparseio spchfctr splufctr spbkp spswap "
    "iter0 itersym iternsym zmachine zcopy zmatio zmemory zvecop zmatop znorm zfunc zlufctr "
    "zsolve zmatlab zhsehldr zqrfctr zgivens zhessen zschur").split())


def frame(width, cells, number):
    pixels = avi.noise(width, HEIGHT, 90, 106, seed=1)
    for cell in range(cells):
        avi.ring(pixels, width, 40 + 53 * cell % (width - 80) + number, 150 + 37 * cell % 150,
                 8, 12, 200)
    return bytes(pixels)


def prepare(folder, rodinia, size):
    # The frame of each step, and the one before the first.
    width = WIDTH[size]
    frames = [frame(width, CELLS[size], number) for number in range(FRAMES[size] + 1)]
    (folder / "film.avi").write_bytes(avi.film(width, HEIGHT, frames))


def cells(run):
    found = re.search(r"^Cells detected: (\d+)$", run.stdout, re.MULTILINE)
    require(found, "the program did not say how many cells there are")
    return int(found[1])


def places(run):
    return numbers(run.read("result.txt").replace(",", " "))


def verify(run):
    require(cells(run.reference) > 0, "the film shows no cells")
    require(cells(run) == cells(run.reference),
            f"{cells(run)} cells, not {cells(run.reference)}")
    require_close("copied value", run.floats("copies.bin"),
                  run.reference.floats("copies.bin"), 1e-3, 1e-3)
    require_close("number", places(run), places(run.reference), 1e-2)


PROGRAM = Program("leukocyte", "leukocyte", ("find_ellipse_kernel.cu", "track_ellipse_kernel.cu"),
                  {size: (("film.avi", str(count)),) for size, count in FRAMES.items()}, verify,
                  prepare, includes=(".", "meschach_lib"),
                  c_sources=("detect_main.c", "avilib.c", "find_ellipse.c", "track_ellipse.c",
                             "misc_math.c", *MATRICES),
                  c_flags=("-DOUTPUT", "-DMEMCPYTOSYMBOL", "-DHAVE_CONFIG_H"),
                  flags=("-DMEMCPYTOSYMBOL", "-include", "kprobe:recorded_copies.h",
                         "-include", "kprobe:texture_offset.h"),
                  host_reference=True, follow=True)
