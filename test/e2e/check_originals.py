#!/usr/bin/env python3
"""The original kernels of an instrumented program are those of a plain build.

check_originals.py [--target gfx906] PLAIN PROBED

Compares, for every function of PLAIN's code objects, machine code, metadata
(registers, LDS, scratch, arguments, launch bounds) and the 64 bytes of the kernel
descriptor with PROBED's. Only what depends on where things lie may differ: the
literals of a pc-relative address, and the descriptor's offset to its code. Also
checks that each kernel has clones NAME.kprobe and NAME.sampled.kprobe whose
arguments, LDS and launch bounds are the original's.
"""
import argparse
import pathlib
import re
import struct
import sys
import tempfile

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "tools"))
import codeobject  # noqa: E402

CLONES = ".kprobe", ".sampled.kprobe"
# Names of the two additions of a pc-relative address, before and since gfx12.
ADDRESS_HALVES = ("s_add_u32", "s_addc_u32", "s_add_co_u32", "s_add_co_ci_u32")
# What a clone must not change for the program's sake.
KEPT_BY_CLONE = (".args", ".group_segment_fixed_size", ".kernarg_segment_size",
                 ".kernarg_segment_align", ".max_flat_workgroup_size", ".wavefront_size",
                 ".uses_dynamic_stack")


class Difference(Exception):
    pass


def descriptor(path, symbol):
    """The kernel descriptor as stored, without the offset to its code."""
    image = pathlib.Path(path).read_bytes()
    table = codeobject.llvm("llvm-readelf", "--symbols", "--wide", path)
    found = re.search(rf"([0-9a-f]+)\s+64 OBJECT .* {re.escape(symbol)}\.kd$", table, re.MULTILINE)
    if not found:
        raise Difference(f"{symbol} has no kernel descriptor")
    address = int(found[1], 16)
    headers, size, count = (struct.unpack_from("<Q", image, 32)[0],
                            *struct.unpack_from("<HH", image, 54))
    for number in range(count):
        kind, _, offset, start, _, in_file = struct.unpack_from(
            "<IIQQQQ", image, headers + number * size)
        if kind == 1 and start <= address < start + in_file:
            where = offset + address - start
            return image[where:where + 16] + image[where + 24:where + 64]
    raise Difference(f"{symbol}'s descriptor is in no segment")


def position_free(instructions):
    """Encodings, with the literals of pc-relative addresses left out."""
    result, after_getpc = [], 0
    for instruction in instructions:
        words = instruction.words
        if instruction.text.startswith("s_getpc_b64"):
            after_getpc = 4
        elif after_getpc:
            after_getpc -= 1
            if instruction.text.startswith(ADDRESS_HALVES):
                words = words.split()[0] + " (address)"
        result.append(words)
    return result


def compare(plain, probed):
    """Checks one code object; returns the number of kernels."""
    functions = codeobject.disassemble(plain), codeobject.disassemble(probed)
    kernels = codeobject.kernels(plain), codeobject.kernels(probed)
    if not kernels[0]:
        raise Difference(f"{plain} has no kernel")
    for name, (_, instructions) in functions[0].items():
        if name not in functions[1]:
            raise Difference(f"function {name} is gone")
        code = position_free(instructions), position_free(functions[1][name][1])
        if code[0] != code[1]:
            at = next((i for i, pair in enumerate(zip(*code)) if pair[0] != pair[1]),
                      min(map(len, code)))
            raise Difference(f"{name}: instruction {at} differs "
                             f"({len(code[0])} and {len(code[1])} instructions)")
    for name, entry in kernels[0].items():
        other = kernels[1].get(name)
        if other != entry:
            fields = [field for field in entry if not other or other.get(field) != entry[field]]
            raise Difference(f"metadata of {name} differ: {', '.join(fields)}")
        if descriptor(plain, name) != descriptor(probed, name):
            raise Difference(f"kernel descriptor of {name} differs")
        for suffix in CLONES:
            clone = kernels[1].get(name + suffix)
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


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("plain")
    parser.add_argument("probed")
    parser.add_argument("--target", default="gfx906")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        try:
            plain = codeobject.extract(options.plain, pathlib.Path(folder) / "plain", options.target)
            probed = codeobject.extract(options.probed, pathlib.Path(folder) / "probed",
                                        options.target)
            if len(plain) != len(probed):
                raise Difference(f"{len(plain)} and {len(probed)} code objects")
            count = sum(compare(*pair) for pair in zip(plain, probed))
        except (Difference, codeobject.CodeObjectError, OSError) as error:
            print(f"check_originals.py: {error}", file=sys.stderr)
            return 1
    print(f"originals equal: {count} kernels")
    return 0


if __name__ == "__main__":
    sys.exit(main())
