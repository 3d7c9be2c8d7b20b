"""particlefilter, naive: follows a disc in noise, resampling on the GPU.

Prints the estimate after each frame. Reference: the same filter here in double
precision; the program's host part and ours take the same random numbers.
"""
import particles
from programs import Program, require_close

FRAMES = {"small": 4, "default": 10}
PARTICLES = {"small": 200, "default": 1000}


def verify(run):
    expected = particles.track(FRAMES[run.size], PARTICLES[run.size], wrap=False)
    require_close("coordinate", particles.printed(run.stdout), expected, 1e-4)


PROGRAM = Program("particlefilter_naive", "particlefilter", ("ex_particle_CUDA_naive_seq.cu",),
                  {size: (particles.command(FRAMES[size], PARTICLES[size]),)
                   for size in FRAMES}, verify,
                  flags=particles.FLAGS)
