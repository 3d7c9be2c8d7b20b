"""What run.py knows about each Rodinia program: one module per program.

A module defines PROGRAM, an instance of Program. Add a program by adding its
module and its name to NAMES.
"""
import dataclasses
import importlib
import pathlib
from typing import Callable

# In the order in which run.py runs and prints them.
NAMES = ("nn", "hotspot", "pathfinder", "bfs", "lud", "nw", "backprop", "gaussian", "hybridsort",
         "kmeans", "lavamd", "btree", "srad_v2")

SIZES = ("small", "default")


class Mismatch(Exception):
    """The program's result is wrong, or it did not say what it should."""


def require(condition, text):
    if not condition:
        raise Mismatch(text)


@dataclasses.dataclass
class Run:
    """One finished run of a program, for verify()."""
    folder: pathlib.Path     # where it ran, and where its output files are
    rodinia: pathlib.Path    # the checkout
    size: str                # "small" or "default"
    stdout: str

    def read(self, name):
        path = self.folder / name
        require(path.is_file(), f"{name} was not written")
        return path.read_text(encoding="utf-8", errors="replace")


@dataclasses.dataclass
class Program:
    """How to build, feed, start and check one program.

    sources and c_sources are relative to hip/<folder> of the checkout, includes
    too. A source that begins with "kprobe:" is ours, in benchmarks/rodinia.
    prepare(folder, rodinia, size) makes the inputs in the folder that the program
    runs in. commands[size] are its arguments there. verify(run) raises Mismatch.
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


def load(name):
    return importlib.import_module(f"programs.{name}").PROGRAM
