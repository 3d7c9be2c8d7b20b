// Shapes that invite the compiler to copy or to merge blocks (code shared by
// both arms of a branch, rotated loops, switch tails): each site is in the
// machine code once, and each has its s_cbranch_execz where lanes may all be off.
//
// RUN: %hipcc -O3 -fpass-plugin=%plugin --cuda-device-only --no-gpu-bundle-output -c %s -o %t.o
// RUN: %python %S/Inputs/sites_once.py %t.o %t.sites
// RUN: %hipcc -O1 -fpass-plugin=%plugin --cuda-device-only --no-gpu-bundle-output -c %s -o %t.o
// RUN: %python %S/Inputs/sites_once.py %t.o %t.sites
// RUN: %hipcc -O0 -fpass-plugin=%plugin --cuda-device-only --no-gpu-bundle-output -c %s -o %t.o
// RUN: %python %S/Inputs/sites_once.py %t.o %t.sites
// RUN: %hipcc -Os -g -fpass-plugin=%plugin --cuda-device-only --no-gpu-bundle-output -c %s -o %t.o
// RUN: %python %S/Inputs/sites_once.py %t.o %t.sites
#include <hip/hip_runtime.h>

__global__ void diamond(int *p, int a, int b) {
  int i = threadIdx.x;
  if (i < a)
    p[i] += 1;
  p[i + 64] *= 3;
  if (i < a)
    p[i] *= 5;
  if (i & 1) {
    p[i + 128] = b;
    __syncthreads();
    p[i] = 7;
  } else {
    p[i + 192] = b;
    p[i] = 7;
  }
}

__global__ void loops(int *p, int n) {
  int i = threadIdx.x, sum = 0;
  for (int j = 0; j < p[i]; ++j)
    for (int k = j; k < n; k += i + 1) {
      if (k == 17)
        continue;
      if (sum > 1000)
        break;
      sum += p[k];
    }
  while (sum % 7)
    sum += i;
  p[i] = sum;
}

__global__ void cases(int *p) {
  int i = threadIdx.x, j;
  switch (p[i]) {
  case 0:
    p[i] = 10;
    break;
  case 1:
    p[i + 1] = 11;
    // Falls through.
  case 2:
    p[i + 2] = 12;
    break;
  case 3:
    return;
  case 100:
    for (j = 0; j < i; ++j)
    case 101:
      p[i] += 2;
    break;
  default:
    p[i] = 13;
  }
  p[i + 9] = 1;
}

// A loop without end, in a branch.
__global__ void endless(volatile int *p) {
  if (threadIdx.x > 3)
    while (true)
      p[0] = p[1] + 1;
  p[2] = 5;
}

// Two entries into one loop.
__global__ void irreducible(int *p, int n) {
  int i = threadIdx.x;
  if (p[i] > n)
    goto middle;
top:
  p[i] += 3;
middle:
  p[i + 1] -= 2;
  if (p[i] < p[i + 1])
    goto top;
}
