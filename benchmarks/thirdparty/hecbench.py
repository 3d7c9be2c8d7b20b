#!/usr/bin/env python3
"""Runs programs of HeCBench, which nobody here wrote, on the virtual GPU.

hecbench.py --hecbench DIR builds each program of hecbench.list from the checkout
DIR with hipcc, runs it with small arguments under a limit of processor time, and
judges by what the program itself says:

  passed          it printed PASS, no FAIL, and ended with status 0
  failed          it printed FAIL, crashed, or ended with another status
  unsupported     the virtual GPU named something that it does not model
  does not build  not with this compiler and these libraries
  timeout         not over in time
  no verdict      it ended well and said neither PASS nor FAIL; counts as nothing

With --traced it is built with kprobe's plug-in too and run under kprobe-run; it
passes if that run does, if events were recorded, and if it printed what the plain
run printed (but for lines with times and rates).

A line a program, then the counts. --json FILE writes all of it after each program;
with --resume programs that FILE has are not run again. Nothing is written into the
checkout. Exit status 0 if every program had a result, whatever it is.
"""
import argparse
import collections
import itertools
import json
import os
import pathlib
import re
import resource
import shutil
import signal
import subprocess
import sys
import tempfile

HERE = pathlib.Path(__file__).resolve().parent
sys.path[:0] = [str(HERE.parent)]
import measure  # noqa: E402

OUTCOMES = ("passed", "failed", "unsupported", "does not build", "timeout", "no verdict")
PASS = re.compile(r"\bPASS(ED)?\b|\bTest passed\b|\bSUCCESS\b")
FAIL = re.compile(r"\bFAIL(ED|URE)?\b|\bTest failed\b|\bmismatch\b", re.IGNORECASE)
UNMODELLED = re.compile(r"not modelled|unknown instruction|illegal instruction", re.IGNORECASE)

# Lines that may differ between two runs.
TIMED = re.compile(r"time|sec|\b[mun]s\b|/s\b|flop|bandwidth|throughput|rate|speed|cycles|perf|0x",
                   re.IGNORECASE)
# The linker's reason stands before clang's own error.
BUILD_ERRORS = (r"undefined reference|undefined symbol|undefined hidden|multiple definition|"
                r"cannot find|No such file|\berror\b(?!: linker command failed)", r"\berror\b")

Result = collections.namedtuple("Result", "name arguments outcome seconds cause")


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


def build(folder, command, limit):
    """The program's path, or raises RuntimeError with the first error."""
    makefile = (folder / "Makefile").read_text(encoding="utf-8", errors="replace")
    program = re.search(r"^program\s*=\s*(\S+)", makefile, re.MULTILINE)
    if not program:
        raise RuntimeError("the Makefile names no program")
    process = subprocess.Popen(["make", f"CC={command}", "EXTRA_CFLAGS=-w"], cwd=folder,
                               stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                               stderr=subprocess.STDOUT, text=True, errors="replace",
                               start_new_session=True)
    try:
        output, _ = process.communicate(timeout=limit)
    except subprocess.TimeoutExpired:
        os.killpg(process.pid, signal.SIGKILL)
        process.communicate()
        raise RuntimeError(f"the compiler takes more than {limit} s") from None
    path = folder / program.group(1)
    if process.returncode or not path.exists():
        lines = output.splitlines()
        errors = [line for kind in BUILD_ERRORS for line in lines if re.search(kind, line)]
        raise RuntimeError((errors or lines or ["no output"])[0].strip())
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


def run(command, folder, limit):
    """(outcome, seconds of processor time, cause, output) of one run."""
    def limited():
        resource.setrlimit(resource.RLIMIT_CPU, (limit, limit + 5))
        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))

    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    process = subprocess.Popen([str(word) for word in command], cwd=folder,
                               stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                               stderr=subprocess.STDOUT, text=True, errors="replace",
                               start_new_session=True, preexec_fn=limited)
    asleep = False
    try:
        output, _ = process.communicate(timeout=20 * limit)
    except subprocess.TimeoutExpired:
        asleep = True
        os.killpg(process.pid, signal.SIGKILL)
        output, _ = process.communicate()
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    seconds = sum(after[:2]) - sum(before[:2])
    # The limit's signal ends the program, if it does not turn it into a status.
    late = process.returncode and seconds > 0.9 * limit
    if asleep or late or process.returncode in (-signal.SIGXCPU, -signal.SIGKILL):
        return "timeout", seconds, f"more than {limit} s of processor time", output
    outcome, cause = judge(process.returncode, output)
    return outcome, seconds, cause, output


def steady(output):
    """What two runs must print alike."""
    return [line.strip() for line in output.splitlines()
            if line.strip() and not TIMED.search(line)
            and not line.startswith(("kprobe:", "kprobe-run:"))]


def attempt(name, arguments, options, work):
    """One program's Result: of its plain run, or of the traced one where that was asked for."""
    tools = options.kprobe / "bin"
    command = f"{options.compiler} --offload-arch={options.arch}"

    def one(compiler, launcher):
        folder = prepare(options.hecbench, name, work)
        try:
            path = build(folder, compiler, options.build_timeout)
        except RuntimeError as problem:
            return "does not build", 0, str(problem).replace(str(work), ""), ""
        return run([*launcher, path, *arguments], folder, options.timeout)

    try:
        outcome, seconds, cause, output = one(
            command, [tools / "kprobe-vgpu", "--target", options.arch, "--"])
        if options.traced and outcome == "passed":
            dump = work / "traced.kpd"
            dump.unlink(missing_ok=True)
            outcome, seconds, cause, traced = one(
                f"{command} -fpass-plugin={options.plugin}",
                [tools / "kprobe-run", "-o", dump, f"--vgpu={options.arch}", "--"])
            if outcome == "passed":
                outcome, cause = compare(steady(output), steady(traced), tools, dump)
    except OSError as problem:
        outcome, seconds, cause = "failed", 0, str(problem)
    return Result(name, arguments, outcome, round(seconds, 1), cause)


def compare(plain, traced, tools, dump):
    """(outcome, cause) of a traced run that passed."""
    for first, second in itertools.zip_longest(plain, traced, fillvalue="(nothing)"):
        if first != second:
            return "failed", f"printed '{second}' where the plain run printed '{first}'"
    try:
        events = measure.trace(tools / "kprobe-decode", dump)["events"]
    except measure.MeasureError as problem:
        return "failed", str(problem)
    return ("passed", f"{events} events") if events else ("failed", "nothing was traced")


def main():
    parser = argparse.ArgumentParser(description="Runs HeCBench programs on the virtual GPU.")
    parser.add_argument("--hecbench", type=pathlib.Path, required=True, metavar="DIR",
                        help="a checkout of HeCBench")
    parser.add_argument("--only", help="comma-separated names instead of the whole list")
    parser.add_argument("--arch", default="gfx906")
    parser.add_argument("--compiler", default="hipcc")
    parser.add_argument("--kprobe", type=pathlib.Path, default=HERE.parents[1] / "build/release",
                        metavar="DIR", help="kprobe's build tree or prefix (build/release)")
    parser.add_argument("--traced", action="store_true", help="also with kprobe")
    parser.add_argument("--timeout", type=int, default=60, metavar="S",
                        help="seconds of processor time for a run (60)")
    parser.add_argument("--build-timeout", type=int, default=600, metavar="S",
                        help="seconds for a build (600)")
    parser.add_argument("--json", type=pathlib.Path, metavar="FILE")
    parser.add_argument("--resume", action="store_true")
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

    if options.traced:
        found = subprocess.run([options.kprobe / "bin/kprobe-config", "--plugin",
                                shutil.which(options.compiler) or options.compiler],
                               check=False, capture_output=True, text=True)
        if found.returncode:
            parser.error(f"no plug-in for {options.compiler}: {found.stderr.strip()}")
        options.plugin = found.stdout.strip()

    results = {}
    if options.resume and options.json and options.json.exists():
        kept = json.loads(options.json.read_text(encoding="utf-8"))
        results = {row["name"]: Result(**row) for row in kept["programs"]}
    for name, arguments in programs:
        if name in results:
            continue
        with tempfile.TemporaryDirectory() as folder:
            result = attempt(name, arguments, options, pathlib.Path(folder))
        results[name] = result
        print(f"{result.outcome:14} {result.seconds:6.1f} s  {name} {' '.join(arguments)}"
              + (f"  [{result.cause[:200]}]" if result.cause else ""), flush=True)
        if options.json:
            document = {"arch": options.arch, "compiler": options.compiler,
                        "traced": options.traced, "timeout": options.timeout,
                        "programs": [row._asdict() for row in results.values()]}
            options.json.write_text(json.dumps(document, indent=1) + "\n", encoding="utf-8")
    counts = collections.Counter(result.outcome for result in results.values())
    print(", ".join(f"{counts[outcome]} {outcome}" for outcome in OUTCOMES),
          f"of {len(results)}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
