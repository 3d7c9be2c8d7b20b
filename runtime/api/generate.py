#!/usr/bin/env python3
"""Generates wrappers for every function of an API from its installed headers.

generate.py hip|hsa --output FILE.cpp --depfile FILE.d [-- COMPILER ARGUMENTS]

The headers are parsed by libclang; nothing here reads C by itself. For hip,
every function that the headers declare without a body gets a wrapper of the
same name (for LD_PRELOAD); for hsa, every member of the core and the AMD table
gets one that is put into the table. A wrapper writes the arguments, calls on,
and writes result and out parameters; ApiCall.h has what they are made of. A
table of names and types goes with them, so that a decoder needs no header.
"""
import argparse
import os
import sys

# Python's own path may be another installation's.
sys.path.append("/usr/lib/python3/dist-packages")
import clang.cindex  # noqa: E402
from clang.cindex import CursorKind, LinkageKind, TypeKind  # noqa: E402

DOMAINS = {"hsa": 1, "hip": 2}
HEADERS = {
    "hsa": ["hsa/hsa.h", "hsa/hsa_ext_amd.h", "hsa/hsa_api_trace.h"],
    "hip": ["api/HipHeaders.h"],
}
HSA_TABLES = {"CoreApiTable": "core_", "AmdExtTable": "amd_ext_"}
NO_INDEX = 0xFFFFFFFF

INTEGERS = {
    TypeKind.CHAR_S: "I", TypeKind.SCHAR: "I", TypeKind.SHORT: "I", TypeKind.INT: "I",
    TypeKind.LONG: "I", TypeKind.LONGLONG: "I", TypeKind.UCHAR: "U", TypeKind.CHAR_U: "U",
    TypeKind.USHORT: "U", TypeKind.UINT: "U", TypeKind.ULONG: "U", TypeKind.ULONGLONG: "U",
}
SIZES = {"I8": 1, "I16": 2, "I32": 4, "I64": 8, "U8": 1, "U16": 2, "U32": 4, "U64": 8,
         "F32": 4, "F64": 8, "BOOLEAN": 1, "POINTER": 8}
CHARACTERS = (TypeKind.CHAR_S, TypeKind.SCHAR, TypeKind.UCHAR, TypeKind.CHAR_U)
# Pointers to pointers that are arrays of the caller: nothing is returned there,
# and they may be empty.
INPUT_ARRAYS = ("args", "kernelparams", "extra", "options", "headers", "includenames")


class Names:
    """Strings of the table, each once; offset 0 is the empty string."""

    def __init__(self):
        self.bytes = bytearray(b"\0")
        self.places = {"": 0}

    def add(self, text):
        if text not in self.places:
            self.places[text] = len(self.bytes)
            self.bytes += text.encode() + b"\0"
        return self.places[text]


class Value:
    """One recorded value: its name, wire type, enumeration and C++ expression."""

    def __init__(self, name, kind, expression, enum=None):
        self.name, self.kind, self.expression, self.enum = name, kind, expression, enum


def scalar(kind):
    """Wire type of a canonical clang type, or None."""
    if kind.kind == TypeKind.BOOL:
        return "BOOLEAN"
    if kind.kind in INTEGERS:
        return f"{INTEGERS[kind.kind]}{8 * kind.get_size()}"
    if kind.kind == TypeKind.ENUM:
        return scalar(kind.get_declaration().enum_type.get_canonical())
    if kind.kind in (TypeKind.FLOAT, TypeKind.DOUBLE):
        return f"F{8 * kind.get_size()}"
    if kind.kind == TypeKind.POINTER:
        return "POINTER"
    return None


def enum_of(kind):
    return kind.get_declaration() if kind.kind == TypeKind.ENUM else None


def is_handle(kind):
    """A structure of one 64-bit integer, as HSA's handles are."""
    if kind.kind != TypeKind.RECORD or kind.get_declaration().kind == CursorKind.UNION_DECL:
        return None
    fields = list(kind.get_fields())
    if len(fields) == 1 and scalar(fields[0].type.get_canonical()) in ("U64", "POINTER"):
        return fields[0].spelling
    return None


def flatten(name, kind, expression):
    """The values that a parameter passed by value consists of."""
    kind = kind.get_canonical()
    wire = scalar(kind)
    if wire:
        pointee = kind.get_pointee() if wire == "POINTER" else None
        if pointee is not None and pointee.kind in CHARACTERS and pointee.is_const_qualified():
            return [Value(name, "STRING", expression)]
        return [Value(name, wire, expression, enum_of(kind))]
    handle = is_handle(kind)
    if handle:
        return [Value(name, "POINTER", f"{expression}.{handle}")]
    if kind.kind != TypeKind.RECORD or kind.get_declaration().kind == CursorKind.UNION_DECL:
        return []  # bytes without a meaning of their own
    values = []
    for field in kind.get_fields():
        if not field.is_bitfield():
            values += flatten(f"{name}.{field.spelling}", field.type,
                              f"{expression}.{field.spelling}")
    return values


def returned(name, kind, expression):
    """What a successful call leaves behind a pointer parameter, or None."""
    kind = kind.get_canonical()
    if kind.kind != TypeKind.POINTER or name.lower() in INPUT_ARRAYS:
        return None
    pointee = kind.get_pointee().get_canonical()
    if pointee.is_const_qualified() or pointee.kind in CHARACTERS:
        return None
    wire = scalar(pointee)
    if wire:
        return Value("*" + name, wire, f"*{expression}", enum_of(pointee))
    handle = is_handle(pointee)
    if handle:
        return Value("*" + name, "POINTER", f"{expression}->{handle}")
    return None


class Function:
    def __init__(self, cursor):
        self.name = cursor.spelling
        self.symbol = cursor.mangled_name or cursor.spelling
        self.result = cursor.result_type
        kinds = list(cursor.type.get_canonical().argument_types())
        arguments = list(cursor.get_arguments())
        self.parameters, self.inputs, self.outputs = [], [], []
        for number, (argument, kind) in enumerate(zip(arguments, kinds)):
            variable = f"a{number}"
            spelling = argument.type.spelling
            if "(*)" in spelling:
                declaration = spelling.replace("(*)", f"(*{variable})", 1)
            elif argument.type.kind in (TypeKind.INCOMPLETEARRAY, TypeKind.CONSTANTARRAY):
                declaration = f"{kind.spelling} {variable}"
            else:
                declaration = f"{spelling} {variable}"
            self.parameters.append((variable, declaration))
            name = argument.spelling or f"argument{number}"
            self.inputs += flatten(name, kind, variable)
            value = returned(name, kind, variable)
            if value:
                self.outputs.append((variable, value))
        # Only a status says whether the out parameters were written.
        if self.result.get_canonical().kind != TypeKind.ENUM:
            self.outputs = []

    def result_wire(self):
        kind = self.result.get_canonical()
        return "VOID" if kind.kind == TypeKind.VOID else scalar(kind) or "VOID"


def hip_functions(unit):
    """Declared, not defined: inline helpers of the headers are the program's."""
    found = {}

    def walk(cursor):
        for child in cursor.get_children():
            if child.kind in (CursorKind.LINKAGE_SPEC, CursorKind.UNEXPOSED_DECL):
                walk(child)
            elif (child.kind == CursorKind.FUNCTION_DECL and child.spelling.startswith("hip")
                  and child.linkage == LinkageKind.EXTERNAL):
                if child.get_definition() is None and "..." not in child.displayname:
                    found.setdefault(child.mangled_name, Function(child))

    walk(unit.cursor)
    return [found[name] for name in sorted(found)]


def hsa_functions(unit):
    declared, members = {}, []
    for cursor in unit.cursor.walk_preorder():
        if cursor.kind == CursorKind.FUNCTION_DECL:
            declared.setdefault(cursor.spelling, cursor)
        elif cursor.kind == CursorKind.STRUCT_DECL and cursor.is_definition():
            if cursor.spelling in HSA_TABLES:
                members += [(cursor.spelling, field.spelling) for field in cursor.type.get_fields()
                            if field.spelling.endswith("_fn")]
    functions = []
    for table, member in members:
        function = Function(declared[member[:-len("_fn")]])
        function.table, function.member = table, member
        functions.append(function)
    return functions


class Writer:
    def __init__(self, domain, functions):
        self.domain, self.functions = domain, functions
        self.names = Names()
        self.fields, self.records, self.enumerators = [], [], []
        self.enums = {}

    def enum(self, declaration):
        if declaration is None:
            return NO_INDEX
        key = declaration.get_usr()
        if key not in self.enums:
            self.enums[key] = len(self.enums)
            for item in declaration.get_children():
                if item.kind == CursorKind.ENUM_CONSTANT_DECL:
                    self.enumerators.append((item.enum_value, self.enums[key],
                                             self.names.add(item.spelling)))
        return self.enums[key]

    def field(self, value):
        self.fields.append((self.names.add(value.name), value.kind, self.enum(value.enum)))

    def wrapper(self, index, function):
        inputs, outputs = function.inputs, function.outputs
        first = len(self.fields)
        for value in inputs:
            self.field(value)
        for _, value in outputs:
            self.field(value)
        wire = function.result_wire()
        self.records.append((self.names.add(function.name), first, len(inputs), len(outputs), wire,
                             self.enum(enum_of(function.result.get_canonical()))))

        parameters = ", ".join(declaration for _, declaration in function.parameters)
        arguments = ", ".join(variable for variable, _ in function.parameters)
        void = function.result.get_canonical().kind == TypeKind.VOID
        size = str(sum(SIZES.get(value.kind, 0) for value in inputs))
        lines = []
        if self.domain == "hip":
            lines.append(f"{function.result.spelling} {function.name}({parameters}) {{")
            lines.append(f"  auto *Next = real<{index}, {function.result.spelling}({parameters})>"
                         f'("{function.symbol}");')
            lines.append(f"  if (!Next)\n    return missing<{function.result.spelling}>();")
        else:
            lines.append(f"decltype(::{function.name}) *Next{index};")
            lines.append(f"{function.result.spelling} wrap{index}({parameters}) {{")
            lines.append(f"  auto *Next = Next{index};")
        lines.append(f"  if (!Selected[{index}])\n    return Next({arguments});")
        strings = 0
        for value in inputs:
            if value.kind == "STRING":
                lines.append(f"  CallString S{strings}({value.expression});")
                value.expression = f"S{strings}"
                size += f" + S{strings}.bytes()"
                strings += 1
        lines.append(f"  ApiCall Call;\n  if (FieldWriter W = "
                     f"Call.begin(KPROBE_FUNCTION(Domain, {index}), {size})) {{")
        for value in inputs:
            lines.append(f"    W.{'text' if value.kind == 'STRING' else 'put'}({value.expression});")
        lines.append("    Call.publish(W);\n  }")
        if void:
            lines.append(f"  Next({arguments});\n  Call.end(0);\n}}")
            return lines
        lines.append(f"  auto Result = Next({arguments});")
        bits = "0" if wire == "VOID" else "resultBits(Result)"
        if outputs:
            total = sum(SIZES[value.kind] for _, value in outputs)
            present = " && ".join(sorted({variable for variable, _ in outputs}))
            lines.append(f"  bool Out = int(Result) == 0 && {present};")
            lines.append(f"  if (FieldWriter W = Call.end({bits}, Out ? {total} : 0)) {{")
            lines += [f"    W.put({value.expression});" for _, value in outputs]
            lines.append("    Call.publish(W);\n  }")
        else:
            lines.append(f"  Call.end({bits});")
        lines.append("  return Result;\n}")
        return lines

    def write(self):
        out = ["// Generated by runtime/api/generate.py: do not edit."]
        out += [f'#include "{header}"' for header in HEADERS[self.domain]]
        out.append('#include "api/ApiCall.h"')
        if self.domain == "hip":
            out.append('#include "api/HipReal.h"')
        out.append("using namespace kprobe;")
        out.append(f"namespace {{\nconstexpr uint32_t Domain = {DOMAINS[self.domain]};")
        out.append(f"uint8_t Selected[{len(self.functions)}];")
        if self.domain == "hip":
            out.append("}")
        for index, function in enumerate(self.functions):
            out += self.wrapper(index, function)
        if self.domain == "hip":
            out.append("namespace {")
        self.table(out)
        out.append("} // namespace")
        out.append(f"const ApiTable &kprobe::{self.domain}ApiTable() {{ return Table; }}")
        if self.domain == "hsa":
            self.installer(out)
        return "\n".join(out) + "\n"

    def table(self, out):
        out.append("const KprobeApiFunction Functions[] = {")
        out += [f"  {{{name}, {first}, {ins}, {outs}, KPROBE_FIELD_{wire}, {enum}u}},"
                for name, first, ins, outs, wire, enum in self.records]
        out.append("};\nconst KprobeApiField Fields[] = {")
        out += [f"  {{{name}, KPROBE_FIELD_{kind}, {enum}u}}," for name, kind, enum in self.fields]
        out.append("};\nconst KprobeApiEnumerator Enumerators[] = {")
        out += [f"  {{{value}ll, {enum}, {name}}}," for value, enum, name in self.enumerators]
        name = self.names.add(self.domain)
        out.append("};\nconst char Strings[] =")
        parts = bytes(self.names.bytes).split(b"\0")[:-1]
        out += ['  "' + part.decode() + '\\0"' for part in parts]
        out.append(f"""  ;
const ApiTable Table = {{{{Domain, {name}, {len(self.records)}, {len(self.fields)},
  {len(self.enumerators)}, sizeof(Strings) - 1}},
  Functions, Fields, Enumerators, Strings, Selected}};""")

    def installer(self, out):
        """Puts the selected wrappers into ROCr's tables, and takes them out."""
        body = {"install": [], "remove": []}
        for index, function in enumerate(self.functions):
            part = HSA_TABLES[function.table]
            place = f"Api->{part}->{function.member}"
            body["install"].append(
                f"  if (Selected[{index}] && reaches(Api->{part}->version, "
                f"offsetof({function.table}, {function.member})) && {place}) {{\n"
                f"    Next{index} = {place};\n    {place} = wrap{index};\n  }}")
            body["remove"].append(f"  if (Next{index} && {place} == wrap{index})\n"
                                  f"    {place} = Next{index};")
        out.append("static bool reaches(const ApiTableVersion &Version, size_t Offset) {\n"
                   "  return Offset + sizeof(void *) <= Version.minor_id;\n}")
        for name, lines in body.items():
            out.append(f"void kprobe::{name}HsaWrappers(HsaApiTable *Api) {{")
            out += lines + ["}"]


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("domain", choices=sorted(DOMAINS))
    parser.add_argument("--output", required=True)
    parser.add_argument("--depfile")
    parser.add_argument("--library", help="libclang to load")
    split = sys.argv.index("--") if "--" in sys.argv else len(sys.argv)
    options = parser.parse_args(sys.argv[1:split])
    if options.library:
        clang.cindex.Config.set_library_file(options.library)
    source = "".join(f'#include "{header}"\n' for header in HEADERS[options.domain])
    unit = clang.cindex.Index.create().parse(
        "input.cpp", ["-x", "c++", "-std=c++17", *sys.argv[split + 1:]],
        unsaved_files=[("input.cpp", source)],
        options=clang.cindex.TranslationUnit.PARSE_SKIP_FUNCTION_BODIES)
    errors = [str(item) for item in unit.diagnostics if item.severity >= item.Error]
    if errors:
        sys.exit("generate.py: error: " + "\n".join(errors))
    functions = hip_functions(unit) if options.domain == "hip" else hsa_functions(unit)
    if not functions:
        sys.exit("generate.py: error: the headers declare no function")
    with open(options.output, "w", encoding="utf-8") as file:
        file.write(Writer(options.domain, functions).write())
    if options.depfile:
        # Real ones: ".." behind a link to a folder leads elsewhere than its text says.
        includes = sorted({os.path.realpath(include.include.name)
                           for include in unit.get_includes()})
        with open(options.depfile, "w", encoding="utf-8") as file:
            file.write(f"{options.output}: " + " ".join(includes) + "\n")


if __name__ == "__main__":
    main()
