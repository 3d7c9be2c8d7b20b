"""Building, running and measuring, for run.py.

A program is built without and with the plug-in ("plain" and "traced") and, where
its check asks for it, for the host. Each run has a fresh folder. Cycles are the
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

from programs import Mismatch, Run

HERE = pathlib.Path(__file__).resolve().parent
sys.path[:0] = [str(HERE.parents[1] / "tools"), str(HERE.parent)]
import codeobject  # noqa: E402
import measure  # noqa: E402
import resources  # noqa: E402

COMPILERS = {
    "hipcc": (["hipcc"], "clang-15"),
    "clang-19": (["/usr/lib/llvm-19/bin/clang++", "-x", "hip", "--rocm-path=/usr",
                  "--rocm-device-lib-path=/usr/lib/x86_64-linux-gnu/amdgcn/bitcode",
                  "-mcode-object-version=4"], "clang-19"),
}
# The reference's arithmetic is the source's: no contraction to fused operations.
HOST_COMPILER = ["g++", "-x", "c++", "-std=gnu++17", "-O2", "-ffp-contract=off", "-fpermissive",
                 "-w", f"-I{HERE / 'host'}"]
# The clock of a dispatch: modelled cycles, or nanoseconds on a real GPU.
UNITS = {"vgpu": "cycles", "gpu": "time_ns"}


class SetupError(Exception):
    """kprobe, the compiler or the device is not there: nothing can run."""


class Failure(Exception):
    """One program cannot be built or run."""


class LimitExceeded(Failure):
    """A program ran longer than it may."""


def last_line(text):
    lines = text.strip().splitlines()
    return lines[-1].strip() if lines else "(no output)"


def ours(word, home):
    """A path of the checkout, or of ours when it begins with kprobe:."""
    name = word.removeprefix("kprobe:")
    return HERE / name if name != word else home / word


class Harness:
    def __init__(self, options):
        self.options = options
        self.bin = options.build / "bin"
        self.virtual = options.device == "vgpu"
        self.references = {}
        self.variants = ("plain",) if options.plain else ("plain", "traced")
        if not (self.bin / "kprobe-run").is_file():
            raise SetupError(f"no kprobe in {options.build}: build it, or say --build")
        self.compiler, clang = COMPILERS[options.compiler]
        if shutil.which(self.compiler[0]) is None:
            raise SetupError(f"{self.compiler[0]} is not installed")
        # Settings of the caller's shell must not decide what is measured.
        self.environment = {name: value for name, value in os.environ.items()
                            if not name.startswith(("KPROBE_", "HSA_TOOLS"))}
        if "traced" in self.variants:
            found = subprocess.run([self.bin / "kprobe-config", "--plugin", clang],
                                   capture_output=True, text=True, check=False)
            if found.returncode:
                raise SetupError(f"no plug-in for {clang}: {last_line(found.stderr)}")
            self.plugin = found.stdout.strip()

    # ---------------------------------------------------------------- building
    def build(self, program, variant):
        """Returns the executable; Failure with the compiler's last words."""
        options = self.options
        host = variant == "host"
        place = "host" if host else f"{options.compiler}-{options.arch}/{variant}"
        folder = options.work / "build" / place
        objects = folder / f"{program.name}.objects"
        objects.mkdir(parents=True, exist_ok=True)
        home = options.rodinia / "hip" / program.folder
        includes = [f"-I{home / include}" for include in program.includes]

        linked = []
        for number, source in enumerate(program.c_sources):
            linked.append(objects / f"{number}.o")
            self.call(["gcc", "-O2", "-w", *program.c_flags, *includes, "-c", ours(source, home),
                       "-o", linked[-1]], folder)
        if host:
            compile_device, link = list(HOST_COMPILER), ["g++"]
        else:
            target = f"--offload-arch={options.arch}"
            compile_device = [*self.compiler, target, "-O3", "-w", "-gline-tables-only"]
            link = ["hipcc", target]
        compile_device += includes
        compile_device += [ours(flag, home) if flag.startswith("kprobe:") else flag
                           for flag in program.flags]
        if variant == "traced":
            compile_device.append(f"-fpass-plugin={self.plugin}")
        for number, source in enumerate(program.sources):
            linked.append(objects / f"device{number}.o")
            self.call([*compile_device, "-c", ours(source, home), "-o", linked[-1]], folder)
        executable = folder / program.name
        self.call([*link, *linked, "-lm", "-o", executable], folder)
        return executable

    def call(self, command, folder):
        result = subprocess.run([str(word) for word in command], cwd=folder, check=False,
                                capture_output=True, text=True, env=self.environment,
                                stdin=subprocess.DEVNULL)
        if result.returncode:
            errors = [line for line in result.stderr.splitlines() if "error" in line]
            raise Failure("build: " + (errors[0] if errors else last_line(result.stderr)))

    # ----------------------------------------------------------------- running
    def folder(self, program, variant, number):
        options = self.options
        place = "host" if variant == "host" else f"{options.compiler}-{options.arch}"
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
                          f"{last_line(result.stderr or result.stdout)}")
        return Run(folder / program.start, options.rodinia, options.size, result.stdout,
                   tuple(command))

    def run(self, program, variant, executable, number, host, names):
        """Runs one command, verifies it, and returns what was measured."""
        folder = self.folder(program, variant, number)
        dump, statistics = folder.with_suffix(".kpd"), folder.with_suffix(".stats")
        folder.parent.mkdir(parents=True, exist_ok=True)
        dump.unlink(missing_ok=True)
        statistics.unlink(missing_ok=True)
        settings = {}
        if variant == "traced" or not self.virtual:
            launcher = [self.bin / "kprobe-run", "-o", dump]
            launcher += [f"--vgpu={self.options.arch}", "--"] if self.virtual else ["--"]
        else:
            launcher = [self.bin / "kprobe-vgpu", "--target", self.options.arch, "--"]
        if self.virtual:
            settings["KPROBE_VGPU_STATS"] = str(statistics)

        began = time.monotonic()
        run = self.execute(program, variant, executable, number, launcher, settings)
        measured = {"seconds": time.monotonic() - began}
        if host:
            run.reference = self.reference(program, number, host, run if program.follow else None)
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

    def reference(self, program, number, executable, followed=None):
        """The host's run of a command. Once for all variants, if it follows none."""
        settings = dict(program.host_settings)
        if followed:
            settings["KPROBE_FOLLOW"] = str(followed.folder / "copies.bin")
        elif (program.name, number) in self.references:
            return self.references[program.name, number]
        run = self.execute(program, "host", executable, number, (), settings)
        if not followed:
            self.references[program.name, number] = run
        return run

    # --------------------------------------------------------------- measuring
    def kernels(self, executable, program):
        """{name: metadata} over all code objects of an executable."""
        found = {}
        folder = executable.parent / f"{program.name}.objects"
        for path in codeobject.extract(executable, folder, self.options.arch):
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
        except (Failure, Mismatch, codeobject.CodeObjectError, measure.MeasureError) as error:
            row["error"], row["finished"] = str(error), True
        return row

    def fill(self, row, program):
        built = {variant: self.build(program, variant) for variant in self.variants}
        host = self.build(program, "host") if program.host_reference else None
        metadata = {variant: self.kernels(executable, program)
                    for variant, executable in built.items()}
        names = set(metadata["plain"])
        row["kernels"] = resources.of_kernels(metadata["plain"], metadata.get("traced", {}),
                                              self.options.arch, {})
        commands = range(len(program.commands[self.options.size]))
        group_waves = {}
        for variant in self.variants:
            runs = []
            for number in commands:
                try:
                    runs.append(self.run(program, variant, built[variant], number,
                                         host, names))
                except Mismatch as error:
                    raise Mismatch(f"{variant} run {number}: {error}") from error
            total = {}
            for run in runs:
                for key, value in run.items():
                    if key != "kernels":
                        total[key] = total.get(key, 0) + value
                for name, counters in run.get("kernels", {}).items():
                    if counters["workgroups"]:
                        group_waves[name] = counters["waves"] // counters["workgroups"]
            for key in ("cycles", "time_ns", "seconds"):
                row[f"{key}_{variant}"] = total.get(key)
            if variant == "plain" and self.virtual:
                row["instructions"] = total["instructions"]
                row["host_seconds"] = total["host-microseconds"] / 1e6
            if variant == "traced":
                if not total.get("events"):
                    raise Failure("nothing was traced")
                for key in ("events", "overwritten", "lost", "bytes"):
                    row[key] = total[key]
        row["kernels"] = resources.of_kernels(metadata["plain"], metadata.get("traced", {}),
                                              self.options.arch, group_waves)
        unit = UNITS[self.options.device]
        if row[f"{unit}_traced"] and row[f"{unit}_plain"]:
            row["ratio"] = row[f"{unit}_traced"] / row[f"{unit}_plain"]
