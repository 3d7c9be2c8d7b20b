#!/usr/bin/env python3
"""Runs programs of HeCBench, which nobody here wrote, on the virtual GPU.

hecbench.py --hecbench DIR builds each program of hecbench.list from the checkout
DIR with hipcc, runs it with small arguments under a time limit, and judges by what
the program itself says:

  passed       it printed PASS, no FAIL, and ended with status 0
  failed       it printed FAIL, crashed, or ended with another status
  unsupported  it does not build here, or the virtual GPU named something that it
               does not model
  timeout      not over in time
  no verdict   it ended well and said neither PASS nor FAIL; counts as nothing

A line a program, then the counts; --json FILE writes all of it. Nothing is written
into the checkout. Exit status 0 if every program had a result, whatever it is.
"""
import argparse
import collections
import json
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
import time

HERE = pathlib.Path(__file__).resolve().parent
OUTCOMES = ("passed", "failed", "unsupported", "timeout", "no verdict")
PASS = re.compile(r"\bPASS(ED)?\b|\bTest passed\b|\bSUCCESS\b")
FAIL = re.compile(r"\bFAIL(ED|URE)?\b|\bTest failed\b|\bmismatch\b", re.IGNORECASE)
UNMODELLED = re.compile(r"not modelled|unknown instruction|illegal instruction", re.IGNORECASE)

Result = collections.namedtuple("Result", "name outcome seconds cause")


def read_list(path):
    """[(name, [argument])] of the list of programs."""
    programs = []
    with open(path, encoding="utf-8") as file:
        for line in file:
            words = line.split("#")[0].split()
            if words:
                programs.append((words[0], words[1:]))
    return programs


def prepare(checkout, name, work):
    """A folder in which the program can be built without touching the checkout: a
    copy of its own folder beside links to all others, for ../ paths."""
    source = work / "src"
    source.mkdir(exist_ok=True)
    own = source / f"{name}-hip"
    for folder in (checkout / "src").iterdir():
        link = source / folder.name
        if folder.name != own.name and not link.exists():
            link.symlink_to(folder)
    if own.is_symlink():
        own.unlink()
    if own.exists():
        shutil.rmtree(own)
    shutil.copytree(checkout / "src" / own.name, own)
    return own


def build(folder, arch, compiler, limit):
    """The program's path, or raises RuntimeError with the first error."""
    makefile = (folder / "Makefile").read_text(encoding="utf-8", errors="replace")
    program = re.search(r"^program\s*=\s*(\S+)", makefile, re.MULTILINE)
    if not program:
        raise RuntimeError("the Makefile names no program")
    made = subprocess.run(["make", f"CC={compiler} --offload-arch={arch}", "EXTRA_CFLAGS=-w"],
                          cwd=folder, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                          stderr=subprocess.STDOUT, text=True, errors="replace", check=False,
                          timeout=limit)
    path = folder / program.group(1)
    if made.returncode or not path.exists():
        errors = [line for line in made.stdout.splitlines() if re.search(r"\berror\b|undefined reference", line)]
        raise RuntimeError((errors or made.stdout.splitlines() or ["no output"])[0].strip())
    return path


def judge(status, output):
    """(outcome, cause) of a run that ended by itself."""
    faults = [line for line in output.splitlines() if line.startswith("kprobe-vgpu:")]
    if faults:
        unmodelled = UNMODELLED.search(faults[0])
        return ("unsupported" if unmodelled else "failed"), faults[0][len("kprobe-vgpu: "):]
    last = next((line.strip() for line in reversed(output.splitlines()) if line.strip()), "")
    if status:
        return "failed", f"exit status {status}: {last}"
    failed = FAIL.search(output)
    if failed:
        begin = output.rfind("\n", 0, failed.start()) + 1
        return "failed", output[begin:].splitlines()[0].strip()
    return ("passed", "") if PASS.search(output) else ("no verdict", last)


def run(path, arguments, launcher, arch, limit):
    process = subprocess.Popen([str(launcher), "--target", arch, "--", str(path), *arguments],
                               cwd=path.parent, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                               stderr=subprocess.STDOUT, text=True, errors="replace",
                               start_new_session=True)
    try:
        output, _ = process.communicate(timeout=limit)
    except subprocess.TimeoutExpired:
        os.killpg(process.pid, 9)
        process.communicate()
        return "timeout", f"more than {limit} s"
    return judge(process.returncode, output)


def attempt(name, arguments, options, work):
    begin = time.monotonic()
    try:
        folder = prepare(options.hecbench, name, work)
        try:
            path = build(folder, options.arch, options.compiler, options.build_timeout)
        except (RuntimeError, OSError, subprocess.TimeoutExpired) as problem:
            return Result(name, "unsupported", 0, f"does not build: {problem}")
        begin = time.monotonic()
        outcome, cause = run(path, arguments, options.launcher, options.arch, options.timeout)
        shutil.rmtree(folder)
    except OSError as problem:
        return Result(name, "unsupported", 0, str(problem))
    return Result(name, outcome, time.monotonic() - begin, cause)


def main():
    parser = argparse.ArgumentParser(description="Runs HeCBench programs on the virtual GPU.")
    parser.add_argument("--hecbench", type=pathlib.Path, required=True, metavar="DIR",
                        help="a checkout of HeCBench")
    parser.add_argument("--only", help="comma-separated names instead of the whole list")
    parser.add_argument("--arch", default="gfx906")
    parser.add_argument("--compiler", default="hipcc")
    parser.add_argument("--launcher", type=pathlib.Path,
                        default=HERE.parents[1] / "build/release/bin/kprobe-vgpu")
    parser.add_argument("--timeout", type=int, default=120, metavar="S",
                        help="seconds for a run (120)")
    parser.add_argument("--build-timeout", type=int, default=900, metavar="S")
    parser.add_argument("--json", type=pathlib.Path, metavar="FILE")
    options = parser.parse_args()
    options.hecbench = options.hecbench.resolve()
    if not (options.hecbench / "src").is_dir():
        parser.error(f"{options.hecbench} has no folder src")
    programs = read_list(HERE / "hecbench.list")
    if options.only:
        known = dict(programs)
        unknown = [name for name in options.only.split(",") if name not in known]
        if unknown:
            parser.error(f"not in hecbench.list: {', '.join(unknown)}")
        programs = [(name, known[name]) for name in options.only.split(",")]

    results = []
    with tempfile.TemporaryDirectory() as folder:
        for name, arguments in programs:
            result = attempt(name, arguments, options, pathlib.Path(folder))
            results.append(result)
            print(f"{result.outcome:11} {result.seconds:6.1f} s  {name} {' '.join(arguments)}"
                  + (f"  [{result.cause[:200]}]" if result.cause else ""), flush=True)
    counts = collections.Counter(result.outcome for result in results)
    print(", ".join(f"{counts[outcome]} {outcome}" for outcome in OUTCOMES),
          f"of {len(results)}")
    if options.json:
        document = {"arch": options.arch, "compiler": options.compiler,
                    "programs": [result._asdict() for result in results],
                    "counts": {outcome: counts[outcome] for outcome in OUTCOMES}}
        options.json.write_text(json.dumps(document, indent=1) + "\n", encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
