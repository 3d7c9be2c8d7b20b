// A kernel of more than two thousand instructions: unrolled rounds with barriers, LDS
// and branches. Prints a checksum.
#include "../../../benchmarks/kernels/check.h"

constexpr int Items = 128, Rounds = 400;

__global__ void large(const unsigned *In, unsigned *Out) {
  __shared__ unsigned Shared[Items];
  int Item = threadIdx.x, Place = blockIdx.x * Items + Item;
  unsigned Value = In[Place];
#pragma unroll
  for (int Round = 0; Round < Rounds; ++Round) {
    if (Round % 10 == 0) {
      Shared[Item] = Value;
      __syncthreads();
      Value += Shared[(Item + Round + 1) % Items];
      __syncthreads();
    }
    if (Round % 25 == 7 && (Value & 64))
      Value ^= In[(Place + Round) % Items];
    Value = (Value << 5 | Value >> 27) ^ (Value * (2 * Round + 3) + Round);
    Value += (Value >> 7) % (Round + 2);
  }
  Out[Place] = Value;
}

int main() {
  constexpr int Groups = 40;
  std::vector<unsigned> Values(Groups * Items);
  Sequence Numbers(1);
  for (unsigned &Value : Values)
    Value = Numbers.next();
  DeviceArray<unsigned> Input(Values), Output(Values);
  large<<<Groups, Items>>>(Input, Output);
  HIP_CHECK(hipGetLastError());
  HIP_CHECK(hipDeviceSynchronize());
  std::printf("%016llx\n", static_cast<unsigned long long>(fingerprint(Output.toHost())));
}
