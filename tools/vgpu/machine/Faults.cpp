//===- Faults.cpp - Say what went wrong so that a person can fix it ---------===//
//
// The first fault of a dispatch ends it. Everything a debugger would show is
// taken from the wave at that moment.
//
//===----------------------------------------------------------------------===//
#include "machine/Machine.h"

#include "llvm/Demangle/Demangle.h"

#include <cstdio>

namespace vgpu {

const char *faultCauseName(FaultCause Cause) {
  switch (Cause) {
  case FaultCause::Memory:
    return "memory fault";
  case FaultCause::Misaligned:
    return "misaligned access";
  case FaultCause::LocalMemory:
    return "LDS access out of range";
  case FaultCause::IllegalInstruction:
    return "illegal instruction";
  case FaultCause::Trap:
    return "trap";
  case FaultCause::Deadlock:
    return "deadlock";
  case FaultCause::CycleLimit:
    return "cycle limit exceeded";
  case FaultCause::InvalidPacket:
    return "invalid dispatch";
  case FaultCause::Cancelled:
    return "cancelled";
  }
  return "fault";
}

static std::string hex(uint64_t Value) {
  char Text[24];
  std::snprintf(Text, sizeof Text, "0x%llx", static_cast<unsigned long long>(Value));
  return Text;
}

std::string Machine::kernelName() const {
  uint64_t Object = Args->Packet->kernel_object;
  std::string Name = Args->KernelName ? Args->KernelName(Object) : std::string();
  return Name.empty() ? hex(Object) : Name;
}

void Machine::report(FaultCause Cause, uint64_t QueueError, const Wave *Base, const Inst *I,
                     const std::string &Text, unsigned Lane, uint64_t Address) {
  if (Stop)
    return; // Only the first counts.
  Stop = true;
  Fault &F = Found;
  F = Fault();
  F.Cause = Cause;
  F.QueueError = QueueError;
  F.Address = Address;
  F.Kernel = kernelName();
  std::string Head = std::string(faultCauseName(Cause)) + ": " + Text;
  if (Address || Cause == FaultCause::Memory || Cause == FaultCause::LocalMemory)
    Head += ", address " + hex(Address);
  F.Lines.push_back(Head);
  std::string Where = "kernel " + llvm::demangle(F.Kernel);
  if (Base) {
    auto &W = static_cast<const MachineWave &>(*Base);
    if (W.Group) {
      for (unsigned D = 0; D < 3; ++D)
        F.Workgroup[D] = W.Group->Id[D];
      F.Wave = W.Number;
      Where += ", workgroup (" + std::to_string(F.Workgroup[0]) + ", " +
               std::to_string(F.Workgroup[1]) + ", " + std::to_string(F.Workgroup[2]) + "), wave " +
               std::to_string(F.Wave);
    }
    if (Lane < MaxLanes) {
      F.Lane = int(Lane);
      Where += ", lane " + std::to_string(Lane);
    }
    LastCycle = std::max(LastCycle, W.Cycle);
  }
  F.Lines.push_back(Where);
  if (I) {
    F.Pc = I->Pc;
    F.KernelPc = I->Pc - Kernel.Entry;
    F.IsWrite = I->Info->Flags & OpStores;
    F.Disassembly = Decode.disassemble(*I, Kernel.WaveSize);
    F.Lines.push_back("pc " + hex(F.Pc) + " (entry + " + hex(F.KernelPc) + "): " + F.Disassembly);
    if (Args->SourceLine) {
      std::string Line = Args->SourceLine(F.Pc);
      if (!Line.empty())
        F.Lines.push_back("at " + Line);
    }
  }
}

void Machine::fault(Wave &W, const Inst &I, FaultKind Kind, std::string Text, unsigned Lane,
                    uint64_t Addr) {
  W.Status = WaveStatus::Faulted;
  FaultCause Cause = FaultCause::IllegalInstruction;
  uint64_t QueueError = 0x80000000;
  switch (Kind) {
  case FaultKind::UnknownInstruction:
  case FaultKind::IllegalOperand:
    QueueError = 0x40000000;
    break;
  case FaultKind::Memory:
    Cause = FaultCause::Memory;
    QueueError = 0;
    break;
  case FaultKind::Misaligned:
    Cause = FaultCause::Misaligned;
    break;
  case FaultKind::LdsRange:
    Cause = FaultCause::LocalMemory;
    break;
  case FaultKind::Trap:
  case FaultKind::Assertion:
    Cause = FaultCause::Trap;
    break;
  case FaultKind::Timeout:
    Cause = FaultCause::CycleLimit;
    break;
  case FaultKind::Deadlock:
    Cause = FaultCause::Deadlock;
    break;
  }
  report(Cause, QueueError, &W, &I, Text, Lane, Addr);
}

} // namespace vgpu
