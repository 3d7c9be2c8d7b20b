#!/usr/bin/env python3
"""check_timeline.py CTF.txt STATS.json: walks a whole trace as babeltrace2 prints
it and holds every event against what it belongs to:

    API call  >  submission  ->  kernel  >  waves  >  blocks

by time and by number. No event comes before what it lies in or after its end,
none refers to something that is not there, and nothing that began stays open
but calls that had not returned when tracing ended.
"""
import json
import pathlib
import re
import sys

LINE = re.compile(r"\[(\d+)\.(\d{9})\] (?:\S+ )?kprobe:(\w+): \{ (.*) \}$")
MEMBER = re.compile(r'(\w+) = (?:"((?:[^"\\]|\\.)*)"|\( "[^"]*" : container = (\d+) \)|([^,]+))(?:, |$)')


def number(text):
    try:
        return int(text, 0)
    except ValueError:
        return float(text)


def members(text):
    fields = {}
    for name, quoted, container, plain in MEMBER.findall(text):
        value = container or plain or quoted
        fields[name] = value if quoted else number(value) if value else ""
    return fields


class Walk:
    def __init__(self):
        self.now = 0
        self.stacks = {}      # thread -> numbers of open calls
        self.calls = {}       # number -> (function, parent, thread)
        self.submitted = {}   # dispatch -> its fields, with "ns"
        self.kernels = {}     # dispatch -> begin
        self.ended = set()    # dispatches
        self.waves = {}       # (dispatch, wave) -> [begin, end of last block]
        self.memory = {}      # address -> bytes
        self.copies = {}      # number -> done
        self.queues = set()
        self.packets = {}     # queue -> index of its last barrier
        self.count = {}

    def event(self, ns, name, f):
        assert ns >= self.now, f"time runs back at {name} {f}"
        self.now = ns
        self.count[name] = self.count.get(name, 0) + 1
        getattr(self, "on_" + name, lambda f: None)(f)

    def inside_call(self, f):
        """The call an event names is the innermost open one of its thread."""
        if f["call"]:
            assert self.stacks[f["thread"]][-1] == f["call"], f

    def on_call_begin(self, f):
        stack = self.stacks.setdefault(f["thread"], [])
        assert f["parent"] == (stack[-1] if stack else 0), f
        assert f["call"] not in self.calls, f
        self.calls[f["call"]] = f
        stack.append(f["call"])

    def on_call_end(self, f):
        assert self.stacks[f["thread"]].pop() == f["call"], f
        assert self.calls[f["call"]]["function"] == f["function"], f

    def on_dispatch(self, f):
        assert f["dispatch"] not in self.submitted, f
        self.inside_call(f)
        self.submitted[f["dispatch"]] = dict(f, ns=self.now)

    def on_kernel_begin(self, f):
        assert f["dispatch"] in self.submitted, f
        assert self.submitted[f["dispatch"]]["ns"] <= self.now, f
        assert f["dispatch"] not in self.kernels, f
        self.kernels[f["dispatch"]] = self.now

    def on_kernel_end(self, f):
        assert f["dispatch"] in self.kernels, f
        open_waves = [key for key in self.waves if key[0] == f["dispatch"]]
        assert not open_waves, (f, open_waves)
        self.ended.add(f["dispatch"])

    def running(self, f):
        assert f["dispatch"] in self.kernels, f"before its kernel: {f}"
        assert f["dispatch"] not in self.ended, f"after its kernel: {f}"

    def on_wave_begin(self, f):
        self.running(f)
        key = f["dispatch"], f["wave"]
        assert key not in self.waves, f
        self.waves[key] = [self.now, self.now]

    def on_block(self, f):
        wave = self.waves[f["dispatch"], f["wave"]]
        assert self.now >= wave[1], f"blocks of a wave overlap: {f}"
        wave[1] = self.now + f["duration_ns"]

    def on_wave_end(self, f):
        self.running(f)
        wave = self.waves.pop((f["dispatch"], f["wave"]))
        assert self.now >= wave[1], f"a block ends after its wave: {f}"

    def on_allocate(self, f):
        self.inside_call(f)
        self.memory[f["address"]] = f["bytes"]

    def on_free(self, f):
        self.inside_call(f)
        assert self.memory.pop(f["address"], 0) == f["bytes"], f

    def on_copy(self, f):
        self.inside_call(f)
        self.copies[f["copy"]] = False

    def on_copy_done(self, f):
        assert self.copies[f["copy"]] is False, f
        self.copies[f["copy"]] = True

    def on_queue_create(self, f):
        self.inside_call(f)
        self.queues.add(f["queue"])

    def on_barrier(self, f):
        self.inside_call(f)
        assert f["queue"] in self.queues and f["type"] == "barrier-AND", f
        # Packets of a queue are numbered as they are submitted.
        assert f["queue_index"] > self.packets.get(f["queue"], -1), f
        self.packets[f["queue"]] = f["queue_index"]

    def on_code_load(self, f):
        self.inside_call(f)
        assert f["bytes"] > 0, f

    def outermost(self, call):
        while self.calls[call]["parent"]:
            call = self.calls[call]["parent"]
        return self.calls[call]["function"]


def main():
    walk = Walk()
    for line in pathlib.Path(sys.argv[1]).read_text(encoding="utf-8").splitlines():
        match = LINE.match(line)
        assert match, line
        seconds, nanoseconds, name, text = match.groups()
        walk.event(int(seconds) * 10**9 + int(nanoseconds), name, members(text))
    stats = json.loads(pathlib.Path(sys.argv[2]).read_text(encoding="utf-8"))

    assert not walk.waves, f"waves without an end: {walk.waves}"
    traced = {number: f for number, f in walk.submitted.items() if f["status"] == "traced"}
    assert traced and set(traced) <= walk.ended, "traced dispatches without a kernel"
    assert set(walk.kernels) == walk.ended
    assert all(walk.copies.values()), walk.copies
    # Every launch has its cause, and it is what the program called.
    for f in traced.values():
        assert f["call"], f"a dispatch without a call: {f}"
        assert walk.outermost(f["call"]) in ("hipLaunchKernel", "hipExtLaunchKernel",
                                            "hipModuleLaunchKernel"), f
    # Only what tracing's end cut short is open: one chain of calls a thread.
    still_open = {call for stack in walk.stacks.values() for call in stack}
    begun = sum(row["calls"] for row in stats["calls"])
    ended = sum(row["ended"] for row in stats["calls"])
    assert begun == walk.count["call_begin"] and ended == walk.count["call_end"]
    assert begun - ended == len(still_open)
    kernels = [kernel for kernel in stats["kernels"] if kernel["traced"]]
    assert sum(kernel["waves"]["ended"] for kernel in kernels) == walk.count["wave_begin"]
    # Blocks that ran, those without an event of their own included.
    assert sum(block["hits"] for kernel in kernels for block in kernel.get("blocks", ())) == \
        walk.count["block"] + walk.count.get("block_begin", 0)
    assert not [key for key in stats["lost"] if key.startswith("host_events")], stats["lost"]
    for name in ("allocate", "queue_create", "barrier", "code_load"):
        assert walk.count.get(name), f"no {name}"
    apis = {f["api"] for f in walk.calls.values()}
    assert apis == {"hip", "hsa"}, apis
    # HSA calls lie in HIP's, never the other way round.
    nested = 0
    for f in walk.calls.values():
        if f["parent"]:
            parent = walk.calls[f["parent"]]
            assert parent["thread"] == f["thread"]
            nested += (parent["api"], f["api"]) == ("hip", "hsa")
    assert nested, "no HSA call inside a HIP call"
    print(dict(sorted(walk.count.items())))


if __name__ == "__main__":
    main()
