"""Building, running and measuring, for run.py.

A program is built twice in the work directory, without and with the plug-in, and
runs in a fresh folder each time: plain (no kprobe in the process) and traced.
Cycles are the sum over the program's own dispatches: on the virtual GPU from its
statistics, on a real one the dispatches' times from kprobe's dump, where the
plain program runs under kprobe-run too, which then records only when each
dispatch began and ended.
"""
import json
import os
import pathlib
import shutil
import subprocess
import sys

from programs import Mismatch, Run

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parents[1] / "tools"))
import codeobject  # noqa: E402

COMPILERS = {
    "hipcc": (["hipcc"], "clang-15"),
    "clang-19": (["/usr/lib/llvm-19/bin/clang++", "-x", "hip", "--rocm-path=/usr",
                  "--rocm-device-lib-path=/usr/lib/x86_64-linux-gnu/amdgcn/bitcode",
                  "-mcode-object-version=4"], "clang-19"),
}
VARIANTS = ("plain", "traced")


class SetupError(Exception):
    """kprobe, the compiler or the device is not there: nothing can run."""


class Failure(Exception):
    """One program cannot be built or run."""


def last_line(text):
    lines = text.strip().splitlines()
    return lines[-1].strip() if lines else "(no output)"


class Harness:
    def __init__(self, options):
        self.options = options
        self.bin = options.build / "bin"
        if not (self.bin / "kprobe-run").is_file():
            raise SetupError(f"no kprobe in {options.build}: build it, or say --build")
        self.compiler, clang = COMPILERS[options.compiler]
        if shutil.which(self.compiler[0]) is None:
            raise SetupError(f"{self.compiler[0]} is not installed")
        found = subprocess.run([self.bin / "kprobe-config", "--plugin", clang],
                               capture_output=True, text=True, check=False)
        if found.returncode:
            raise SetupError(f"no plug-in for {clang}: {last_line(found.stderr)}")
        self.plugin = found.stdout.strip()
        self.virtual = options.device == "virtual"
        # Settings of the caller's shell must not decide what is measured.
        self.environment = {name: value for name, value in os.environ.items()
                            if not name.startswith(("KPROBE_", "HSA_TOOLS"))}

    # ---------------------------------------------------------------- building
    def build(self, program, variant):
        """Returns the executable; Failure with the compiler's last words."""
        options = self.options
        folder = options.work / "build" / f"{options.compiler}-{options.arch}" / variant
        objects = folder / f"{program.name}.objects"
        objects.mkdir(parents=True, exist_ok=True)
        home = options.rodinia / "hip" / program.folder
        includes = [f"-I{home / include}" for include in program.includes]

        def path(source):
            ours = source.removeprefix("kprobe:")
            return HERE / ours if ours != source else home / source

        linked = []
        for number, source in enumerate(program.c_sources):
            linked.append(objects / f"{number}.o")
            self.call(["gcc", "-O2", "-w", *program.c_flags, *includes, "-c", path(source), "-o",
                       linked[-1]], folder)
        flags = ["-O3", "-w", "-gline-tables-only", f"--offload-arch={options.arch}", *includes]
        flags += [path(flag) if flag.startswith("kprobe:") else flag for flag in program.flags]
        if variant == "traced":
            flags.append(f"-fpass-plugin={self.plugin}")
        for number, source in enumerate(program.sources):
            linked.append(objects / f"hip{number}.o")
            self.call([*self.compiler, *flags, "-c", path(source), "-o", linked[-1]], folder)
        executable = folder / program.name
        self.call(["hipcc", f"--offload-arch={options.arch}", *linked, "-lm", "-o", executable],
                  folder)
        return executable

    def call(self, command, folder):
        result = subprocess.run([str(word) for word in command], cwd=folder, check=False,
                                capture_output=True, text=True, env=self.environment,
                                stdin=subprocess.DEVNULL)
        if result.returncode:
            errors = [line for line in result.stderr.splitlines() if "error" in line]
            raise Failure("build: " + (errors[0] if errors else last_line(result.stderr)))

    # ----------------------------------------------------------------- running
    def run(self, program, variant, executable):
        """Runs, verifies, and returns what was measured."""
        options = self.options
        folder = options.work / "run" / f"{options.compiler}-{options.arch}-{options.size}" \
            / f"{program.name}-{variant}"
        shutil.rmtree(folder, ignore_errors=True)
        folder.mkdir(parents=True)
        program.prepare(folder, options.rodinia, options.size)

        dump, statistics = folder.parent / f"{folder.name}.kpd", folder.parent / f"{folder.name}.json"
        dump.unlink(missing_ok=True)
        statistics.unlink(missing_ok=True)
        launcher, environment = [], dict(self.environment)
        if variant == "traced" or not self.virtual:
            launcher = [self.bin / "kprobe-run", "-o", dump]
            if self.virtual:
                launcher += [f"--vgpu={options.arch}"]
            launcher.append("--")
        else:
            launcher = [self.bin / "kprobe-vgpu", "--target", options.arch, "--"]
        if self.virtual:
            environment["KPROBE_VGPU_STATS"] = str(statistics)

        words = [str(word) for word in (*launcher, executable, *program.commands[options.size])]
        try:
            result = subprocess.run(words, cwd=folder, env=environment, check=False,
                                    stdin=subprocess.DEVNULL, capture_output=True,
                                    encoding="utf-8", errors="replace", timeout=options.timeout)
        except subprocess.TimeoutExpired as late:
            raise Failure(f"{variant} run: longer than {options.timeout:.0f} s") from late
        if result.returncode:
            raise Failure(f"{variant} run: exit status {result.returncode}: "
                          f"{last_line(result.stderr or result.stdout)}")
        program.verify(Run(folder, options.rodinia, options.size, result.stdout))

        measured = {}
        if self.virtual:
            measured["cycles"] = self.modelled_cycles(statistics)
        if dump.exists():
            measured["trace"] = self.trace(dump)
        return measured

    def modelled_cycles(self, statistics):
        raise NotImplementedError

    def trace(self, dump):
        raise NotImplementedError

    # --------------------------------------------------------------- measuring
    def measure(self, program):
        """One row of the table; never raises for what the program does wrong."""
        row = {"name": program.name, "arch": self.options.arch,
               "compiler": self.options.compiler, "verified": False, "error": "",
               "cycles_plain": None, "cycles_traced": None, "time_ns_plain": None,
               "time_ns_traced": None, "ratio": None, "events": None, "bytes": None,
               "overwritten": None, "lost": None, "kernels": []}
        try:
            built = {variant: self.build(program, variant) for variant in VARIANTS}
            measured = {variant: self.run(program, variant, built[variant])
                        for variant in VARIANTS}
        except (Failure, Mismatch) as error:
            row["error"] = str(error)
            return row
        return row
