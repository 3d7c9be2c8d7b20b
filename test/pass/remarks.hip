// -Rpass=kprobe says what was done to each kernel, at its own place.
//
// RUN: %hipcc -O3 -fpass-plugin=%plugin -Rpass=kprobe --cuda-device-only -c %s -o %t.o 2>&1 | FileCheck %s
#include <hip/hip_runtime.h>

// CHECK: remarks.hip:[[#@LINE+1]]:{{[0-9]+}}: remark: 1 sites in 1 functions of kernel '_Z1kPi' [-Rpass=kprobe]
__global__ void k(int *p) { *p = 1; }
