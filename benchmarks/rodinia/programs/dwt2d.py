"""dwt2d: wavelet transform of an image: 5/3 (integers) and 9/7, forth and back.

The program takes the file's bytes for pixels, header and all. The width chooses
the kernel: below 480, below 960, or more. Reference: the program built for the
host, exactly for 5/3; for the two runs that Rodinia has results of, those too.
"""
import random
import shutil

from programs import Program, require

STOCK = {"small": ("192.bmp", 192, "run0"), "default": ("rgb.bmp", 1024, "run1")}
# Width and height of the images of our own.
OURS = {"small": ((480, 64), (960, 64)), "default": ((512, 512), (192, 192))}
MODES = (("-f", "-5"), ("-f", "-9"), ("-r", "-5"), ("-r", "-9"))


def pixels(width, height):
    """A smooth image with noise: RGB bytes."""
    source = random.Random(width)
    return bytes((x + 2 * y + 40 * colour + source.randrange(16)) // 8 % 256
                 for y in range(height) for x in range(width) for colour in range(3))


def prepare(folder, rodinia, size):
    data = folder / "data/dwt2d"
    data.mkdir(parents=True)
    shutil.copy(rodinia / "data/dwt2d" / STOCK[size][0], data / "stock")
    for width, height in OURS[size]:
        (data / f"{width}x{height}").write_bytes(pixels(width, height))


def commands(size):
    edge = STOCK[size][1]
    images = [("stock", edge, edge)] + [(f"{w}x{h}", w, h) for w, h in OURS[size]]
    return tuple((image, "-d", f"{width}x{height}", *mode, "-l", "3")
                 for image, width, height in images for mode in MODES)


def same(name, got, expected, tolerance):
    require(len(got) == len(expected), f"{name} has {len(got)} bytes, not {len(expected)}")
    for number, (a, b) in enumerate(zip(got, expected)):
        require(abs(a - b) <= tolerance, f"byte {number} of {name} is {a}, not {b}")


def verify(run):
    image, exact = run.command[0], "-5" in run.command
    for colour in "rgb":
        name = f"{image}.dwt.{colour}"
        got = run.read_bytes(name)
        # A value on the edge of two bytes may fall to either in 9/7.
        same(name, got, run.reference.read_bytes(name), 0 if exact else 1)
        if image == "stock" and exact and "-f" in run.command:
            stock, _, folder = STOCK[run.size]
            gold = run.rodinia / "test/dwt2d/gold" / folder / f"{stock}.dwt.{colour}"
            same(f"{name} (Rodinia's)", got, gold.read_bytes(), 0)


PROGRAM = Program("dwt2d", "dwt2d",
                  ("main.cu", "dwt.cu", "components.cu", "dwt_cuda/fdwt53.cu",
                   "dwt_cuda/fdwt97.cu", "dwt_cuda/common.cu", "dwt_cuda/rdwt53.cu",
                   "dwt_cuda/rdwt97.cu"),
                  {size: commands(size) for size in STOCK}, verify, prepare, includes=(".",),
                  flags=("-DOUTPUT",), start="hip/dwt2d", host_reference=True)
