# Configuration of the lit suites: pass, device-rt, decode and e2e.
#
# The values come from lit.site.cfg.py, which CMake writes into the build tree;
# run one suite with `lit BUILD/test/pass`. A file with one of the suffixes below
# is a test and must have a RUN line; inputs of tests live in Inputs/ folders.
#
# BUILD/test is for hipcc's LLVM. For each other LLVM that has a plug-in there is
# BUILD/test/llvmNN, which runs the folders pass and device-rt once more with that
# LLVM's tools. A test that differs between them has check prefixes LLVMNN.
import ctypes
import os
import platform
import shutil
import struct
import subprocess

import lit.formats

MAIN_LLVM = "15"
llvm = config.kprobe_llvm
is_main = llvm == MAIN_LLVM

config.name = "kprobe" if is_main else f"kprobe-llvm{llvm}"
config.test_format = lit.formats.ShTest(True)
config.suffixes = [".ll", ".hip", ".test"]
config.excludes = ["unit", "fuzz", "Inputs"] + ([] if is_main else ["decode", "e2e"])
config.test_source_root = os.path.dirname(__file__)
config.test_exec_root = os.path.join(config.kprobe_build, "test",
                                     "" if is_main else f"llvm{llvm}")

llvm_bin = os.path.join(config.llvm15_dir, "bin")
own_bin = os.path.join(config.llvm_dir, "bin")
kprobe_bin = os.path.join(config.kprobe_build, "bin")
kprobe_lib = os.path.join(config.kprobe_build, "lib")

# With --param release=BUILD the plug-ins, the decoder and the end-to-end programs are
# another tree's: those of a tree with a sanitizer cannot be loaded into a compiler.
release = lit_config.params.get("release", config.kprobe_build)
plugins = os.path.join(release, "lib")
programs = os.path.join(release, "test", "e2e-programs")

# FileCheck, not and split-file are LLVM 15's; our own programs come first.
config.environment["PATH"] = os.pathsep.join(
    [kprobe_bin, os.path.join(release, "bin"), llvm_bin,
     config.environment.get("PATH", "/usr/bin:/bin")])
for name in ("HOME", "TMPDIR", "CCACHE_DIR", "RODINIA_DIR", "PERFETTO_DIR",
             "ASAN_OPTIONS", "UBSAN_OPTIONS", "TSAN_OPTIONS"):
    if name in os.environ:
        config.environment[name] = os.environ[name]

# Objects are read with the tools of the LLVM that made them.
config.environment["KPROBE_LLVM_BIN"] = own_bin

# How to compile HIP. ROCm 5.2.3 is for clang 15; what the others need is said in
# benchmarks/kernels/build.sh, which uses the same script.
hipcc = "hipcc" if is_main else os.path.join(config.kprobe_source, "tools", "hipclang") + " " + llvm

browser = shutil.which("chromium-headless-shell") or shutil.which("chromium")
if browser:
    config.available_features.add("browser")

# A CPython that publishes its offsets (3.13 and later), beside Debian's 3.11. What is
# in PATH may be a script that chooses one.
for minor in range(20, 12, -1):
    published = shutil.which(f"python3.{minor}")
    asked = published and subprocess.run([published, "-c", "import sys; print(sys.executable)"],
                                         capture_output=True, text=True)
    if asked and asked.returncode == 0:
        config.available_features.add("published-python")
        config.substitutions.append(("%newer_python", asked.stdout.strip()))
        break

# Longer names first: lit replaces in order, by plain search.
config.substitutions += [
    ("%plugin15", os.path.join(plugins, "kprobe-pass-llvm15.so")),
    ("%clang15", os.path.join(llvm_bin, "clang")),
    ("%plugin", os.path.join(plugins, f"kprobe-pass-llvm{llvm}.so")),
    ("%opt", os.path.join(own_bin, "opt")),
    ("%llc", os.path.join(own_bin, "llc")),
    ("%clang", os.path.join(own_bin, "clang")),
    ("%LLVM", f"LLVM{llvm}"),
    # One binary for every target that the virtual GPU is tested with.
    ("%hipcc_all", "hipcc --offload-arch=gfx906 --offload-arch=gfx90a --offload-arch=gfx1030"),
    ("%hipcc_gfx1030", "hipcc --offload-arch=gfx1030"),
    ("%hipcc", f"{hipcc} --offload-arch=gfx906"),
    ("%kprobe_bin", kprobe_bin),
    ("%kprobe_lib", kprobe_lib),
    ("%kprobe_src", config.kprobe_source),
    # Programs of benchmarks/kernels, built by the target e2e-programs; "more" is
    # for gfx90a and gfx1030 in one binary.
    ("%more_plain", os.path.join(programs, "more-plain")),
    ("%more_probed", os.path.join(programs, "more-probed")),
    ("%plain", os.path.join(programs, "plain")),
    ("%probed", os.path.join(programs, "probed")),
    ("%python", config.python),
    ("%browser", browser or "none"),
]

# With --param preload=LIBRARY the programs that kprobe-run and kprobe-vgpu start get it
# first, as they must where the runtime or the virtual GPU is built with a sanitizer
# (sanitizers.sh): scripts of their names stand before them.
preload = lit_config.params.get("preload")
if preload:
    folder = os.path.join(config.test_exec_root, "preload")
    os.makedirs(folder, exist_ok=True)
    for name in ("kprobe-run", "kprobe-vgpu"):
        with open(os.path.join(folder, name), "w") as script:
            script.write(f"#!/bin/sh\nexec env LD_PRELOAD={preload} {kprobe_bin}/{name} \"$@\"\n")
        os.chmod(os.path.join(folder, name), 0o755)
    config.environment["PATH"] = folder + os.pathsep + config.environment["PATH"]

# The virtual GPU stands in for a device; every build has it.
if os.path.exists(os.path.join(kprobe_lib, "kprobe-vgpu", "libhsakmt.so.1")):
    config.available_features.add("vgpu")
config.available_features.add(f"llvm{llvm}")
for major in ("19", "22"):
    if os.path.exists(os.path.join(plugins, f"kprobe-pass-llvm{major}.so")):
        config.available_features.add(f"plugin{major}")
if shutil.which("lttng-sessiond") and shutil.which("lttng"):
    config.available_features.add("lttng")
if shutil.which("clang-14"):
    config.available_features.add("clang14")
if not os.path.exists("/dev/kfd"):
    config.available_features.add("no-gpu")


def may_sample():
    """Whether perf_event_open(2) gives a thread a clock of its own and tells of
    its waits: root may, a container often may not."""
    attributes = struct.pack("<IIQQQQQ", 1, 128, 3, 1, 0, 0, 1).ljust(128, b"\0")
    file = ctypes.CDLL(None).syscall(298, attributes, 0, -1, -1, 0)
    if file >= 0:
        os.close(file)
    return file >= 0


if platform.machine() == "x86_64" and may_sample():
    config.available_features.add("perf-events")
    with open("/proc/sys/kernel/perf_event_paranoid") as paranoid:
        config.available_features.add("perf-paranoid-" + paranoid.read().strip())
if os.path.isdir(os.path.join(os.environ.get("RODINIA_DIR", ""), "hip")):
    config.available_features.add("rodinia")

# A checkout of Perfetto has the schema that others read traces by.
if os.path.isdir(os.path.join(os.environ.get("PERFETTO_DIR", ""), "protos", "perfetto", "trace")):
    config.available_features.add("perfetto")
