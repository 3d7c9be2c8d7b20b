#!/bin/bash
# check_unharmed.sh WORK "PROGRAM ARGS" COMMAND...: COMMAND runs PROGRAM with a kprobe that
# cannot do its work. The program's output and exit status are those without kprobe,
# and kprobe says so in exactly one line on stderr, which is shown.
set -u
work=$1 program=$2
shift 2
mkdir -p "$work" || exit 1
# shellcheck disable=SC2086 # may have arguments
kprobe-vgpu -- $program >"$work/expected" </dev/null
expected=$?
"$@" >"$work/output" 2>"$work/said" </dev/null
status=$?
cat "$work/said"
if [ $status -ne $expected ]; then
  echo "exit status $status, not $expected" >&2
  exit 1
fi
cmp "$work/expected" "$work/output" >&2 || exit 1
if [ "$(wc -l <"$work/said")" -ne 1 ] || ! grep -q '^kprobe: error: ' "$work/said"; then
  echo "not exactly one line of ours on stderr" >&2
  exit 1
fi
