"""srad_v1: removes speckle from an image by diffusion, with reductions on the GPU.

Reference: the program built for the host, for the image in single precision that
the program copies from the device (recorded_copies.h) and for the one it writes;
for the default input, which is Rodinia's own, its result too.
"""
import shutil

from programs import Program, numbers, require, require_close

STEPS = {"small": 2, "default": 100}
ROWS, COLUMNS = 502, 458
LEVELS = 1                  # of 255: Rodinia's own tolerance, a rounding to integers


def prepare(folder, rodinia, size):
    shutil.copy(rodinia / "data/srad/image.pgm", folder / "image.pgm")


def image(run):
    """The last copy from the device."""
    values = run.floats("copies.bin")
    require(len(values) >= ROWS * COLUMNS, "the image was not read back")
    return values[-ROWS * COLUMNS:]


def levels(text):
    words = text.split()
    require(words[:1] == ["P2"], "image_out.pgm is no image")
    return numbers(" ".join(words[1:]))


def verify(run):
    require_close("pixel", image(run), image(run.reference), 0.02, 1e-4)
    got = levels(run.read("image_out.pgm"))
    require_close("level", got, levels(run.reference.read("image_out.pgm")), LEVELS)
    if run.size == "default":
        gold = run.rodinia / "test/srad/gold/image_out.pgm"
        require_close("level", got, levels(gold.read_text(encoding="utf-8")), LEVELS)


PROGRAM = Program("srad_v1", "srad/srad_v1", ("main.cu",),
                  {size: ((str(steps), "0.5", str(ROWS), str(COLUMNS), "image.pgm", "run"),)
                   for size, steps in STEPS.items()}, verify, prepare,
                  includes=("../../../common",), flags=("-include", "kprobe:recorded_copies.h"),
                  host_reference=True)
