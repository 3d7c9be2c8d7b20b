"""program_sites.py PROGRAM N: takes the code objects out of a HIP program and
checks that they have N site tables in all, naming kernels that the code objects
export, and (in objects with one table) that the code has each site once."""
import os
import pathlib
import re
import subprocess
import sys

here = pathlib.Path(__file__).resolve()
sys.path.insert(0, str(here.parents[3] / "tools"))
import codeobject  # noqa: E402

LLVM = os.environ.get("KPROBE_LLVM_BIN", "/usr/lib/llvm-15/bin")
program, wanted = sys.argv[1], int(sys.argv[2])
tables = 0
for path in codeobject.extract(program, program + ".objects"):
    sites = f"{path}.sites"
    subprocess.run([f"{LLVM}/llvm-objcopy", f"--dump-section=.kprobe.sites={sites}",
                    str(path), "/dev/null"], check=True)
    text = subprocess.run(["kprobe-sitedump", sites], check=True, capture_output=True,
                          text=True).stdout
    names = re.findall(r"^kernel (\S+) clone (\S+) ", text, flags=re.M)
    symbols = subprocess.run([f"{LLVM}/llvm-readelf", "--dyn-syms", str(path)], check=True,
                             capture_output=True, text=True).stdout.split()
    for name, clone in names:
        assert name + ".kd" in symbols and clone + ".kd" in symbols, (path, name)
    own = len(re.findall(r"^table ", text, flags=re.M))
    tables += own
    if own == 1:
        subprocess.run([sys.executable, str(here.parent / "sites_once.py"), str(path), sites],
                       check=True)
print(f"{tables} tables")
sys.exit(tables != wanted)
