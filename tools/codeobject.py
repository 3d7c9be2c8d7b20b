#!/usr/bin/env python3
"""Takes the GPU code objects out of HIP programs, and reads them with LLVM.

  codeobject.py PROGRAM [-o DIR] [--target gfx906]

writes each code object of PROGRAM for the target to DIR/N.co and prints what
kernels it has. Tests and benchmarks use the functions: a HIP program carries one
bundle per source file (magic, count, then offset, size and target of each
entry), laid end to end in the section .hip_fatbin.
"""
import argparse
import dataclasses
import os
import pathlib
import re
import struct
import subprocess
import sys

MAGIC = b"__CLANG_OFFLOAD_BUNDLE__"
LLVM_BIN = pathlib.Path(os.environ.get("KPROBE_LLVM_BIN", "/usr/lib/llvm-15/bin"))


class CodeObjectError(Exception):
    """The file is not what a HIP program looks like."""


def code_objects(program, target="gfx906"):
    """Bytes of each code object for a target, in file order."""
    data = pathlib.Path(program).read_bytes()
    found, at = [], data.find(MAGIC)
    while at >= 0:
        try:
            (count,) = struct.unpack_from("<Q", data, at + len(MAGIC))
            # The magic may also occur as a string of a tool; a count this high
            # is no bundle.
            if count <= 1024:
                where = at + len(MAGIC) + 8
                for _ in range(count):
                    offset, size, length = struct.unpack_from("<QQQ", data, where)
                    name = data[where + 24:where + 24 + length].decode("ascii")
                    where += 24 + length
                    if size and re.search(rf"-{re.escape(target)}(:|$)", name):
                        found.append(data[at + offset:at + offset + size])
        except (struct.error, UnicodeDecodeError) as error:
            raise CodeObjectError(f"{program}: damaged bundle at {at}: {error}") from error
        at = data.find(MAGIC, at + 1)
    if not found:
        raise CodeObjectError(f"{program}: no code object for {target}")
    return found


def extract(program, folder, target="gfx906"):
    """Writes the code objects of a program to folder/N.co; returns the paths."""
    folder = pathlib.Path(folder)
    folder.mkdir(parents=True, exist_ok=True)
    paths = []
    for number, data in enumerate(code_objects(program, target)):
        paths.append(folder / f"{number}.co")
        paths[-1].write_bytes(data)
    return paths


def llvm(tool, *arguments):
    result = subprocess.run([str(LLVM_BIN / tool), *map(str, arguments)],
                            capture_output=True, text=True, check=False)
    if result.returncode:
        raise CodeObjectError(f"{tool}: {result.stderr.strip()}")
    return result.stdout


def kernels(path):
    """Metadata of each kernel: {symbol without .kd: {field: text}}."""
    notes = llvm("llvm-readelf", "--notes", path)
    start = notes.find("amdhsa.kernels:")
    if start < 0:
        return {}
    found, current, args = {}, None, []
    for line in notes[start:].splitlines()[1:]:
        if line and not line.startswith(" "):
            break
        if line.startswith("  - "):
            current, args = {}, []
        field = re.match(r"^  (?:- |  )(\.[a-z_]+):\s*(.*)$", line)
        if field:
            current[field[1]] = field[2]
            if field[1] == ".args":
                current[".args"] = args
            if field[1] == ".symbol":
                found[field[2].strip("'\"").removesuffix(".kd")] = current
        elif current is not None:
            args.append(line.strip())
    for entry in found.values():
        if isinstance(entry.get(".args"), list):
            entry[".args"] = "\n".join(entry[".args"])
    return found


@dataclasses.dataclass
class Instruction:
    pc: int        # address in the code object
    text: str
    words: str     # encoding, hexadecimal
    target: str    # what the disassembler says about a branch, or ""


def function_sizes(path):
    table = llvm("llvm-readelf", "--symbols", "--wide", path)
    return {name: int(size) for size, name in
            re.findall(r"[0-9a-f]+\s+(\d+) FUNC .* (\S+)$", table, re.MULTILINE)}


def disassemble(path):
    """{symbol: (address, [Instruction])} of every function of a code object."""
    functions, current = {}, None
    sizes = function_sizes(path)
    for line in llvm("llvm-objdump", "-d", path).splitlines():
        head = re.match(r"^([0-9a-f]+) <(.+)>:$", line)
        if head:
            current = []
            if head[2] in sizes:  # else a section's name over padding
                functions[head[2]] = (int(head[1], 16), current)
            continue
        part = re.match(r"^\s+(\S.*?)\s*// ([0-9A-F]+): ([0-9A-F ]+?)(?: <(.+)>)?$", line)
        if part and current is not None:
            current.append(Instruction(int(part[2], 16), part[1], part[3], part[4] or ""))
    for name, (start, instructions) in functions.items():
        # What follows a function up to the next one is padding.
        end = start + sizes[name]
        instructions[:] = [each for each in instructions if each.pc < end]
    return functions


def main():
    parser = argparse.ArgumentParser(description="code objects of a HIP program")
    parser.add_argument("program")
    parser.add_argument("-o", dest="folder", default=".")
    parser.add_argument("--target", default="gfx906")
    options = parser.parse_args()
    try:
        for path in extract(options.program, options.folder, options.target):
            print(path)
            for name, entry in kernels(path).items():
                print(f"  {name}: {entry['.vgpr_count']} VGPRs, {entry['.sgpr_count']} SGPRs, "
                      f"{entry['.group_segment_fixed_size']} B LDS, "
                      f"{entry['.private_segment_fixed_size']} B scratch")
    except (CodeObjectError, OSError) as error:
        print(f"codeobject.py: error: {error}", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
