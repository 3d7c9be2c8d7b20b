//===- GlobalSync.cpp - Barriers and semaphores across workgroups -----------===//
//
// The global wave sync unit, on which the device library's grid barrier stands: a
// kernel of the HIP runtime's sets a resource to the number of workgroups less
// one, then one wave of each workgroup comes to ds_gws_barrier. Resources belong
// to a queue (hsaKmtAllocQueueGWS) and outlive its dispatches. What each operation
// does: AMD's "Vega 7nm" instruction set manual, chapter 12.13, DS_GWS_*.
//
//===----------------------------------------------------------------------===//
#include "machine/Machine.h"

#include <algorithm>

namespace vgpu {

/// Lets the \p Count waves that have waited longest go on.
void Machine::wake(GlobalResource &R, size_t Count, uint64_t Cycle) {
  for (size_t I = 0; I < Count; ++I) {
    MachineWave &W = *R.Waiting[I];
    W.Status = WaveStatus::Running;
    W.Cycle = std::max(W.Cycle, Cycle);
    makeReady(W);
  }
  R.Waiting.erase(R.Waiting.begin(), R.Waiting.begin() + long(Count));
}

void Machine::globalSync(Wave &Base, const Inst &I, GlobalSync Op) {
  auto &W = static_cast<MachineWave &>(Base);
  // Bits 21..16 of M0 are the base, and the instruction's offset counts from it.
  const unsigned Id = ((W.m0() >> 16) + uint32_t(I.Offset)) & (GlobalSyncResources - 1);
  const unsigned Granted = W.Parent->Args->GlobalResources;
  if (Id >= Granted) {
    fault(W, I, FaultKind::IllegalOperand,
          "global wave sync " + std::to_string(Id) + ", the queue has " +
              (Granted ? std::to_string(Granted) : "none (only a cooperative queue does)"),
          MaxLanes, 0);
    return;
  }
  if (!W.exec())
    return; // No lane, no value.
  GlobalResource &R = Globals[Id];
  uint32_t Value = 0;
  if (Op == GlobalSync::Init || Op == GlobalSync::Barrier || Op == GlobalSync::SemaBr)
    Value = W.Vgpr[I.VAddr].Lane[unsigned(__builtin_ctzll(W.exec()))];
  const uint64_t Released = W.Cycle + timing::GlobalSync;
  auto Wait = [&] {
    W.Status = WaveStatus::Sleeping;
    R.Waiting.push_back(&W);
  };
  /// Each count lets one waiting wave go on, or stays for one to come.
  auto Signal = [&](uint64_t Counts) {
    const size_t Woken = std::min<uint64_t>(Counts, R.Waiting.size());
    wake(R, Woken, Released);
    R.Counter += uint32_t(Counts - Woken);
  };
  switch (Op) {
  case GlobalSync::Init:
    R.Counter = Value;
    break;
  case GlobalSync::Barrier:
    R.Latest = std::max(R.Latest, Released);
    if (R.Counter) {
      --R.Counter;
      Wait();
      return;
    }
    W.Cycle = R.Latest;
    wake(R, R.Waiting.size(), R.Latest);
    R.Counter = Value;
    R.Latest = 0;
    return;
  case GlobalSync::SemaV:
    Signal(1);
    break;
  case GlobalSync::SemaBr:
    Signal(Value);
    break;
  case GlobalSync::SemaP:
    if (!R.Counter) {
      Wait();
      return;
    }
    --R.Counter;
    break;
  case GlobalSync::ReleaseAll:
    Signal(R.Waiting.size());
    break;
  }
  W.pushLgkm(Released);
}

} // namespace vgpu
