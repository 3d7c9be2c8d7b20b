// Kernels that give a wrong result when they run twice, unless the memory is put
// back in between: each updates in place, and its path depends on what it finds.
// One reaches its data through pointers in memory, one a variable of the module,
// one writes where the host could look.
#include "../../../benchmarks/kernels/check.h"

struct Node {
  Node *Next;
  int *Values;
};

__device__ unsigned Total;

__host__ __device__ int step(int Value, int Round) {
  if ((Value + Round) % 3 == 0)
    return Value * 5 % 1009 + Round;
  return Value + 1;
}

__global__ void update(int *Values, int Rounds) {
  int I = blockIdx.x * blockDim.x + threadIdx.x;
  for (int Round = 0; Round < Rounds; ++Round)
    Values[I] = step(Values[I], Round);
}

__global__ void count(const int *Values, unsigned *Bins, int Rounds) {
  int I = blockIdx.x * blockDim.x + threadIdx.x;
  for (int Round = 0; Round < Rounds; ++Round) {
    unsigned Bin = unsigned(Values[I] + Round) % 16;
    if (Bin % 2)
      atomicAdd(&Bins[Bin], 1u);
    else
      atomicAdd(&Total, Bin);
  }
}

__global__ void chase(Node *First, int Rounds) {
  for (int Round = 0; Round < Rounds; ++Round) {
    int Depth = 0;
    for (Node *N = First; N; N = N->Next, ++Depth)
      if (Depth % 2 == 0)
        N->Values[threadIdx.x] = step(N->Values[threadIdx.x], Round);
  }
}

static size_t Wrong = 0;

template <typename T>
void compare(const std::vector<T> &Got, const std::vector<T> &Expected) {
  for (size_t I = 0; I < Expected.size(); ++I)
    Wrong += Got[I] != Expected[I];
}

int main() {
  constexpr int Count = 256, Rounds = 20;
  std::vector<int> Values(Count);
  for (int I = 0; I < Count; ++I)
    Values[I] = I * 7;
  auto Stepped = [&](std::vector<int> From) {
    for (int Round = 0; Round < Rounds; ++Round)
      for (int &Value : From)
        Value = step(Value, Round);
    return From;
  };

  DeviceArray<int> Device(Values);
  update<<<Count / 64, 64>>>(Device, Rounds);
  update<<<Count / 64, 64>>>(Device, Rounds);
  std::vector<int> Twice = Stepped(Stepped(Values));
  compare(Device.toHost(), Twice);

  std::vector<unsigned> Bins(16, 0);
  DeviceArray<unsigned> DeviceBins(Bins);
  count<<<Count / 64, 64>>>(Device, DeviceBins, Rounds);
  unsigned Sum = 0, GotSum = 0;
  for (int Value : Twice)
    for (int Round = 0; Round < Rounds; ++Round) {
      unsigned Bin = unsigned(Value + Round) % 16;
      (Bin % 2 ? Bins[Bin] : Sum) += Bin % 2 ? 1 : Bin;
    }
  compare(DeviceBins.toHost(), Bins);
  HIP_CHECK(hipMemcpyFromSymbol(&GotSum, HIP_SYMBOL(Total), sizeof(GotSum)));
  Wrong += GotSum != Sum;

  // Two nodes; the second's values are never touched.
  DeviceArray<int> A(Values), B(Values);
  int *PointerA = A, *PointerB = B;
  DeviceArray<Node> Second(std::vector<Node>{Node{nullptr, PointerB}});
  Node *PointerSecond = Second;
  DeviceArray<Node> First(std::vector<Node>{Node{PointerSecond, PointerA}});
  chase<<<1, Count>>>(First, Rounds);
  compare(A.toHost(), Stepped(Values));
  compare(B.toHost(), Values);

  int *Pinned = nullptr;
  HIP_CHECK(hipHostMalloc(reinterpret_cast<void **>(&Pinned),
                          Count * sizeof(int)));
  std::copy(Values.begin(), Values.end(), Pinned);
  update<<<Count / 64, 64>>>(Pinned, Rounds);
  HIP_CHECK(hipDeviceSynchronize());
  compare(std::vector<int>(Pinned, Pinned + Count), Stepped(Values));
  HIP_CHECK(hipHostFree(Pinned));
  return verdict("inplace", Wrong, fingerprint(Twice));
}
