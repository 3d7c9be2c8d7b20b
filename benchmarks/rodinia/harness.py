"""Running and measuring, for run.py.

A program runs without and with kprobe ("plain" and "traced") and, where its check
asks for it, built for the host. Each run has a fresh folder. Cycles are the
sum over the program's own dispatches: on the virtual GPU from its statistics. On
a real one they are times, from the time stamps of each dispatch in kprobe's dump:
there the plain program runs under kprobe-run too, which finds no probes in it and
then records only when each dispatch began and ended.
"""
import os
import pathlib
import shutil
import subprocess
import sys
import time

from builder import COMPILERS, HOST_VARIANTS, BuildError, Builder, last_line
from programs import Mismatch, Run

HERE = pathlib.Path(__file__).resolve().parent
sys.path[:0] = [str(HERE.parents[1] / "tools"), str(HERE.parent)]
import codeobject  # noqa: E402
import measure  # noqa: E402
import resources  # noqa: E402

# The clock of a dispatch: modelled cycles, or nanoseconds on a real GPU.
UNITS = {"vgpu": "cycles", "gpu": "time_ns"}


class SetupError(Exception):
    """kprobe, the compiler or the device is not there: nothing can run."""


class Failure(Exception):
    """One program cannot be run."""


class LimitExceeded(Failure):
    """A program ran longer than it may."""


def telling_lines(text):
    """What the virtual GPU said about a fault, else the last line."""
    said = [line.removeprefix("kprobe-vgpu: ") for line in text.splitlines()
            if line.startswith("kprobe-vgpu: ")]
    return "; ".join(said) or (last_line(text) if text.strip() else "")


def find_plugin(programs_folder, clang):
    found = subprocess.run([programs_folder / "kprobe-config", "--plugin", clang],
                           capture_output=True, text=True, check=False)
    if found.returncode:
        raise SetupError(f"no plug-in for {clang}: {last_line(found.stderr)}")
    return found.stdout.strip()


def own_environment():
    """Settings of the caller's shell must not decide what is measured."""
    return {name: value for name, value in os.environ.items()
            if not name.startswith(("KPROBE_", "HSA_TOOLS"))}


class Harness:
    def __init__(self, options):
        self.options = options
        self.bin = options.build / "bin"
        self.virtual = options.device == "vgpu"
        self.references = {}
        self.variants = ("plain",) if options.plain else ("plain", "traced")
        if not (self.bin / "kprobe-run").is_file():
            raise SetupError(f"no kprobe in {options.build}: build it, or say --build")
        compiler, clang = COMPILERS[options.compiler]
        if shutil.which(compiler[0]) is None:
            raise SetupError(f"{compiler[0]} is not installed")
        self.environment = own_environment()
        plugin = find_plugin(self.bin, clang) if "traced" in self.variants else None
        self.builder = Builder(options.rodinia, options.work, options.compiler, options.arch,
                               plugin, self.environment, options.pass_options)

    # ----------------------------------------------------------------- running
    def folder(self, program, variant, number):
        options = self.options
        place = "host" if variant in ("host", "alternative") \
            else f"{options.compiler}-{options.arch}"
        return options.work / "run" / f"{place}-{options.size}" / f"{program.name}-{variant}" \
            / str(number)

    def execute(self, program, variant, executable, number, launcher=(), settings=None):
        """Runs one command of a program in a fresh folder; returns the Run."""
        options = self.options
        command = program.commands[options.size][number]
        folder = self.folder(program, variant, number)
        shutil.rmtree(folder, ignore_errors=True)
        (folder / program.start).mkdir(parents=True)
        program.prepare(folder, options.rodinia, options.size)
        # Some programs add to a log of times beside them, and end where a run that
        # was stopped has left half of one.
        executable.with_name(executable.name + ".perf").unlink(missing_ok=True)
        words = [str(word) for word in (*launcher, executable, *command)]
        try:
            result = subprocess.run(words, cwd=folder / program.start, check=False,
                                    env={**self.environment, **(settings or {})},
                                    stdin=subprocess.DEVNULL, capture_output=True,
                                    encoding="utf-8", errors="replace", timeout=options.limit)
        except subprocess.TimeoutExpired as late:
            raise LimitExceeded(f"{variant} run: did not finish in {options.limit:.0f} s") \
                from late
        if result.returncode:
            raise Failure(f"{variant} run: exit status {result.returncode}: "
                          f"{telling_lines(result.stderr) or last_line(result.stdout)}")
        return Run(folder / program.start, options.rodinia, options.size, result.stdout,
                   tuple(command))

    def run(self, program, variant, executable, number, hosts, names):
        """Runs one command, verifies it, and returns what was measured."""
        folder = self.folder(program, variant, number)
        dump, statistics = folder.with_suffix(".kpd"), folder.with_suffix(".stats")
        folder.parent.mkdir(parents=True, exist_ok=True)
        dump.unlink(missing_ok=True)
        statistics.unlink(missing_ok=True)
        settings = {}
        if variant == "traced" or not self.virtual:
            launcher = [self.bin / "kprobe-run", "-o", dump]
            for name in ("mode", "sample"):
                if value := getattr(self.options, name):
                    launcher += [f"--{name}", value]
            launcher += [f"--vgpu={self.options.arch}", "--"] if self.virtual else ["--"]
        else:
            launcher = [self.bin / "kprobe-vgpu", "--target", self.options.arch, "--"]
        if self.virtual:
            settings["KPROBE_VGPU_STATS"] = str(statistics)

        began = time.monotonic()
        run = self.execute(program, variant, executable, number, launcher, settings)
        measured = {"seconds": time.monotonic() - began}
        if hosts:
            followed = run if program.follow else None
            run.reference = self.reference(program, number, hosts["host"],
                                           program.host_settings, followed)
            if program.host_alternative is not None:
                other = "contracted" if number in program.host_contracted else "host"
                run.alternative = self.reference(program, number, hosts[other],
                                                 program.host_alternative, followed)
        program.check(run)
        if self.virtual:
            dispatches = measure.dispatches(statistics)
            measured["kernels"] = measure.by_kernel(dispatches, names)
            measured["cycles"] = sum(kernel["modelled-cycles"]
                                     for kernel in measured["kernels"].values())
            for counter in ("instructions", "host-microseconds"):
                measured[counter] = sum(counters[counter] for _, counters in dispatches)
        if dump.exists():
            trace = measure.trace(self.bin / "kprobe-decode", dump)
            measured.update(trace)
        return measured

    def reference(self, program, number, executable, settings, followed=None):
        """The host's run of a command. Once for all variants, if it follows none."""
        settings = dict(settings)
        name = "host" if settings == program.host_settings else "alternative"
        if followed:
            settings["KPROBE_FOLLOW"] = str(followed.folder / "copies.bin")
        elif (program.name, name, number) in self.references:
            return self.references[program.name, name, number]
        run = self.execute(program, name, executable, number, (), settings)
        if not followed:
            self.references[program.name, name, number] = run
        return run

    # --------------------------------------------------------------- measuring
    def kernels(self, program, variant, executable):
        """{symbol: metadata} over all code objects of an executable."""
        found = {}
        for path in codeobject.extract(executable, self.builder.objects(program, variant),
                                       self.options.arch):
            found.update(codeobject.kernels(path))
        return found

    def measure(self, program):
        """One row of the table; never raises for what the program does wrong."""
        row = {"name": program.name, "arch": self.options.arch,
               "compiler": self.options.compiler, "size": self.options.size, "verified": False,
               "finished": False, "error": "", "kernels": []}
        row.update({f"{what}_{variant}": None for what in ("cycles", "time_ns", "seconds")
                    for variant in ("plain", "traced")})
        row.update({what: None for what in ("ratio", "events", "bytes", "overwritten", "lost",
                                            "instructions", "host_seconds")})
        try:
            self.fill(row, program)
            row["finished"] = row["verified"] = True
        except LimitExceeded as error:
            row["error"] = str(error)
        except (BuildError, Failure, Mismatch, codeobject.CodeObjectError, measure.MeasureError) as error:
            row["error"], row["finished"] = str(error), True
        return row

    def fill(self, row, program):
        built = {variant: self.builder.build(program, variant) for variant in self.variants}
        hosts = {host: self.builder.build(program, host) for host in HOST_VARIANTS
                 if program.host_contracted or (program.host_reference and host == "host")}
        metadata = {variant: self.kernels(program, variant, executable)
                    for variant, executable in built.items()}

        def resources_with(group_waves):
            return resources.of_kernels(metadata["plain"], metadata.get("traced", {}),
                                        self.options.arch, group_waves)

        row["kernels"] = resources_with({})     # for a program that then fails
        by_variant = {}
        for variant in self.variants:
            runs = []
            for number in range(len(program.commands[self.options.size])):
                try:
                    runs.append(self.run(program, variant, built[variant], number, hosts,
                                         set(metadata["plain"])))
                except Mismatch as error:
                    raise Mismatch(f"{variant} run {number}: {error}") from error
            total = by_variant[variant] = added(runs)
            for key in ("cycles", "time_ns", "seconds"):
                row[f"{key}_{variant}"] = total.get(key)
        if self.virtual:
            plain = by_variant["plain"]
            row["instructions"] = plain["instructions"]
            row["host_seconds"] = plain["host-microseconds"] / 1e6
            row["kernels"] = resources_with({
                symbol: counters["waves"] // counters["workgroups"]
                for symbol, counters in plain["kernels"].items() if counters["workgroups"]})
            for kernel in row["kernels"]:
                for variant, total in by_variant.items():
                    counters = total["kernels"].get(kernel["symbol"])
                    kernel[f"cycles_{variant}"] = counters and counters["modelled-cycles"]
        if "traced" in by_variant:
            if not by_variant["traced"].get("traced"):
                raise Failure("no dispatch was traced")
            for key in ("events", "overwritten", "lost", "bytes"):
                row[key] = by_variant["traced"][key]
        unit = UNITS[self.options.device]
        if row[f"{unit}_traced"] and row[f"{unit}_plain"]:
            row["ratio"] = row[f"{unit}_traced"] / row[f"{unit}_plain"]


def added(values):
    """Adds up dicts of numbers, and of such dicts, key by key."""
    total = {}
    for one in values:
        for key, value in one.items():
            if isinstance(value, dict):
                total[key] = added([total.get(key, {}), value])
            else:
                total[key] = total.get(key, 0) + value
    return total
