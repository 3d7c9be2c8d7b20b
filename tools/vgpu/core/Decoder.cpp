// Decoding: LLVM MC for name and size, the tables for the handler, FieldReader
// for the operands.
#include "Decoder.h"

#include "Env.h"
#include "FieldReader.h"
#include "isa/Tables.h"

#include <llvm/MC/MCAsmInfo.h>
#include <llvm/MC/MCContext.h>
#include <llvm/MC/MCDisassembler/MCDisassembler.h>
#include <llvm/MC/MCInst.h>
#include <llvm/MC/MCInstPrinter.h>
#include <llvm/MC/MCInstrInfo.h>
#include <llvm/MC/MCRegisterInfo.h>
#include <llvm/MC/MCSubtargetInfo.h>
#include <llvm/MC/MCTargetOptions.h>
#include <llvm/MC/TargetRegistry.h>
#include <llvm/Support/TargetSelect.h>

#include <algorithm>
#include <cstdio>
#include <cstring>

extern "C" {
void LLVMInitializeAMDGPUTargetInfo();
void LLVMInitializeAMDGPUTargetMC();
void LLVMInitializeAMDGPUDisassembler();
}

namespace vgpu {

struct Decoder::Mc {
  std::unique_ptr<llvm::MCRegisterInfo> Registers;
  std::unique_ptr<llvm::MCAsmInfo> Asm;
  std::unique_ptr<llvm::MCInstrInfo> Instrs;
  std::unique_ptr<llvm::MCSubtargetInfo> Subtarget;
  std::unique_ptr<llvm::MCContext> Context;
  std::unique_ptr<llvm::MCDisassembler> Disassembler;
  std::unique_ptr<llvm::MCInstPrinter> Printer;

  /// For waves of this size: names and lengths do not depend on it, but lane
  /// masks are printed as one register or two. Null, and why, if LLVM cannot.
  static std::unique_ptr<Mc> make(const TargetTraits &Target, unsigned WaveSize,
                                  std::string &Error);

  /// False if MC does not know it.
  bool read(llvm::MCInst &MI, uint64_t Pc, llvm::ArrayRef<uint8_t> Bytes, uint64_t &Size) {
    return Disassembler->getInstruction(MI, Size, Bytes, Pc, llvm::nulls()) !=
           llvm::MCDisassembler::Fail;
  }

  /// The instruction's name alone, as the assembler spells it before suffixes of
  /// encodings, empty if MC does not know it. Operands are what takes the time to print.
  std::string name(uint64_t Pc, llvm::ArrayRef<uint8_t> Bytes, uint64_t &Size) {
    llvm::MCInst MI;
    if (!read(MI, Pc, Bytes, Size))
      return {};
    const char *Name = Printer->getMnemonic(&MI).first;
    return Name ? Name : "";
  }

  /// Text of the instruction, empty if MC does not know it.
  std::string print(uint64_t Pc, llvm::ArrayRef<uint8_t> Bytes, uint64_t &Size) {
    llvm::MCInst MI;
    if (!read(MI, Pc, Bytes, Size))
      return {};
    std::string Text;
    llvm::raw_string_ostream Out(Text);
    Printer->printInst(&MI, Pc, "", *Subtarget, Out);
    Out.flush();
    size_t Start = Text.find_first_not_of(" \t");
    size_t End = Text.find_last_not_of(" \t\n");
    return Start == std::string::npos ? std::string() : Text.substr(Start, End - Start + 1);
  }
};

std::unique_ptr<Decoder::Mc> Decoder::Mc::make(const TargetTraits &Target, unsigned WaveSize,
                                               std::string &Error) {
  LLVMInitializeAMDGPUTargetInfo();
  LLVMInitializeAMDGPUTargetMC();
  LLVMInitializeAMDGPUDisassembler();
  const std::string Triple = "amdgcn-amd-amdhsa";
  const llvm::Target *T = llvm::TargetRegistry::lookupTarget(Triple, Error);
  if (!T)
    return nullptr;
  auto M = std::make_unique<Mc>();
  M->Registers.reset(T->createMCRegInfo(Triple));
  M->Asm.reset(T->createMCAsmInfo(*M->Registers, Triple, llvm::MCTargetOptions()));
  M->Instrs.reset(T->createMCInstrInfo());
  const char *Features = !Target.hasWave32() ? ""
                         : WaveSize == 32    ? "+wavefrontsize32,-wavefrontsize64"
                                             : "-wavefrontsize32,+wavefrontsize64";
  M->Subtarget.reset(T->createMCSubtargetInfo(Triple, Target.Name, Features));
  M->Context = std::make_unique<llvm::MCContext>(llvm::Triple(Triple), M->Asm.get(),
                                                 M->Registers.get(), M->Subtarget.get());
  M->Disassembler.reset(T->createMCDisassembler(*M->Subtarget, *M->Context));
  M->Printer.reset(T->createMCInstPrinter(llvm::Triple(Triple), M->Asm->getAssemblerDialect(),
                                          *M->Asm, *M->Instrs, *M->Registers));
  if (!M->Disassembler || !M->Printer) {
    Error = std::string("LLVM has no disassembler for '") + Target.Name + "'";
    return nullptr;
  }
  return M;
}

namespace {

std::string hexWords(const Inst &I) {
  std::string Text;
  for (unsigned N = 0; N < I.Size && N < 4; ++N) {
    char Word[12];
    std::snprintf(Word, sizeof Word, "%s%08x", N ? " " : "", I.Raw[N]);
    Text += Word;
  }
  return Text;
}

void raiseUnknown(Wave &W, const Inst &I) {
  W.Env->fault(W, I, FaultKind::UnknownInstruction,
               std::string("unknown instruction ") + I.Info->Name + " (encoding " + hexWords(I) +
                   ")",
               MaxLanes, 0);
}

void raiseIllegalOperand(Wave &W, const Inst &I) {
  W.Env->fault(W, I, FaultKind::IllegalOperand,
               std::string("illegal operand of ") + I.Info->Name + " (encoding " + hexWords(I) +
                   ")",
               MaxLanes, 0);
}

const OpInfo NoName{"(not an instruction)", raiseUnknown, OpClass::Unknown, OpEndsRun};

} // namespace

Decoder::Decoder(const std::string &Target, const std::vector<OpTable> &Extra) {
  Traits = findTarget(Target);
  if (!Traits) {
    Error = "unknown target '" + Target + "' (known: " + knownTargetNames() + ")";
    return;
  }
  M = Mc::make(*Traits, Traits->WaveSize, Error);
  if (!M)
    return;
  for (const OpTable &Table : isaTables())
    addTable(Table);
  for (const OpTable &Table : Extra)
    addTable(Table);
  if (Traits->isGfx10())
    addAliases(gfx10Aliases());
}

Decoder::~Decoder() = default;

/// The entries stay the tables' own but for their name.
void Decoder::addAliases(const std::vector<OpAlias> &Aliases) {
  for (const OpAlias &A : Aliases) {
    Renamed.push_back(*Ops.at(A.Same));
    Renamed.back().Name = A.Name;
    Ops[A.Name] = &Renamed.back();
  }
}

void Decoder::addTable(const OpTable &T) {
  for (size_t N = 0; N < T.Count; ++N)
    Ops[T.Ops[N].Name] = &T.Ops[N];
}

const Vreg *Decoder::broadcast(uint32_t Value) {
  std::unique_ptr<Vreg> &V = Constants[Value];
  if (!V) {
    V = std::make_unique<Vreg>();
    for (uint32_t &Lane : V->Lane)
      Lane = Value;
  }
  return V.get();
}

std::string Decoder::baseMnemonic(const std::string &Printed) {
  std::string Name = Printed.substr(0, Printed.find_first_of(" \t"));
  for (const char *Suffix : {"_e32", "_e64", "_sdwa", "_dpp"}) {
    size_t Length = std::strlen(Suffix);
    if (Name.size() > Length && Name.compare(Name.size() - Length, Length, Suffix) == 0)
      return Name.substr(0, Name.size() - Length);
  }
  return Name;
}

void Decoder::decode(uint64_t Pc, const uint8_t *Bytes, size_t Size, Inst &I) {
  std::lock_guard<std::mutex> Guard(Lock);
  I = Inst();
  I.Pc = Pc;
  std::memcpy(I.Raw, Bytes, std::min(Size, sizeof I.Raw));
  uint64_t Length = 0;
  const std::string Printed =
      M->name(Pc, llvm::ArrayRef<uint8_t>(Bytes, std::min<size_t>(Size, 20)), Length);
  if (Printed.empty()) {
    I.Info = &NoName;
    I.Run = NoName.Run;
    return;
  }
  I.Size = uint8_t(Length / 4);
  const std::string Name = baseMnemonic(Printed);
  auto Found = Ops.find(Name);
  if (Found == Ops.end()) {
    auto Fresh = std::make_unique<OpEntry>(OpEntry{nullptr, raiseUnknown, OpClass::Unknown, OpEndsRun});
    Names.push_back(Name);
    Fresh->Name = Names.back().c_str();
    I.Info = Fresh.get();
    I.Run = raiseUnknown;
    Unknown.push_back(std::move(Fresh));
    return;
  }
  I.Info = Found->second;
  I.Run = I.Info->Run;
  FieldReader Reader(*this, I);
  if (!Reader.read())
    I.Run = raiseIllegalOperand;
}

std::string Decoder::disassemble(const Inst &I, unsigned WaveSize) const {
  std::lock_guard<std::mutex> Guard(Lock);
  Mc *Printer = M.get();
  if (WaveSize && WaveSize != Traits->WaveSize) {
    std::string Ignored;
    if (!OtherWaveSize)
      OtherWaveSize = Mc::make(*Traits, WaveSize, Ignored);
    if (OtherWaveSize)
      Printer = OtherWaveSize.get();
  }
  uint8_t Bytes[sizeof I.Raw];
  std::memcpy(Bytes, I.Raw, sizeof Bytes);
  uint64_t Length = 0;
  std::string Text = Printer->print(I.Pc, Bytes, Length);
  return Text.empty() ? hexWords(I) : Text;
}

} // namespace vgpu
