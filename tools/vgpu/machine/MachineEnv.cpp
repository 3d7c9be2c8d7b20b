//===- MachineEnv.cpp - What waves ask of the machine -----------------------===//
//
// The ExecEnv side: waits, barriers, messages, traps, hardware registers, and
// the checked and timed part of memory access.
//
//===----------------------------------------------------------------------===//
#include "machine/Machine.h"

#include "core/TargetClones.h"
#include "core/WaitCounter.h"

#include <algorithm>
#include <cstring>

namespace vgpu {

size_t Worker::fetchCode(uint64_t Addr, void *Dst, size_t N) {
  // As much as is mapped: the end of a code object may be the end of a region.
  size_t Mapped = 0;
  while (Mapped < N) {
    uint64_t At = Addr + Mapped;
    size_t Part = std::min<size_t>(N - Mapped, 4096 - At % 4096);
    if (!Memory.allows(At, At + Part, false)) {
      while (Part && !Memory.allows(At, At + Part, false))
        Part -= std::min<size_t>(Part, 4);
      Mapped += Part;
      break;
    }
    Mapped += Part;
  }
  std::memcpy(Dst, reinterpret_cast<const void *>(Addr), Mapped);
  return Mapped;
}

void *Machine::memory(Wave &W, uint64_t Addr, size_t N, Access A) {
  Addr = hostAddress(Addr);
  if (!allows(W, Addr, Addr + N, A == Access::Write))
    return nullptr;
  return reinterpret_cast<void *>(Addr);
}

uint64_t Machine::cycleClock(Wave &W) { return Origin + W.Cycle; }

uint64_t Machine::realTime(Wave &W) {
  return Config.ticksOf(Origin + W.Cycle);
}

void Machine::endProgram(Wave &W) { W.Status = WaveStatus::Ended; }

void Machine::barrier(Wave &W) {
  if (W.Group->Waves > 1) // The hardware drops it for a group of one wave.
    W.Status = WaveStatus::AtBarrier;
}

void Machine::waitCounters(Wave &Base, const Inst &I, uint32_t Imm) {
  auto &W = static_cast<MachineWave &>(Base);
  switch (WaitCounter(I.Info->Arg)) {
  case WaitCounter::All: // Nothing here is ever outstanding in the export counter.
    W.waitVm((Imm & 15) | (Imm >> 14 & 3) << 4);
    W.waitLgkm(Imm >> 8 & (Config.Major >= 10 ? 63 : 15));
    return;
  case WaitCounter::Vm:
    W.waitVm(Imm & 63);
    return;
  case WaitCounter::Stores:
    W.waitStores(Imm & 63);
    return;
  case WaitCounter::Lgkm:
    W.waitLgkm(Imm & 63);
    return;
  case WaitCounter::Export:
    return;
  }
}

void Machine::invalidateCode(Wave &W) { forgetCode(*static_cast<MachineWave &>(W).Host); }

void Machine::sleep(Wave &W, uint32_t Units64Cycles) {
  W.Cycle += uint64_t(64) * Units64Cycles;
  Slept = true;
}

void Machine::setPriority(Wave &Base, uint32_t Priority) {
  auto &W = static_cast<MachineWave &>(Base);
  Units[W.Cu].Simds[W.Simd].setPriority(W.Slot, Priority);
}

void Machine::sendMessage(Wave &Base, const Inst &I, uint32_t Message, uint32_t M0) {
  auto &W = static_cast<MachineWave &>(Base);
  switch (Message & 15) {
  case 1: // MSG_INTERRUPT
    if (W.Parent->Args->Interrupt)
      W.Parent->Args->Interrupt(M0);
    Slept = true;
    W.pushLgkm(W.Cycle + Model.ScalarHit);
    return;
  case 4: // MSG_SAVEWAVE, MSG_STALL_WAVE_GEN, MSG_HALT_WAVES: nothing to do here.
  case 5:
  case 6:
    return;
  default:
    fault(W, I, FaultKind::UnknownInstruction, "message that a compute kernel cannot send",
          MaxLanes, 0);
  }
}

void Machine::trap(Wave &W, const Inst &I, uint32_t TrapId) {
  switch (TrapId) {
  case 1: // Debugger breakpoint and llvm.debugtrap: without a debugger the trap
  case 3: // handler returns.
    return;
  case 2:
    fault(W, I, FaultKind::Trap, "the kernel called abort() or an assertion failed", MaxLanes, 0);
    return;
  default:
    fault(W, I, FaultKind::Trap, "trap " + std::to_string(TrapId) + ", which has no handler",
          MaxLanes, 0);
  }
}

bool Machine::readHwReg(Wave &Base, uint32_t Id, uint32_t &Value) {
  auto &W = static_cast<MachineWave &>(Base);
  const bool Gfx10 = Config.Major >= 10;
  // Units are numbered engine by engine in turn.
  const unsigned Engine = W.Cu % Config.ShaderEngines, InEngine = W.Cu / Config.ShaderEngines;
  switch (Id) {
  case 3: // TRAPSTS: no exception was raised.
    Value = 0;
    return true;
  case 4: { // HW_ID
    if (Gfx10)
      return false;
    Value = W.Slot | W.Simd << 4 | (InEngine & 15) << 8 | (InEngine >> 4 & 1) << 12 |
            (Engine & 7) << 13 | (W.Group->Slot & 15) << 16 | 8u << 20 | (W.Parent->Args->QueueId & 7) << 24 |
            1u << 30;
    return true;
  }
  case 5: // GPR_ALLOC: sizes in granules less one, bases are not modelled.
    if (Gfx10)
      return false;
    Value = ((W.Parent->Kernel.ArchVgprs + W.Parent->Kernel.Accs) / Config.VgprGranule - 1) << 8 |
            (W.Parent->Kernel.Sgprs / Config.SgprGranule - 1) << 24;
    return true;
  case 6: // LDS_ALLOC: size in 128-dword granules.
    Value = W.Group->LdsAllocated / 512 << 12;
    return true;
  case 7: // IB_STS: what the counters hold.
    Value = (W.Vm.Count & 15) | (W.LgkmCount & 15) << 8 | (W.Vm.Count >> 4 & 3) << 22;
    if (Gfx10)
      Value |= (W.LgkmCount >> 4 & 3) << 24 | (W.Stores.Count & 63) << 26;
    return true;
  case 16: // TBA, TMA: no second-level trap handler is modelled.
  case 17:
  case 18:
  case 19:
    Value = 0;
    return true;
  case 23: { // HW_ID1
    if (!Gfx10)
      return false;
    const unsigned Array = InEngine % Config.ArraysPerEngine;
    const unsigned Wgp = InEngine / Config.ArraysPerEngine;
    Value = W.Slot | W.Simd << 8 | (Wgp & 15) << 10 | Array << 16 | Engine << 18;
    return true;
  }
  case 24: // HW_ID2: queue, micro engine 1, workgroup, address space 8
    if (!Gfx10)
      return false;
    Value = (W.Parent->Args->QueueId & 15) | 1u << 8 | (W.Group->Slot & 31) << 16 | 8u << 24;
    return true;
  default:
    return false;
  }
}

bool Machine::writeHwReg(Wave &, uint32_t Id, uint32_t) {
  return Id == 3; // TRAPSTS may be cleared; everything else is read-only here.
}

/// The least and the highest of \p Lanes (32 or 64) addresses, as signed numbers: one
/// beyond 2^63 makes the least the larger one.
VGPU_TARGET_CLONES static void
boundsOf(const uint64_t *Address, unsigned Lanes, uint64_t &Least, uint64_t &Most) {
  auto Low = int64_t(Address[0]), High = Low;
  for (; Lanes; Lanes -= 32, Address += 32)
    for (unsigned L = 0; L < 32; ++L) {
      Low = std::min(Low, int64_t(Address[L]));
      High = std::max(High, int64_t(Address[L]));
    }
  Least = uint64_t(Low);
  Most = uint64_t(High);
}

bool Machine::checkLanes(Wave &W, const Inst &I, const uint64_t *Address, uint64_t Exec,
                         unsigned Bytes, bool Write) {
  if (!Exec)
    return true;
  MemoryMap &Memory = static_cast<MachineWave &>(W).Host->Memory;
  // Mostly even the inactive lanes' addresses lie in a region that is at hand.
  uint64_t Least, Most;
  boundsOf(Address, W.WaveSize, Least, Most);
  if (Memory.knownToAllow(Least, Most + Bytes, Write))
    return true;
  Least = ~uint64_t(0);
  Most = 0;
  for (uint64_t Rest = Exec; Rest; Rest &= Rest - 1) {
    const uint64_t A = Address[__builtin_ctzll(Rest)];
    Least = std::min(Least, A);
    Most = std::max(Most, A);
  }
  // One region for all lanes is the common case.
  if (Most + Bytes > Least && Memory.allows(Least, Most + Bytes, Write))
    return true;
  for (uint64_t Rest = Exec; Rest; Rest &= Rest - 1) {
    unsigned L = unsigned(__builtin_ctzll(Rest));
    if (Memory.allows(Address[L], Address[L] + Bytes, Write))
      continue;
    const bool Readable = Write && Memory.allows(Address[L], Address[L] + Bytes, false);
    fault(W, I, FaultKind::Memory,
          std::string(Write ? "store of " : "load of ") + std::to_string(Bytes) +
              (Readable            ? " bytes to read-only memory"
               : Address[L] < 4096 ? " bytes at a null pointer"
                                   : " bytes outside all memory of the device"),
          L, Address[L]);
    return false;
  }
  return true;
}

uint64_t Machine::vectorTime(Wave &Base, const Inst &I, const uint64_t *Address, uint64_t Exec,
                             unsigned Bytes, MemoryOp Op) {
  auto &W = static_cast<MachineWave &>(Base);
  LineSet Lines(Timing.lineShift());
  Lines.collect(Address, Exec, Bytes);
  return vectorTime(W, I, Lines, Bytes, Op);
}

uint64_t Machine::vectorTime(MachineWave &W, const Inst &I, LineSet &Lines, unsigned Bytes,
                             MemoryOp Op) {
  const uint64_t Done = Timing.vector(W.L1, W.Cycle, W.WaveSize, Lines, (Bytes + 3) / 4, Op, I.Glc,
                                      I.Dlc, W.Counted->Traffic);
  return W.pushVm(Done, Op == MemoryOp::Store || (Op == MemoryOp::Atomic && !I.Glc));
}

void Machine::ldsTime(Wave &Base, const Inst &I, const uint32_t *Address, uint64_t Exec,
                      unsigned Dwords) {
  auto &W = static_cast<MachineWave &>(Base);
  W.pushLds(Timing.lds(W.L1, W.Cycle, W.WaveSize, Dwords,
                       Address ? W.Host->Conflicts.ldsConflicts(I.Pc, Address, Exec, Dwords) : 0,
                       W.Counted->Traffic));
}

void Machine::scalarTime(Wave &Base, uint64_t Address, unsigned Bytes, bool Store) {
  auto &W = static_cast<MachineWave &>(Base);
  W.pushLgkm(Timing.scalar(W.L1, W.Cycle, Address, Bytes, Store, W.Counted->Traffic));
}

} // namespace vgpu
