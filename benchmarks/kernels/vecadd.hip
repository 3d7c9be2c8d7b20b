// Vector addition: one bounds check, one straight block. The last wave is
// partly filled.
#include "check.h"

__global__ void vectorAdd(const float *A, const float *B, float *C, int Count) {
  int I = blockIdx.x * blockDim.x + threadIdx.x;
  if (I < Count)
    C[I] = A[I] + B[I];
}

int main(int Argc, char **Argv) {
  int Count = sizeArgument(Argc, Argv, 5000, 1 << 26);
  Sequence Numbers(1);
  std::vector<float> A(Count), B(Count), C(Count, -1.0f);
  for (int I = 0; I < Count; ++I) {
    A[I] = Numbers.next() % 4096 / 8.0f;
    B[I] = Numbers.next() % 4096 / 16.0f;
  }
  DeviceArray<float> DeviceA(A), DeviceB(B), DeviceC(C);
  vectorAdd<<<(Count + 255) / 256, 256>>>(DeviceA, DeviceB, DeviceC, Count);
  HIP_CHECK(hipGetLastError());
  C = DeviceC.toHost();

  size_t Mismatches = 0;
  for (int I = 0; I < Count; ++I)
    Mismatches += C[I] != A[I] + B[I];
  return verdict("vecadd", Mismatches, fingerprint(C));
}
