// Lanes go separate ways: nested loops of different lengths, early returns from
// several depths, a switch, `break` and `continue`. The same function runs on
// the host as reference.
#include "check.h"

__host__ __device__ inline unsigned collatz(unsigned Value, unsigned Limit) {
  unsigned Steps = 0;
  while (Value != 1) {
    Value = Value % 2 ? 3 * Value + 1 : Value / 2;
    if (++Steps >= Limit)
      break;
  }
  return Steps;
}

__host__ __device__ inline unsigned wander(unsigned Seed, unsigned Limit) {
  if (Seed % 13 == 0)
    return 1000 + Seed;
  unsigned Sum = Seed;
  for (unsigned Outer = 0; Outer < Seed % 7; ++Outer) {
    for (unsigned Inner = Outer; Inner < Seed % 11; ++Inner) {
      if ((Sum + Inner) % 5 == 3)
        continue;
      if (Sum % 97 == 42)
        return Sum;
      Sum = Sum * 31 + Inner;
    }
    switch (Sum % 6) {
    case 0:
      Sum += collatz(Seed + 1, Limit);
      break;
    case 1:
      Sum ^= Outer << 4;
      [[fallthrough]];
    case 2:
      Sum += 7;
      break;
    case 3:
      if (Outer > 3)
        return Sum + 3;
      Sum /= 3;
      break;
    case 4:
      Sum -= Outer;
      break;
    default:
      Sum = ~Sum;
    }
    if (Sum == 0)
      break;
  }
  return Sum;
}

__global__ void divergent(unsigned *Out, unsigned Count, unsigned Limit) {
  unsigned I = blockIdx.x * blockDim.x + threadIdx.x;
  if (I >= Count)
    return;
  if (I % 64 == 17) { // One lane of each wave leaves first.
    Out[I] = I;
    return;
  }
  Out[I] = wander(I, Limit);
}

int main(int Argc, char **Argv) {
  unsigned Count = sizeArgument(Argc, Argv, 1000, 1 << 24);
  constexpr unsigned Limit = 40;
  std::vector<unsigned> Out(Count, 0);
  DeviceArray<unsigned> DeviceOut(Out);
  divergent<<<(Count + 127) / 128, 128>>>(DeviceOut, Count, Limit);
  HIP_CHECK(hipGetLastError());
  Out = DeviceOut.toHost();

  size_t Mismatches = 0;
  for (unsigned I = 0; I < Count; ++I)
    Mismatches += Out[I] != (I % 64 == 17 ? I : wander(I, Limit));
  return verdict("divergent", Mismatches, fingerprint(Out));
}
