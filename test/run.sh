#!/bin/bash
# Installs, builds and tests everything: GoogleTest programs through ctest, then
# the lit suites on the virtual GPU. Needs Debian 12 with root or sudo, no GPU.
# The last line is "N passed, N failed", with ", N skipped" when a test could not
# run here (Rodinia without RODINIA_DIR). Exit status 1 when anything failed.
set -u
# shellcheck source=../tools/setup.sh
. "$(dirname "${BASH_SOURCE[0]}")/../tools/setup.sh"

fail() {
  echo "run.sh: error: $1" >&2
  echo "0 passed, 1 failed"
  exit 1
}

started=$SECONDS
step() { echo "[$((SECONDS - started)) s] $1"; }

step "packages and build"
kprobe_setup || fail "setup failed"

results=$KPROBE_BUILD/test/results
rm -rf "$results"
mkdir -p "$results/gtest" || fail "cannot write $results"

step "programs for the end-to-end tests"
kprobe_quietly cmake --build "$KPROBE_BUILD" -j "$KPROBE_JOBS" --target e2e-programs ||
  echo "run.sh: error: the end-to-end programs do not build; their tests will fail" >&2

step "unit tests"
GTEST_OUTPUT="xml:$results/gtest/" ctest --test-dir "$KPROBE_BUILD" -j "$KPROBE_JOBS" \
  --timeout 300 --output-on-failure --output-junit "$results/ctest.xml" \
  </dev/null >"$results/ctest.log" 2>&1 || cat "$results/ctest.log"

# lit is where LLVM's packages put it, and there may be a newer one on PATH.
lit=
for candidate in /usr/lib/llvm-15/build/utils/lit/lit.py /usr/lib/llvm-*/bin/lit \
  /usr/lib/llvm-*/build/utils/lit/lit.py; do
  [ -f "$candidate" ] && lit=$candidate && break
done
[ -n "$lit" ] || lit=$(command -v lit) || fail "lit is not installed (llvm-15-tools)"

step "lit"
# The main suite, and one for each other LLVM that has a plug-in. A limit on all of
# it: lit's own, per test, needs a package that may not be there.
suites=("$KPROBE_BUILD/test")
for suite in "$KPROBE_BUILD"/test/llvm*/; do
  [ -f "$suite/lit.site.cfg.py" ] && suites+=("${suite%/}")
done
timeout 1500 python3 "$lit" -j "$KPROBE_JOBS" -v -o "$results/lit.json" \
  "${suites[@]}" </dev/null >"$results/lit.log" 2>&1
grep -v '^PASS: ' "$results/lit.log"

step "done"
python3 "$KPROBE_SOURCE/test/count.py" "$results"
