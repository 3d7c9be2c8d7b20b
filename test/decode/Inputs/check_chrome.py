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
open_calls, arrows, counters, points = collections.defaultdict(list), {}, [], []
for event in trace["traceEvents"]:
    where = event["pid"], event["tid"]
    if event["ph"] == "M":
        names = processes if event["name"] == "process_name" else threads
        key = event["pid"] if event["name"] == "process_name" else where
        assert key not in names, event
        names[key] = event["args"]["name"]
    elif event["ph"] == "B":
        open_calls[where].append(len(tracks[where]))
        tracks[where].append([nanoseconds(event["ts"]), None, event["name"]])
    elif event["ph"] == "E":
        slice_ = tracks[where][open_calls[where].pop()]
        assert slice_[2] == event.get("name", slice_[2]), event
        slice_[1] = nanoseconds(event["ts"]) - slice_[0]
    elif event["ph"] == "C":
        (unit, value), = event["args"].items()
        counters.append(f"{event['name']} = {float(value):g} {unit} at {nanoseconds(event['ts'])}")
    elif event["ph"] == "i":
        assert event["s"] == "t", event
        points.append(f"{event['name']} at {nanoseconds(event['ts'])}, in "
                      f"{len(open_calls[where])} calls of {threads[where]}")
    elif event["ph"] in ("s", "f"):
        arrows.setdefault(event["id"], []).append((event["ph"], where, nanoseconds(event["ts"])))
    else:
        assert event["ph"] == "X", event
        tracks[where].append([nanoseconds(event["ts"]), nanoseconds(event["dur"]), event["name"]])

for where, slices in sorted(tracks.items()):
    open_ends = []
    for begin, length, name in slices:
        assert begin >= 0 and (length is None or length >= 0), name
        while open_ends and open_ends[-1] <= begin and (length or open_ends[-1] < begin):
            open_ends.pop()
        assert not open_ends or begin + (length or 0) <= open_ends[-1], f"{name} crosses another"
        if length is not None:
            open_ends.append(begin + length)
        shown = "?" if length is None else length
        print(f"{processes[where[0]]} / {threads[where]}: {name} {begin}+{shown}")
for text in counters + points:
    print(text)
print(f"slices: {sum(map(len, tracks.values()))}, tracks: {len(tracks)}")


def slice_at(where, time):
    """The innermost slice that an arrow's end touches."""
    inside = [item for item in tracks[where]
              if item[0] <= time and (item[1] is None or time <= item[0] + item[1])]
    assert inside, "an arrow ends in nothing"
    return max(inside, key=lambda item: item[0])[2]


for number, ends in sorted(arrows.items()):
    assert [end[0] for end in ends] == ["s", "f"], ends
    assert ends[0][2] <= ends[1][2], "an arrow points back"
    print(f"arrow: {slice_at(*ends[0][1:])} -> {slice_at(*ends[1][1:])}")
