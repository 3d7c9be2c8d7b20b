#!/usr/bin/env python3
"""Whether the plug-in leaves the original kernels of Rodinia alone.

  originals.py --rodinia DIR [--compiler hipcc|clang-19|llvm-22] [--arch gfx906]
               [--only nn,bfs] [--pass OPTIONS]

Compiles the device code of each program without and with the plug-in and compares
what tools/codecompare.py says: machine code, metadata and descriptors of every
kernel and function of the plain build. Nothing is run. A line for each program; exit
status 1 when anything differs or does not compile.

llvm-22 is clang 19's bitcode, as it was before optimisation, through opt and llc of
LLVM 22, because clang 22 does not compile all of the programs (ROCm 5.2.3).
"""
import pathlib
import shutil
import sys

import builder
import harness
import programs
import run
import codecompare

LLVM22 = pathlib.Path("/usr/lib/llvm-22/bin")
TOOLS = {"hipcc": "/usr/lib/llvm-15/bin", "clang-19": "/usr/lib/llvm-19/bin",
         "llvm-22": LLVM22}


class Compiler:
    """Makes the code objects of programs, one for each source."""

    def __init__(self, options):
        self.through_opt = options.compiler == "llvm-22"
        front_end = "clang-19" if self.through_opt else options.compiler
        command, clang = builder.COMPILERS[front_end]
        for tool in [command[0]] + [LLVM22 / "opt"] * self.through_opt:
            if shutil.which(tool) is None:
                raise harness.SetupError(f"{tool} is not installed")
        self.plugin = harness.find_plugin(options.build / "bin",
                                          "clang-22" if self.through_opt else clang)
        self.builder = builder.Builder(options.rodinia, options.work, front_end, options.arch,
                                       self.plugin, harness.own_environment(),
                                       options.pass_options)
        self.arch = options.arch

    def code_objects(self, program, variant):
        """Paths of the code objects without ("plain") or with the plug-in ("traced")."""
        folder = self.builder.objects(program, variant)
        made = []
        for number, source in enumerate(program.sources):
            source = builder.ours(source, self.builder.home(program))
            if self.through_opt:
                made.append(self.by_llvm(program, source, folder / f"llvm-22-{number}", variant))
                continue
            bundle = folder / f"device{number}.bundle"
            self.builder.compile([*self.builder.device_command(program, variant),
                                  "--cuda-device-only"], source, bundle)
            try:
                made += harness.codeobject.extract(bundle, bundle.with_suffix(".code"), self.arch)
            except harness.codeobject.CodeObjectError as error:
                raise builder.BuildError(str(error)) from error
        return made

    def by_llvm(self, program, source, stem, variant):
        bitcode = self.builder.objects(program, "plain") / f"{stem.name}.bc"
        self.builder.compile([*self.builder.device_command(program, "plain"),
                              "--cuda-device-only", "-emit-llvm", "-Xclang",
                              "-disable-llvm-passes"], source, bitcode)
        stem.parent.mkdir(parents=True, exist_ok=True)
        load = [f"-load-pass-plugin={self.plugin}"] if variant == "traced" else []
        optimized, linkable, code = (stem.with_suffix(end) for end in (".opt.bc", ".o", ".co"))
        for command in (["opt", f"-mcpu={self.arch}", *load, "-passes=default<O3>", bitcode,
                         "-o", optimized],
                        ["llc", "-O3", f"-mcpu={self.arch}", "-filetype=obj", optimized,
                         "-o", linkable],
                        ["ld.lld", "-shared", linkable, "-o", code]):
            self.builder.call([LLVM22 / command[0], *command[1:]], stem.parent)
        return code


def main():
    options = run.parse_arguments(compilers=(*builder.COMPILERS, "llvm-22"))
    harness.codeobject.LLVM_BIN = pathlib.Path(TOOLS[options.compiler])
    try:
        compiler = Compiler(options)
    except harness.SetupError as error:
        print(f"originals.py: error: {error}", file=sys.stderr)
        return 2
    print(f"original kernels without and with the plug-in, {options.arch}, {options.compiler}")
    kernels = equal = failed = 0
    for name in options.names:
        program = programs.load(name)
        count = 0
        try:
            plain, probed = (compiler.code_objects(program, variant)
                             for variant in ("plain", "traced"))
            count = sum(len(harness.codeobject.kernels(path)) for path in plain)
            codecompare.compare_all(plain, probed)
            equal += count
            result = "equal"
        except codecompare.Difference as error:
            result, failed = f"DIFFERENT: {error}", failed + 1
        except (builder.BuildError, harness.codeobject.CodeObjectError) as error:
            result, failed = f"FAILED: {error}", failed + 1
        kernels += count
        print(f"{name:<21} {count:>3} kernels  {result}", flush=True)
    print(f"{equal} of {kernels} kernels equal, in {len(options.names) - failed} of "
          f"{len(options.names)} programs")
    return 1 if failed or not kernels else 0


if __name__ == "__main__":
    sys.exit(main())
