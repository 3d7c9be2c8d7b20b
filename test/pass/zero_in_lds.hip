// A kernel that clears LDS first holds a 0 in a vector register where a wave claims
// its slot. LLVM 15 took it for half of a scalar value, and the assembler refused
// the vector registers that came of that.
//
// RUN: %hipcc -O3 -fpass-plugin=%plugin -c %s -o %t.o
#include <hip/hip_runtime.h>

__global__ void count(const int *Keys, int *Sums, int Rows) {
  __shared__ int Bins[16][256];
  int Lane = threadIdx.y * 16 + threadIdx.x;
  for (int I = 0; I < 16; ++I)
    Bins[I][Lane] = 0;
  for (int I = 0; I < Rows; ++I)
    ++Bins[Keys[Lane + I] & 15][Lane];
  Sums[Lane] = Bins[3][Lane] + Bins[5][Lane];
}
