"""lavaMD: forces between particles in neighbouring boxes, in double precision.

Reference: the same sum here, for all boxes of a small run and for some of a
large one; particles from the C library's rand() with the run's seed.
"""
import ctypes
import math

from programs import Program, require

BOXES = {"small": 2, "default": 10}
PARTICLES, SEED, ALPHA = 100, 17, 0.5


def particles(edge):
    libc = ctypes.CDLL("libc.so.6")
    libc.srand(SEED)
    count = edge ** 3 * PARTICLES

    def draw():
        return (libc.rand() % 10 + 1) / 10.0

    places = [(draw(), draw(), draw(), draw()) for _ in range(count)]
    return places, [draw() for _ in range(count)]


def neighbours(box, edge):
    """The box itself first, then those around it."""
    x, y, z = box % edge, box // edge % edge, box // edge ** 2
    around = [(k * edge + j) * edge + i
              for k in range(max(z - 1, 0), min(z + 2, edge))
              for j in range(max(y - 1, 0), min(y + 2, edge))
              for i in range(max(x - 1, 0), min(x + 2, edge))]
    around.remove(box)
    return [box] + around


def force(me, places, charges, boxes):
    potential = x = y = z = 0.0
    for box in boxes:
        for other in range(box * PARTICLES, (box + 1) * PARTICLES):
            place = places[other]
            square = me[0] + place[0] - (me[1] * place[1] + me[2] * place[2] + me[3] * place[3])
            weight = math.exp(-2 * ALPHA * ALPHA * square)
            potential += charges[other] * weight
            x += charges[other] * 2 * weight * (me[1] - place[1])
            y += charges[other] * 2 * weight * (me[2] - place[2])
            z += charges[other] * 2 * weight * (me[3] - place[3])
    return potential, x, y, z


def verify(run):
    edge = BOXES[run.size]
    places, charges = particles(edge)
    rows = run.read("result.txt").splitlines()
    require(len(rows) == len(places), f"{len(rows)} particles written, not {len(places)}")
    for box in range(0, edge ** 3, 1 if edge <= 2 else 97):
        around = neighbours(box, edge)
        # Every particle of few boxes, one in ten of many.
        for number in range(box * PARTICLES, (box + 1) * PARTICLES, 1 if edge <= 2 else 10):
            got = [float(text) for text in rows[number].split(",")]
            expected = force(places[number], places, charges, around)
            require(all(abs(a - b) <= 1e-5 * (1 + abs(b)) for a, b in zip(got, expected)),
                    f"particle {number} has {got}, not {expected}")


PROGRAM = Program("lavamd", "lavaMD", ("kernel/kernel_gpu_cuda_wrapper.cu",),
                  {size: (("-boxes1d", str(edge), "-rnd_seed", str(SEED)),)
                   for size, edge in BOXES.items()}, verify,
                  c_sources=("main.c", "util/num/num.c", "util/timer/timer.c"),
                  c_flags=("-DOUTPUT",))
