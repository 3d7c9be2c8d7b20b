# Configuration of the lit suites: pass, device-rt, decode and e2e.
#
# The values come from lit.site.cfg.py, which CMake writes into the build tree;
# run one suite with `lit BUILD/test/pass`. A file with one of the suffixes below
# is a test and must have a RUN line; inputs of tests live in Inputs/ folders.
import os
import shutil

import lit.formats

config.name = "kprobe"
config.test_format = lit.formats.ShTest(True)
config.suffixes = [".ll", ".hip", ".test"]
config.excludes = ["unit", "fuzz", "Inputs"]
config.test_source_root = os.path.dirname(__file__)
config.test_exec_root = os.path.join(config.kprobe_build, "test")

llvm_bin = os.path.join(config.llvm15_dir, "bin")
kprobe_bin = os.path.join(config.kprobe_build, "bin")
kprobe_lib = os.path.join(config.kprobe_build, "lib")

# FileCheck, not and split-file are LLVM 15's; our own programs come first.
config.environment["PATH"] = os.pathsep.join(
    [kprobe_bin, llvm_bin, config.environment.get("PATH", "/usr/bin:/bin")])
for name in ("HOME", "TMPDIR", "CCACHE_DIR", "RODINIA_DIR"):
    if name in os.environ:
        config.environment[name] = os.environ[name]

# Longer names first: lit replaces in order, by plain search.
config.substitutions += [
    ("%plugin15", os.path.join(kprobe_lib, "kprobe-pass-llvm15.so")),
    ("%opt15", os.path.join(llvm_bin, "opt")),
    ("%llc15", os.path.join(llvm_bin, "llc")),
    ("%clang15", os.path.join(llvm_bin, "clang")),
    ("%llvm15", llvm_bin),
    ("%hipcc", "hipcc --offload-arch=gfx906"),
    ("%kprobe_bin", kprobe_bin),
    ("%kprobe_lib", kprobe_lib),
    ("%kprobe_src", config.kprobe_source),
    # Programs of benchmarks/kernels, built by the target e2e-programs.
    ("%plain", os.path.join(config.kprobe_build, "test", "e2e-programs", "plain")),
    ("%probed", os.path.join(config.kprobe_build, "test", "e2e-programs", "probed")),
    ("%python", config.python),
]

# The virtual GPU stands in for a device; every build has it.
if os.path.exists(os.path.join(kprobe_lib, "kprobe-vgpu", "libhsakmt.so.1")):
    config.available_features.add("vgpu")
if shutil.which("clang-14"):
    config.available_features.add("clang14")
if not os.path.exists("/dev/kfd"):
    config.available_features.add("no-gpu")
if os.path.isdir(os.path.join(os.environ.get("RODINIA_DIR", ""), "hip")):
    config.available_features.add("rodinia")
