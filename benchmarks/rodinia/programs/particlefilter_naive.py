"""particlefilter, naive: follows a disc in noise, resampling on the GPU.

Prints the estimate after each frame. Reference: the same filter here in double
precision; the program's host part and ours take the same random numbers.
"""
import re

import particles
from programs import Program, require_close

FRAMES = {"small": 4, "default": 10}
PARTICLES = {"small": 200, "default": 1000}


def printed(text):
    """The estimates, as x, y of each frame."""
    return [float(word) for word in re.findall(r"^[XY]E: (\S+)$", text, re.MULTILINE)]


def verify(run):
    expected = particles.track(FRAMES[run.size], PARTICLES[run.size], wrap=False)
    require_close("coordinate", printed(run.stdout), expected, 1e-4)


def command(size):
    edge = str(particles.EDGE)
    return ("-x", edge, "-y", edge, "-z", str(FRAMES[size]), "-np", str(PARTICLES[size]))


PROGRAM = Program("particlefilter_naive", "particlefilter", ("ex_particle_CUDA_naive_seq.cu",),
                  {size: (command(size),) for size in FRAMES}, verify,
                  # The program takes fresh memory for zeros, and its random numbers
                  # are products that overflow.
                  flags=("-include", "kprobe:zeroed_malloc.h", "-fwrapv"))
