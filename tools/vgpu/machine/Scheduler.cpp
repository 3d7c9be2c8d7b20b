//===- Scheduler.cpp - Which unit runs next, and for how long ---------------===//
//
// Windows of modelled time, compute units in a window, SIMDs in a compute unit
// (SimdLoop.cpp has what a SIMD does). Waits, barriers and memory move a wave's
// own clock (Wave::Cycle), and that is all the scheduler looks at.
//
//===----------------------------------------------------------------------===//
#include "machine/Machine.h"

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
  U.Simds[W.Simd].setReady(W.Slot, W.Cycle, WindowBegin);
  U.Simds[W.Simd].Touched = true;
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

/// \p W has reached a barrier, of whichever kind, or its end.
void Machine::waveStopped(MachineWave &W) {
  Workgroup &G = *W.Group;
  W.Counted->LastCycle = std::max(W.Counted->LastCycle, W.Cycle);
  Units[W.Cu].Simds[W.Simd].clearReady(W.Slot);
  if (W.Status == WaveStatus::Sleeping)
    return; // The global wave sync unit has it.
  if (W.Status == WaveStatus::AtBarrier) {
    ++G.AtBarrier;
    G.BarrierTime = std::max(G.BarrierTime, W.Cycle);
  } else { // Ended.
    ++G.Ended;
    W.Counted->WaveCycles += W.Cycle - W.Started;
    if (Log.enabled())
      Log.endWave(W, Origin + W.Cycle);
    if (G.Ended == G.Waves) {
      std::lock_guard<std::mutex> Guard(Shared);
      groupEnded(G, W.Cycle);
      return;
    }
    // A wave that has ended no longer counts at the barrier.
  }
  if (G.AtBarrier && G.AtBarrier + G.Ended == G.Waves)
    releaseBarrier(G);
}

void Machine::runUnit(unsigned Cu, uint64_t End) {
  ComputeUnit &U = Units[Cu];
  const unsigned Simds = unsigned(U.Simds.size());
  for (SimdState &S : U.Simds)
    S.rebase(WindowBegin);
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
    RunSimd(*this, Cu, Simd, std::min(Limit, End));
  }
}

void Machine::forgetCode(Worker &Host) {
  Host.Code.invalidate();
  for (ComputeUnit &U : Units)
    if (U.Host == &Host)
      for (SimdState &S : U.Simds)
        for (MachineWave *W : S.Waves)
          if (W)
            W->Next = nullptr;
}

void Machine::reportDeadlock() {
  for (const std::unique_ptr<MachineWave> &W : WavePool) {
    if (!W->Group || !W->waits() || W->Parent->Stop)
      continue;
    const Dispatch &D = *W->Parent;
    std::string Text;
    if (W->Status == WaveStatus::AtBarrier)
      Text = "some waves of the workgroup wait at a barrier that no other wave can reach";
    else if (D.allPlaced())
      Text = "some workgroups wait for others, which wait or have ended";
    else
      Text = "workgroups wait for others that have no room on the device: " +
             std::to_string(D.GroupsPlaced) + " of " + std::to_string(D.GroupsTotal) + " have begun";
    report(*W->Parent, FaultCause::Deadlock, 0x80000000, W.get(),
           &W->Host->Code.at(W->stoppedAt()), Text, MaxLanes, 0);
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
          report(*D, FaultCause::CycleLimit, 0x80000000, W.get(), &W->Host->Code.at(W->Pc),
                 "still running after " + std::to_string(Config.MaxCycles) + " modelled cycles",
                 MaxLanes, 0);
          describeWaves(*W->Group);
          break;
        }
    } else if (D->cancelled()) {
      report(*D, FaultCause::Cancelled, 0, nullptr, nullptr, "dispatch cancelled", MaxLanes, 0);
    }
    Any |= D->Stop;
  }
  return Any;
}

/// Runs the units of worker \p Part, or all of them if it is the only one.
void Machine::runUnits(unsigned Part, unsigned Parts) {
  const unsigned Count = unsigned(Units.size());
  // Begin with another unit each time, so that none is always first to ask for the
  // next workgroup.
  for (unsigned I = 0; I < Count && !Interrupted; ++I) {
    unsigned Cu = FirstCu + I < Count ? FirstCu + I : FirstCu + I - Count;
    if ((Parts > 1 && Units[Cu].Host->Number != Part) || !Units[Cu].Groups)
      continue;
    runUnit(Cu, WindowEnd);
    if (const auto &Look = Running.front()->Args->Look; Look && Part == 0)
      Look();
  }
}

/// Whether to run this window on several threads: if several have something to do,
/// and no wave can wake one of another unit (GlobalSync.cpp).
bool Machine::inParallel() const {
  if (Workers.size() == 1)
    return false;
  for (const Dispatch *D : Running)
    if (D->Args->GlobalResources)
      return false;
  const Worker *Only = nullptr;
  for (const ComputeUnit &U : Units)
    if (U.Groups) {
      if (Only && Only != U.Host)
        return true;
      Only = U.Host;
    }
  return false;
}

void Machine::runWindow(std::vector<Dispatch *> &Ended) {
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
    for (const std::unique_ptr<Worker> &Host : Workers)
      Host->Memory.refresh();
    WindowBegin = Now;
    WindowEnd = Now + timing::WindowCycles;
    if (inParallel()) {
      Timing.share(true);
      Team.run([this](unsigned Part) {
        const double Before = Part ? processorSeconds() : 0;
        runUnits(Part, unsigned(Workers.size()));
        if (Part)
          Workers[Part]->Seconds += processorSeconds() - Before;
      });
      Timing.share(false);
    } else {
      runUnits(0, 1);
    }
    FirstCu = FirstCu + 1 == Units.size() ? 0 : FirstCu + 1;
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
