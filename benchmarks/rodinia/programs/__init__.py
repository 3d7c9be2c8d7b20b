"""What run.py knows about each Rodinia program: one module per program.

A module defines PROGRAM, an instance of Program. Add a program by adding its
module and its name to NAMES, and a way to damage its result to ../test_checks.py.
"""
import array
import dataclasses
import importlib
import pathlib
from typing import Callable, Optional

# In the order in which run.py runs and prints them: Rodinia's twenty, of which
# particlefilter and srad are two programs each.
NAMES = ("nn", "hotspot", "pathfinder", "bfs", "lud", "nw", "backprop", "gaussian", "hybridsort",
         "kmeans", "lavamd", "btree", "srad_v1", "srad_v2", "cfd", "dwt2d", "particlefilter_naive",
         "particlefilter_float", "streamcluster", "myocyte", "leukocyte", "heartwall")

SIZES = ("small", "default")


class Mismatch(Exception):
    """The program's result is wrong, or it did not say what it should."""


def require(condition, text):
    if not condition:
        raise Mismatch(text)


def close(got, expected, tolerance, relative=0.0):
    """Whether two numbers agree; NaN agrees with nothing."""
    return abs(got - expected) <= tolerance + relative * abs(expected)


def require_close(what, got, expected, tolerance, relative=0.0):
    """Mismatch unless two lists of numbers agree one by one."""
    require(len(got) == len(expected), f"{len(got)} {what}s, not {len(expected)}")
    for number, (a, b) in enumerate(zip(got, expected)):
        require(close(a, b, tolerance, relative), f"{what} {number} is {a:.9g}, not {b:.9g}")


def numbers(text):
    """All words of a text as numbers; Mismatch where one is none."""
    try:
        return [float(word) for word in text.split()]
    except ValueError as error:
        raise Mismatch(f"not a number: {error}") from error


@dataclasses.dataclass
class Run:
    """One finished run of a program, for verify()."""
    folder: pathlib.Path     # where it ran, and where its output files are
    rodinia: pathlib.Path    # the checkout
    size: str                # "small" or "default"
    stdout: str
    command: tuple = ()      # its arguments
    # The same run of the program built for the host, if the program says so; and
    # with the settings host_alternative, or the build of host_contracted.
    reference: Optional["Run"] = None
    alternative: Optional["Run"] = None

    def read(self, name):
        return self.read_bytes(name).decode("utf-8", errors="replace")

    def read_bytes(self, name):
        path = self.folder / name
        require(path.is_file(), f"{name} was not written")
        return path.read_bytes()

    def floats(self, name):
        """The file as numbers in single precision."""
        data = self.read_bytes(name)
        require(len(data) % 4 == 0, f"{name} ends inside a number")
        return array.array("f", data)


@dataclasses.dataclass
class Program:
    """How to build, feed, start and check one program.

    sources and c_sources are relative to hip/<folder> of the checkout, includes
    too. A source that begins with "kprobe:" is ours, in benchmarks/rodinia.
    prepare(folder, rodinia, size) makes the inputs in the folder that the program
    runs in. commands[size] are its command lines there; each runs in a folder of
    its own. verify(run) raises Mismatch.

    Some programs open files in ../../data: they start in the folder start.

    With host_reference, each command also runs in a build of the same source for
    the host (host/hip/hip_runtime.h), where neither the device compiler nor the
    device can be wrong, and verify finds what that gave in run.reference. With
    follow, that build goes on with the values that the run has copied from the device
    (recorded_copies.h), for a program that magnifies the smallest difference.
    """
    name: str
    folder: str
    sources: tuple
    commands: dict
    verify: Callable
    prepare: Callable = lambda folder, rodinia, size: None
    c_sources: tuple = ()
    includes: tuple = ("../../common",)
    flags: tuple = ()
    c_flags: tuple = ()
    start: str = "."
    host_reference: bool = False
    host_settings: dict = dataclasses.field(default_factory=dict)   # its environment
    # Another environment, under which it may rightly give something else: where
    # workgroups race, both orders are right.
    host_alternative: Optional[dict] = None
    # Commands, by number, of which the alternative is another build: with products and
    # sums fused (needs a processor that can), where rounding decides what comes next.
    host_contracted: tuple = ()
    follow: bool = False

    def check(self, run):
        """verify(); Mismatch, too, where it cannot make sense of the output."""
        try:
            self.verify(run)
        except (ValueError, IndexError, KeyError) as error:
            raise Mismatch(f"output that cannot be read: {error!r}") from error


def load(name):
    return importlib.import_module(f"programs.{name}").PROGRAM
