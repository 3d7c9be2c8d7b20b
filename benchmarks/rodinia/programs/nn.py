"""nn: distance of each hurricane record from a place; prints the nearest.

The program's own comparison lets NaN pass, so the distances it prints are
compared with those computed here from the records.
"""
import math
import re
import shutil

from programs import Program, require

LATITUDE, LONGITUDE, RESULTS = 30.0, 90.0, 100
FILES = [f"cane4_{number}.db" for number in range(4)]


def prepare(folder, rodinia, size):
    for name in FILES:
        shutil.copy(rodinia / "data/nn" / name, folder)
    (folder / "list").write_text("\n".join(FILES[:1 if size == "small" else 4]) + "\n",
                                 encoding="utf-8")


def distances(run):
    found = []
    for name in run.read("list").split():
        for line in run.read(name).splitlines():
            found.append(math.hypot(LATITUDE - float(line[28:33]),
                                    LONGITUDE - float(line[33:38])))
    return sorted(found)


def verify(run):
    require("Failed results" not in run.stdout, "the program's own comparison failed")
    printed = [float(text) for text in re.findall(r"--> Distance=(\S+)", run.stdout)]
    require(len(printed) == RESULTS, f"{len(printed)} distances printed, not {RESULTS}")
    for number, (got, expected) in enumerate(zip(printed, distances(run))):
        require(abs(got - expected) <= 1e-3, f"distance {number} is {got}, not {expected:.6f}")


COMMAND = ("list", "-r", str(RESULTS), "-lat", str(LATITUDE), "-lng", str(LONGITUDE))
PROGRAM = Program("nn", "nn", ("nn_hip.cu",), {"small": (COMMAND,), "default": (COMMAND,)},
                  verify, prepare)
