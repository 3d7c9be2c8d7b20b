"""streamcluster: clusters a stream of random points; writes the centres.

Reference: the program built for the host; for the default input Rodinia's own
result too.
"""
from programs import Program, numbers, require, require_close

COMMANDS = {
    "small": ("10", "20", "16", "256", "256", "100", "none", "output.txt", "1"),
    "default": ("10", "20", "256", "65536", "65536", "1000", "none", "output.txt", "1")}


def compare(text, expected):
    """Of each centre: its number, its weight, its coordinates."""
    expected = numbers(expected)
    require(len(expected) > 2, "the reference has no centres")
    # The numbers of the points and what they weigh are integers: below 1e-6 they
    # must be equal.
    require_close("value", numbers(text), expected, 2e-6)


def verify(run):
    text = run.read("output.txt")
    compare(text, run.reference.read("output.txt"))
    if run.size == "default":
        gold = run.rodinia / "test/streamcluster/gold/output.txt"
        compare(text, gold.read_text(encoding="utf-8"))


PROGRAM = Program("streamcluster", "streamcluster",
                  ("streamcluster_hip.cu", "streamcluster_cuda_cpu.cu",
                   "streamcluster_header.cu"),
                  {size: (command,) for size, command in COMMANDS.items()}, verify,
                  host_reference=True)
