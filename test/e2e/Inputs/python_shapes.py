"""Every way in which Python calls Python, each with a loop at its end. A comment
`CALLED BY` names who stands outside a function, in this file, whenever it runs:
check_python_shapes.py holds each stack against it."""
import asyncio
import ctypes
import functools
import sys
import threading
import time

try:
    import _interpreters as interpreters
except ImportError:
    import _xxsubinterpreters as interpreters

SECONDS = 0.12


def busy(end):  # CALLED BY generator inner compare reduce leaf closed Thing.__getitem__ first second
    while time.thread_time() < end:
        for _ in range(200):
            pass


def until():  # CALLED BY generators coroutines callbacks library recursive lambdas special worker_first worker_second
    return time.thread_time() + SECONDS


def generator(end):  # CALLED BY delegating
    while time.thread_time() < end:
        busy(min(end, time.thread_time() + 0.002))
        yield 1


def delegating(end):  # CALLED BY generators
    yield from generator(end)


def generators():  # CALLED BY <module>
    return sum(delegating(until()))


async def inner(end):  # CALLED BY outer
    while time.thread_time() < end:
        busy(min(end, time.thread_time() + 0.002))
        await asyncio.sleep(0)


async def outer(end):  # CALLED BY coroutines
    await inner(end)


def coroutines():  # CALLED BY <module>
    asyncio.run(outer(until()))


def compare(left, right):  # CALLED BY callbacks
    busy(time.thread_time() + 0.004)
    return left[0] - right[0]


def callbacks():  # CALLED BY <module>
    """C code that calls back: qsort through libffi."""
    libc = ctypes.CDLL(None)
    kind = ctypes.CFUNCTYPE(ctypes.c_int, ctypes.POINTER(ctypes.c_int), ctypes.POINTER(ctypes.c_int))
    end = until()
    while time.thread_time() < end:
        numbers = (ctypes.c_int * 5)(5, 3, 1, 4, 2)
        libc.qsort(numbers, 5, ctypes.sizeof(ctypes.c_int), kind(compare))


def reduce(left, right):  # CALLED BY library
    busy(time.thread_time() + 0.002)
    return left + right


def library():  # CALLED BY <module>
    end = until()
    while time.thread_time() < end:
        functools.reduce(reduce, range(10))


def leaf(end):  # CALLED BY deeper recursive
    busy(end)


def deeper(depth, end):  # CALLED BY deeper recursive
    if depth:
        deeper(depth - 1, end)
    else:
        leaf(end)


def recursive():  # CALLED BY <module>
    end = until()
    while time.thread_time() < end:
        deeper(150, min(end, time.thread_time() + 0.002))


def lambdas():  # CALLED BY <module>
    def closed(end):  # CALLED BY lambdas
        busy(end)
    closed(until())


class Thing:
    def __getitem__(self, end):  # CALLED BY special
        busy(end)


def special():  # CALLED BY <module>
    Thing()[until()]


def first(end):  # CALLED BY worker_first
    busy(end)


def worker_first():  # CALLED BY nobody
    first(until())


def second(end):  # CALLED BY worker_second
    busy(end)


def worker_second():  # CALLED BY nobody
    second(until())


def threads():  # CALLED BY <module>
    all_threads = [threading.Thread(target=f) for f in (worker_first, worker_second)]
    for thread in all_threads:
        thread.start()
    for thread in all_threads:
        thread.join()


def subinterpreter():  # CALLED BY <module>
    """Python in Python in another interpreter: outer frames cannot be seen from it."""
    number = interpreters.create()
    text = ("import time\ndef alone():\n  end = time.thread_time() + 0.12\n"
            "  while time.thread_time() < end: sum(range(100))\nalone()")
    (interpreters.exec if hasattr(interpreters, "exec") else interpreters.run_string)(number, text)
    interpreters.destroy(number)



def short():  # CALLED BY pushes
    return None


def pushes():  # CALLED BY <module>
    """Frames come and go: samples land in their pushes and pops."""
    end = time.thread_time() + SECONDS
    while time.thread_time() < end:
        for _ in range(100):
            short()


for shape in (generators, coroutines, callbacks, library, recursive, lambdas, special, threads,
              subinterpreter, pushes):
    shape()
print(sys.version_info[:2])
