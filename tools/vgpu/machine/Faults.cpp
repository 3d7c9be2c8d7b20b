//===- Faults.cpp - Say what went wrong so that a person can fix it ---------===//
//
// The first fault of a dispatch ends it. Everything a debugger would show is
// taken from the wave at that moment.
//
//===----------------------------------------------------------------------===//
#include "machine/FaultText.h"
#include "machine/Machine.h"

#include "llvm/Demangle/Demangle.h"

#include <algorithm>

namespace vgpu {

const char *faultCauseName(FaultCause Cause) {
  switch (Cause) {
  case FaultCause::Memory:
    return "memory fault";
  case FaultCause::Misaligned:
    return "misaligned access";
  case FaultCause::LocalMemory:
    return "LDS access out of range";
  case FaultCause::Stack:
    return "stack overflow";
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

std::string Dispatch::kernelName() const {
  uint64_t Object = Args->Packet->kernel_object;
  std::string Name = Args->KernelName ? Args->KernelName(Object) : std::string();
  return Name.empty() ? hexText(Object) : Name;
}

void Machine::report(Dispatch &D, FaultCause Cause, uint64_t QueueError, const Wave *Base,
                     const Inst *I, const std::string &Text, unsigned Lane, uint64_t Address) {
  std::lock_guard<std::mutex> Guard(Shared);
  if (D.Stop)
    return; // Only the first counts.
  D.Stop = Interrupted = true;
  Fault &F = D.Found;
  F = Fault();
  F.Cause = Cause;
  F.QueueError = QueueError;
  F.Address = Address;
  F.Kernel = D.kernelName();
  std::string Head = std::string(faultCauseName(Cause)) + ": " + Text;
  if (Address || Cause == FaultCause::Memory || Cause == FaultCause::LocalMemory)
    Head += ", address " + hexText(Address);
  F.Lines.push_back(Head);
  F.Lines.push_back("kernel " + llvm::demangle(F.Kernel));
  if (Base) {
    auto &W = static_cast<const MachineWave &>(*Base);
    if (W.Group)
      F.Lines.back() += waveText(W, Lane);
    W.Counted->LastCycle = std::max(W.Counted->LastCycle, W.Cycle);
    if (I)
      describeInstruction(W, *I, Lane);
  }
}

/// Who: ", workgroup (1, 0, 0), wave 2, lane 5, work item (133, 0, 0)".
std::string Machine::waveText(const MachineWave &W, unsigned Lane) {
  const Dispatch &From = *W.Parent;
  Fault &F = W.Parent->Found;
  std::copy(std::begin(W.Group->Id), std::end(W.Group->Id), F.Workgroup);
  F.Wave = W.Number;
  std::string Text =
      ", workgroup " + tripleText(F.Workgroup) + ", wave " + std::to_string(W.Number);
  if (Lane < MaxLanes) {
    F.Lane = int(Lane);
    // A group at the grid's edge has only the work items that exist.
    uint32_t Item[3], Rest = W.Number * W.WaveSize + Lane;
    for (unsigned D = 0; D < 3; ++D) {
      const uint32_t Size = std::min(From.GroupSize[D], From.Grid[D] - W.Group->Id[D] * From.GroupSize[D]);
      Item[D] = Rest % Size;
      Rest /= Size;
    }
    Text += ", lane " + std::to_string(Lane) + ", work item " + tripleText(Item);
  }
  return Text;
}

/// Where: instruction, source, the address's registers, the code around it.
void Machine::describeInstruction(const MachineWave &W, const Inst &I, unsigned Lane) {
  Fault &F = W.Parent->Found;
  const DispatchArgs *Args = W.Parent->Args;
  const KernelDescriptor &Kernel = W.Parent->Kernel;
  const bool Fetched = I.Info->Name[0] != '(' || I.Raw[0];
  F.Pc = I.Pc;
  F.KernelPc = I.Pc - Kernel.Entry;
  F.IsWrite = I.Info->Flags & OpStores;
  F.Disassembly = Fetched ? Decode.disassemble(I, W.WaveSize) : I.Info->Name;
  CodePlace Place;
  if (Args->Place)
    Place = Args->Place(I.Pc);
  // Without symbols all code behind the entry counts as the kernel's.
  const bool InKernel = Place.Begin == Kernel.Entry || (!Place.Begin && F.Pc >= Kernel.Entry);
  const std::string Where =
      InKernel || !Place.Begin
          ? "entry + " + hexText(F.KernelPc)
          : llvm::demangle(Place.Function) + " + " + hexText(F.Pc - Place.Begin);
  F.Lines.push_back("pc " + hexText(F.Pc) + " (" + Where + "): " + F.Disassembly);
  for (const std::string &Line : sourceText(Place))
    F.Lines.push_back(Line);
  std::string Registers = addressText(I, W, Lane);
  if (!Registers.empty())
    Registers += "; ";
  F.Lines.push_back("registers: " + Registers + execText(W));
  if (F.Cause == FaultCause::Memory || F.Cause == FaultCause::Misaligned) {
    const std::string Nearest = W.Host->Memory.describe(F.Address);
    if (!Nearest.empty())
      F.Lines.push_back("memory: " + Nearest);
  }
  if (Fetched) {
    F.Lines.push_back("code of " + (InKernel ? F.Kernel : Place.Function) + ":");
    for (const std::string &Line :
         codeText(W.Host->Code, Decode, W.WaveSize, InKernel ? Kernel.Entry : Place.Begin, I.Pc))
      F.Lines.push_back(Line);
  }
}

/// Where all waves of \p Group's dispatch are, for faults that are nobody's alone.
void Machine::describeWaves(const Workgroup &Group) {
  Dispatch &D = *Group.Parent;
  std::vector<WaveAt> Waves;
  for (const std::unique_ptr<MachineWave> &W : WavePool)
    if (W->Parent == &D && W->Status != WaveStatus::Ended) {
      const uint64_t Pc = W->waits() ? W->stoppedAt() : W->Pc;
      Waves.push_back({Pc, W->waits(), W->Group == &Group});
    }
  for (const std::string &Line : wavesText(Waves, D.Kernel.Entry))
    D.Found.Lines.push_back(Line);
}

void Machine::stackFault(Wave &W, const Inst &I, const std::string &Text, unsigned Lane,
                         uint64_t Address) {
  W.Status = WaveStatus::Faulted;
  report(*static_cast<MachineWave &>(W).Parent, FaultCause::Stack, 0x20000000, &W, &I, Text, Lane, Address);
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
    QueueError = 0x20000000;
    break;
  case FaultKind::LdsRange:
    Cause = FaultCause::LocalMemory;
    QueueError = 0x20000000;
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
  report(*static_cast<MachineWave &>(W).Parent, Cause, QueueError, &W, &I, Text, Lane, Addr);
}

} // namespace vgpu
