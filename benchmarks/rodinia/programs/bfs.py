"""bfs: distance of each node of a graph from node 0, compared with a search here."""
import re
import shutil

from programs import Program, require

GRAPH = {"small": "graph4096.txt", "default": "graph65536.txt"}


def prepare(folder, rodinia, size):
    shutil.copy(rodinia / "data/bfs" / GRAPH[size], folder / "graph")


def costs(numbers):
    """Distances from node 0; numbers: node count, (first edge, edges) of each node,
    source, edge count, (target, cost) of each edge."""
    count = numbers[0]
    first, degree = numbers[1:1 + 2 * count:2], numbers[2:2 + 2 * count:2]
    targets = numbers[3 + 2 * count::2]
    result = [-1] * count
    result[0], frontier = 0, [0]
    while frontier:
        reached = []
        for node in frontier:
            for target in targets[first[node]:first[node] + degree[node]]:
                if result[target] < 0:
                    result[target] = result[node] + 1
                    reached.append(target)
        frontier = reached
    return result


def verify(run):
    expected = costs([int(text) for text in run.read("graph").split()])
    written = re.findall(r"^(\d+)\) cost:(-?\d+)$", run.read("result.txt"), re.MULTILINE)
    require(len(written) == len(expected), f"{len(written)} nodes written, not {len(expected)}")
    for number, (node, cost) in enumerate(written):
        require(int(node) == number and int(cost) == expected[number],
                f"node {node} has cost {cost}, not {expected[number]}")


PROGRAM = Program("bfs", "bfs", ("bfs.hip.cu",), {"small": (("graph",),), "default": (("graph",),)},
                  verify, prepare)
