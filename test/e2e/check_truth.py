#!/usr/bin/env python3
"""Holds a trace against what the virtual GPU says it executed.

check_truth.py PROBED WORK [ARGS...] runs the instrumented program PROBED on the
virtual GPU, traced, with the execution log on, and compares wave by wave:

  expected   every time a wave came to the end of a probe, in order: the site, a
             constant in the machine code there; the clock, the value of the
             s_memtime that the machine code stores there; the lanes active there
  traced     the events of that wave in `kprobe-decode convert --to csv`

A kernel's entry block may do without an event (the site table says so): it is
expected once, first, with the lanes active at the kernel's first instruction and
the clock of its first s_memtime.

Events whose tag says that they have no clock are compared without one. Blocks that
the site table calls omitted are left out of the comparison: they have
no event to compare (check_paths.py holds them against a build that keeps all).

None may be missing, doubled or out of order. Besides, every s_memtime that
belongs to a site must have been followed by that site's end. Where probes are is
read from the disassembly of the clones, what ran from the virtual GPU's log. Of
kprobe itself only the layout of an event's high word is taken as given (wire.h).
"""
import collections
import csv
import os
import pathlib
import re
import struct
import subprocess
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "tools"))
import codeobject  # noqa: E402

CLONE, SAMPLED = ".kprobe", ".sampled.kprobe"
TARGET = os.environ.get("KPROBE_ARCH", "gfx906")  # as build.sh has it
SITE_SHIFT, LANES_STEP = 10, 1 << 4
IMPLIED, OMITTED = 0x20, 0x40
UNTIMED = 2  # flag of a kind
# Below offset 128 is the header.
EVENT_STORE = re.compile(r"buffer_store_dwordx2 v\[(\d+):(\d+)\], off, s\[\d+:\d+\], (?:s\d+|0) "
                         r"offset:(?:12[89]|1[3-9]\d|[2-9]\d\d|\d{4})$")
BRANCHES = ("s_cbranch", "s_branch", "s_setpc", "s_swappc", "s_endpgm")

Event = collections.namedtuple("Event", "site clock lanes")


class Difference(Exception):
    pass


def read_store(instructions, store):
    """(tag, clock) of the event that the store at an index writes. The tag: its site
    and kind, as found in the code before; the clock: index of the s_memtime whose
    value is stored, or None when it is not in the same straight piece of code."""
    low, high = EVENT_STORE.match(instructions[store].text).groups()
    source = tag = packed = clock = None
    for at in range(store - 1, -1, -1):
        text = instructions[at].text
        move = re.match(r"v_mov_b32(?:_e32)? v(\d+), (s\d+|0x[0-9a-f]+|\d+)$", text)
        if move and move[1] == high and tag is None and packed is None:
            if move[2].startswith("s"):
                packed = move[2]
            else:
                tag = int(move[2], 0)  # all lanes: site << 10 | kind
        elif move and move[1] == low and source is None:
            source = move[2]
        elif packed and text.startswith(f"s_lshl4_add_u32 {packed},"):
            # (active lanes << 4) + ((site << 10 | kind) - (1 << 4))
            tag = (int(text.split(",")[-1], 0) + LANES_STEP) & 0xffffffff
            packed = None
        elif source and clock is None and text.startswith(f"s_memtime s[{source[1:]}:"):
            clock = at
        if text.startswith(BRANCHES):
            break
    if tag is None:
        raise Difference(f"no tag for the event stored at {instructions[store].pc:#x}")
    return tag, clock


class Probes:
    """Where the probes are that one clone may run into, relative to its entry: its
    own, and those of the functions in its code object that it may call."""

    def __init__(self, entry, functions, silent):
        self.implied, self.omitted = silent  # as silent_sites() returns them
        self.ends = {}    # pc of the instruction that stores an event: site
        self.clocks = {}  # pc of the s_memtime of a site: site
        self.untimed = set()
        for _, instructions in functions.values():
            for index, instruction in enumerate(instructions):
                if not EVENT_STORE.match(instruction.text):
                    continue
                tag, clock = read_store(instructions, index)
                site = tag >> SITE_SHIFT
                self.ends[instruction.pc - entry] = site
                if tag & UNTIMED:
                    self.untimed.add(site)
                elif clock is not None:
                    self.clocks[instructions[clock].pc - entry] = site


def silent_sites(path, clone):
    """What the site table of a code object says of a clone's sites without events: the
    entry block, or None when it has one, and the omitted ones."""
    table = path.with_suffix(".sites")
    codeobject.llvm("llvm-objcopy", f"--dump-section=.kprobe.sites={table}", path, "/dev/null")
    data, at = table.read_bytes(), 0
    while at < len(data):  # one table of wire.h after another
        total, = struct.unpack_from("<Q", data, at + 8)
        kernels, kernel_at = struct.unpack_from("<II", data, at + 24)
        site_at, = struct.unpack_from("<I", data, at + 44)
        string_at, = struct.unpack_from("<I", data, at + 68)
        for number in range(kernels):
            record = struct.unpack_from("<8I", data, at + kernel_at + 32 * number)
            name = data[at + string_at + record[1]:].split(b"\0", 1)[0].decode()
            if name != clone:
                continue
            first, count = record[4:6]
            flags = {site: struct.unpack_from("<I", data, at + site_at + 64 * site + 28)[0]
                     for site in range(first, first + count)}
            return (first if flags[first] & IMPLIED else None,
                    {site for site in flags if flags[site] & OMITTED})
        at += total
    raise Difference(f"{clone} is in no site table of its code object")


def find_probes(program, work):
    """{name of a clone: [Probes]}: several when code objects share the name."""
    found = collections.defaultdict(list)
    for path in codeobject.extract(program, work / "code", TARGET):
        functions = codeobject.disassemble(path)
        for name in codeobject.kernels(path):
            if not name.endswith(CLONE) or name.endswith(SAMPLED):
                continue
            entry, instructions = functions[name]
            silent = silent_sites(path, name)
            own = Probes(entry, {name: (entry, instructions)}, silent)
            if not own.ends and own.implied is None:
                raise Difference(f"{name} has no probe")
            found[name].append(Probes(entry, functions, silent))
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
    events, owed = [], None
    last, clocks = None, {}  # s_memtime: the last value, and the last by site
    entered = 0  # lanes of an implied entry whose clock has not been read yet
    for pc, value, active in records:
        if active is None:
            last = value
            if entered:
                events.append(Event(probes.implied, value, entered))
                entered = 0
            if pc in probes.clocks:
                if owed is not None:
                    raise Difference(f"site {owed} began and did not end")
                owed = probes.clocks[pc]
                clocks[owed] = value
        elif pc == 0 and probes.implied is not None:
            entered = bin(active).count("1")
        elif pc in probes.ends:
            site = probes.ends[pc]
            if owed is not None and owed != site:
                raise Difference(f"site {owed} began, site {site} ended")
            owed = None
            lanes = bin(active).count("1")
            # A probe that runs with no lane active stores nothing.
            if lanes:
                clock = None if site in probes.untimed else clocks.get(site, last)
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
                expected = expected_events(records, probes)
                got = [event._replace(clock=None) if event.site in probes.untimed else event
                       for event in traced.waves[wave] if event.site not in probes.omitted]
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
    omitted, untimed = candidates[0].omitted, candidates[0].untimed
    wave = next(wave for wave, events in traced.waves.items()
                if sum(event.site not in omitted for event in events) > 1)
    right = [event for event in traced.waves[wave]
             if event.site not in omitted]
    first, second = right[0], right[1]
    timed = next(at for at, event in enumerate(right) if event.site not in untimed)
    faults = {
        "missing": right[1:], "doubled": [first] + right, "swapped": [second, first] + right[2:],
        "other site": [first._replace(site=first.site + 1)] + right[1:],
        "other clock": right[:timed] + [right[timed]._replace(clock=right[timed].clock + 1)] +
                       right[timed + 1:],
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
                ends = sorted({0} | {pc for each in candidates for pc in each.ends})
                # Functions may lie before the kernel: addresses wrap.
                words = " ".join(f"{pc & 0xffffffffffffffff:x}" for pc in ends)
                file.write(f"{name} {words}\n")
        log, dump, table = work / "log", work / "trace.kpd", work / "events.csv"
        for path in (log, dump):
            path.unlink(missing_ok=True)
        run(["kprobe-run", f"--vgpu={TARGET}", "-o", dump, "--", program, *sys.argv[3:]],
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
