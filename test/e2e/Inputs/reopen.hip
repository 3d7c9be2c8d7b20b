// The kernel of reopen.cpp; a loop, so that there are blocks to see.
#include <hip/hip_runtime.h>

extern "C" __global__ void count(int *Out, int From) {
  const unsigned I = blockIdx.x * blockDim.x + threadIdx.x;
  int Sum = From;
  for (unsigned J = 0; J < I; ++J) {
    __builtin_amdgcn_s_sleep(1);
    ++Sum;
  }
  Out[I] = Sum;
}
