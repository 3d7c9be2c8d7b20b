"""handler.py LIBRARY: nanoseconds of the sample handler at native and Python depths,
and of a signal with an empty handler (handler.cpp)."""
import ctypes
import sys


class Cost(ctypes.Structure):
    _fields_ = [("handler", ctypes.c_double), ("floor", ctypes.c_double), ("frames", ctypes.c_double)]


library = ctypes.CDLL(sys.argv[1])
rounds = int(sys.argv[2]) if len(sys.argv) > 2 else 60


def deeper(depth, native, cost):
    if depth:
        deeper(depth - 1, native, cost)
    else:
        library.kprobe_handler_cost(native, rounds, ctypes.byref(cost))


sys.setrecursionlimit(10000)
for kind, depths in (("native", (0, 9, 99)), ("python", (0, 9, 99))):
    for depth in depths:
        cost = Cost()
        deeper(*((depth, 0) if kind == "python" else (0, depth)), cost)
        print(f"{kind} +{depth}: handler {cost.handler:.0f} ns for {cost.frames:.0f} frames, "
              f"empty handler {cost.floor:.0f} ns")
