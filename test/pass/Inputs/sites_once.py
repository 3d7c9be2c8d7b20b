"""sites_once.py CODE-OBJECT SITES-FILE: checks that the machine code has the
tag of each site of the table once (but for implied and omitted ones), that
probes alone touch the state registers of a kernel after its begin hook, and that
every store of an event has the form that FORMAT pins. Writes the section to
SITES-FILE."""
import os
import re
import struct
import subprocess
import sys

LLVM = os.environ.get("KPROBE_LLVM_BIN", "/usr/lib/llvm-15/bin")
obj, section = sys.argv[1:3]
subprocess.run([f"{LLVM}/llvm-objcopy", f"--dump-section=.kprobe.sites={section}",
                obj, "/dev/null"], check=True)
SILENT = 0x20 | 0x40  # implied, omitted
sites, silent = 0, set()
data = open(section, "rb").read()
at = 0
while at < len(data):  # TotalBytes at 8, SiteCount at 40, then SiteOffset
    count, offset = struct.unpack_from("<II", data, at + 40)
    for site in range(count):  # 64 bytes each, Flags at 28
        if struct.unpack_from("<I", data, at + offset + 64 * site + 28)[0] & SILENT:
            silent.add(sites + site)
    sites += count
    at += struct.unpack_from("<Q", data, at + 8)[0]

text = subprocess.run([f"{LLVM}/llvm-objdump", "-d", "--no-show-raw-insn", obj],
                      check=True, capture_output=True, text=True).stdout
counts = {}
stores = foreign = 0
function, begun = None, False
for line in text.splitlines():
    if label := re.match(r"[0-9a-f]+ <(.*)>:$", line):
        function, begun = label[1], ".kprobe." in label[1]
    code = line.split("//")[0].strip()
    if code == "s_mov_b32 s72, 0":
        begun = True
        continue
    if tag := re.match(r"s_lshl4_add_u32 (s\d+), \1, (-?(?:0x)?[0-9a-f]+)$", code):
        value = (int(tag[2], 0) + 16) & 0xffffffff
        assert value & 0x3ff == 1, f"tag {tag[2]} in {function}"
        counts[value >> 10] = counts.get(value >> 10, 0) + 1
    elif re.match(r"global_store_dwordx2 v\d+, v\[\d+:\d+\], s\[70:71\]$", code):
        stores += 1
    elif begun and re.search(r"\bs7[0-3]\b|s\[(6[0-9]|7[0-3]):7\d\]", code) and not (
            re.match(r"s_and_b32 s\d+, s72, s73$", code)
            or code == "s_add_u32 s72, s72, 8"
            or re.match(r"s_mov_b64 s\[\d+:\d+\], s\[70:71\]$", code)
            or re.match(r"s_mov_b32 s\d+, s72$", code)
            # The header, which lies before the ring.
            or re.match(r"global_store_\w+ v\d+, v\S+, s\[70:71\] offset:-\d+$", code)):
        print(f"{function}: {code}")
        foreign += 1
    if function and not function.endswith(".kprobe") and ".kprobe." not in function:
        begun = False
wrong = {s: counts.get(s, 0) for s in range(sites) if counts.get(s, 0) != (s not in silent)}
extra = sorted(set(counts) - set(range(sites)))
print(f"{sites} sites, {sum(counts.values())} tags, {stores} stores")
if wrong or extra or foreign or not sites:
    sys.exit(f"sites not once: {wrong}; unknown: {extra}; foreign uses: {foreign}")
