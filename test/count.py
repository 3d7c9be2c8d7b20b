#!/usr/bin/env python3
"""Adds up the results of ctest, GoogleTest and lit, and prints the verdict.

count.py RESULTS reads RESULTS/ctest.xml, RESULTS/gtest/*.xml and
RESULTS/lit.json. Each GoogleTest case counts as one, a ctest test that is no
GoogleTest program counts as one, each lit test counts as one. A program that
died before it could report is one failure. Exit status 1 when anything failed
or when nothing ran.
"""
import json
import pathlib
import sys
import xml.etree.ElementTree as ElementTree

PASSED, FAILED, SKIPPED = 0, 1, 2


def gtest_counts(path):
    """Counts of one GoogleTest report, and the names of failed cases."""
    counts, failures = [0, 0, 0], []
    for case in ElementTree.parse(path).getroot().iter("testcase"):
        name = f"{case.get('classname')}.{case.get('name')}"
        if case.find("failure") is not None:
            counts[FAILED] += 1
            failures.append(name)
        elif case.get("result") == "skipped" or case.get("status") == "notrun":
            counts[SKIPPED] += 1
        else:
            counts[PASSED] += 1
    return counts, failures


def ctest_counts(results):
    counts, failures = [0, 0, 0], []
    for test in ElementTree.parse(results / "ctest.xml").getroot().iter("testcase"):
        name, status = test.get("name"), test.get("status")
        report = results / "gtest" / f"{name}.xml"
        if report.exists():
            part, names = gtest_counts(report)
            counts = [a + b for a, b in zip(counts, part)]
            failures += [f"{name}: {case}" for case in names]
            if status == "fail" and not part[FAILED]:
                counts[FAILED] += 1
                failures.append(f"{name}: ended abnormally")
        elif status == "run":
            counts[PASSED] += 1
        elif status == "disabled" or status == "notrun" and \
                (test.find("skipped").get("message") or "").startswith("SKIP_"):
            counts[SKIPPED] += 1
        else:
            counts[FAILED] += 1
            failures.append(f"{name}: {status}")
    return counts, failures


def lit_counts(results):
    kind = {"PASS": PASSED, "FLAKYPASS": PASSED, "XFAIL": PASSED,
            "UNSUPPORTED": SKIPPED, "SKIPPED": SKIPPED, "EXCLUDED": SKIPPED}
    counts, failures = [0, 0, 0], []
    with open(results / "lit.json", encoding="utf-8") as file:
        tests = json.load(file)["tests"]
    for test in tests:
        outcome = kind.get(test["code"], FAILED)
        counts[outcome] += 1
        if outcome == FAILED:
            failures.append(f"{test['name']}: {test['code']}")
    return counts, failures


def main():
    if len(sys.argv) != 2:
        print("usage: count.py RESULTS", file=sys.stderr)
        return 2
    results = pathlib.Path(sys.argv[1])
    total, failures = [0, 0, 0], []
    for part, counter in (("ctest", ctest_counts), ("lit", lit_counts)):
        try:
            counts, names = counter(results)
        except (OSError, ValueError, KeyError, ElementTree.ParseError) as error:
            counts, names = [0, 1, 0], [f"{part}: no results: {error}"]
        total = [a + b for a, b in zip(total, counts)]
        failures += names
    if not total[PASSED] and not total[FAILED]:
        total[FAILED], failures = 1, ["no test ran"]
    for name in failures:
        print(f"FAILED {name}")
    line = f"{total[PASSED]} passed, {total[FAILED]} failed"
    print(line + (f", {total[SKIPPED]} skipped" if total[SKIPPED] else ""))
    return 1 if total[FAILED] else 0


if __name__ == "__main__":
    sys.exit(main())
