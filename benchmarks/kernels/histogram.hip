// Histogram: LDS atomics within a workgroup, global atomics to merge. Half of
// the values fall into one bin, so that lanes collide.
#include "check.h"

constexpr int Bins = 64;

__global__ void histogram(const unsigned *Values, unsigned *Counts, int Count) {
  __shared__ unsigned Local[Bins];
  for (int Bin = threadIdx.x; Bin < Bins; Bin += blockDim.x)
    Local[Bin] = 0;
  __syncthreads();
  for (int I = blockIdx.x * blockDim.x + threadIdx.x; I < Count;
       I += gridDim.x * blockDim.x)
    atomicAdd(&Local[Values[I] % Bins], 1u);
  __syncthreads();
  for (int Bin = threadIdx.x; Bin < Bins; Bin += blockDim.x)
    if (Local[Bin])
      atomicAdd(&Counts[Bin], Local[Bin]);
}

int main(int Argc, char **Argv) {
  int Count = sizeArgument(Argc, Argv, 9000, 1 << 28);
  Sequence Numbers(4);
  std::vector<unsigned> Values(Count), Counts(Bins, 0), Expected(Bins, 0);
  for (unsigned &Value : Values) {
    Value = Numbers.next() % 2 ? 5 : Numbers.next() % 1000;
    ++Expected[Value % Bins];
  }
  DeviceArray<unsigned> DeviceValues(Values), DeviceCounts(Counts);
  histogram<<<6, 192>>>(DeviceValues, DeviceCounts, Count);
  HIP_CHECK(hipGetLastError());
  Counts = DeviceCounts.toHost();

  size_t Mismatches = 0;
  for (int Bin = 0; Bin < Bins; ++Bin)
    Mismatches += Counts[Bin] != Expected[Bin];
  return verdict("histogram", Mismatches, fingerprint(Counts));
}
