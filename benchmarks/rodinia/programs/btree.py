"""b+tree: looks up keys and ranges of keys in a tree.

The keys are 0 to N-1 in random order, each its own value, so that a found value
is its key, and a range begins at the record with the number of its first key.
The queries come from the C library's rand(), in single precision.
"""
import ctypes
import random

from programs import Program, require

KEYS = {"small": 10000, "default": 1000000}
# Ranges and look-ups. The program reads the length of a range where the number of
# ranges stands (its pointer does not move on), so that both are one number.
QUERIES = {"small": (200, 300), "default": (6000, 10000)}


def prepare(folder, rodinia, size):
    keys = list(range(KEYS[size]))
    random.Random(5).shuffle(keys)
    (folder / "keys").write_text("\n".join(map(str, [len(keys)] + keys)) + "\n", encoding="utf-8")
    ranges, lookups = QUERIES[size]
    (folder / "commands").write_text(f"j {ranges} {ranges}\nk {lookups}\n", encoding="utf-8")


def section(text, title, columns):
    """Rows after the line that begins with the title."""
    require(title in text, f"'{title}' is not in output.txt")
    rows = []
    for line in text.split(title, 1)[1].splitlines()[1:]:
        if len(line.split()) != columns:
            break
        rows.append([int(word) for word in line.split()])
    return rows


def expected_results(size):
    """(start, length) of each range, and the value of each look-up."""
    count = KEYS[size]
    ranges, lookups = QUERIES[size]
    libc = ctypes.CDLL("libc.so.6")
    libc.srand(1)

    def draw():
        part = ctypes.c_float(ctypes.c_float(libc.rand()).value
                              / ctypes.c_float(0x7fffffff).value).value
        return int(ctypes.c_float(part * count).value)

    found = []
    for _ in range(ranges):
        first = draw()
        last = first + ranges
        if last >= count:
            first, last = first - (last - count), count - 1
        found.append((first, last - first + 1))
    return found, [draw() for _ in range(lookups)]


def verify(run):
    ranges, values = expected_results(run.size)
    text = run.read("output.txt")
    rows = section(text, f"******command: j count={len(ranges)}", 3)
    require(len(rows) == len(ranges), f"{len(rows)} ranges written, not {len(ranges)}")
    for number, (row, (start, length)) in enumerate(zip(rows, ranges)):
        require(row == [number, start, length],
                f"range {number} is {row[1]}, {row[2]}, not {start}, {length}")
    rows = section(text, f"******command: k count={len(values)}", 2)
    require(len(rows) == len(values), f"{len(rows)} values written, not {len(values)}")
    for number, (row, value) in enumerate(zip(rows, values)):
        require(row == [number, value], f"value {number} is {row[1]}, not {value}")


COMMAND = ("file", "keys", "command", "commands")
PROGRAM = Program("b+tree", "b+tree",
                  ("main.cu", "kernel/kernel_gpu_cuda_wrapper.cu",
                   "kernel/kernel_gpu_cuda_wrapper_2.cu", "util/cuda/cuda.cu"),
                  {"small": (COMMAND,), "default": (COMMAND,)}, verify, prepare,
                  c_sources=("util/timer/timer.c", "util/num/num.c"))
