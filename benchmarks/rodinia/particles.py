"""What both programs of particlefilter share, and their reference in double precision.

A disc of radius 5 wanders through a video with noise; particles guess where, are
weighed by how well the pixels around them fit a disc, and drawn anew by weight.
Random numbers are a 32-bit congruential generator with a seed for each particle,
which come from the C library's rand().
"""
import ctypes
import math
import re

EDGE = 128
RADIUS = 5
BACKGROUND, DISC = 100, 228
MODULUS = 2 ** 31 - 1

# The programs take fresh memory for zeros, and their random numbers are products
# that overflow.
FLAGS = ("-include", "kprobe:zeroed_malloc.h", "-fwrapv")


def command(frames, count):
    return ("-x", str(EDGE), "-y", str(EDGE), "-z", str(frames), "-np", str(count))


def printed(text):
    """The estimates, as x, y of each."""
    return [float(word) for word in re.findall(r"^[XY]E: (\S+)$", text, re.MULTILINE)]


class Generator:
    def __init__(self, count):
        libc = ctypes.CDLL("libc.so.6")
        libc.srand(1)
        self.seeds = [wrapped(libc.rand() % 10000000 * number) for number in range(count)]

    def uniform(self, which):
        number = wrapped(1103515245 * self.seeds[which] + 12345)
        # C's remainder has the sign of the dividend.
        self.seeds[which] = int(math.fmod(number, MODULUS))
        return abs(self.seeds[which] / MODULUS)

    def normal(self, which):
        u, v = self.uniform(which), self.uniform(which)
        return math.sqrt(-2 * math.log(u)) * math.cos(2 * 3.1415926535897932 * v)


def wrapped(number):
    """A number as a 32-bit integer has it."""
    return (number + 2 ** 31) % 2 ** 32 - 2 ** 31


def video(frames, generator, wrap):
    """Pixels, the frame's number running fastest. wrap: pixels are bytes, and so is
    the noise before it is added."""
    place = lambda x, y, frame: (x * EDGE + y) * frames + frame  # noqa: E731
    centre = EDGE // 2
    middles = [(centre, centre, 0)]
    middles += [(abs(centre - 2 * (frame - 1)), abs(centre + frame - 1), frame)
                for frame in range(1, frames)]
    pixels = [BACKGROUND] * (EDGE * EDGE * frames)
    for row, column, frame in middles:
        for x in range(max(row - RADIUS, 0), min(row + RADIUS, EDGE)):
            for y in range(max(column - RADIUS, 0), min(column + RADIUS, EDGE)):
                if math.hypot(x - row, y - column) < RADIUS:
                    pixels[place(x, y, frame)] = DISC
    for number, pixel in enumerate(pixels):
        noise = int(5 * generator.normal(0))
        pixels[number] = (pixel + noise) % 256 if wrap else pixel + noise
    return pixels


def track(frames, count, wrap):
    """Estimated x, y after each frame but the first, in one list."""
    generator = Generator(count)
    pixels = video(frames, generator, wrap)
    offsets = [(x, y) for x in range(1 - RADIUS, RADIUS) for y in range(1 - RADIUS, RADIUS)
               if math.hypot(x, y) < RADIUS]
    xs, ys = [EDGE / 2] * count, [EDGE / 2] * count
    estimates = []
    for frame in range(1, frames):
        for which in range(count):
            xs[which] += 1.0 + 5.0 * generator.normal(which)
            ys[which] += -2.0 + 2.0 * generator.normal(which)
        weights = []
        for x, y in zip(xs, ys):
            fit = 0.0
            for across, up in offsets:
                at = abs(((int(x) + across) * EDGE + int(y) + up) * frames + frame)
                pixel = pixels[at if at < len(pixels) else 0]
                fit += ((pixel - BACKGROUND) ** 2 - (pixel - DISC) ** 2) / 50.0
            weights.append(math.exp(fit / len(offsets)) / count)
        total = sum(weights)
        weights = [weight / total for weight in weights]
        estimates.append(sum(x * weight for x, weight in zip(xs, weights)))
        estimates.append(sum(y * weight for y, weight in zip(ys, weights)))

        steps, so_far = [], 0.0
        for weight in weights:
            so_far += weight
            steps.append(so_far)
        first = generator.uniform(0) / count
        drawn, at = [], 0
        for which in range(count):
            while at < count - 1 and steps[at] < first + which / count:
                at += 1
            drawn.append(at)
        xs, ys = [xs[at] for at in drawn], [ys[at] for at in drawn]
    return estimates
