"""particlefilter, float (in double precision all the same): the whole filter on
the GPU; prints the last estimate.

Reference: the same filter here. All particles of a run are one workgroup, since
between several the program has a race: they read u[0] and weights that another
one may not have written yet.
"""
import particles
from programs import Program, require_close
from programs.particlefilter_naive import printed

FRAMES = {"small": 3, "default": 10}
PARTICLES = {"small": 128, "default": 512}


def verify(run):
    expected = particles.track(FRAMES[run.size], PARTICLES[run.size], wrap=True)[-2:]
    require_close("coordinate", printed(run.stdout), expected, 1e-4)


def command(size):
    edge = str(particles.EDGE)
    return ("-x", edge, "-y", edge, "-z", str(FRAMES[size]), "-np", str(PARTICLES[size]))


PROGRAM = Program("particlefilter_float", "particlefilter", ("ex_particle_CUDA_float_seq.cu",),
                  {size: (command(size),) for size in FRAMES}, verify,
                  # The program takes fresh memory for zeros, and its random numbers
                  # are products that overflow.
                  flags=("-include", "kprobe:zeroed_malloc.h", "-fwrapv"))
