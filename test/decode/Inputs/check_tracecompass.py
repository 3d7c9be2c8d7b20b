"""check_tracecompass.py VIEWS.xml METADATA TRACE.txt: holds the XML analyses of
Trace Compass against a CTF trace of ours.

Elements and attributes are those that Trace Compass knows (its own schema is used
as well where KPROBE_TRACECOMPASS_SCHEMA names it); every event and field that is
named exists in the trace's metadata; views show what the state providers make.
Then the state changes are carried out on the events that babeltrace2 printed:
what was pushed is popped, and what was counted up is counted down.
"""
import collections
import os
import re
import subprocess
import sys
import xml.etree.ElementTree

# Element: (attributes it must have, attributes it may have, children it may have).
STATE = ("stateAttribute", "stateValue")
RULES = {
    "tmfxml": ((), (), ("stateProvider", "timeGraphView", "xyView", "callstack")),
    "stateProvider": (("id", "version"), (), ("head", "eventHandler")),
    "callstack": (("id",), (), ("callstackGroup", "stateProvider")),
    "callstackGroup": ((), ("name",), ("level", "thread")),
    "level": (("path",), (), ()),
    "thread": ((), ("level", "type"), ()),
    "head": ((), (), ("label", "analysis")),
    "label": (("value",), (), ()),
    "analysis": (("id",), (), ()),
    "eventHandler": (("eventName",), (), ("stateChange",)),
    "stateChange": ((), (), STATE),
    "stateAttribute": (("type", "value"), (), ()),
    "stateValue": (("type",), ("value", "forcedType", "increment", "stack"), ()),
    "timeGraphView": (("id",), (), ("head", "entry")),
    "xyView": (("id",), (), ("head", "entry")),
    "entry": (("path",), ("displayText",), ("display", "name", "entry")),
    "display": (("type",), (), ()),
    "name": (("type",), (), ()),
}
LINE = re.compile(r"kprobe:(\w+): \{ (.*) \}$")
MEMBER = re.compile(r'(\w+) = (?:"((?:[^"\\]|\\.)*)"|\( "[^"]*" : container = \d+ \)|([^,]+))(?:, |$)')


def check_rules(element):
    must, may, children = RULES[element.tag]
    assert set(must) <= set(element.attrib) <= set(must) | set(may), (element.tag, element.attrib)
    for child in element:
        assert child.tag in children, f"<{child.tag}> in <{element.tag}>"
        check_rules(child)


def fields_of(metadata):
    """Event name -> its members, out of TSDL as the CTF writer lays it out."""
    events = {}
    for text in re.split(r"\nevent \{", metadata)[1:]:
        name = re.search(r'\bname = "?([\w:]+)"?;', text)[1]
        payload = text[text.index("fields :="):]
        payload = payload[:payload.index("\n};") if "\n};" in payload else len(payload)]
        events[name] = set(re.findall(r"\b_?(\w+);", payload))
    return events


def path_of(change, fields):
    return tuple(str(fields[item.get("value")]) if item.get("type") == "eventField"
                 else item.get("value") for item in change.findall("stateAttribute"))


def run(provider, lines):
    """The state at the end: path -> value, or a list for a stack."""
    handlers = collections.defaultdict(list)
    for handler in provider.findall("eventHandler"):
        handlers[handler.get("eventName")] += handler.findall("stateChange")
    state, seen = {}, collections.Counter()
    for line in lines:
        match = LINE.search(line)
        fields = {name: quoted or plain for name, quoted, plain in MEMBER.findall(match[2])}
        for change in handlers["kprobe:" + match[1]]:
            path, value = path_of(change, fields), change.find("stateValue")
            seen[path] += 1
            new = fields[value.get("value")] if value.get("type") == "eventField" else value.get("value")
            if value.get("stack") == "push":
                state.setdefault(path, []).append(new)
            elif value.get("stack") == "pop":
                state[path].pop()
            elif value.get("increment"):
                state[path] = state.get(path, 0) + int(new)
                assert state[path] >= 0, f"{path} falls below nothing: {line}"
            else:
                state[path] = new
    return state, seen


def main():
    views, metadata, trace = sys.argv[1:4]
    root = xml.etree.ElementTree.parse(views).getroot()
    check_rules(root)
    schema = os.environ.get("KPROBE_TRACECOMPASS_SCHEMA")
    if schema:
        subprocess.run(["xmllint", "--noout", "--schema", schema, views], check=True)
    with open(metadata, "rb") as file:
        events = fields_of(file.read().decode("latin-1"))
    with open(trace, encoding="utf-8") as file:
        lines = file.read().splitlines()
    providers = list(root.iter("stateProvider"))
    first = {}
    for provider in providers:
        for handler in provider.findall("eventHandler"):
            known = events[handler.get("eventName")]
            for item in handler.iter():
                if item.get("type") == "eventField":
                    assert item.get("value") in known, (handler.get("eventName"), item.attrib)
        first[provider.get("id")] = {change.find("stateAttribute").get("value")
                                     for change in provider.iter("stateChange")}
    for view in [*root.findall("timeGraphView"), *root.findall("xyView")]:
        made = first[view.find("head/analysis").get("id")]
        assert view.find("entry").get("path").split("/")[0] in made, view.get("id")
    paths = collections.Counter()
    for provider in providers:
        state, seen = run(provider, lines)
        for path, value in state.items():
            if path[0] in ("Queues", "Devices", "Units"):
                assert value in (0, [], None), f"{path} is left with {value}"
        for path, count in seen.items():
            paths[path[0]] += count
        if provider.get("id") == "kprobe.calls":
            print("calls open at the end:", sum(map(len, state.values())))
    print("state changes:", ", ".join(f"{name} {count}" for name, count in sorted(paths.items())))


main()
