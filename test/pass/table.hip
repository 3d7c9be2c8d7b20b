// The site table has each block's place in the source with -g and with
// -gline-tables-only, inlined calls included, and the names alone without.
//
// RUN: %hipcc -O3 -g -fpass-plugin=%plugin --cuda-device-only --no-gpu-bundle-output -c %s -o %t.o
// RUN: llvm-objcopy --dump-section=.kprobe.sites=%t.sites %t.o /dev/null
// RUN: kprobe-sitedump %t.sites | FileCheck %s --check-prefixes=CHECK,LINES
// RUN: %hipcc -O3 -gline-tables-only -fpass-plugin=%plugin --cuda-device-only --no-gpu-bundle-output -c %s -o %t.o
// RUN: llvm-objcopy --dump-section=.kprobe.sites=%t.sites %t.o /dev/null
// RUN: kprobe-sitedump %t.sites | FileCheck %s --check-prefixes=CHECK,LINES
// RUN: %hipcc -O3 -fpass-plugin=%plugin --cuda-device-only --no-gpu-bundle-output -c %s -o %t.o
// RUN: llvm-objcopy --dump-section=.kprobe.sites=%t.sites %t.o /dev/null
// RUN: kprobe-sitedump %t.sites | FileCheck %s --check-prefixes=CHECK,NAMES
#include <hip/hip_runtime.h>

__device__ float step(float x, int n) {
  for (int i = 0; i < n; ++i)
    x = x * x + 1.0f; // LOOP
  return x;
}

extern "C" __global__ void advance(float *p, double *q, int n) {
  if (threadIdx.x < 32)
    p[threadIdx.x] = step(p[threadIdx.x], n); // CALL
  else
    q[threadIdx.x] += 2.0; // ELSE
}

// CHECK: table gfx906 wave 64 kernels 1 functions 1 sites [[COUNT:[0-9]+]]
// CHECK-NEXT: producer kprobe {{[0-9.]+}} llvm {{[0-9.]+}} build {{[0-9a-f]+$}}
// CHECK-NEXT: kernel advance clone advance.kprobe functions 0+1 sites 0+[[COUNT]]
// LINES-NEXT: function advance table.hip:[[#@LINE-10]] kernel 0 sites 0+[[COUNT]]
// NAMES-NEXT: function advance ? kernel 0 sites 0+[[COUNT]]
// LINES-NEXT: site 0 function 0 table.hip:[[#@LINE-11]]:{{[0-9]+}} entry implied depth 0 to
// NAMES-NEXT: site 0 function 0 ?:0 entry implied depth 0 to
// The loop was inlined: its place, and where it was called.
// LINES: table.hip:[[#@LINE-19]]:{{[0-9]+}} in {{.*}}advance table.hip:[[#@LINE-13]]:{{[0-9]+}} header untimed depth 1 loop [[LOOP:[0-9]+]] to
// LINES-SAME: valu {{.*}} vmem 0 lds 0 flops {{[1-9][0-9]*}} 0 bytes 0 0
// NAMES: ?:0 header untimed depth 1 loop [[LOOP:[0-9]+]] to
// NAMES-SAME: valu {{.*}} vmem 0 lds 0 flops {{[1-9][0-9]*}} 0 bytes 0 0
// The other arm: one double read, added to and written.
// LINES: table.hip:[[#@LINE-16]]:{{[0-9]+}} depth 0 to {{[0-9]+}} valu {{[0-9]+}} salu {{[0-9]+}} vmem 2 lds 0 flops 0 1 bytes 8 8
// CHECK: returns omitted depth 0 to valu
