"""Reads a Chrome trace strictly, checks that slices nest, lists them.

Times are taken from the text of the numbers, in nanoseconds: a reader's floating
point plays no part. A slice must lie inside the one before it on its track, or
begin at or after its end.
"""
import collections
import decimal
import json
import sys


def refuse(text):
    raise ValueError(f"not JSON: {text}")


def nanoseconds(value):
    result = value * 1000
    assert result == result.to_integral_value(), value
    # What a reader with doubles sees must still be exact.
    assert round(float(value) * 1000) == int(result), value
    return int(result)


def distinct(pairs):
    keys = [key for key, _ in pairs]
    assert len(set(keys)) == len(keys), keys
    return dict(pairs)


with open(sys.argv[1], encoding="utf-8") as file:
    trace = json.load(file, parse_float=decimal.Decimal, parse_constant=refuse,
                      object_pairs_hook=distinct)
assert trace["displayTimeUnit"] == "ns"
print("base", trace["otherData"]["begin_realtime_ns"])

processes, threads, tracks = {}, {}, collections.defaultdict(list)
for event in trace["traceEvents"]:
    where = event["pid"], event["tid"]
    if event["ph"] == "M":
        names = processes if event["name"] == "process_name" else threads
        key = event["pid"] if event["name"] == "process_name" else where
        assert key not in names, event
        names[key] = event["args"]["name"]
    else:
        assert event["ph"] == "X", event
        tracks[where].append((nanoseconds(event["ts"]), nanoseconds(event["dur"]), event["name"]))

for where, slices in sorted(tracks.items()):
    open_ends = []
    for begin, length, name in slices:
        assert begin >= 0 and length >= 0, name
        while open_ends and open_ends[-1] <= begin and (length or open_ends[-1] < begin):
            open_ends.pop()
        assert not open_ends or begin + length <= open_ends[-1], f"{name} crosses another slice"
        open_ends.append(begin + length)
        print(f"{processes[where[0]]} / {threads[where]}: {name} {begin}+{length}")
print(f"slices: {sum(map(len, tracks.values()))}, tracks: {len(tracks)}")
