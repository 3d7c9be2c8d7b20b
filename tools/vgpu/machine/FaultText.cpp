//===- FaultText.cpp - The parts of a fault's message -----------------------===//
#include "machine/FaultText.h"

#include "llvm/Demangle/Demangle.h"

#include <algorithm>
#include <cstdio>
#include <deque>
#include <map>
#include <tuple>

namespace vgpu {

std::string hexText(uint64_t Value) {
  char Text[24];
  std::snprintf(Text, sizeof Text, "0x%llx", static_cast<unsigned long long>(Value));
  return Text;
}

std::string tripleText(const uint32_t (&V)[3]) {
  return "(" + std::to_string(V[0]) + ", " + std::to_string(V[1]) + ", " + std::to_string(V[2]) +
         ")";
}

namespace {

/// Lists "name = value" pairs.
class RegisterList {
public:
  RegisterList(const Wave &W, unsigned Lane) : W(W), Lane(Lane) {}

  void vector(unsigned Reg, unsigned Count) {
    if (Lane >= MaxLanes || Reg + Count > W.NumVgprs)
      return;
    uint64_t Value = W.Vgpr[Reg].Lane[Lane];
    if (Count == 2)
      Value |= uint64_t(W.Vgpr[Reg + 1].Lane[Lane]) << 32;
    add(name('v', Reg, Count) + " = " + hexText(Value));
  }
  void scalar(unsigned Reg, unsigned Count) {
    std::string Value = hexText(Count >= 2 ? W.scalar64(Reg) : W.Sgpr[Reg]);
    if (Count == 4)
      Value = hexText(W.Sgpr[Reg]) + " " + hexText(W.Sgpr[Reg + 1]) + " " +
              hexText(W.Sgpr[Reg + 2]) + " " + hexText(W.Sgpr[Reg + 3]);
    add(name('s', Reg, Count) + " = " + Value);
  }
  void scalarOffset(const Operand &O) {
    if (O.Kind == OperandKind::Sgpr)
      scalar(O.Reg, 1);
    else if (O.Kind == OperandKind::Const && O.Value)
      offset(int64_t(O.Value));
  }
  void offset(int64_t Bytes) {
    if (Bytes)
      add("offset " + std::to_string(Bytes));
  }
  std::string Text;

private:
  void add(const std::string &Part) { Text += (Text.empty() ? "" : ", ") + Part; }
  static std::string name(char File, unsigned Reg, unsigned Count) {
    if (File == 's' && Reg == RegM0)
      return "m0";
    if (File == 's' && Reg == RegVcc)
      return Count == 1 ? "vcc_lo" : "vcc";
    const std::string First = std::to_string(Reg);
    return Count == 1 ? File + First
                      : std::string(1, File) + "[" + First + ":" + std::to_string(Reg + Count - 1) +
                            "]";
  }

  const Wave &W;
  const unsigned Lane;
};

} // namespace

std::string addressText(const Inst &I, const Wave &W, unsigned Lane) {
  RegisterList List(W, Lane);
  switch (I.Form) {
  case Format::Flat:
    if (I.VAddr != Inst::NoReg)
      List.vector(I.VAddr, I.Seg == Segment::Scratch || I.SAddr != Inst::NoReg ? 1 : 2);
    if (I.SAddr != Inst::NoReg)
      List.scalar(I.SAddr, I.Seg == Segment::Scratch ? 1 : 2);
    List.offset(I.Offset);
    break;
  case Format::Ds:
    if (I.VAddr != Inst::NoReg)
      List.vector(I.VAddr, 1);
    if (I.Info->Flags & OpLdsPair) {
      List.offset(I.Offset0);
      List.offset(I.Offset1);
    } else {
      List.offset(I.Offset);
    }
    break;
  case Format::Mubuf:
  case Format::Mtbuf:
    if (I.SRsrc != Inst::NoReg)
      List.scalar(I.SRsrc, 4);
    if (I.VAddr != Inst::NoReg && (I.Idxen || I.Offen)) {
      List.vector(I.VAddr, 1);
      if (I.Idxen && I.Offen)
        List.vector(I.VAddr + 1, 1);
    }
    List.scalarOffset(I.SOffset);
    List.offset(I.Offset);
    break;
  case Format::Smem:
    if (I.SBase != Inst::NoReg)
      List.scalar(I.SBase, 2);
    List.scalarOffset(I.SOffset);
    List.offset(I.Offset);
    break;
  default:
    break;
  }
  return List.Text;
}

std::string execText(const Wave &W) {
  return "exec = " + hexText(W.exec()) + ", " + std::to_string(__builtin_popcountll(W.exec())) +
         " of " + std::to_string(W.WaveSize) + " lanes active";
}

std::vector<std::string> sourceText(const CodePlace &Place) {
  std::vector<std::string> Lines;
  for (const SourceFrame &Frame : Place.Frames) {
    std::string Text = (Lines.empty() ? "at " : "  inlined at ") + Frame.File + ":" +
                       std::to_string(Frame.Line) + ":" + std::to_string(Frame.Column);
    if (!Frame.Function.empty())
      Text += " in " + llvm::demangle(Frame.Function);
    Lines.push_back(Text);
  }
  return Lines;
}

std::vector<std::string> codeText(CodeCache &Code, const Decoder &Decode, unsigned WaveSize,
                                  uint64_t Begin, uint64_t Pc) {
  constexpr unsigned Before = 4, After = 3;
  constexpr uint64_t Farthest = 1 << 20; // Beyond that, Begin is not its function.
  std::deque<uint64_t> Earlier;
  uint64_t At = Begin;
  if (Begin && Begin <= Pc && Pc - Begin < Farthest)
    while (At < Pc) {
      Earlier.push_back(At);
      if (Earlier.size() > Before)
        Earlier.pop_front();
      At += 4 * Code.at(At).Size;
    }
  if (At != Pc)
    Earlier.clear();

  std::vector<std::string> Lines;
  auto Add = [&](uint64_t Address) {
    const Inst &I = Code.at(Address);
    const uint64_t Base = Begin && Begin <= Pc ? Begin : Pc;
    char Place[32];
    std::snprintf(Place, sizeof Place, "%s+0x%-5llx ", Address == Pc ? "=> " : "   ",
                  static_cast<unsigned long long>(Address - Base));
    Lines.push_back(Place + Decode.disassemble(I, WaveSize));
    const bool Last = I.Info->Class == OpClass::End || I.Info->Class == OpClass::Unknown;
    return Last && Address >= Pc ? uint64_t(0) : Address + 4 * I.Size;
  };
  for (uint64_t Address : Earlier)
    Add(Address);
  At = Pc;
  for (unsigned I = 0; I <= After && At; ++I)
    At = Add(At);
  return Lines;
}

std::vector<std::string> wavesText(const std::vector<WaveAt> &Waves, uint64_t Entry) {
  constexpr size_t Most = 8;
  std::map<std::tuple<bool, bool, uint64_t>, size_t> Counts;
  for (const WaveAt &W : Waves)
    ++Counts[{!W.SameGroup, !W.AtBarrier, W.Pc}];
  std::vector<std::pair<std::tuple<bool, bool, uint64_t>, size_t>> Order(Counts.begin(),
                                                                         Counts.end());
  std::stable_sort(Order.begin(), Order.end(), [](const auto &A, const auto &B) {
    return std::get<0>(A.first) != std::get<0>(B.first) ? std::get<0>(A.first) < std::get<0>(B.first)
                                                        : A.second > B.second;
  });
  std::vector<std::string> Lines;
  for (const auto &[Place, Count] : Order) {
    if (Lines.size() == Most) {
      Lines.push_back(std::to_string(Order.size() - Most) + " more places");
      break;
    }
    const auto &[Elsewhere, Runs, Pc] = Place;
    Lines.push_back(std::to_string(Count) + (Count == 1 ? " wave" : " waves") +
                    (Elsewhere ? " of other workgroups" : " of this workgroup") +
                    (Runs ? " at entry + " : " waiting at the barrier at entry + ") +
                    hexText(Pc - Entry));
  }
  return Lines;
}

} // namespace vgpu
