#!/bin/bash
# Runs the virtual GPU under sanitizers: sanitizers.sh [address] [thread]
#   address  AddressSanitizer and UndefinedBehaviorSanitizer: its unit tests, and the
#            end-to-end tests of the virtual GPU
#   thread   ThreadSanitizer: its driver's and device's unit tests, and the end-to-end
#            tests with streams, queues, events and waiting host threads
# Both when neither is named. Builds into build/asan and build/tsan (KPROBE_JOBS jobs).
# Of a test's process only the virtual GPU is instrumented; HIP, ROCr and the program
# are not. The last line is "N passed, N failed"; exit status 1 when anything failed.
set -u
cd "$(dirname "${BASH_SOURCE[0]}")/.." || exit 1
jobs=${KPROBE_JOBS:-2}
lit=/usr/lib/llvm-15/build/utils/lit/lit.py
passed=0 failed=0

# preset, target...: prints what the build says only when it fails.
build() {
  local preset=$1 log=build/$1.log
  shift
  mkdir -p build
  # Line tables are enough for a report; assertions stay on.
  cmake --preset "$preset" -DCMAKE_CXX_FLAGS_RELWITHDEBINFO="-O1 -g1" >"$log" 2>&1 &&
    cmake --build "build/$preset" -j "$jobs" --target "$@" >>"$log" 2>&1 && return
  tail -n 30 "$log"
  echo "sanitizers.sh: error: build/$preset does not build" >&2
  failed=$((failed + 1))
  return 1
}

# preset, program, argument...: one unit test program.
unit() {
  local log=build/$1/test/$2.log program=build/$1/test/$2
  shift 2
  if timeout 1800 "$program" "$@" >"$log" 2>&1; then
    passed=$((passed + $(sed -n 's/.*PASSED *\] \([0-9]*\) tests*\..*/\1/p' "$log")))
  else
    failed=$((failed + 1))
    echo "FAILED: $program $*"
    grep -A 30 -m 1 -E 'ERROR: |WARNING: |runtime error|Failure' "$log" || tail -n 20 "$log"
  fi
}

# preset, sanitizer's library, filter: tests of test/e2e/vgpu.
e2e() {
  local results=build/$1/test/sanitizers.json
  timeout 3600 python3 "$lit" -j "$jobs" -v -o "$results" --param "preload=$(gcc -print-file-name="$2")" \
    --filter "e2e/vgpu/($3)\." "build/$1/test" </dev/null | grep -v '^PASS: '
  local p f
  read -r p f < <(python3 - "$results" <<'PYTHON'
import collections, json, sys
codes = collections.Counter(t["code"] for t in json.load(open(sys.argv[1]))["tests"])
print(codes["PASS"], sum(codes[c] for c in ("FAIL", "UNRESOLVED", "TIMEOUT", "XPASS")))
PYTHON
  ) || { p=0 f=1; }
  passed=$((passed + p)) failed=$((failed + f))
}

address() {
  # What HIP and ROCr hold at the end is not ours to free.
  export ASAN_OPTIONS=detect_leaks=0 UBSAN_OPTIONS=halt_on_error=1:print_stacktrace=1
  build asan kprobe-vgpu kprobe-vgpu-thunk vgpu-core-test vgpu-machine-test vgpu-thunk-test || return
  unit asan vgpu-thunk-test
  unit asan vgpu-machine-test
  unit asan vgpu-core-test
  e2e asan libasan.so '.*'
}

thread() {
  export TSAN_OPTIONS="halt_on_error=1 ignore_noninstrumented_modules=1 suppressions=$PWD/test/tsan.supp"
  build tsan kprobe-vgpu kprobe-vgpu-thunk vgpu-machine-test vgpu-thunk-test || return
  unit tsan vgpu-thunk-test
  unit tsan vgpu-machine-test --gtest_filter='Concurrency*:GlobalSync*:Dispatch*:*ThreadsTest*'
  e2e tsan libtsan.so 'streams|overlap|cooperative|causality|waits|graphs|system_atomics|hsa_packets'
}

[ $# -gt 0 ] || set -- address thread
for which in "$@"; do
  case $which in
  address | thread) "$which" ;;
  *)
    echo "usage: sanitizers.sh [address] [thread]" >&2
    exit 2
    ;;
  esac
done
echo "$passed passed, $failed failed"
[ "$failed" -eq 0 ]
