"""all_targets.py TARGETS.DEF OPT LLC PLUGIN MODULE: compiles the module with probes
for every processor that has a row in TARGETS.DEF and that LLC knows, in its wave
sizes, and checks the assembly of the clone. What a generation has is written down
here once more, from the ISA manuals, so that a wrong row does not agree with
itself."""
import concurrent.futures
import os
import re
import subprocess
import sys
import tempfile

# Generation: event clock, clocks of the header, place registers, first register of
# the state, wave sizes.
MEMTIME = r"s_memtime s\["
REALTIME = r"s_memrealtime s\["
MESSAGE = r"s_sendmsg_rtn_b64 s\[\d+:\d+\], sendmsg\(MSG_RTN_GET_REALTIME\)"
HW_ID = r"hwreg\(HW_REG_HW_ID\)"
XCC_ID = r"hwreg\(HW_REG_XCC_ID\)"
HW_ID1 = r"hwreg\(HW_REG_(WAVE_)?HW_ID1\)"  # with WAVE_ in LLVM 22, for gfx12
LOW = r"hwreg\(HW_REG_SHADER_CYCLES_LO\)"
HIGH = r"hwreg\(HW_REG_SHADER_CYCLES_HI\)"
GENERATIONS = [
    (r"gfx9(4\d|50|-4-generic)$", MEMTIME, (MEMTIME, REALTIME), (HW_ID, XCC_ID), 68, (64,)),
    (r"gfx9(0.|-generic)$", MEMTIME, (MEMTIME, REALTIME), (HW_ID,), 68, (64,)),
    (r"gfx10(\d\d|-1-generic|-3-generic)$", MEMTIME, (MEMTIME, REALTIME), (HW_ID1,), 96, (32, 64)),
    (r"gfx11(\d\d|-generic)$", MESSAGE, (MESSAGE,), (HW_ID1,), 96, (32, 64)),
    (r"gfx12(\d\d|-generic)$", LOW, (LOW, HIGH, MESSAGE), (HW_ID1,), 96, (32, 64)),
]
BLOCKS = 5


def run(command, text):
    result = subprocess.run(command, input=text, capture_output=True, text=True, check=False)
    return result.stdout, result.stderr.strip(), result.returncode


def clone_in(assembly):
    """Where it begins, and its text."""
    start = re.search(r"^k\.kprobe:", assembly, flags=re.M)
    if not start:
        return len(assembly), ""
    return start.start(), assembly[start.end():assembly.index(".Lfunc_end", start.end())]


def unwaited(text):
    """The first instruction that touches a clock's registers before a wait for it."""
    pending = []  # oldest first: whether it is a message, and its registers
    for line in text.splitlines():
        code = line.split(";")[0].strip()
        registers = set()
        for one, first, last in re.findall(r"\bs(?:(\d+)|\[(\d+):(\d+)\])", code):
            registers.update(range(int(one or first), int(one or last) + 1))
        wait = re.match(r"s_waitcnt (?:.*lgkmcnt\((\d+)\)|0$)|s_wait_kmcnt (0x\w+)", code)
        left = int((wait[1] or wait[2] or "0") if wait else "0", 0)
        if wait and left == 0:
            pending.clear()
        elif wait:
            # Messages come in order.
            if all(message for message, _ in pending):
                pending = pending[-left:]
        elif any(registers & written for _, written in pending):
            return code
        elif clock := re.match(r"s_mem(?:real)?time |(s_sendmsg_rtn_b64 )", code):
            pending.append((bool(clock[1]), registers))
        elif re.match(r"s_(branch|endpgm)", code):
            pending.clear()
    return None


def check(assembly, generation, wave, hazard):
    """What is wrong with the assembly of the clone, or None."""
    _, event, clocks, places, state, _ = generation
    start, text = clone_in(assembly)
    for register in clocks + places:
        if not re.search(register, text):
            return f"no {register}"
    if code := unwaited(text):
        return f"no wait for the clock before {code}"
    # A clock a block; the entry's event has the header's.
    if len(re.findall(event, text)) < BLOCKS - 1:
        return "a block has no clock"
    lanes = "exec_lo" if wave == 32 else "exec"
    if len(re.findall(rf"s_bcnt1_i32_b{wave} s\d+, {lanes}$", text, flags=re.M)) != BLOCKS:
        return "not one probe a block"
    if len(re.findall(rf"s_add_u32 s{state}, s\d+, s\d+\n\s+s_addc_u32 s{state + 1}, s\d+, 0$", text,
                      flags=re.M)) != 1:
        return "the slot's address is not set once, from scalar registers"
    store = rf"buffer_store_(dwordx2|b64) v\[\d+:\d+\], off, s\[{state}:{state + 3}\], s\d+ offset:128$"
    # On gfx10.1 no scalar register that a store reads may be written behind it at once.
    if hazard:
        store += r"\s+v_nop$"
    if len(re.findall(store, text, flags=re.M)) != BLOCKS:
        return "not one store a block"
    if re.search(rf"\bs{state + 2}\b", re.sub(r";.*", "", assembly[:start])):
        return "the original uses the state registers"
    return None


def check_counting(assembly, generation, wave):
    """What is wrong with the assembly of a clone that counts, or None."""
    lanes = "exec_lo" if wave == 32 else "exec"
    state = generation[4]
    slot = rf"off, s\[{state}:{state + 3}\], (?:0|null)"
    # Sites of the loop, and of the function, which may be called again and again.
    looped, called = [1], [BLOCKS, BLOCKS + 1, BLOCKS + 2]
    once = [site for site in range(BLOCKS) if site not in looped]
    text = clone_in(assembly)[1]
    stores = re.findall(rf"buffer_store_(?:dwordx2|b64) v\[\d+:\d+\], {slot} offset:(\d+)$", text, flags=re.M)
    # The loop's counter is stored where it ends.
    stores = sorted(int(place) for place in stores if int(place) >= 128)  # not the header's
    if stores != [128 + 8 * site for site in range(BLOCKS)]:
        return f"counters stored at {stores}"
    if len(re.findall(rf"s_bcnt1_i32_b{wave} s\d+, {lanes}$", text, flags=re.M)) != len(once + looped):
        return "not one count a block"
    low = state + 6 if state == 68 else state - 2
    high = low + 1
    added = rf"""s_bcnt1_i32_b{wave} (s\d+), {lanes}
\s+s_add_u32 s{low}, s{low}, \1
\s+s_addc_u32 s{high}, s{high}, 8
"""
    if len(re.findall(added, text)) != 1 or len(re.findall(rf"s_mov_b64 s\[{low}:{high}\], 0$", text, flags=re.M)) != 1:
        return "the loop is not counted in registers"
    narrowed = rf"""s_(?:ff1|ctz)_i32_b{wave} (s\d+), {lanes}
\s+s_mov_b{wave} (\S+), {lanes}
\s+s_bfm_b{wave} {lanes}, 1, \1
\s+s_and_b{wave} {lanes}, {lanes}, \2
\s+buffer_atomic_add_(?:x2|u64) v\[\d+:\d+\], {slot} offset:(\d+)
(?:\s+v_nop
)?\s+s_mov_b{wave} {lanes}, \2
"""
    places = [int(match[2]) for match in re.findall(narrowed, assembly)]
    # Once for each of the two clones.
    if sorted(places) != sorted(2 * [128 + 8 * site for site in called]):
        return f"atomics at {places}"
    return None


class Compilers:
    def __init__(self, opt, llc, plugin, source):
        self.opt, self.llc, self.plugin, self.source = opt, llc, plugin, source

    def processors(self):
        listed = run([self.llc, "-march=amdgcn", "-mcpu=help"], "")[1]
        return set(re.findall(r"^  (gfx[\w-]+) +- Select", listed, flags=re.M))

    def text(self, processor, generation, wave):
        features = f'"target-features"="+wavefrontsize{wave}"' if len(generation[5]) > 1 else ""
        text = self.source.replace('"CPU"', f'"{processor}" {features}')
        if processor.endswith("-generic"):
            text += '\n!llvm.module.flags = !{!0}\n' \
                    '!0 = !{i32 1, !"amdhsa_code_object_version", i32 600}\n'
        return text

    def problems(self, processor, generation, wave):
        """A list of what is wrong with what is compiled for one processor."""
        text = self.text(processor, generation, wave)

        def probe(options):
            return run([self.opt, f"-load-pass-plugin={self.plugin}",
                        f"-passes=kprobe<{options}>,verify", "-S"], text)
        probed, said, status = probe("block=all")
        if status or said:
            return [f"{processor} wave{wave}: {said}"]
        problems = []
        counting = run([self.llc, "-O3"], probe("block=all;mode=counters")[0])[0]
        if wrong := check_counting(counting, generation, wave):
            problems.append(f"{processor} wave{wave}, counters: {wrong}")
        for level in ("-O0", "-O3"):
            with tempfile.NamedTemporaryFile(suffix=".o") as output:
                _, said, status = run([self.llc, level, "-filetype=obj", "-o", output.name], probed)
            if status or said:
                problems.append(f"{processor} wave{wave} {level}: {said.splitlines()[:1]}")
        assembly, _, _ = run([self.llc, "-O3"], probed)
        if wrong := check(assembly, generation, wave, re.match(r"gfx10(1\d|-1-)", processor)):
            problems.append(f"{processor} wave{wave}: {wrong}")
        return problems


def main():
    table, opt, llc, plugin, module = sys.argv[1:]
    with open(table, encoding="ascii") as file:
        rows = re.findall(r'^GFX\w*\("(gfx[^"]+)"\)', file.read(), flags=re.M)
    with open(module, encoding="ascii") as file:
        compilers = Compilers(opt, llc, plugin, file.read())
    known = compilers.processors()
    jobs, problems = [], []
    for processor in rows:
        if processor not in known:
            continue
        generation = next((each for each in GENERATIONS if re.match(each[0], processor)), None)
        if generation is None:
            problems.append(f"{processor}: of no known generation")
            continue
        jobs += [(processor, generation, wave) for wave in generation[5]]
    # The compilers take the time, not this process.
    with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        for found in pool.map(lambda job: compilers.problems(*job), jobs):
            problems += found
    print(f"{len(jobs)} targets")
    return "\n".join(problems) if problems else 0 if jobs else "no target"


if __name__ == "__main__":
    sys.exit(main())
