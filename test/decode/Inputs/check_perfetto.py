"""Reads a Perfetto trace as protoc prints it, checks that slices nest on their
tracks and that flows lead from a submission forward to a kernel, lists them.

check_perfetto.py TRACE.pbtxt [--count]: with --count only how many of each.
"""
import collections
import re
import sys

TOKEN = re.compile(r'\s*(?:(\w+) \{|(\})|(\w+): (?:"((?:[^"\\]|\\.)*)"|(\S+)))')


def read(path):
    """The packets, each a dictionary of lists."""
    root = collections.defaultdict(list)
    stack = [root]
    with open(path, encoding="utf-8") as file:
        for line in file:
            match = TOKEN.match(line)
            assert match, f"not understood: {line}"
            message, end, name, text, plain = match.groups()
            if message:
                child = collections.defaultdict(list)
                stack[-1][message].append(child)
                stack.append(child)
            elif end:
                stack.pop()
            else:
                assert not name.isdigit(), f"field {name} is not in the schema"
                stack[-1][name].append(text if text is not None else plain)
    assert len(stack) == 1
    return root["packet"]


names, tracks, slices, stacks = {}, {}, collections.defaultdict(list), {}
flows, base = collections.defaultdict(list), None
units, counters = {}, []
for packet in read(sys.argv[1]):
    for data in packet["interned_data"]:
        for item in data["event_names"]:
            names[item["iid"][0]] = item["name"][0]
    for snapshot in packet["clock_snapshot"]:
        base = int(snapshot["clocks"][0]["timestamp"][0])
    for track in packet["track_descriptor"]:
        uuid = track["uuid"][0]
        assert uuid not in tracks, f"track {uuid} is described twice"
        if track["process"]:
            process = track["process"][0]
            text = f"process {process['pid'][0]} {process['process_name'][0]}"
        elif track["thread"]:
            thread = track["thread"][0]
            text = f"thread {thread['tid'][0]} {thread['thread_name'][0]}"
        else:
            text = track["name"][0]
        if track["counter"]:
            units[uuid] = track["counter"][0]["unit_name"][0]
        parent = track["parent_uuid"]
        tracks[uuid] = f"{tracks[parent[0]]} / {text}" if parent else text
        stacks[uuid] = []
    for event in packet["track_event"]:
        uuid = event["track_uuid"][0]
        assert uuid in tracks, "an event on a track that is not described"
        time = int(packet["timestamp"][0]) - base
        assert time >= 0
        kind = event["type"][0]
        if kind == "TYPE_COUNTER":
            counters.append(f"{tracks[uuid]} = {float(event['double_counter_value'][0]):g} "
                            f"{units[uuid]} at {time}")
            continue
        if kind == "TYPE_SLICE_END":
            begin = stacks[uuid].pop()
            begin[1] = time - begin[0]
            assert begin[1] >= 0, begin
            continue
        item = [time, None if kind == "TYPE_SLICE_BEGIN" else 0, names[event["name_iid"][0]],
                event["categories"][0], stacks[uuid][-1][2] if stacks[uuid] else None]
        for outer in stacks[uuid]:
            assert outer[0] <= time, f"{item} begins before the slice around it"
        if kind == "TYPE_SLICE_BEGIN":
            stacks[uuid].append(item)
        slices[uuid].append(item)
        for flow in event["flow_ids"]:
            flows[flow].append(("from", item))
        for flow in event["terminating_flow_ids"]:
            flows[flow].append(("to", item))

# On one track a slice lies inside another or beside it.
for uuid, items in slices.items():
    ends = []
    for begin, length, name, *_ in items:
        if length is None:
            continue
        while ends and ends[-1] <= begin:
            ends.pop()
        assert not ends or begin + length <= ends[-1], f"{name} crosses another slice"
        ends.append(begin + length)

if "--count" not in sys.argv:
    for text in counters:
        print(text)
count = collections.Counter(item[3] for items in slices.values() for item in items)
for uuid, items in slices.items():
    for begin, length, name, *_ in items:
        if "--count" not in sys.argv:
            print(f"{tracks[uuid]}: {name} {begin}+{'?' if length is None else length}")
for ends in flows.values():
    assert [end for end, _ in ends] == ["from", "to"], ends
    (_, source), (_, target) = ends
    assert source[0] <= target[0], "a flow points back"
    assert source[3] == "dispatch" and target[3] == "kernel"
    if "--count" not in sys.argv:
        print(f"flow: {source[4]} -> {target[2]}")
if "--count" in sys.argv:
    print(", ".join(f"{kind}: {number}" for kind, number in sorted(count.items())),
          f"flows: {len(flows)}", sep=", ")
