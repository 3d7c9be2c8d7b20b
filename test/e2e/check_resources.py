#!/usr/bin/env python3
"""check_resources.py PROGRAM DUMP TARGET: what `kprobe-decode stats` says that a
kernel and its clone take, against what LLVM's tools say of the program."""
import json
import pathlib
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path[:0] = [str(ROOT / "tools"), str(ROOT / "benchmarks"), str(ROOT / "benchmarks" / "rodinia")]
import codeobject  # noqa: E402
import resources  # noqa: E402


def sizes(path):
    """Bytes of code by symbol."""
    table = codeobject.llvm("llvm-readelf", "--dyn-syms", "--wide", path)
    fields = (line.split() for line in table.splitlines())
    return {line[7].split("@")[0]: int(line[2], 0) for line in fields
            if len(line) > 7 and line[3] == "FUNC"}


def main():
    program, dump, target = sys.argv[1:]
    known, code = {}, {}
    with tempfile.TemporaryDirectory() as folder:
        for path in codeobject.extract(program, folder, target):
            known.update(codeobject.kernels(path))
            code.update(sizes(path))
    text = subprocess.run(["kprobe-decode", "stats", "--json", dump], check=True,
                          capture_output=True, text=True).stdout
    checked = 0
    for kernel in json.loads(text)["kernels"]:
        if not kernel["traced"]:
            continue
        for which, symbol in (("original", kernel["mangled"]), ("clone", kernel["mangled"] + ".kprobe")):
            told = kernel["resources"][which]
            expected = resources.of_kernel(known[symbol], target, None)
            for key in ("vgprs", "sgprs", "lds", "scratch"):
                assert told[key] == expected[key], (symbol, key, told, expected)
            assert told["code"] == code[symbol] > 0, (symbol, told, code[symbol])
            # LDS may lower it; without, registers alone decide.
            assert 0 < told["waves_per_simd"] <= expected["waves_per_simd"], (symbol, told, expected)
            if not told["lds"]:
                assert told["waves_per_simd"] == expected["waves_per_simd"], (symbol, told)
            checked += 1
        assert 0 < kernel["perturbation"]["probe_share"] < 1, kernel["perturbation"]
        times = kernel["perturbation"]["times"]
        if kernel["dispatches"] > kernel["traced"]:
            assert times["with_probes_ns"] > 0 and times["without_ns"] > 0, times
            print(f"{kernel['name']}: {times['with_probes_ns'] / times['without_ns']:.3f}")
    assert checked, "no kernel was traced"


if __name__ == "__main__":
    main()
