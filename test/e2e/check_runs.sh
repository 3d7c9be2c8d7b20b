#!/bin/bash
# check_runs.sh PLAIN PROBED WORK [TARGET]: the same verified output three times: the plain
# build, the instrumented build without the tool, and the instrumented build
# traced. Leaves the dump in WORK/trace.kpd.
set -u
plain=$1 probed=$2 work=$3 target=${4:-gfx906}
name=$(basename "$plain")
rm -rf "$work" && mkdir -p "$work" || exit 1

run() {
  local label=$1
  shift
  if ! "$@" >"$work/$label.out" 2>"$work/$label.err" </dev/null; then
    echo "$name, $label: exit status not 0" >&2
    tail -n 20 "$work/$label.out" "$work/$label.err" >&2
    exit 1
  fi
  if ! grep -qx "PASS $name" "$work/$label.out"; then
    echo "$name, $label: did not verify its result" >&2
    exit 1
  fi
  # kprobe speaks when something is wrong only.
  if [ -s "$work/$label.err" ]; then
    echo "$name, $label: unexpected on stderr:" >&2
    cat "$work/$label.err" >&2
    exit 1
  fi
}

run plain kprobe-vgpu --vgpu="$target" -- "$plain"
run untraced kprobe-vgpu --vgpu="$target" -- "$probed"
run traced kprobe-run --vgpu="$target" -o "$work/trace.kpd" -- "$probed"

cmp "$work/plain.out" "$work/untraced.out" || exit 1
cmp "$work/plain.out" "$work/traced.out" || exit 1
[ -s "$work/trace.kpd" ] || { echo "$name: no dump" >&2; exit 1; }
