"""sites_once.py CODE-OBJECT SITES-FILE: checks that the machine code has the
tag of each site of the table once in each of the two clones of its kernel (but for
implied and omitted ones), that
probes alone touch the state registers of a kernel once they are set, and that
the tag of every stored event is of a known kind. Writes the section to
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
SILENT = 0x20 | 0x40 | 0x100  # implied, omitted, left out
STORE = re.compile(r"buffer_store_dwordx2 v\[\d+:(\d+)\], off, s\[(\d+):\d+\], (?:s\d+|0) offset:(\d+)$")
HEADER_BYTES = 128
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


def tag_before(code, register):
    """The tag that the code before a store leaves in a vector register, lanes zero."""
    packed = None
    for line in reversed(code):
        if packed and (tag := re.match(rf"s_lshl4_add_u32 {packed}, {packed}, (-?(?:0x)?[0-9a-f]+)$",
                                       line)):
            return (int(tag[1], 0) + 16) & 0xffffffff
        if not packed and (move := re.match(rf"v_mov_b32_e32 v{register}, (\S+)$", line)):
            if move[1].startswith("v"):  # not optimised
                register = move[1][1:]
            elif move[1].startswith("s"):
                packed = move[1]
            else:
                return int(move[1], 0)
    return None


counts = {}
stores = foreign = 0
resources = {"68"}  # in loops, LLVM 19 stores through a copy of it
function, begun, code = None, False, []
for line in text.splitlines():
    if label := re.match(r"[0-9a-f]+ <(.*)>:$", line):
        function, begun, code = label[1], ".kprobe." in label[1], []
    code.append(line.split("//")[0].strip())
    if code[-1] == "s_mov_b32 s71, 0x27000":
        begun = True
    elif copy := re.match(r"s_mov_b64 s\[(\d+):\d+\], s\[(68:69|70:71)\]$", code[-1]):
        resources.add(copy[1])
    elif ((store := STORE.match(code[-1])) and store[2] in resources
          and int(store[3]) >= HEADER_BYTES):
        stores += 1
        tag = tag_before(code, store[1])
        assert tag is not None and tag & 0x3ff in (1, 3, 5, 7), f"tag {tag} in {function}"
        place = tag >> 10, ".sampled.kprobe" in function
        counts[place] = counts.get(place, 0) + 1
    elif begun and re.search(r"\bs(6[89]|7[0-3])\b|s\[\d+:(6[89]|7\d)\]", code[-1]) and not (
            re.match(r"s_and_b32 s\d+, s72, s73$", code[-1])
            or code[-1] == "s_add_u32 s72, s72, 8"
            or re.match(r"v_mov_b32_e32 v\d+, s72$", code[-1])
            # The header.
            or re.match(r"buffer_store_dword(x[24])? v\S+, off, s\[68:71\], 0 offset:\d+$",
                        code[-1])):
        print(f"{function}: {code[-1]}")
        foreign += 1
    if function and not function.endswith(".kprobe") and ".kprobe." not in function:
        begun = False
wrong = {place: counts.get(place, 0) for s in range(sites) for place in ((s, False), (s, True))
         if counts.get(place, 0) != (s not in silent)}
extra = sorted({site for site, _ in counts} - set(range(sites)))
print(f"{sites} sites, {sum(counts.values())} tags, {stores} stores")
if wrong or extra or foreign or not sites:
    sys.exit(f"sites not once: {wrong}; unknown: {extra}; foreign uses: {foreign}")
