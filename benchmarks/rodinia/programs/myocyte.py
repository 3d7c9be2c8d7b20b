"""myocyte: simulates a heart muscle cell, 91 differential equations.

Two modes with a kernel each: one evaluates the model and the host integrates, the
other integrates on the GPU (and writes no file). Reference: the program built for
the host; compared are all values that come back from the device (recorded_copies.h).

In the first mode both workgroups write the first three values, by a slip of the
program's (kernel_cam writes d_finavalu[com_offset], not d_com[com_offset]). Whichever
writes last wins: the reference runs in both orders, and these three may be of either.

In the second mode all steps are the device's, so nothing can be followed; by rounding
alone an attempt is within the tolerance or is not, and then steps have other lengths.
The reference is built with and without fused operations: all must agree with either.
"""
import math
import shutil

from programs import Program, close, require

MILLISECONDS = {"small": 2, "default": 100}
CELLS = 1
EQUATIONS = 91
ABSOLUTE, RELATIVE = 1e-4, 2e-3
# Values copied back for each evaluation of the model: the equations', then d_com's.
# The other group writes RACED values, one for each of its parts, whose equations begin
# at PARTS: a sum of the same terms, so as inexact as the largest of them. So are the
# last equations of a part among each other (calcineurin's): each term is in two of them,
# with opposite signs.
EVALUATION, RACED, PARTS, TERMS = EQUATIONS + 3, 3, (46, 61, 76), 15
CALCINEURIN = 4
LARGEST_FLOAT, FLOAT_PLACE = 3.4e38, 1e-6


def prepare(folder, rodinia, size):
    data = folder / "data/myocyte"
    data.mkdir(parents=True)
    for name in ("y.txt", "params.txt"):
        shutil.copy(rodinia / "data/myocyte" / name, data / name)


def verify(run):
    expected, got = run.reference.floats("copies.bin"), run.floats("copies.bin")
    require(len(expected) >= EQUATIONS, "the reference is incomplete")
    require(len(got) == len(expected), f"{len(got)} values, not {len(expected)}")
    other = run.alternative.floats("copies.bin") if run.alternative else expected
    second_mode = run.command[2:3] == ("1",)
    if second_mode and all(map(agree, got, other)):
        return
    for number, (a, b, c) in enumerate(zip(got, expected, other)):
        right = agree(a, b) or (
            not second_mode and agree_as_sums(a, b, c, expected, other, number))
        require(right, f"value {number} is {a:.9g}, not {b:.9g}")


def agree_as_sums(a, b, c, expected, other, number):
    """Whether a value of the first mode differs no more than its terms' rounding lets it."""
    place = number % EVALUATION
    begin = number - place
    if place < RACED:
        return agree(a, c) or near(a, c, largest(other, begin + PARTS[place], TERMS))
    for part in PARTS:
        if part + TERMS - CALCINEURIN <= place < part + TERMS:
            return near(a, b, largest(expected, begin + part + TERMS - CALCINEURIN, CALCINEURIN))
    return False


def near(a, b, size):
    return abs(a - b) <= FLOAT_PLACE * size


def largest(values, begin, count):
    return max((min(abs(value), LARGEST_FLOAT) for value in values[begin:begin + count]
                if not math.isnan(value)), default=0.0)


def agree(a, b):
    """In states far off the model gives infinities, or NaN of two of them; the host
    part replaces both by the same number."""
    return close(a, b, ABSOLUTE, RELATIVE) if math.isfinite(b) else not math.isfinite(a)


def commands(milliseconds):
    return tuple((str(milliseconds), str(CELLS), mode, "run") for mode in "01")


PROGRAM = Program("myocyte", "myocyte", ("main.hip.cu",),
                  {size: commands(duration) for size, duration in MILLISECONDS.items()}, verify,
                  prepare, flags=("-include", "kprobe:recorded_copies.h"), start="hip/myocyte",
                  host_reference=True, follow=True,
                  host_settings={"KPROBE_HOST_LAST_GROUP_FIRST": "1"}, host_alternative={},
                  host_contracted=(1,))
