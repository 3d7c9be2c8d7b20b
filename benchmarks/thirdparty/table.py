#!/usr/bin/env python3
"""Prints reports of hecbench.py --json as Markdown: counts, then what did not pass.

  table.py FILE...

A column a report. Below it the programs that did not pass, those of one cause
together; hecbench.notes says of some what lies behind (name: text).
"""
import collections
import json
import pathlib
import re
import sys

from hecbench import OUTCOMES, read_list

HERE = pathlib.Path(__file__).resolve().parent
MEANING = {"failed": "Failed", "unsupported": "Not modelled", "does not build": "Does not build",
           "timeout": "Not over in time", "no verdict": "Ended well, said neither PASS nor FAIL"}


def read_notes():
    lines = (HERE / "hecbench.notes").read_text(encoding="utf-8").splitlines()
    return dict(re.split(r":\s+", line, maxsplit=1) for line in lines
                if line and not line.startswith("#"))


def head(report):
    kind = "traced" if report["traced"] else "plain"
    return f"{report['arch']}, {report['compiler']}, {kind}"


def without_address(cause):
    """The same cause has the same text: no address, no line of a source."""
    return re.sub(r"^\S+\.(?:cu|h|cpp):\d+:\d+: |, address 0x[0-9a-f]+|^/usr/bin/ld: ", "", cause)


def print_rest(report, notes):
    """Programs that did not pass, by outcome and cause."""
    for outcome in OUTCOMES[1:]:
        by_cause = collections.defaultdict(list)
        for row in report["programs"]:
            if row["outcome"] == outcome:
                cause = notes.get(row["name"]) or without_address(row["cause"])
                by_cause[cause if outcome != "no verdict" else ""].append(row["name"])
        for cause, names in sorted(by_cause.items(), key=lambda item: item[1]):
            print(f"| {MEANING[outcome]} | {', '.join(names)} | {cause.replace('|', '/')} |")


def main():
    if len(sys.argv) < 2:
        print(__doc__.strip(), file=sys.stderr)
        return 2
    try:
        reports = [json.loads(pathlib.Path(path).read_text(encoding="utf-8"))
                   for path in sys.argv[1:]]
        notes = read_notes()
    except (OSError, ValueError) as error:
        print(f"table.py: error: {error}", file=sys.stderr)
        return 1
    counts = [collections.Counter(row["outcome"] for row in report["programs"])
              for report in reports]
    print("| | " + " | ".join(map(head, reports)) + " |")
    print("|---" * (1 + len(reports)) + "|")
    for outcome in OUTCOMES:
        print(f"| {outcome} | " + " | ".join(str(count[outcome]) for count in counts) + " |")
    listed = len(read_list(HERE / "hecbench.list"))
    print("| not run | " + " | ".join(str(listed - len(report["programs"])) for report in reports)
          + " |")
    print(f"| listed | {' | '.join([str(listed)] * len(reports))} |")
    for report in reports:
        print(f"\n{head(report)}:\n\n| | programs | cause |\n|---|---|---|")
        print_rest(report, notes)
    return 0


if __name__ == "__main__":
    sys.exit(main())
