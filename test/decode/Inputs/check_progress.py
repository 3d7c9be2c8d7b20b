"""check_progress.py FOLDER: runs a conversion with a terminal on stderr. Its output
is a pipe that is read slowly, which makes it take its time on any machine."""
import os
import pathlib
import pty
import re
import subprocess
import sys
import time

HEAD = """process
agent
table
  kernel name=k
  site block=entry entry
  site
end
clock mono=1000000000 ticks=100000000
dispatch table=T waves=400
waves
"""
WAVE = " wave ring=1024 index={0} begin=0,{1} end=300,{1}\n" + "  event site=1 clock=7\n" * 100
LINE = re.compile(r"\rwriting - \[(#*)( *)\] +(\d+)%\x1b\[K")


def convert(dump, pause, terminal=True):
    """What stands on stderr, and the bytes of stdout, which are read with pauses."""
    reader, writer = pty.openpty() if terminal else os.pipe()
    process = subprocess.Popen(["kprobe-decode", "convert", "--to", "csv", "-o", "-", dump],
                               stdout=subprocess.PIPE, stderr=writer)
    os.close(writer)
    taken = b""
    while piece := os.read(process.stdout.fileno(), 1 << 16):
        taken += piece
        time.sleep(pause)
    assert process.wait() == 0
    text = b""
    while True:
        try:
            piece = os.read(reader, 1 << 16)
        except OSError:  # the other end of a terminal is closed
            break
        if not piece:
            break
        text += piece
    os.close(reader)
    return text.decode(), taken


def main():
    folder = pathlib.Path(sys.argv[1])
    (folder / "dump.txt").write_text(
        HEAD + "".join(WAVE.format(wave, 100000000 + wave) for wave in range(400)) +
        "end\nsummary\n", encoding="utf-8")
    dump = folder / "dump.kpd"
    subprocess.run(["kprobe-mkdump", folder / "dump.txt", "-o", dump], check=True)

    begin = time.monotonic()
    quick, whole = convert(dump, 0)
    assert quick == "" or time.monotonic() - begin > 1, quick
    assert whole.count(b"\n") > 40000, whole[:200]
    pause = 3 / (len(whole) / 65536)
    slow, again = convert(dump, pause)
    assert again == whole
    shown = [(len(done), len(left), int(percent)) for done, left, percent in LINE.findall(slow)]
    assert len(shown) >= 2, slow
    # Nothing but such lines, and at the end none is left.
    assert LINE.sub("", slow) == "\r\x1b[K", repr(slow)
    percents = [percent for _, _, percent in shown]
    assert percents == sorted(percents) and 0 < percents[0] < 100 and percents[-1] <= 100, percents
    for done, left, percent in shown:
        assert done + left == 30 and abs(done - percent * 0.3) <= 1, (done, left, percent)
    piped, _ = convert(dump, pause, terminal=False)
    assert piped == "", piped


main()
