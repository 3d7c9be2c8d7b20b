// How other tools that trace inside kernels write an event, rebuilt from a line
// of description of each: one loop, in each round of which one of them writes what
// begins there.
//
//   bare    no event; the plug-in's clone of it is what kprobe writes
//   scalar  24 bytes by scalar stores: clock, lanes, tag; a full wait behind the
//           clock and another behind the stores
//   atomic  16 bytes; one atomic on a counter in memory finds the place
//   lock    64 bytes to the host's memory, in a critical section of all waves
//   leader  8 bytes: one lane takes a place in LDS by an atomic there; what is
//           there goes to memory when the workgroup ends
//
//   peers ROUNDS
//
// Each round has work to be disturbed: a load from memory and one from LDS that are
// in flight where the event is written, and arithmetic. What each wrote is checked.
// For gfx906: later targets have no scalar stores.
#include "../kernels/check.h"

constexpr int Groups = 60, GroupSize = 256, WaveSize = 64;
constexpr int WavesPerGroup = GroupSize / WaveSize, Waves = Groups * WavesPerGroup;
constexpr int MostRounds = 128, Inputs = 4096;

struct Scalar { // of one wave
  uint64_t Clock, Lanes, Tag;
};
struct Sixteen {
  uint64_t Clock, Tag;
};
struct Line {
  uint64_t Clock, Lanes, Tag, Rest[5];
};

__device__ static uint64_t clockNow() {
  uint64_t Clock;
  asm volatile("s_memtime %0\n\ts_waitcnt lgkmcnt(0)" : "=s"(Clock));
  return Clock;
}
__device__ static bool leads() { return __lane_id() == __ffsll(__ballot(1)) - 1; }
__device__ static uint32_t waveOfGrid() {
  return blockIdx.x * WavesPerGroup +
         __builtin_amdgcn_readfirstlane(threadIdx.x / WaveSize);
}

template <typename Probe>
__device__ static void work(const float *In, float *Out, int Rounds, Probe Event) {
  __shared__ float Tile[GroupSize];
  const unsigned Item = threadIdx.x;
  Tile[Item] = In[Item];
  __syncthreads();
  float X = Item;
#pragma unroll 1
  for (int Round = 0; Round < Rounds; ++Round) {
    float Near = Tile[(Item + Round) % GroupSize];
    float Far = In[(Round * GroupSize + Item) % Inputs];
    Event(Round);
#pragma unroll
    for (int Step = 0; Step < 24; ++Step)
      X = X * 0.75f + 1.5f;
    X += Near * Far;
  }
  Out[blockIdx.x * GroupSize + Item] = X;
}

extern "C" __global__ void bare(const float *In, float *Out, int Rounds) {
  work(In, Out, Rounds, [](int) {});
}

extern "C" __global__ void scalar(const float *In, float *Out, int Rounds,
                                  Scalar *Events) {
  Scalar *To = Events + waveOfGrid() * MostRounds;
  work(In, Out, Rounds, [&](int Round) {
    uint64_t Clock = clockNow(), Lanes = __builtin_amdgcn_read_exec();
    uint64_t Tag = uint64_t(Round) + 1;
    asm volatile("s_store_dwordx2 %0, %3, 0x0\n\t"
                 "s_store_dwordx2 %1, %3, 0x8\n\t"
                 "s_store_dwordx2 %2, %3, 0x10\n\t"
                 "s_waitcnt lgkmcnt(0)" ::"s"(Clock),
                 "s"(Lanes), "s"(Tag), "s"(To)
                 : "memory");
    ++To;
  });
  asm volatile("s_dcache_wb" ::: "memory");
}

extern "C" __global__ void atomic(const float *In, float *Out, int Rounds,
                                  Sixteen *Events, uint32_t *Count) {
  const uint64_t Wave = waveOfGrid();
  work(In, Out, Rounds, [&](int Round) {
    uint64_t Clock = clockNow();
    if (leads())
      Events[atomicAdd(Count, 1u)] = {Clock, Wave << 32 | uint64_t(Round + 1)};
  });
}

extern "C" __global__ void lock(const float *In, float *Out, int Rounds, Line *Events,
                                uint32_t *Count, uint32_t *Lock) {
  const uint64_t Wave = waveOfGrid();
  work(In, Out, Rounds, [&](int Round) {
    uint64_t Clock = clockNow(), Lanes = __ballot(1);
    if (leads()) {
      while (atomicCAS(Lock, 0u, 1u) != 0)
        __builtin_amdgcn_s_sleep(1);
      __threadfence();
      uint32_t Place = *(volatile uint32_t *)Count;
      Events[Place] = {Clock, Lanes, Wave << 32 | uint64_t(Round + 1), {}};
      *(volatile uint32_t *)Count = Place + 1;
      __threadfence_system();
      atomicExch(Lock, 0u);
    }
  });
}

extern "C" __global__ void leader(const float *In, float *Out, int Rounds,
                                  uint64_t *Events, uint32_t *Counts) {
  __shared__ uint64_t Ring[WavesPerGroup * MostRounds];
  __shared__ uint32_t Taken;
  if (threadIdx.x == 0)
    Taken = 0;
  const uint64_t Wave = threadIdx.x / WaveSize;
  __syncthreads();
  work(In, Out, Rounds, [&](int Round) {
    uint64_t Clock = clockNow();
    if (leads())
      Ring[atomicAdd(&Taken, 1u)] =
          (Wave << 8 | uint64_t(Round + 1)) << 32 | uint32_t(Clock);
  });
  __syncthreads();
  for (uint32_t I = threadIdx.x; I < Taken; I += GroupSize)
    Events[blockIdx.x * WavesPerGroup * MostRounds + I] = Ring[I];
  if (threadIdx.x == 0)
    Counts[blockIdx.x] = Taken;
}

// Of each wave each round once.
class Seen {
public:
  explicit Seen(const char *Who) : Who(Who), Rounds(size_t(Waves) * MostRounds) {}
  void add(uint64_t Wave, uint64_t Round, uint64_t Clock) {
    if (Wave >= Waves || Round == 0 || Round > MostRounds || Clock == 0 ||
        Rounds[Wave * MostRounds + Round - 1]++)
      fail();
    ++Count;
  }
  void expect(int Each) const {
    if (Count != size_t(Waves) * Each)
      fail();
  }

private:
  void fail() const {
    std::fprintf(stderr, "error: %s: events are missing or wrong\n", Who);
    std::exit(1);
  }
  const char *Who;
  std::vector<int> Rounds;
  size_t Count = 0;
};

template <typename T> static T *zeroed(size_t Count) {
  T *Memory;
  HIP_CHECK(hipMalloc(&Memory, Count * sizeof(T)));
  HIP_CHECK(hipMemset(Memory, 0, Count * sizeof(T)));
  return Memory;
}
template <typename T> static std::vector<T> fetch(const T *Memory, size_t Count) {
  std::vector<T> Copy(Count);
  HIP_CHECK(hipMemcpy(Copy.data(), Memory, Count * sizeof(T), hipMemcpyDeviceToHost));
  return Copy;
}

int main(int Argc, char **Argv) {
  const int Rounds = sizeArgument(Argc, Argv, 16, MostRounds);
  const size_t Room = size_t(Waves) * MostRounds;
  std::vector<float> Values(Inputs, 0.5f);
  float *In = zeroed<float>(Inputs), *Out = zeroed<float>(Groups * GroupSize);
  HIP_CHECK(hipMemcpy(In, Values.data(), Inputs * sizeof(float), hipMemcpyHostToDevice));
  auto Result = [&] { return fetch(Out, Groups * GroupSize); };

  bare<<<Groups, GroupSize>>>(In, Out, Rounds);
  const std::vector<float> Expected = Result();
  auto Same = [&](const char *Who) {
    if (Result() != Expected) {
      std::fprintf(stderr, "error: %s: another result\n", Who);
      std::exit(1);
    }
  };

  auto *Scalars = zeroed<Scalar>(Room);
  scalar<<<Groups, GroupSize>>>(In, Out, Rounds, Scalars);
  Same("scalar");
  Seen OfScalar("scalar");
  const std::vector<Scalar> Written = fetch(Scalars, Room);
  for (size_t I = 0; I < Room; ++I)
    if (Written[I].Tag)
      OfScalar.add(I / MostRounds, Written[I].Tag, Written[I].Clock);
  OfScalar.expect(Rounds);

  auto *Sixteens = zeroed<Sixteen>(Room);
  auto *Control = zeroed<uint32_t>(3 + Groups);
  atomic<<<Groups, GroupSize>>>(In, Out, Rounds, Sixteens, Control);
  Same("atomic");
  Seen OfAtomic("atomic");
  for (const Sixteen &E : fetch(Sixteens, fetch(Control, 1)[0]))
    OfAtomic.add(E.Tag >> 32, uint32_t(E.Tag), E.Clock);
  OfAtomic.expect(Rounds);

  Line *Lines;
  HIP_CHECK(hipHostMalloc(reinterpret_cast<void **>(&Lines), Room * sizeof(Line)));
  lock<<<Groups, GroupSize>>>(In, Out, Rounds, Lines, Control + 1, Control + 2);
  Same("lock");
  Seen OfLock("lock");
  const uint32_t Locked = fetch(Control, 2)[1];
  for (uint32_t I = 0; I < Locked; ++I)
    OfLock.add(Lines[I].Tag >> 32, uint32_t(Lines[I].Tag), Lines[I].Clock);
  OfLock.expect(Rounds);

  auto *Eights = zeroed<uint64_t>(Room);
  leader<<<Groups, GroupSize>>>(In, Out, Rounds, Eights, Control + 3);
  Same("leader");
  Seen OfLeader("leader");
  const std::vector<uint64_t> Rings = fetch(Eights, Room);
  const std::vector<uint32_t> Taken = fetch(Control, 3 + Groups);
  for (size_t Group = 0; Group < Groups; ++Group)
    for (size_t I = 0; I < Taken[3 + Group]; ++I) {
      uint64_t E = Rings[Group * WavesPerGroup * MostRounds + I];
      OfLeader.add(Group * WavesPerGroup + (E >> 40), E >> 32 & 0xff, uint32_t(E));
    }
  OfLeader.expect(Rounds);
  std::printf("right: %d events of each\n", Waves * Rounds);
  return 0;
}
