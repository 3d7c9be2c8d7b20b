"""same_resources.py CODE-OBJECT [N]: checks in the kernel metadata that every
kernel has a clone, N in all if given, with the same arguments (hidden ones
included), launch bounds, LDS and kernarg size, and that the loader can find it."""
import os
import re
import subprocess
import sys

LLVM = os.environ.get("KPROBE_LLVM_BIN", "/usr/lib/llvm-15/bin")


def readelf(*options):
    return subprocess.run([f"{LLVM}/llvm-readelf", *options, sys.argv[1]], check=True,
                          capture_output=True, text=True).stdout


kernels = {}
for text in re.split(r"^  - (?=\.)", readelf("--notes"), flags=re.M)[1:]:
    text = re.split(r"^amdhsa", text, flags=re.M)[0]
    name = re.search(r"^ *\.name: +'?([^'\s]+)'?$", text, flags=re.M)[1]
    kernels[name] = text
symbols = set(re.findall(r"(\S+\.kd)$", readelf("--dyn-syms"), flags=re.M))

mine = re.compile(r"\.(name|symbol|sgpr_count|vgpr_count|sgpr_spill_count|vgpr_spill_count"
                  r"|private_segment_fixed_size): .*")
problems = []
originals = [name for name in kernels if not name.endswith(".kprobe")]
for name in originals:
    clone = kernels.get(name + ".kprobe")
    if clone is None:
        problems.append(f"{name} has no clone")
    elif mine.sub("", clone) != mine.sub("", kernels[name]):
        problems.append(f"{name}:\n{kernels[name]}\n{clone}")
    if name + ".kprobe.kd" not in symbols:
        problems.append(f"{name}.kprobe.kd is not exported")
if not originals or len(sys.argv) > 2 and len(originals) != int(sys.argv[2]):
    problems.append(f"{len(originals)} kernels: {originals}")
print(f"{len(originals)} kernels")
sys.exit("\n".join(problems) or 0)
