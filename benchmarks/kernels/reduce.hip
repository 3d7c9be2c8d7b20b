// Reduction per workgroup: shuffles within a wave, LDS between waves, then a
// second kernel over the partial sums. Sums of integers, hence exact.
#include "check.h"

__device__ int waveSum(int Value) {
  for (int Offset = warpSize / 2; Offset > 0; Offset /= 2)
    Value += __shfl_down(Value, Offset);
  return Value;
}

__global__ void blockSums(const int *In, int *Out, int Count) {
  __shared__ int Partial[32];
  int Sum = 0;
  for (int I = blockIdx.x * blockDim.x + threadIdx.x; I < Count;
       I += gridDim.x * blockDim.x)
    Sum += In[I];

  Sum = waveSum(Sum);
  int Lane = threadIdx.x % warpSize, WaveNumber = threadIdx.x / warpSize;
  if (Lane == 0)
    Partial[WaveNumber] = Sum;
  __syncthreads();
  if (WaveNumber == 0) {
    int Waves = (blockDim.x + warpSize - 1) / warpSize;
    Sum = waveSum(Lane < Waves ? Partial[Lane] : 0);
    if (Lane == 0)
      Out[blockIdx.x] = Sum;
  }
}

int main(int Argc, char **Argv) {
  int Count = sizeArgument(Argc, Argv, 10007, 1 << 28);
  constexpr int Groups = 8, Items = 256;
  Sequence Numbers(3);
  std::vector<int> In(Count), Sums(Groups, -1), Total(1, -1);
  int Expected = 0;
  for (int &Value : In) {
    Value = static_cast<int>(Numbers.next() % 2001) - 1000;
    Expected += Value;
  }
  DeviceArray<int> DeviceIn(In), DeviceSums(Sums), DeviceTotal(Total);
  blockSums<<<Groups, Items>>>(DeviceIn, DeviceSums, Count);
  HIP_CHECK(hipGetLastError());
  blockSums<<<1, Items>>>(DeviceSums, DeviceTotal, Groups);
  HIP_CHECK(hipGetLastError());
  Total = DeviceTotal.toHost();
  return verdict("reduce", Total[0] != Expected, fingerprint(Total));
}
