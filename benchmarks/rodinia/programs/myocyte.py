"""myocyte: simulates a heart muscle cell, 91 differential equations.

Two modes with a kernel each: one evaluates the model and the host integrates, the
other integrates on the GPU (and writes no file). Reference: the program built for
the host; compared are all values that come back from the device (recorded_copies.h).

In the first mode both workgroups write the first three values, by a slip of the
program's (kernel_cam writes d_finavalu[com_offset], not d_com[com_offset]). Group 0
is the longer one and writes last, so the reference runs it last, too.
"""
import math
import shutil

from programs import Program, close, require

MILLISECONDS = {"small": 2, "default": 100}
CELLS = 1
EQUATIONS = 91
ABSOLUTE, RELATIVE = 1e-4, 2e-3


def prepare(folder, rodinia, size):
    data = folder / "data/myocyte"
    data.mkdir(parents=True)
    for name in ("y.txt", "params.txt"):
        shutil.copy(rodinia / "data/myocyte" / name, data / name)


def verify(run):
    expected, got = run.reference.floats("copies.bin"), run.floats("copies.bin")
    require(len(expected) >= EQUATIONS, "the reference is incomplete")
    require(len(got) == len(expected), f"{len(got)} values, not {len(expected)}")
    for number, (a, b) in enumerate(zip(got, expected)):
        # In states far off the model gives infinities, or NaN of two of them; the
        # host part replaces both by the same number.
        require(close(a, b, ABSOLUTE, RELATIVE) if math.isfinite(b) else not math.isfinite(a),
                f"value {number} is {a:.9g}, not {b:.9g}")


def commands(milliseconds):
    return tuple((str(milliseconds), str(CELLS), mode, "run") for mode in "01")


PROGRAM = Program("myocyte", "myocyte", ("main.hip.cu",),
                  {size: commands(duration) for size, duration in MILLISECONDS.items()}, verify,
                  prepare, flags=("-include", "kprobe:recorded_copies.h"), start="hip/myocyte",
                  host_reference=True, follow=True,
                  host_settings={"KPROBE_HOST_LAST_GROUP_FIRST": "1"})
