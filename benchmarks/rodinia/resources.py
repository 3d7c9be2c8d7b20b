"""Registers, LDS, scratch and occupancy of kernels and of their clones.

From the metadata of the code objects. Occupancy is waves a SIMD, by registers
and, where the size of the workgroups is known, by LDS; the numbers of each target
are LLVM's (AMDGPUBaseInfo) for the mode that it compiles for by default.
"""
import dataclasses

import codeobject
from measure import CLONE

LDS_GRANULE = 512


@dataclasses.dataclass(frozen=True)
class Target:
    waves: int             # most waves a SIMD
    vgprs: int             # of a lane, for all waves of a SIMD
    vgpr_granule: int
    sgprs: int             # for all waves of a SIMD; 0: never the limit
    sgpr_granule: int
    simds: int             # that share one LDS
    lds: int


GFX9 = Target(10, 256, 4, 800, 16, 4, 65536)
TARGETS = {
    "gfx900": GFX9, "gfx906": GFX9, "gfx908": GFX9,
    # One file for VGPRs and AGPRs; .vgpr_count is the sum.
    "gfx90a": Target(8, 512, 8, 800, 16, 4, 65536),
    # wave32, and workgroup processors of two compute units.
    "gfx1030": Target(16, 1024, 16, 0, 1, 4, 131072),
}


def number(entry, field):
    return int(entry.get(field, 0))


def round_up(value, granule):
    return -(-max(value, 1) // granule) * granule


def waves_per_simd(entry, target, group_waves=None):
    """How many waves of a kernel a SIMD can hold; None for an unknown target.
    group_waves: waves of a workgroup."""
    if target not in TARGETS:
        return None
    limits = TARGETS[target]
    waves = min(limits.waves,
                limits.vgprs // round_up(number(entry, ".vgpr_count"), limits.vgpr_granule))
    if limits.sgprs:
        waves = min(waves, limits.sgprs // round_up(number(entry, ".sgpr_count"),
                                                    limits.sgpr_granule))
    lds = number(entry, ".group_segment_fixed_size")
    if lds and group_waves:
        groups = limits.lds // round_up(lds, LDS_GRANULE)
        waves = min(waves, max(1, groups * group_waves // limits.simds))
    return waves


def of_kernel(entry, target, group_waves):
    return {"vgprs": number(entry, ".vgpr_count"), "sgprs": number(entry, ".sgpr_count"),
            "lds": number(entry, ".group_segment_fixed_size"),
            "scratch": number(entry, ".private_segment_fixed_size"),
            "waves_per_simd": waves_per_simd(entry, target, group_waves)}


def labels(symbols):
    """{symbol: its name in the source, without parameters}."""
    names = codeobject.llvm("llvm-cxxfilt", *symbols).splitlines() if symbols else []
    found = {}
    for symbol, name in zip(symbols, names):
        # Only a template's name begins with what it returns.
        name = name.removeprefix("void ")
        found[symbol] = name[:name.rindex("(")] if name.endswith(")") else name
    return found


def of_kernels(plain, traced, target, group_waves):
    """A row for each kernel: its name, its resources, and its clone's.

    plain and traced: {symbol: metadata} of the two builds. group_waves: {symbol:
    waves of its workgroups}, for those that ran. Without a traced build there are
    no clones.
    """
    symbols = sorted(plain)
    names = labels(symbols)
    rows = []
    for symbol in symbols:
        clone = traced.get(symbol + CLONE)
        waves = group_waves.get(symbol)
        rows.append({"name": names[symbol], "symbol": symbol,
                     "plain": of_kernel(plain[symbol], target, waves),
                     "clone": of_kernel(clone, target, waves) if clone else None})
    return rows
