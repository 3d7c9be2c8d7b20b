"""kmeans: clusters of points; prints the centres, compared with a clustering here."""
import math
import random
import re
import shutil

from programs import Program, require

CLUSTERS = 5
THRESHOLD = 0.001


def prepare(folder, rodinia, size):
    if size == "small":
        shutil.copy(rodinia / "data/kmeans/100", folder / "points")
        return
    # Blobs far enough apart that single precision cannot change sides.
    source = random.Random(13)
    middles = [[source.uniform(0, 100) for _ in range(8)] for _ in range(CLUSTERS)]
    lines = []
    for number in range(20000):
        middle = middles[number % CLUSTERS]
        lines.append(" ".join([str(number)] + [f"{source.gauss(m, 4):.3f}" for m in middle]))
    (folder / "points").write_text("\n".join(lines) + "\n", encoding="utf-8")


def clustering(points):
    centres = [list(point) for point in points[:CLUSTERS]]
    members = [-1] * len(points)
    while True:
        moved, sums = 0, [[0.0] * len(points[0]) for _ in range(CLUSTERS)]
        sizes = [0] * CLUSTERS
        for number, point in enumerate(points):
            best = min(range(CLUSTERS), key=lambda c: sum(
                (a - b) * (a - b) for a, b in zip(point, centres[c])))
            moved += members[number] != best
            members[number] = best
            sizes[best] += 1
            total = sums[best]
            for feature, value in enumerate(point):
                total[feature] += value
        for cluster in range(CLUSTERS):
            if sizes[cluster]:
                centres[cluster] = [value / sizes[cluster] for value in sums[cluster]]
        if moved <= THRESHOLD:
            return centres


def verify(run):
    points = [[float(text) for text in line.split()[1:]]
              for line in run.read("points").splitlines() if line.strip()]
    expected = clustering(points)
    for cluster, centre in enumerate(expected):
        found = re.search(rf"^{cluster}:((?: \S+)+)$", run.stdout, re.MULTILINE)
        require(found, f"centre {cluster} was not printed")
        got = [float(text) for text in found[1].split()]
        require(len(got) == len(centre), f"centre {cluster} has {len(got)} coordinates")
        for feature, (a, b) in enumerate(zip(got, centre)):
            require(abs(a - b) <= 0.006 + 1e-5 * abs(b) and math.isfinite(a),
                    f"coordinate {feature} of centre {cluster} is {a}, not {b:.4f}")


COMMAND = ("-o", "-i", "points")
PROGRAM = Program("kmeans", "kmeans", ("kmeans_cuda.cu",),
                  {"small": (COMMAND,), "default": (COMMAND,)}, verify, prepare,
                  c_sources=("cluster.c", "getopt.c", "kmeans.c", "kmeans_clustering.c", "rmse.c"))
