"""Reads what the virtual GPU and kprobe say about a run; for the benchmarks here.

Cycles and counters of the virtual GPU are modelled.
"""
import json
import subprocess

CLONE = ".kprobe"
SAMPLED = ".sampled"    # in the name of the clone for samples of the waves, before CLONE


class MeasureError(Exception):
    pass


def original(name):
    """The kernel of which a name is, or of which it is a clone's."""
    return name.removesuffix(CLONE).removesuffix(SAMPLED) if name.endswith(CLONE) else name


def dispatches(statistics):
    """[(kernel, {counter: value})] of a file that KPROBE_VGPU_STATS named: a line
    "dispatch N of queue Q: KERNEL", then lines "counter value" for each."""
    found = []
    try:
        with open(statistics, encoding="utf-8") as file:
            for line in file:
                if line.startswith("dispatch "):
                    name = line.split(": ", 1)[1].strip().removesuffix(".kd")
                    found.append((name, {}))
                elif found and len(line.split()) == 2:
                    counter, value = line.split()
                    found[-1][1][counter] = int(value)
    except OSError as error:
        raise MeasureError(f"no statistics of the virtual GPU: {error.strerror}") from error
    return found


def by_kernel(found, names):
    """{kernel: sum of each counter} over the dispatches of the named kernels and of
    their clones, which count for the kernel."""
    sums = {}
    for name, counters in found:
        name = original(name)
        if name in names:
            into = sums.setdefault(name, {})
            for counter, value in counters.items():     # not every dispatch has all
                into[counter] = into.get(counter, 0) + value
    if not sums:
        raise MeasureError("the virtual GPU ran none of the program's kernels")
    return sums


def total(statistics, counter, names=None):
    """Sum of a counter over all dispatches, or over those of the named kernels and
    their clones."""
    values = [counters[counter] for name, counters in dispatches(statistics)
              if names is None or original(name) in names]
    if not values:
        raise MeasureError("the virtual GPU ran none of the program's kernels")
    return sum(values)


def trace(decoder, dump):
    """What kprobe-decode says about a dump."""
    result = subprocess.run([str(decoder), "stats", "--json", str(dump)], capture_output=True,
                            text=True, check=False)
    if result.returncode:
        raise MeasureError(f"decoder: {result.stderr.strip()}")
    statistics = json.loads(result.stdout)
    kernels = [kernel for kernel in statistics["kernels"]
               if not kernel["name"].startswith("__amd_rocclr")]
    return {
        "time_ns": sum(sum(kernel["times_ns"]) for kernel in kernels),
        "traced": sum(kernel["traced"] for kernel in kernels),
        "events": sum(kernel["events"]["kept"] for kernel in kernels),
        "overwritten": sum(kernel["events"]["overwritten"] for kernel in kernels),
        # What the decoder lists as lost, whatever the reason. Overwriting is what a
        # ring is for and has its own column; kernels without probes (copies and
        # fills of the HIP library) are no loss.
        "lost": sum(count for reason, count in statistics["lost"].items()
                    if reason not in ("events_overwritten", "dispatches_status_1")),
        "bytes": dump.stat().st_size,
    }
