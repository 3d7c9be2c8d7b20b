// Marks and ranges are sites of their own, in the clone only: the original is
// compiled as one without them, and so is everything without the plug-in. A mark
// is no other block's, however short the block is.
//
// RUN: %hipcc -O3 -I%kprobe_src/device-rt/include --cuda-device-only --no-gpu-bundle-output -c %s -o %t.plain
// RUN: %hipcc -O3 -DKPROBE_MARK_H '-DKPROBE_MARK(X)=' '-DKPROBE_RANGE(X)=' -I%kprobe_src/device-rt/include --cuda-device-only --no-gpu-bundle-output -c %s -o %t.none
// RUN: %hipcc -O3 -fpass-plugin=%plugin -I%kprobe_src/device-rt/include --cuda-device-only --no-gpu-bundle-output -c %s -o %t.marked
// RUN: llvm-objdump -d --no-leading-addr --no-show-raw-insn --disassemble-symbols=sum %t.plain | tail -n +5 | sed 's,//.*,,;/s_nop/d' > %t.plain.s
// RUN: llvm-objdump -d --no-leading-addr --no-show-raw-insn --disassemble-symbols=sum %t.none | tail -n +5 | sed 's,//.*,,;/s_nop/d' > %t.none.s
// RUN: llvm-objdump -d --no-leading-addr --no-show-raw-insn --disassemble-symbols=sum %t.marked | tail -n +5 | sed 's,//.*,,;/s_nop/d' > %t.marked.s
// RUN: grep -q s_endpgm %t.none.s
// RUN: cmp %t.none.s %t.plain.s
// RUN: cmp %t.none.s %t.marked.s
// RUN: llvm-nm %t.marked | FileCheck %s --check-prefix=SYMBOLS
// RUN: llvm-objcopy --dump-section=.kprobe.sites=%t.sites %t.marked /dev/null
// RUN: kprobe-sitedump %t.sites | FileCheck %s
//
// SYMBOLS-NOT: {{marked|kprobe_mark}}
// CHECK: kernel sum clone sum.kprobe
// CHECK: function sum
// CHECK: mark 'begin body' depth 1
// CHECK: mark 'mark half' depth 1
// CHECK: mark 'end body' depth 1
#include <hip/hip_runtime.h>
#include "kprobe/mark.h"

extern "C" __global__ void sum(float *out, const float *in, int n) {
  __shared__ float part[64];
  part[threadIdx.x] = 0;
  for (int i = 0; i < n; ++i) {
    KPROBE_RANGE("body");
    part[threadIdx.x] += in[i * 64 + threadIdx.x];
    KPROBE_MARK("half");
    part[threadIdx.x] *= 0.5f;
  }
  out[threadIdx.x] = part[threadIdx.x];
}

int main() { return 0; }
