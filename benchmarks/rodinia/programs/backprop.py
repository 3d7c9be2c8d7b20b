"""backprop: one training step of a neural network.

The program writes the weights behind the hidden layer, which depend on the first
of its two kernels only. So what it copies back from the device is recorded
(recorded_copies.h); the last copy is the input weights that the second kernel
has adjusted. Reference: the same step here, with the C library's rand().
"""
import ctypes
import math

from programs import Program, require, require_close

COUNT = {"small": 1024, "default": 65536}
HIDDEN = 16
RATE = 0.3


def network(count):
    libc = ctypes.CDLL("libc.so.6")
    libc.srand(7)

    def draw():
        return libc.rand() / 0x7fffffff

    weights = [[draw() for _ in range(HIDDEN + 1)] for _ in range(count + 1)]
    output = [[draw() for _ in range(2)] for _ in range(HIDDEN + 1)]
    return weights, output, [1.0] + [draw() for _ in range(count)]


def squash(value):
    return 1 / (1 + math.exp(-value)) if value > -700 else 0.0


def trained(weights, output, units):
    """The weights behind the hidden layer, and those in front of it, after a step."""
    hidden = [1.0] + [squash(weights[0][j] + sum(weights[i][j] * units[i]
                                                 for i in range(1, len(units))))
                      for j in range(1, HIDDEN + 1)]
    result = squash(sum(output[j][1] * hidden[j] for j in range(HIDDEN + 1)))
    error = result * (1 - result) * (0.1 - result)
    deltas = [0.0] + [hidden[j] * (1 - hidden[j]) * error * output[j][1]
                      for j in range(1, HIDDEN + 1)]
    new_output = [output[j][1] + RATE * error * hidden[j] for j in range(HIDDEN + 1)]
    new_weights = [[weight + RATE * delta * unit for weight, delta in zip(row, deltas)]
                   for row, unit in zip(weights, units)]
    return new_output, new_weights


def verify(run):
    count = COUNT[run.size]
    new_output, new_weights = trained(*network(count))
    lines = run.read("out_hip.txt").splitlines()[1:]
    written = {tuple(map(int, line.split(",")[:2])): float(line.split(",")[2]) for line in lines}
    got = [written.get((j, 1), math.nan) for j in range(HIDDEN + 1)]
    require_close("output weight", got, new_output, 1e-4)

    copies = run.floats("copies.bin")
    adjusted = copies[-(count + 1) * (HIDDEN + 1):]
    require(len(adjusted) == (count + 1) * (HIDDEN + 1), "the input weights were not read back")
    for i, row in enumerate(new_weights):
        # The first of each row is nobody's weight.
        start = i * (HIDDEN + 1)
        require_close(f"weight of input {i}", adjusted[start + 1:start + HIDDEN + 1], row[1:],
                      1e-5)


PROGRAM = Program("backprop", "backprop", ("backprop_cuda.cu",),
                  {size: ((str(count),),) for size, count in COUNT.items()}, verify,
                  c_sources=("backprop.c", "facetrain.c", "imagenet.c"),
                  c_flags=("-fopenmp",), flags=("-include", "kprobe:recorded_copies.h"))
