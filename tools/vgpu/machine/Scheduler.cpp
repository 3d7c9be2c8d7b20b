//===- Scheduler.cpp - Which wave runs next, and for how long ---------------===//
//
// The inner loop of the virtual GPU. A SIMD always continues with the wave that
// may issue earliest; instructions of one wave issue in order; a port of the
// SIMD takes one instruction at a time. Waits, barriers and memory move a
// wave's own clock (Wave::Cycle), and that is all the scheduler looks at.
//
//===----------------------------------------------------------------------===//
#include "core/Execute.h"
#include "machine/Machine.h"
#include "machine/Statistics.h"

#include <algorithm>
#include <sched.h>

namespace vgpu {

void MachineWave::pushLgkm(uint64_t Done) {
  if (LgkmCount == LgkmLimit - 1u)
    waitLgkm(LgkmLimit - 2u);
  Lgkm[LgkmCount++] = Done;
}

void MachineWave::waitLgkm(unsigned Left) {
  if (Left == 0) {
    for (unsigned I = 0; I < LgkmCount; ++I)
      Cycle = std::max(Cycle, Lgkm[I]);
    LgkmCount = 0;
    return;
  }
  while (LgkmCount > Left) {
    unsigned Earliest = 0;
    for (unsigned I = 1; I < LgkmCount; ++I)
      if (Lgkm[I] < Lgkm[Earliest])
        Earliest = I;
    Cycle = std::max(Cycle, Lgkm[Earliest]);
    // Keep the order of the rest: ties go to the older operation.
    for (unsigned I = Earliest + 1; I < LgkmCount; ++I)
      Lgkm[I - 1] = Lgkm[I];
    --LgkmCount;
  }
}

void Machine::makeReady(MachineWave &W) {
  ComputeUnit &U = Units[W.Cu];
  U.Simds[W.Simd].setReady(W.Slot, W.Cycle);
  U.Next[W.Simd] = std::min(U.Next[W.Simd], W.Cycle);
}

void Machine::releaseBarrier(Workgroup &G) {
  uint64_t Time = G.BarrierTime + Model.BarrierRelease;
  G.AtBarrier = 0;
  G.BarrierTime = 0;
  for (unsigned I = 0; I < G.Waves; ++I) {
    MachineWave *W = G.Members[I];
    if (!W || W->Status != WaveStatus::AtBarrier)
      continue;
    W->Status = WaveStatus::Running;
    W->Cycle = Time;
    makeReady(*W);
  }
}

template <unsigned Slots> void Machine::runSimd(unsigned Cu, unsigned Simd, uint64_t Limit) {
  ComputeUnit &U = Units[Cu];
  SimdState &S = U.Simds[Simd];
  const bool Logging = Log.enabled();
  const bool Counting = Statistics::get().enabled();
  for (;;) {
    // The wave that is due first, and when the next one is. Minimum and maximum
    // only, no branch: which wave is next cannot be predicted. Two halves, so
    // that they overlap.
    constexpr unsigned Half = Slots / 2;
    uint64_t FirstKey = S.Key[0], SecondKey = SimdState::Never;
    uint64_t UpperFirst = S.Key[Half], UpperSecond = SimdState::Never;
    for (unsigned I = 1; I < Half; ++I) {
      const uint64_t Key = S.Key[I], Upper = S.Key[Half + I];
      SecondKey = std::min(SecondKey, std::max(FirstKey, Key));
      FirstKey = std::min(FirstKey, Key);
      UpperSecond = std::min(UpperSecond, std::max(UpperFirst, Upper));
      UpperFirst = std::min(UpperFirst, Upper);
    }
    SecondKey = std::min(std::max(FirstKey, UpperFirst), std::min(SecondKey, UpperSecond));
    FirstKey = std::min(FirstKey, UpperFirst);
    const uint64_t First = FirstKey == SimdState::Never ? SimdState::Never : FirstKey >> 4;
    if (First >= Limit) {
      U.Next[Simd] = First;
      return;
    }
    const unsigned Slot = FirstKey & 15;
    const uint64_t Second = SecondKey >> 4;
    if (SecondKey != SimdState::Never) {
      // That one is next for certain: have it at hand by then.
      const MachineWave *Other = S.Waves[SecondKey & 15];
      __builtin_prefetch(&Other->Next);
      __builtin_prefetch(&Other->Sgpr[RegExec]);
    }
    MachineWave &W = *S.Waves[Slot];
    const uint64_t Until = std::min(Limit - 1, Second);
    do {
      const Inst &I = W.Next && W.Next->Pc == W.Pc ? *W.Next : Code.at(W.Pc);
      const unsigned Class = unsigned(I.Info->Class);
      ClassCost Cost = W.Costs[Class];
      if (__builtin_expect(I.Info->Class == OpClass::Matrix, 0))
        Cost.Busy = Cost.Wave = uint8_t(matrixCycles(I.Info->Name));
      if (Cost.Unit != Port::None) {
        uint64_t &Free = S.PortFree[unsigned(Cost.Unit)];
        W.Cycle = std::max(W.Cycle, Free);
        Free = W.Cycle + Cost.Busy;
      }
      if (__builtin_expect(Logging, 0))
        Log.step(W, I.Pc, W.exec(), Origin + W.Cycle);
      ++W.Parent->Executed[Class];
      if (__builtin_expect(Counting, 0))
        W.Parent->ActiveLanes[Class] += unsigned(__builtin_popcountll(W.exec()));
      const uint64_t NextPc = I.Pc + 4 * I.Size;
      W.Pc = NextPc;
      execute(W, I);
      W.Cycle += Cost.Wave;
      if (W.Pc != NextPc) {
        W.Cycle += Model.TakenBranch;
        W.AfterBranch = true;
      } else if (I.Info->Class == OpClass::Branch) {
        W.AfterBranch = true;
      }
      if (__builtin_expect(W.Status != WaveStatus::Running, 0))
        break;
      W.Next = &Code.at(W.Pc); // Early, so that it is at hand when its turn comes.
      __builtin_prefetch(W.Next);
    } while (W.Cycle <= Until);

    if (W.Status == WaveStatus::Running) {
      S.setReady(Slot, W.Cycle);
      continue;
    }
    if (Interrupted)
      return;
    Workgroup &G = *W.Group;
    W.Parent->LastCycle = std::max(W.Parent->LastCycle, W.Cycle);
    S.Key[Slot] = SimdState::Never;
    if (W.Status == WaveStatus::AtBarrier) {
      ++G.AtBarrier;
      G.BarrierTime = std::max(G.BarrierTime, W.Cycle);
    } else { // Ended.
      ++G.Ended;
      W.Parent->WaveCycles += W.Cycle - W.Started;
      if (Logging)
        Log.endWave(W, Origin + W.Cycle);
      if (G.Ended == G.Waves) {
        groupEnded(G, W.Cycle);
        continue;
      }
      // A wave that has ended no longer counts at the barrier.
    }
    if (G.AtBarrier && G.AtBarrier + G.Ended == G.Waves)
      releaseBarrier(G);
  }
}

void Machine::runUnit(unsigned Cu, uint64_t End) {
  ComputeUnit &U = Units[Cu];
  const unsigned Simds = unsigned(U.Simds.size());
  while (!Interrupted) {
    unsigned Simd = 0;
    uint64_t First = U.Next[0], Second = SimdState::Never;
    for (unsigned I = 1; I < Simds; ++I) {
      if (U.Next[I] < First) {
        Second = First;
        First = U.Next[I];
        Simd = I;
      } else {
        Second = std::min(Second, U.Next[I]);
      }
    }
    if (First >= End)
      return;
    uint64_t Limit = Second == SimdState::Never ? End : Second + timing::SimdQuantum;
    // Only as many slots as this target has: looking at each is what costs.
    if (Config.WavesPerSimd <= 10)
      runSimd<10>(Cu, Simd, std::min(Limit, End));
    else
      runSimd<SimdState::MaxSlots>(Cu, Simd, std::min(Limit, End));
  }
}

void Machine::forgetCode() {
  Code.invalidate();
  for (const std::unique_ptr<MachineWave> &W : WavePool)
    W->Next = nullptr;
}

void Machine::reportDeadlock() {
  for (const std::unique_ptr<MachineWave> &W : WavePool) {
    if (!W->Group || !W->waits() || W->Parent->Stop)
      continue;
    report(*W->Parent, FaultCause::Deadlock, 0x80000000, W.get(), &Code.at(W->stoppedAt()),
           "some waves of the workgroup wait at a barrier that no other wave can reach", MaxLanes,
           0);
    describeWaves(*W->Group);
  }
  for (Dispatch *D : Running)
    report(*D, FaultCause::Deadlock, 0x80000000, nullptr, nullptr, "no wave can run", MaxLanes, 0);
}

/// Ends dispatches that are to be ended. True if any was.
bool Machine::checkProgress(uint64_t Now) {
  bool Any = false;
  for (Dispatch *D : Running) {
    if (Config.MaxCycles && Now > D->Begin + Config.MaxCycles) {
      for (const std::unique_ptr<MachineWave> &W : WavePool)
        if (W->Parent == D && W->Status == WaveStatus::Running) {
          report(*D, FaultCause::CycleLimit, 0x80000000, W.get(), &Code.at(W->Pc),
                 "still running after " + std::to_string(Config.MaxCycles) + " modelled cycles",
                 MaxLanes, 0);
          describeWaves(*W->Group);
          break;
        }
    } else if (D->Args->Cancel && D->Args->Cancel->load(std::memory_order_relaxed)) {
      report(*D, FaultCause::Cancelled, 0, nullptr, nullptr, "dispatch cancelled", MaxLanes, 0);
    }
    Any |= D->Stop;
  }
  return Any;
}

void Machine::runWindow(std::vector<Dispatch *> &Ended) {
  const unsigned Count = unsigned(Units.size());
  // Jump to the first thing that happens.
  uint64_t Now = SimdState::Never;
  for (ComputeUnit &U : Units)
    if (U.Groups)
      for (unsigned I = 0; I < U.Simds.size(); ++I)
        Now = std::min(Now, U.Next[I]);
  Interrupted = false;
  if (Now == SimdState::Never) {
    reportDeadlock();
  } else if (!checkProgress(Now)) {
    Memory.refresh();
    WindowBegin = Now;
    WindowEnd = Now + timing::WindowCycles;
    // Begin with another unit each time, so that none is always first to ask
    // for the next workgroup.
    for (unsigned I = 0; I < Count && !Interrupted; ++I) {
      unsigned Cu = FirstCu + I < Count ? FirstCu + I : FirstCu + I - Count;
      if (Units[Cu].Groups)
        runUnit(Cu, WindowEnd);
    }
    FirstCu = FirstCu + 1 == Count ? 0 : FirstCu + 1;
  }
  for (size_t I = 0; I < Running.size();) {
    Dispatch &D = *Running[I];
    if (!D.over()) {
      ++I;
      continue;
    }
    finish(D);
    Ended.push_back(&D);
  }
  for (Dispatch *D : Running)
    if (!D->allPlaced())
      placeGroups(*D, WindowEnd);
  if (Slept) {
    Slept = false;
    sched_yield(); // The wave most likely waits for a host thread.
  }
}

} // namespace vgpu
