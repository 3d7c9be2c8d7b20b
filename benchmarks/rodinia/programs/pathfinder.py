"""pathfinder: cheapest way through a grid, by dynamic programming.

The program generates its grid and compares with its own CPU loop, integers
exactly; a run that never got there does not print the tile sizes.
"""
from programs import Program, require


def verify(run):
    require("targetBlock" in run.stdout, "the program did not start")
    require("failed results" not in run.stdout, "differs from the program's CPU result")


PROGRAM = Program("pathfinder", "pathfinder", ("pathfinder_hip.cu",),
                  {"small": (("1000", "10", "2"),), "default": (("100000", "100", "20"),)}, verify)
