"""srad_v2: removes speckle from an image by diffusion; prints the image when built
with OUTPUT. Reference: the same diffusion here, in double precision."""
import array
import ctypes
import math

from programs import Program, require

EDGE = {"small": 64, "default": 512}
SPECKLE = {"small": 31, "default": 127}
RATE, STEPS = 0.5, 2


def diffuse(image, edge, corner):
    for _ in range(STEPS):
        part = [image[row * edge + column] for row in range(corner + 1)
                for column in range(corner + 1)]
        mean = sum(part) / len(part)
        noise = (sum(value * value for value in part) / len(part) - mean * mean) / (mean * mean)
        slopes, strength = [], []
        for row in range(edge):
            for column in range(edge):
                here = image[row * edge + column]
                slope = (image[max(row - 1, 0) * edge + column] - here,
                         image[min(row + 1, edge - 1) * edge + column] - here,
                         image[row * edge + max(column - 1, 0)] - here,
                         image[row * edge + min(column + 1, edge - 1)] - here)
                square = sum(value * value for value in slope) / (here * here)
                total = sum(slope) / here
                ratio = (0.5 * square - total * total / 16) / (1 + 0.25 * total) ** 2
                value = 1 / (1 + (ratio - noise) / (noise * (1 + noise)))
                slopes.append(slope)
                strength.append(min(max(value, 0.0), 1.0))
        image = list(image)
        for row in range(edge):
            for column in range(edge):
                at = row * edge + column
                north, south, west, east = slopes[at]
                here = strength[at]
                below = strength[min(row + 1, edge - 1) * edge + column]
                right = strength[row * edge + min(column + 1, edge - 1)]
                image[at] += 0.25 * RATE * (here * north + below * south + here * west
                                            + right * east)
    return image


def speckled(edge):
    libc = ctypes.CDLL("libc.so.6")
    libc.srand(7)
    return array.array("f", (math.exp(ctypes.c_float(libc.rand() / 0x7fffffff).value)
                             for _ in range(edge * edge)))


def verify(run):
    edge = EDGE[run.size]
    expected = diffuse(list(speckled(edge)), edge, SPECKLE[run.size])
    require("Printing Output:" in run.stdout, "no image was printed")
    printed = run.stdout.split("Printing Output:", 1)[1].split("Computation Done")[0].split()
    require(len(printed) == edge * edge, f"{len(printed)} pixels, not {edge * edge}")
    for number, (text, value) in enumerate(zip(printed, expected)):
        require(abs(float(text) - value) <= 2e-4, f"pixel {number} is {text}, not {value:.5f}")


PROGRAM = Program("srad_v2", "srad/srad_v2", ("srad.cu",),
                  {size: ((str(edge), str(edge), "0", str(SPECKLE[size]), "0",
                           str(SPECKLE[size]), str(RATE), str(STEPS)),)
                   for size, edge in EDGE.items()}, verify,
                  includes=("../../../common",), flags=("-DGPU", "-DOUTPUT", "-include", "kprobe:margins.h"))
