"""check_memory.py FOLDER: converts dumps of 70 000 and of 210 000 waves; the index
of a wave is 48 bytes, so that 140 000 more would be 6.7 MB if they were kept."""
import pathlib
import subprocess
import sys

MOST_GROWTH_KB = 2000
HEAD = """process
agent
table
  kernel name=k
  site block=entry entry
end
clock mono=1000000000 ticks=100000000
dispatch table=T waves={waves}
"""


def peak_kb(command):
    """The child's most resident memory."""
    code = ("import resource, subprocess, sys; subprocess.run(sys.argv[1:], check=True); "
            "print(resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss)")
    run = subprocess.run([sys.executable, "-c", code, *command], check=True, capture_output=True,
                         text=True)
    return int(run.stdout)


def main():
    folder = pathlib.Path(sys.argv[1])
    peaks = []
    for waves in (70000, 210000):
        text, dump = folder / "dump.txt", folder / "dump.kpd"
        with open(text, "w", encoding="utf-8") as file:
            file.write(HEAD.format(waves=waves))
            for first in range(0, waves, 10000):
                file.write("waves\n")
                for wave in range(first, first + 10000):
                    tick = 100000000 + wave // 4
                    file.write(f" wave index={wave} begin=5,{tick} end=9,{tick + 1} hw={wave % 4},0\n")
                file.write("end\n")
            file.write("summary\n")
        subprocess.run(["kprobe-mkdump", text, "-o", dump], check=True)
        peaks.append(peak_kb(["kprobe-decode", "convert", "--to", "perfetto", "-o", folder / "out",
                              dump]))
    print(f"{peaks[0]} KB, {peaks[1]} KB")
    assert peaks[1] - peaks[0] < MOST_GROWTH_KB, peaks


main()
