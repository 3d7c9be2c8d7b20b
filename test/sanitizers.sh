#!/bin/bash
# Runs the virtual GPU and the runtime under sanitizers:
# sanitizers.sh [address] [thread] [runtime]
#   address  AddressSanitizer and UndefinedBehaviorSanitizer: its unit tests, and the
#            end-to-end tests of the virtual GPU
#   thread   ThreadSanitizer: its driver's and device's unit tests, and the end-to-end
#            tests with streams, queues, events and waiting host threads
#   runtime  both: the runtime, what it preloads and the virtual GPU; the runtime's unit
#            tests, and end-to-end tests with threads, streams, modules, children,
#            signals, recorded calls and every way to end
# All when none is named. Builds into build/asan and build/tsan (KPROBE_JOBS jobs), and
# for `runtime` the plug-in, the decoder and programs into build/release. Of a test's
# process only what is ours is instrumented; HIP, ROCr and the program are not. The last line is "N passed, N failed"; exit status 1 when anything failed.
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

# preset, sanitizer's library, filter: tests of test/e2e.
e2e() {
  local results=build/$1/test/sanitizers.json
  timeout 3600 python3 "$lit" -j "$jobs" -v -o "$results" --param "preload=$(gcc -print-file-name="$2")" \
    --param "release=$PWD/build/release" --filter "e2e/($3)\." "build/$1/test" </dev/null | grep -v '^PASS: '
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
  e2e asan libasan.so 'vgpu/.*'
}

thread() {
  export TSAN_OPTIONS="halt_on_error=1 ignore_noninstrumented_modules=1 suppressions=$PWD/test/tsan.supp"
  build tsan kprobe-vgpu kprobe-vgpu-thunk vgpu-machine-test vgpu-thunk-test || return
  unit tsan vgpu-thunk-test
  unit tsan vgpu-machine-test --gtest_filter='Concurrency*:GlobalSync*:Dispatch*:*ThreadsTest*'
  e2e tsan libtsan.so 'vgpu/(streams|overlap|cooperative|causality|waits|graphs|system_atomics|hsa_packets)'
}

runtime() {
  local targets=(kprobe-run kprobe-vgpu kprobe-vgpu-thunk runtime-parts runtime-process)
  build release kprobe-pass-llvm15 kprobe-decode e2e-programs || return
  # LLVM, which HIP compiles with, gives threads a stack for signals that the sanitizer
  # takes for its own and unmaps.
  export ASAN_OPTIONS=detect_leaks=0:use_sigaltstack=0
  export UBSAN_OPTIONS=halt_on_error=1:print_stacktrace=1
  build asan "${targets[@]}" || return
  unit asan runtime-parts
  unit asan runtime-process
  e2e asan libasan.so 'stress|everything|api-ends'
  export TSAN_OPTIONS="halt_on_error=1 ignore_noninstrumented_modules=1 suppressions=$PWD/test/tsan.supp"
  build tsan "${targets[@]}" || return
  # Without those that stop at each instruction: there a signal comes when TSan lets it.
  unit tsan runtime-parts --gtest_filter='-Interrupted*:Unwind*'
  unit tsan runtime-process
  e2e tsan libtsan.so 'stress|api-ends'
}

[ $# -gt 0 ] || set -- address thread runtime
for which in "$@"; do
  case $which in
  address | thread | runtime) "$which" ;;
  *)
    echo "usage: sanitizers.sh [address] [thread] [runtime]" >&2
    exit 2
    ;;
  esac
done
echo "$passed passed, $failed failed"
[ "$failed" -eq 0 ]
