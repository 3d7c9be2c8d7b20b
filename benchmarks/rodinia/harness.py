"""Building, running and measuring, for run.py.

A program is built twice in the work directory, without and with the plug-in, and
runs in a fresh folder each time: plain (no kprobe in the process) and traced.
Cycles are the sum over the program's own dispatches: on the virtual GPU from its
statistics, on a real one the dispatches' times from kprobe's dump, where the
plain program runs under kprobe-run too, which then records only when each
dispatch began and ended.
"""
import os
import pathlib
import shutil
import subprocess
import sys

from programs import Mismatch, Run

HERE = pathlib.Path(__file__).resolve().parent
sys.path[:0] = [str(HERE.parents[1] / "tools"), str(HERE.parent)]
import codeobject  # noqa: E402
import measure  # noqa: E402

COMPILERS = {
    "hipcc": (["hipcc"], "clang-15"),
    "clang-19": (["/usr/lib/llvm-19/bin/clang++", "-x", "hip", "--rocm-path=/usr",
                  "--rocm-device-lib-path=/usr/lib/x86_64-linux-gnu/amdgcn/bitcode",
                  "-mcode-object-version=4"], "clang-19"),
}
VARIANTS = ("plain", "traced")
CLONE = measure.CLONE


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
    def run(self, program, variant, executable, names):
        """Runs, verifies, and returns what was measured."""
        options = self.options
        folder = options.work / "run" / f"{options.compiler}-{options.arch}-{options.size}" \
            / f"{program.name}-{variant}"
        shutil.rmtree(folder, ignore_errors=True)
        folder.mkdir(parents=True)
        program.prepare(folder, options.rodinia, options.size)

        dump = folder.parent / f"{folder.name}.kpd"
        statistics = folder.parent / f"{folder.name}.stats"
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
            measured["cycles"] = measure.total(statistics, "modelled-cycles", names)
        if dump.exists():
            measured["trace"] = measure.trace(self.bin / "kprobe-decode", dump)
        return measured

    # --------------------------------------------------------------- measuring
    def kernels(self, executable, folder):
        """{name: metadata} over all code objects of an executable."""
        found = {}
        for path in codeobject.extract(executable, folder, self.options.arch):
            found.update(codeobject.kernels(path))
        return found

    def measure(self, program):
        """One row of the table; never raises for what the program does wrong."""
        row = {"name": program.name, "arch": self.options.arch,
               "compiler": self.options.compiler, "verified": False, "error": "",
               "cycles_plain": None, "cycles_traced": None, "time_ns_plain": None,
               "time_ns_traced": None, "ratio": None, "events": None, "bytes": None,
               "overwritten": None, "lost": None, "kernels": []}
        try:
            built = {variant: self.build(program, variant) for variant in VARIANTS}
            metadata = self.kernels(built["traced"], built["traced"].parent /
                                    f"{program.name}.objects")
            row["kernels"] = costs(metadata)
            names = {kernel["name"] for kernel in row["kernels"]}
            measured = {variant: self.run(program, variant, built[variant], names)
                        for variant in VARIANTS}
            trace = measured["traced"].get("trace")
            if not trace or not trace["events"]:
                raise Failure("nothing was traced")
        except (Failure, Mismatch, codeobject.CodeObjectError, measure.MeasureError) as error:
            row["error"] = str(error)
            return row
        row["verified"] = True
        for key in ("events", "overwritten", "lost", "bytes"):
            row[key] = trace[key]
        for variant in VARIANTS:
            row[f"cycles_{variant}"] = measured[variant].get("cycles")
            row[f"time_ns_{variant}"] = measured[variant].get("trace", {}).get("time_ns")
        unit = "cycles" if self.virtual else "time_ns"
        if row[f"{unit}_plain"]:
            row["ratio"] = row[f"{unit}_traced"] / row[f"{unit}_plain"]
        return row


def waves_per_simd(entry):
    """How many waves of a kernel a gfx9 SIMD holds by its registers: 256 VGPRs in
    units of 4, 800 SGPRs in units of 16, ten waves at most."""
    vgprs, sgprs = int(entry[".vgpr_count"]), int(entry[".sgpr_count"])
    return min(10, 256 // (-(-max(vgprs, 1) // 4) * 4), 800 // (-(-max(sgprs, 1) // 16) * 16))


def costs(metadata):
    """Registers and occupancy of each kernel and of its clone."""
    rows = []
    for name, entry in sorted(metadata.items()):
        clone = metadata.get(name + CLONE)
        if name.endswith(CLONE) or clone is None:
            continue
        rows.append({
            "name": name, "vgprs": int(entry[".vgpr_count"]),
            "sgprs": int(entry[".sgpr_count"]),
            "vgprs_added": int(clone[".vgpr_count"]) - int(entry[".vgpr_count"]),
            "sgprs_added": int(clone[".sgpr_count"]) - int(entry[".sgpr_count"]),
            "scratch_added": int(clone[".private_segment_fixed_size"])
            - int(entry[".private_segment_fixed_size"]),
            "waves_per_simd": waves_per_simd(entry),
            "clone_waves_per_simd": waves_per_simd(clone)})
    return rows
