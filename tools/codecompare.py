"""Whether the original kernels of an instrumented program are those of a plain build.

For every function of the plain code objects, machine code, metadata (registers, LDS,
scratch, arguments, launch bounds) and the 64 bytes of the kernel descriptor are held
against those of the instrumented ones. Only what depends on where things lie may
differ: the literals of a pc-relative address, of which the symbol that they lead to
is compared instead, and the descriptor's offset to its code. Also: every symbol of
the plain build is still there and as large, and each kernel has a clone NAME.kprobe
and, unless it is large, NAME.sampled.kprobe, whose arguments, LDS and launch bounds
are the original's.

For test/e2e/check_originals.py (a program) and benchmarks/rodinia/originals.py.
"""
import bisect
import dataclasses
import pathlib
import re
import struct

import codeobject

CLONE, SAMPLED = CLONES = ".kprobe", ".sampled.kprobe"
# A kernel of less code has both clones (a large one is one of 2000 instructions of IR).
LEAST_LARGE = 4000  # bytes
# Names of the two additions of a pc-relative address, before and since gfx12.
LOW_HALVES = "s_add_u32", "s_add_co_u32"
HIGH_HALVES = "s_addc_u32", "s_add_co_ci_u32"
# What a clone must not change for the program's sake.
KEPT_BY_CLONE = (".args", ".group_segment_fixed_size", ".kernarg_segment_size",
                 ".kernarg_segment_align", ".max_flat_workgroup_size", ".wavefront_size",
                 ".uses_dynamic_stack")
# Clang's name for a compilation has the command line in it.
COMMAND_LINE = "__hip_cuid_"


class Difference(Exception):
    pass


@dataclasses.dataclass(frozen=True)
class Symbol:
    address: int
    size: int
    kind: str
    section: str


class CodeObject:
    """What a code object's symbols and sections say about its addresses."""

    def __init__(self, path):
        self.path = path
        table = codeobject.llvm("llvm-readelf", "--symbols", "--wide", path)
        self.symbols = {name: Symbol(int(address, 16), int(size), kind, section)
                        for address, size, kind, section, name in re.findall(
                            r"^ *\d+: ([0-9a-f]+) +(\d+) (\w+) +\w+ +\w+ +(?:\[.*\] )?(\w+) (\S+)$",
                            table, re.MULTILINE)}
        named = sorted((symbol.address, name) for name, symbol in self.symbols.items()
                       if symbol.kind in ("FUNC", "OBJECT") and symbol.section.isdigit())
        self.starts, self.names = [each[0] for each in named], [each[1] for each in named]
        headers = codeobject.llvm("llvm-readelf", "--sections", "--wide", path)
        self.sections = [(int(start, 16), int(size, 16), name) for name, start, size in re.findall(
            r"^ *\[ *\d+\] (\S+) +\w+ +([0-9a-f]+) [0-9a-f]+ ([0-9a-f]+) ", headers, re.MULTILINE)]

    def place(self, address):
        """A symbol and the distance from it, else the section."""
        at = bisect.bisect_right(self.starts, address) - 1
        if at >= 0:
            symbol = self.symbols[self.names[at]]
            if address < symbol.address + max(symbol.size, 1):
                # Of several names of one address the first.
                first = bisect.bisect_left(self.starts, symbol.address)
                return f"{self.names[first]}+{address - symbol.address}"
        return next((name for start, size, name in self.sections
                     if start and start <= address < start + size), "nowhere")

    def descriptor(self, kernel):
        """The kernel descriptor as stored, without the offset to its code."""
        symbol = self.symbols.get(kernel + ".kd")
        if symbol is None or symbol.size != 64:
            raise Difference(f"{kernel} has no kernel descriptor")
        image = pathlib.Path(self.path).read_bytes()
        headers, size, count = (struct.unpack_from("<Q", image, 32)[0],
                                *struct.unpack_from("<HH", image, 54))
        for number in range(count):
            kind, _, offset, start, _, in_file = struct.unpack_from(
                "<IIQQQQ", image, headers + number * size)
            if kind == 1 and start <= symbol.address < start + in_file:
                where = offset + symbol.address - start
                return image[where:where + 16] + image[where + 24:where + 64]
        raise Difference(f"{kernel}'s descriptor is in no segment")

    def position_free(self, instructions):
        """Encodings; of a pc-relative address where it leads in place of its literals."""
        result, low_at, pc = [], None, 0
        for number, instruction in enumerate(instructions):
            words = instruction.words.split()
            if instruction.text.startswith("s_getpc_b64"):
                pc, low_at = instruction.pc + 4, None
                window = number + 4
            elif pc and number <= window and len(words) == 2:
                if instruction.text.startswith(LOW_HALVES) and low_at is None:
                    low_at, low = number, int(words[1], 16)
                    words[1] = "(address)"
                elif instruction.text.startswith(HIGH_HALVES) and low_at is not None:
                    address = pc + low + (int(words[1], 16) << 32) & (1 << 64) - 1
                    words[1] = self.place(address)
                    pc = 0
            result.append(" ".join(words))
        return result


def compare(plain_path, probed_path):
    """Checks one code object; returns the number of kernels."""
    plain, probed = CodeObject(plain_path), CodeObject(probed_path)
    functions = codeobject.disassemble(plain_path), codeobject.disassemble(probed_path)
    kernels = codeobject.kernels(plain_path), codeobject.kernels(probed_path)
    for name, (_, instructions) in functions[0].items():
        if name not in functions[1]:
            raise Difference(f"function {name} is gone")
        code = plain.position_free(instructions), probed.position_free(functions[1][name][1])
        if code[0] != code[1]:
            at = next((i for i, pair in enumerate(zip(*code)) if pair[0] != pair[1]),
                      min(map(len, code)))
            raise Difference(f"{name}: instruction {at} differs "
                             f"({len(code[0])} and {len(code[1])} instructions)")
    for name, symbol in plain.symbols.items():
        if name.startswith(COMMAND_LINE):
            continue
        other = probed.symbols.get(name)
        if other is None or (other.size, other.kind) != (symbol.size, symbol.kind):
            raise Difference(f"symbol {name} is {other}, not {symbol}")
    for name, entry in kernels[0].items():
        other = kernels[1].get(name)
        if other != entry:
            fields = [field for field in entry if not other or other.get(field) != entry[field]]
            raise Difference(f"metadata of {name} differ: {', '.join(fields)}")
        if plain.descriptor(name) != probed.descriptor(name):
            raise Difference(f"kernel descriptor of {name} differs")
        for suffix in CLONES:
            clone = kernels[1].get(name + suffix)
            if clone is None and suffix == SAMPLED and plain.symbols[name].size >= LEAST_LARGE:
                continue
            if clone is None:
                raise Difference(f"{name} has no clone {name}{suffix}")
            for field in KEPT_BY_CLONE:
                if clone.get(field) != entry.get(field):
                    raise Difference(f"{field} of {name}{suffix} is {clone.get(field)}, "
                                     f"not {entry.get(field)}")
    extra = set(kernels[1]) - {name + suffix for name in kernels[0] for suffix in ("", *CLONES)}
    if extra:
        raise Difference(f"kernels from nowhere: {', '.join(sorted(extra))}")
    return len(kernels[0])


def compare_all(plain, probed):
    """The code objects of a program in order; returns the number of kernels."""
    if len(plain) != len(probed):
        raise Difference(f"{len(plain)} and {len(probed)} code objects")
    count = sum(compare(*pair) for pair in zip(plain, probed))
    if not count:
        raise Difference("no kernel in the plain build")
    return count
