#!/usr/bin/env python3
"""How true the times in a trace are: each block's time per visit in the trace of the
probed kernel against the virtual GPU's own time of it in the kernel without probes.

  accuracy.py --rodinia DIR [--only nn,bfs] [--json FILE] [run.py's options]
  accuracy.py --source FILE.hip

For each program the median and the worst error over the blocks that take 100 cycles
and more a visit, without probes. FILE.hip is a program of one file instead.

Both times run from the wave's coming to a block to its coming to the next one that
has a clock in the trace, or to its end. Where the blocks lie in the kernel without
probes is read in the compiler's assembly: it names the IR block that each machine
block was made of, and so does the site table. A block of the trace that is not found
there, or is not visited as often, because it was merged with another or is jumped over,
is left out on both sides and counted: its time is part of that of the block before.
"""
import collections
import csv
import json
import pathlib
import re
import statistics
import sys

import builder
import harness
import programs
import run

LEAST_CYCLES = 100
LABEL = "kprobe_block_"
FUNCTION = re.compile(r"^([\w.$]+):\s+; @")
BLOCK = re.compile(r"^(?:; %bb\.\d+|\.LBB\d+_\d+):\s+; %(\S+)")
ASSEMBLER = ["/usr/lib/llvm-15/bin/clang", "-x", "assembler", "-target", "amdgcn-amd-amdhsa"]
KEEP_NAMES = "-fno-discard-value-names"


def marked(assembly):
    """The assembly with a label at each block that has a name, and what they mean:
    [(kernel, block)]."""
    lines, meanings, function = [], [], None
    for line in assembly.splitlines():
        if match := FUNCTION.match(line):
            function = match[1]
        if match := BLOCK.match(line):
            lines.append(f"{LABEL}{len(meanings)}:")
            meanings.append((function, match[1]))
        lines.append(line)
    return "\n".join(lines) + "\n", meanings


def places(builders, command, source, folder):
    """{kernel: {block: [addresses from the kernel's entry]}} of one source."""
    assembly, changed, code = (folder / f"{source.stem}.{end}" for end in ("s", "marked.s", "o"))
    folder.mkdir(parents=True, exist_ok=True)
    builders.call([*command, "-S", "--cuda-device-only", source, "-o", assembly], folder)
    text, meanings = marked(assembly.read_text(encoding="utf-8"))
    changed.write_text(text, encoding="utf-8")
    builders.call([*ASSEMBLER, f"-mcpu={builders.arch}", "-c", changed, "-o", code], folder)
    symbols = {}
    for line in harness.codeobject.llvm("llvm-nm", code).splitlines():
        words = line.split()
        if len(words) == 3:
            symbols[words[2]] = int(words[0], 16)
    found = collections.defaultdict(lambda: collections.defaultdict(list))
    for number, (kernel, block) in enumerate(meanings):
        found[kernel][block].append(symbols[f"{LABEL}{number}"] - symbols[kernel])
    return found


class Times:
    """Visits and cycles of one block."""
    def __init__(self):
        self.visits = self.cycles = 0

    def add(self, cycles):
        self.visits += 1
        self.cycles += cycles

    def mean(self):
        return self.cycles / self.visits


def add_visits(visits, end, times):
    """visits: (block, cycle) of one wave, in order."""
    for (block, begin), (_, until) in zip(visits, visits[1:] + [(None, end)]):
        times[block].add(until - begin)


def from_log(path, blocks):
    """{kernel: {block: Times}} of the virtual GPU's log. blocks: {kernel: {address: block}}."""
    times = collections.defaultdict(lambda: collections.defaultdict(Times))
    kernels, waves = {}, collections.defaultdict(list)
    with open(path, encoding="ascii") as file:
        for line in file:
            words = line.split()
            if words[0] == "D":
                kernels[words[1]] = words[5].removesuffix(".kd")
            elif words[0] == "B" and int(words[8], 16):  # some lane comes here
                block = blocks.get(kernels[words[1]], {}).get(int(words[6], 16))
                if block is not None:
                    waves[tuple(words[1:6])].append((block, int(words[7])))
            elif words[0] == "X" and kernels[words[1]] in blocks:
                add_visits(waves.pop(tuple(words[1:6]), []), int(words[6]),
                           times[kernels[words[1]]])
    return times


def from_trace(table, sites):
    """The same of a trace as CSV. sites: {kernel's name: (symbol, {site: block})}, the
    sites that are looked at."""
    waves = collections.defaultdict(list)
    with open(table, newline="", encoding="utf-8") as file:
        for row in csv.DictReader(file):
            if row["kernel"] not in sites:
                continue
            wave = waves[row["kernel"], row["dispatch"], row["wave_index"]]
            end = int(row["cycle"]) + int(row["cycles"] or 0)
            wave.append((sites[row["kernel"]][1].get(int(row["site"])), int(row["cycle"]), end))
    times = collections.defaultdict(lambda: collections.defaultdict(Times))
    for (kernel, _, _), rows in waves.items():
        visits = [(block, begin) for block, begin, _ in rows if block is not None]
        add_visits(visits, max(end for _, _, end in rows), times[sites[kernel][0]])
    return times


def sites_of(stats):
    """{kernel's name: (symbol, {site: block})} of sites with a clock; whatever was
    overwritten would leave holes."""
    found = {}
    for kernel in stats["kernels"]:
        if not kernel["traced"]:
            continue
        if kernel["events"]["overwritten"] or kernel["waves"]["in_grid"] != kernel["waves"]["ended"]:
            raise harness.Failure(f"{kernel['name']}: not every event is in the trace: --ring")
        found[kernel["name"]] = (kernel["mangled"], {
            block["site"]: block["block"] for block in kernel["blocks"]
            if block["clock"] and block["function"] == kernel["name"]})
    return found


class Accuracy:
    def __init__(self, bench):
        self.bench = bench
        self.decode = bench.bin / "kprobe-decode"

    def output(self, *command):
        return harness.subprocess.run([str(word) for word in command], check=True,
                                      capture_output=True, text=True).stdout

    def rows(self, where, folder, execute):
        """A row for each block; and how many blocks were not found in the original.

        where: {kernel: {block: addresses}}; execute(variant, launcher, settings) runs the
        program."""
        folder.mkdir(parents=True, exist_ok=True)
        dump, table, log, pcs = (folder / name for name in ("a.kpd", "a.csv", "log", "pcs"))
        for path in (dump, log):
            path.unlink(missing_ok=True)
        arch = self.bench.options.arch
        execute("traced", [self.bench.bin / "kprobe-run", f"--vgpu={arch}", "--ring", "1M",
                           "--buffer", "2G", "-o", dump, "--"], {})
        sites = sites_of(json.loads(self.output(self.decode, "stats", "--json", dump)))
        self.output(self.decode, "convert", "--to", "csv", "-o", table, dump)
        # What both sides know. The entry begins where the kernel does.
        missing, blocks = 0, {}
        for symbol, names in sites.values():
            known = where.get(symbol, {})
            missing += sum(name not in known for name in names.values())
            for site in [site for site, name in names.items() if name not in known]:
                del names[site]
            blocks[symbol] = {pc: name for name in names.values() for pc in known[name]}
        pcs.write_text("".join(f"{symbol} {' '.join(f'{pc:x}' for pc in sorted(places))}\n"
                               for symbol, places in blocks.items()), encoding="ascii")
        execute("plain", [self.bench.bin / "kprobe-vgpu", "--target", arch, "--"],
                {"KPROBE_VGPU_LOG": str(log), "KPROBE_VGPU_LOG_PCS": str(pcs)})
        while True:
            truth, traced = from_log(log, blocks), from_trace(table, sites)
            odd = {(kernel, block) for kernel in truth
                   for block in {*truth[kernel], *traced[kernel]}
                   if truth[kernel][block].visits != traced[kernel][block].visits}
            if not odd:
                break
            for symbol, names in sites.values():
                for site in [site for site, name in names.items() if (symbol, name) in odd]:
                    del names[site]
                    missing += 1
                blocks[symbol] = {pc: name for pc, name in blocks[symbol].items()
                                  if (symbol, name) not in odd}
        log.unlink()
        table.unlink()
        rows = []
        for kernel, of_block in truth.items():
            for block, time in of_block.items():
                ours = traced[kernel][block]
                if time.cycles:
                    rows.append({"kernel": kernel, "block": block, "visits": time.visits,
                                 "cycles": time.mean(), "traced_cycles": ours.mean(),
                                 "error": ours.mean() / time.mean() - 1})
        return rows, missing

    def program(self, program):
        bench = self.bench
        built = {variant: bench.builder.build(program, variant) for variant in ("plain", "traced")}
        where = {}
        for source in program.sources:
            where.update(places(bench.builder, bench.builder.device_command(program, "plain"),
                                builder.ours(source, bench.builder.home(program)),
                                bench.options.work / "assembly" / program.name))
        rows, missing = [], 0
        for number in range(len(program.commands[bench.options.size])):
            def execute(variant, launcher, settings, number=number):
                bench.execute(program, variant, built[variant], number, launcher, settings)
            more, left = self.rows(where, bench.options.work / "accuracy" / program.name, execute)
            rows, missing = rows + more, missing + left
        return rows, missing

    def source(self, source):
        bench, folder = self.bench, self.bench.options.work / source.stem
        folder.mkdir(parents=True, exist_ok=True)
        command = [*bench.builder.compiler, f"--offload-arch={bench.options.arch}",
                   *builder.DEVICE_FLAGS]
        for variant, more in (("plain", []), ("traced", [f"-fpass-plugin={bench.builder.plugin}"])):
            bench.builder.call([*command, *more, source, "-o", folder / variant], folder)

        def execute(variant, launcher, settings):
            harness.subprocess.run([str(word) for word in (*launcher, folder / variant)], check=True,
                                   env={**bench.environment, **settings}, capture_output=True)
        return self.rows(places(bench.builder, command, source, folder), folder, execute)


def summary(name, rows, missing):
    errors = [abs(row["error"]) for row in rows if row["cycles"] >= LEAST_CYCLES]
    text = f"| {name} | {len(errors)} | "
    text += f"{statistics.median(errors):.1%} | {max(errors):.1%} |" if errors else " | |"
    return text + f" {len(rows) - len(errors)} | {missing} |"


def main():
    arguments = sys.argv[1:]
    source = None
    if "--source" in arguments:
        at = arguments.index("--source")
        source = pathlib.Path(arguments[at + 1]).resolve()
        # run.py's options want a checkout; none is read.
        here = pathlib.Path(__file__).resolve().parent
        arguments[at:at + 2] = ["--rodinia", str(here / "accuracy-none")]
    builder.DEVICE_FLAGS.append(KEEP_NAMES)
    options = run.parse_arguments(arguments, checked=source is None)
    options.plain = False
    options.work = options.work / "names"  # objects of other flags
    report, failed = [], False
    try:
        accuracy = Accuracy(harness.Harness(options))
        print("| program | blocks | median error | worst | shorter | left out |\n"
              "|---|---|---|---|---|---|", flush=True)
        for name in [source.stem] if source else options.names:
            try:
                rows, missing = accuracy.source(source) if source \
                    else accuracy.program(programs.load(name))
            except (harness.Failure, builder.BuildError,
                    harness.subprocess.CalledProcessError) as error:
                print(f"accuracy.py: {name}: {error}", file=sys.stderr)
                failed = True
                continue
            print(summary(name, rows, missing), flush=True)
            report.append({"program": name, "left_out": missing, "blocks": rows})
    except harness.SetupError as error:
        print(f"accuracy.py: error: {error}", file=sys.stderr)
        return 2
    every = [row for one in report for row in one["blocks"]]
    if len(report) > 1:
        print(summary("all", every, sum(one["left_out"] for one in report)))
    if options.json:
        pathlib.Path(options.json).write_text(json.dumps(report, indent=1), encoding="utf-8")
    return 1 if failed or not every else 0


if __name__ == "__main__":
    sys.exit(main())
