//===- SimdLoop.cpp - The inner loop: one SIMD issues instructions ----------===//
//
// A SIMD always continues with the wave that may issue earliest; instructions of
// one wave issue in order; a port of the SIMD takes one instruction at a time.
//
// A wave of higher priority (s_setprio) comes first among those that could issue
// by the time the vector unit is free again.
//
// What an instruction does and when it issues are two things for most of them:
// arithmetic and branches read and write nothing but their wave, and what they
// cost depends on their kind alone. So a wave runs those ahead, as far as they go
// in a row, while its registers are in the host's cache; the loop then only has to
// find out in which order they issue, from queues of costs. Everything that another
// wave, the host or a clock could see runs at its own time, as does everything
// while there is a log. Either way the cycles are the same.
//
// Compiled twice, as the vector instructions are (VGPU_SIMD): the choice among
// the waves of a SIMD is one instruction of x86-64-v3.
//
//===----------------------------------------------------------------------===//
#include "core/Execute.h"
#include "machine/Machine.h"
#include "machine/Statistics.h"

#include <algorithm>
#include <immintrin.h>

#ifdef VGPU_SIMD_V3
#pragma GCC target("arch=x86-64-v3")
#endif

namespace vgpu::VGPU_SIMD {

namespace {

/// SimdState::Key in registers. Ties go to the lower slot.
#ifdef VGPU_SIMD_V3
class Keys {
public:
  explicit Keys(const SimdState &S)
      : Low(_mm_load_si128(reinterpret_cast<const __m128i *>(S.Key))),
        High(_mm_load_si128(reinterpret_cast<const __m128i *>(S.Key + 8))) {}

  unsigned first(unsigned &Slot) const {
    const auto A = unsigned(_mm_cvtsi128_si32(_mm_minpos_epu16(Low)));
    const auto B = unsigned(_mm_cvtsi128_si32(_mm_minpos_epu16(High)));
    const bool Upper = (B & 0xffff) < (A & 0xffff);
    const unsigned Best = Upper ? B : A;
    Slot = (Best >> 16) + (Upper ? 8 : 0);
    return Best & 0xffff;
  }

  void set(unsigned Slot, unsigned Key) {
    const __m128i Value = _mm_set1_epi16(short(Key));
    const __m128i Number = _mm_set1_epi16(short(Slot));
    const __m128i Eight = _mm_set1_epi16(8);
    const __m128i Lanes = _mm_setr_epi16(0, 1, 2, 3, 4, 5, 6, 7);
    Low = _mm_blendv_epi8(Low, Value, _mm_cmpeq_epi16(Number, Lanes));
    High = _mm_blendv_epi8(High, Value, _mm_cmpeq_epi16(Number, _mm_add_epi16(Lanes, Eight)));
  }

private:
  __m128i Low, High;
};
static_assert(SimdState::MaxSlots == 16, "two vectors of eight");
#else
class Keys {
public:
  explicit Keys(const SimdState &S) { std::copy(std::begin(S.Key), std::end(S.Key), Key); }

  unsigned first(unsigned &Slot) const {
    uint32_t Best = ~0u;
    for (unsigned I = 0; I < SimdState::MaxSlots; ++I)
      Best = std::min(Best, uint32_t(Key[I]) << 8 | I);
    Slot = Best & 0xff;
    return Best >> 8;
  }

  void set(unsigned Slot, unsigned Value) { Key[Slot] = uint16_t(Value); }

private:
  uint16_t Key[SimdState::MaxSlots];
};
#endif

/// True for instructions that only their own wave can tell were executed.
bool runsAhead(const Inst &I) {
  constexpr auto bit = [](OpClass C) { return uint64_t(1) << unsigned(C); };
  constexpr uint64_t Classes = bit(OpClass::Salu) | bit(OpClass::Branch) | bit(OpClass::Nop) |
                               bit(OpClass::Valu) | bit(OpClass::ValuHalf) |
                               bit(OpClass::ValuQuarter) | bit(OpClass::ValuF64) |
                               bit(OpClass::ValuTransF64) | bit(OpClass::Matrix);
  static_assert(unsigned(OpClass::Count) <= 64, "one bit each");
  return (Classes >> unsigned(I.Info->Class) & 1) && !(I.Info->Flags & OpEndsRun);
}

/// What \p I costs its wave.
ClassCost costOf(const MachineWave &W, const Inst &I) {
  ClassCost Cost = W.Costs[unsigned(I.Info->Class)];
  if (__builtin_expect(I.Info->Class == OpClass::Matrix, 0))
    Cost.Busy = Cost.Wave = uint8_t(matrixCycles(I.Info->Name));
  return Cost;
}

} // namespace

/// Counts \p I, which is about to be executed.
static void countInstruction(const MachineWave &W, const Inst &I, bool WithLanes) {
  const unsigned Class = unsigned(I.Info->Class);
  ++W.Counted->Executed[Class];
  if (__builtin_expect(WithLanes, 0))
    W.Counted->ActiveLanes[Class] += unsigned(__builtin_popcountll(W.exec()));
}

/// Executes from \p First on as far as waves run ahead. False: a fault.
static bool runAhead(CodeCache &Code, MachineWave &W, const Inst *First, unsigned TakenBranch,
                     bool Counting, IssueQueue &Queue) {
  const Inst *I = First;
  unsigned Count = 0;
  do {
    const uint64_t NextPc = I->Pc + 4 * I->Size;
    W.Pc = NextPc;
    countInstruction(W, *I, Counting);
    execute(W, *I);
    if (__builtin_expect(W.Status != WaveStatus::Running, 0))
      return false;
    const ClassCost Cost = costOf(W, *I);
    const unsigned Taken = W.Pc != NextPc ? TakenBranch : 0;
    Queue.Entries[Count++] = {Cost.Unit, Cost.Busy, uint16_t(Cost.Wave + Taken)};
    I = &Code.at(W.Pc);
  } while (Count < IssueQueue::Most && runsAhead(*I));
  W.Next = I;
  Queue.Head = 0;
  Queue.Tail = uint8_t(Count);
  return true;
}

/// The wave that comes first by priority; \p Earliest is the one that is due
/// first. Others may overtake it if they are ready at \p Horizon.
static unsigned firstByPriority(const SimdState &S, unsigned Earliest, uint64_t Horizon) {
  unsigned Best = Earliest;
  for (unsigned I = 0; I < SimdState::MaxSlots; ++I)
    if (S.Ready[I] <= Horizon &&
        (S.Priority[I] > S.Priority[Best] ||
         (S.Priority[I] == S.Priority[Best] && S.Ready[I] < S.Ready[Best])))
      Best = I;
  return Best;
}

void runSimd(Machine &M, unsigned Cu, unsigned Simd, uint64_t Limit) {
  ComputeUnit &U = M.Units[Cu];
  SimdState &S = U.Simds[Simd];
  CodeCache &Code = U.Host->Code;
  const bool Logging = M.Log.enabled(), Counting = Statistics::get().enabled();
  const uint64_t Base = M.WindowBegin;

  /// Issues one instruction: returns when that is.
  auto Issue = [&S](uint64_t Cycle, Port Unit, unsigned Busy) {
    uint64_t &Free = S.PortFree[unsigned(Unit)];
    Cycle = std::max(Cycle, Free);
    Free = Unit == Port::None ? 0 : Cycle + Busy;
    return Cycle;
  };

  for (;;) {
    S.Touched = false;
    Keys Waiting(S);
    unsigned Slot;
    unsigned Key = Waiting.first(Slot);
    bool Stopped = false;
    while (!Stopped) {
      if (Key == SimdState::FarKey) {
        U.Next[Simd] = *std::min_element(std::begin(S.Ready), std::end(S.Ready));
        return;
      }
      if (Base + Key >= Limit) {
        U.Next[Simd] = Base + Key;
        return;
      }
      if (__builtin_expect(S.Raised, 0))
        Slot = firstByPriority(
            S, Slot,
            std::min(Limit - 1, std::max(Base + Key, S.PortFree[unsigned(Port::Valu)])));
      // The one behind it is next for certain, once this one is later.
      Waiting.set(Slot, SimdState::FarKey);
      unsigned NextSlot;
      const unsigned NextKey = Waiting.first(NextSlot);
      uint64_t Until = Limit - 1;
      if (NextKey != SimdState::FarKey) {
        Until = std::min(Until, Base + NextKey);
        const IssueQueue &Other = S.Ahead[NextSlot];
        if (Other.Head == Other.Tail) {
          const MachineWave *W = S.Waves[NextSlot];
          __builtin_prefetch(&W->Next);
          __builtin_prefetch(&W->Sgpr[RegExec]);
        }
      }
      if (__builtin_expect(S.Raised, 0))
        Until = 0; // Ask again after each instruction.
      IssueQueue &Queue = S.Ahead[Slot];
      uint64_t Cycle = S.Ready[Slot];
      do {
        if (Queue.Head != Queue.Tail) {
          const IssueCost Cost = Queue.Entries[Queue.Head++];
          Cycle = Issue(Cycle, Cost.Unit, Cost.Busy) + Cost.Wave;
          continue;
        }
        MachineWave &W = *S.Waves[Slot];
        const Inst &I = W.Next && W.Next->Pc == W.Pc ? *W.Next : Code.at(W.Pc);
        W.Cycle = Cycle;
        if (!Logging && runsAhead(I)) {
          if (!runAhead(Code, W, &I, M.Model.TakenBranch, Counting, Queue))
            return;
          continue;
        }
        const ClassCost Cost = costOf(W, I);
        W.Cycle = Issue(Cycle, Cost.Unit, Cost.Busy);
        if (__builtin_expect(Logging, 0))
          M.Log.step(W, I.Pc, W.exec(), M.Origin + W.Cycle);
        countInstruction(W, I, Counting);
        const uint64_t NextPc = I.Pc + 4 * I.Size;
        W.Pc = NextPc;
        execute(W, I);
        Cycle = W.Cycle += Cost.Wave;
        if (W.Pc != NextPc) {
          Cycle = W.Cycle += M.Model.TakenBranch;
          W.AfterBranch = true;
        } else if (I.Info->Class == OpClass::Branch) {
          W.AfterBranch = true;
        }
        if (__builtin_expect(W.Status != WaveStatus::Running, 0)) {
          Stopped = true;
          break;
        }
        W.Next = &Code.at(W.Pc); // Early, so that it is at hand when its turn comes.
        __builtin_prefetch(W.Next);
        if (__builtin_expect(S.Touched, 0))
          break; // It woke a wave, perhaps one that is due now.
      } while (Cycle <= Until);

      if (Stopped) {
        if (S.Waves[Slot]->Status == WaveStatus::Faulted)
          return;
        M.waveStopped(*S.Waves[Slot]);
        break;
      }
      S.setReady(Slot, Cycle, Base);
      if (S.Touched)
        break;
      Waiting.set(Slot, S.Key[Slot]);
      Slot = NextSlot;
      Key = NextKey;
      if (Cycle < Base + Key) // Only when it stopped at the limit.
        Key = Waiting.first(Slot);
    }
  }
}

} // namespace vgpu::VGPU_SIMD
