#!/usr/bin/env python3
"""Holds a trace against what the virtual GPU says it executed.

check_truth.py PROBED WORK [ARGS...] runs the instrumented program PROBED on the
virtual GPU, traced, with the execution log on, and compares wave by wave:

  expected   every time a wave came to the end of a probe, in order: the site, a
             constant in the machine code there; the clock, the value of the last
             s_memtime that the wave had executed; the lanes active there
  traced     the events of that wave in `kprobe-decode convert --to csv`

None may be missing, doubled or out of order. Besides, every s_memtime that
belongs to a site must have been followed by that site's end. Where probes are is
read from the disassembly of the clones, what ran from the virtual GPU's log. Of
kprobe itself only the layout of an event's high word is taken as given (wire.h).
"""
import collections
import csv
import os
import pathlib
import subprocess
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "tools"))
import codeobject  # noqa: E402

CLONE = ".kprobe"
SITE_SHIFT, LANES_STEP = 10, 1 << 4

Event = collections.namedtuple("Event", "site clock lanes")


class Difference(Exception):
    pass


class Probes:
    """Where the probes are that one clone may run into, relative to its entry: its
    own, and those of the functions in its code object that it may call."""

    def __init__(self, entry, functions):
        self.ends = {}    # pc of the instruction that packs the high word: site
        self.clocks = {}  # pc of an s_memtime: site whose probe ends next
        for _, instructions in functions.values():
            waiting = None
            for instruction in instructions:
                text, pc = instruction.text, instruction.pc - entry
                if text.startswith("s_lshl4_add_u32"):
                    # (active lanes << 4) + ((site << 10 | kind) - (1 << 4))
                    constant = int(text.split(",")[-1], 0) & 0xffffffff
                    self.ends[pc] = ((constant + LANES_STEP) & 0xffffffff) >> SITE_SHIFT
                    if waiting is not None:
                        self.clocks[waiting] = self.ends[pc]
                    waiting = None
                elif text.startswith("s_memtime"):
                    waiting = pc
                elif text.startswith(("s_cbranch", "s_branch", "s_setpc", "s_endpgm")):
                    waiting = None


def find_probes(program, work):
    """{name of a clone: [Probes]}: several when code objects share the name."""
    found = collections.defaultdict(list)
    for path in codeobject.extract(program, work / "code"):
        functions = codeobject.disassemble(path)
        for name in codeobject.kernels(path):
            if not name.endswith(CLONE):
                continue
            entry, instructions = functions[name]
            if not Probes(entry, {name: (entry, instructions)}).ends:
                raise Difference(f"{name} has no probe")
            found[name].append(Probes(entry, functions))
    if not found:
        raise Difference(f"{program} has no clone")
    return found


class Dispatch:
    def __init__(self, kernel):
        self.kernel = kernel
        self.waves = collections.defaultdict(list)  # (x, y, z, wave): records


def read_log(path):
    """Dispatches of clones, in order; records of a wave: (pc, value, exec or None)."""
    dispatches, current = [], {}
    with open(path, encoding="ascii") as file:
        for line in file:
            words = line.split()
            if words[0] == "D":
                name = words[5].removesuffix(".kd")
                current[words[1]] = Dispatch(name) if name.endswith(CLONE) else None
                if current[words[1]]:
                    dispatches.append(current[words[1]])
            elif words[0] in "BT" and current.get(words[1]):
                wave = tuple(map(int, words[2:6]))
                active = int(words[8], 16) if words[0] == "B" else None
                pc = int(words[6], 16)
                pc -= (pc >> 63) << 64
                current[words[1]].waves[wave].append((pc, int(words[7]), active))
            elif words[0] in "BT" and words[1] not in current:
                raise Difference(f"log: a wave of dispatch {words[1]} before the dispatch")
    return dispatches


def expected_events(records, probes):
    """What one wave must have written, from its records in the log."""
    events, clock, owed = [], None, None
    for pc, value, active in records:
        if active is None:
            if owed is not None:
                raise Difference(f"site {owed} began and did not end")
            clock, owed = value, probes.clocks.get(pc)
        elif pc in probes.ends:
            site = probes.ends[pc]
            if owed is not None and owed != site:
                raise Difference(f"site {owed} began, site {site} ended")
            owed = None
            lanes = bin(active).count("1")
            # A probe that runs with no lane active stores nothing.
            if lanes:
                events.append(Event(site, clock, lanes))
    if owed is not None:
        raise Difference(f"site {owed} began and did not end")
    return events


def read_trace(path):
    """{number of the dispatch: Dispatch with Events}, from kprobe's CSV."""
    dispatches = {}
    with open(path, newline="", encoding="utf-8") as file:
        for row in csv.DictReader(file):
            number = int(row["dispatch"])
            dispatch = dispatches.setdefault(number, Dispatch(row["kernel"]))
            wave = tuple(int(row[name]) for name in ("group_x", "group_y", "group_z", "wave"))
            dispatch.waves[wave].append(Event(int(row["site"]), int(row["cycle"]),
                                              int(row["lanes"])))
    return [dispatches[number] for number in sorted(dispatches)]


def compare(logged, traced, candidates):
    """Checks one dispatch; returns the number of events."""
    problems = []
    for probes in candidates:
        try:
            if logged.waves.keys() != traced.waves.keys():
                odd = sorted(logged.waves.keys() ^ traced.waves.keys())[0]
                where = "log" if odd in logged.waves else "trace"
                raise Difference(f"wave {odd} is only in the {where}")
            total = 0
            for wave, records in sorted(logged.waves.items()):
                expected, got = expected_events(records, probes), traced.waves[wave]
                for number, pair in enumerate(zip(expected, got)):
                    if pair[0] != pair[1]:
                        raise Difference(f"wave {wave}, event {number}: executed {pair[0]}, "
                                         f"traced {pair[1]}")
                if len(expected) != len(got):
                    raise Difference(f"wave {wave}: {len(expected)} executed, {len(got)} traced")
                total += len(got)
            return total
        except Difference as problem:
            problems.append(str(problem))
    raise Difference(f"{logged.kernel}: " + "; or ".join(problems))


def prove_sharp(logged, traced, candidates):
    """The comparison must fail for a trace with one fault."""
    wave = next(wave for wave, events in traced.waves.items() if len(events) > 1)
    right = traced.waves[wave]
    first, second = right[0], right[1]
    faults = {
        "missing": right[1:], "doubled": [first] + right, "swapped": [second, first] + right[2:],
        "other site": [first._replace(site=first.site + 1)] + right[1:],
        "other clock": [first._replace(clock=first.clock + 1)] + right[1:],
        "other lanes": [first._replace(lanes=first.lanes % 64 + 1)] + right[1:],
    }
    for fault, events in faults.items():
        traced.waves[wave] = events
        try:
            compare(logged, traced, candidates)
        except Difference:
            continue
        finally:
            traced.waves[wave] = right
        raise Difference(f"this check does not see a fault: {fault}")


def run(command, environment=None):
    result = subprocess.run([str(word) for word in command], env=environment, check=False,
                            stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, text=True)
    if result.returncode:
        raise Difference(f"{command[0]}: exit status {result.returncode}: {result.stdout[-500:]}")
    return result.stdout


def main():
    if len(sys.argv) < 3:
        print("usage: check_truth.py PROBED WORK [ARGS...]", file=sys.stderr)
        return 2
    program, work = pathlib.Path(sys.argv[1]), pathlib.Path(sys.argv[2])
    try:
        work.mkdir(parents=True, exist_ok=True)
        probes = find_probes(program, work)
        places = work / "pcs"
        with open(places, "w", encoding="ascii") as file:
            for name, candidates in probes.items():
                ends = sorted({pc for each in candidates for pc in each.ends})
                # Functions may lie before the kernel: addresses wrap.
                words = " ".join(f"{pc & 0xffffffffffffffff:x}" for pc in ends)
                file.write(f"{name} {words}\n")
        log, dump, table = work / "log", work / "trace.kpd", work / "events.csv"
        for path in (log, dump):
            path.unlink(missing_ok=True)
        run(["kprobe-run", "--vgpu", "-o", dump, "--", program, *sys.argv[3:]],
            dict(os.environ, KPROBE_VGPU_LOG=str(log), KPROBE_VGPU_LOG_PCS=str(places)))
        run(["kprobe-decode", "convert", "--to", "csv", "-o", table, dump])

        logged, traced = read_log(log), read_trace(table)
        if not logged:
            raise Difference("no clone was dispatched")
        if len(logged) != len(traced):
            raise Difference(f"{len(logged)} dispatches executed, {len(traced)} traced")
        events = sum(compare(*pair, probes[pair[0].kernel]) for pair in zip(logged, traced))
        if not events:
            raise Difference("no event at all")
        prove_sharp(logged[0], traced[0], probes[logged[0].kernel])
        log.unlink()
    except (Difference, codeobject.CodeObjectError, OSError, KeyError, ValueError) as problem:
        print(f"check_truth.py: {type(problem).__name__}: {problem}", file=sys.stderr)
        return 1
    waves = sum(len(dispatch.waves) for dispatch in logged)
    print(f"true: {len(logged)} dispatches, {waves} waves, {events} events")
    return 0


if __name__ == "__main__":
    sys.exit(main())
