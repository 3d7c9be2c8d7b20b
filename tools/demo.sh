#!/bin/bash
# Shows kprobe from end to end on a machine without a GPU: installs packages,
# builds, compiles a HIP program with hipcc and the plug-in, runs it on the
# virtual GPU, decodes. Ends with the statistics, the paths of what it wrote and
#   demo: ok: <kernels> kernels, <dispatches> dispatches, <waves> waves, <events> events, <lost> lost
set -u
# shellcheck source=setup.sh
. "$(dirname "${BASH_SOURCE[0]}")/setup.sh"

fail() {
  echo "demo: error: $1" >&2
  exit 1
}

echo "== packages and build (the first time takes some minutes)"
kprobe_setup || fail "setup failed"
bin=$KPROBE_BUILD/bin
out=$KPROBE_BUILD/demo
kernels=$KPROBE_SOURCE/benchmarks/kernels
rm -rf "$out" && mkdir -p "$out" || fail "cannot write $out"

# Runs a command line and shows it first, as a user would type it.
show() {
  echo "\$ $*"
  "$@"
}

plugin=$("$bin/kprobe-config" --plugin) || fail "there is no plug-in for hipcc's clang"

echo "== compile with hipcc and the plug-in"
show hipcc --offload-arch=gfx906 -O3 -gline-tables-only "-fpass-plugin=$plugin" \
  "$kernels/matmul.hip" -o "$out/matmul" || fail "matmul.hip does not compile"

echo "== run on the virtual GPU, traced"
show "$bin/kprobe-run" --vgpu -o "$out/matmul.kpd" -- "$out/matmul" 128 ||
  fail "the traced program failed"
[ -s "$out/matmul.kpd" ] || fail "the run left no dump"

echo "== decode"
show "$bin/kprobe-decode" convert --to ctf -o "$out/ctf" "$out/matmul.kpd" ||
  fail "conversion to CTF failed"
show "$bin/kprobe-decode" convert --to chrome -o "$out/chrome.json" "$out/matmul.kpd" ||
  fail "conversion to Chrome JSON failed"
show "$bin/kprobe-decode" convert --to csv -o "$out/events.csv" "$out/matmul.kpd" ||
  fail "conversion to CSV failed"
show "$bin/kprobe-decode" stats "$out/matmul.kpd" || fail "no statistics"
"$bin/kprobe-decode" stats --json "$out/matmul.kpd" >"$out/stats.json" ||
  fail "no statistics as JSON"

echo
echo "dump:        $out/matmul.kpd"
echo "CTF:         $out/ctf (babeltrace2 $out/ctf)"
echo "Chrome JSON: $out/chrome.json (ui.perfetto.dev or chrome://tracing)"
echo "CSV:         $out/events.csv"
for trace in matmul.kpd chrome.json events.csv ctf/metadata; do
  [ -s "$out/$trace" ] || fail "$out/$trace is missing or empty"
done

python3 - "$out/stats.json" <<'PYTHON' || fail "the statistics are not what a traced run gives"
import json
import sys

with open(sys.argv[1], encoding="utf-8") as file:
    statistics = json.load(file)
traced = [kernel for kernel in statistics["kernels"] if kernel["traced"]]
totals = {
    "kernels": len(traced),
    "dispatches": sum(kernel["traced"] for kernel in traced),
    "waves": sum(kernel["waves"]["ended"] for kernel in traced),
    "events": sum(kernel["events"]["kept"] for kernel in traced),
}
lost = sum(kernel["events"][reason] for kernel in traced
           for reason in ("overwritten", "missing", "damaged"))
if not all(totals.values()):
    sys.exit(f"nothing was traced: {totals}")
print("demo: ok: {kernels} kernels, {dispatches} dispatches, {waves} waves, "
      "{events} events, {lost} lost".format(**totals, lost=lost))
PYTHON
