"""particlefilter, float (in double precision all the same): the whole filter on
the GPU; prints the last estimate.

Reference: the same filter here. All particles of a run are one workgroup, since
between several the program has a race: they read u[0] and weights that another
one may not have written yet.
"""
import particles
from programs import Program, require_close

FRAMES = {"small": 3, "default": 10}
PARTICLES = {"small": 128, "default": 512}


def verify(run):
    expected = particles.track(FRAMES[run.size], PARTICLES[run.size], wrap=True)[-2:]
    require_close("coordinate", particles.printed(run.stdout), expected, 1e-4)


PROGRAM = Program("particlefilter_float", "particlefilter", ("ex_particle_CUDA_float_seq.cu",),
                  {size: (particles.command(FRAMES[size], PARTICLES[size]),)
                   for size in FRAMES}, verify,
                  flags=particles.FLAGS)
