"""many_blocks.py OPT PLUGIN WORK: the pass alone on kernels of 1000 and of 10 000 blocks:
ten times as many take at most thirty times as long (a square would be a hundred)."""
import pathlib
import resource
import subprocess
import sys


def kernel(branches):
    blocks = "".join(f"""b{i}:
  %v{i} = load volatile i32, ptr addrspace(1) %p
  %c{i} = icmp ult i32 %v{i}, {i + 3}
  br i1 %c{i}, label %t{i}, label %b{i + 1}
t{i}:
  store volatile i32 {i}, ptr addrspace(1) %p
  br label %b{i + 1}
""" for i in range(branches))
    return f"""target triple = "amdgcn-amd-amdhsa"
define amdgpu_kernel void @k(ptr addrspace(1) %p) #0 {{
entry:
  br label %b0
{blocks}b{branches}:
  ret void
}}
attributes #0 = {{ nounwind "target-cpu"="gfx906" }}
"""


def spent(command):
    before = resource.getrusage(resource.RUSAGE_CHILDREN).ru_utime
    subprocess.run(command, check=True)
    return resource.getrusage(resource.RUSAGE_CHILDREN).ru_utime - before


def main():
    opt, plugin, work = sys.argv[1:]
    times = []
    for branches in (500, 5000):
        module = pathlib.Path(f"{work}.{branches}.ll")
        module.write_text(kernel(branches))
        times.append(spent([opt, f"-load-pass-plugin={plugin}", "-passes=kprobe", "-disable-output",
                            module]))
    print(f"{times[0]:.2f} s, {times[1]:.2f} s")
    return 0 if times[1] < 30 * max(times[0], 0.05) else "more than linear"


if __name__ == "__main__":
    sys.exit(main())
