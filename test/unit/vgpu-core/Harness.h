// Runs single instructions: text is assembled by LLVM MC, decoded and executed
// by the virtual GPU's core on one wave, whose registers the test sets and
// reads.
#ifndef KPROBE_TEST_VGPU_CORE_HARNESS_H
#define KPROBE_TEST_VGPU_CORE_HARNESS_H

#include "core/Decoder.h"
#include "core/Env.h"
#include "core/Execute.h"
#include "core/Wave.h"

#include <gtest/gtest.h>

#include <cstring>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <vector>

namespace vgputest {

struct TestTarget {
  std::string Name = "gfx906";
  unsigned WaveSize = 64;
  TestTarget() = default;
  TestTarget(const char *Name, unsigned WaveSize = 64)
      : Name(Name), WaveSize(WaveSize) {}
  bool isGfx10() const { return vgpu::findTarget(Name)->isGfx10(); }
  /// gfx906, or what the environment says.
  static TestTarget usual();
};

/// Machine code of one or more lines; fails the test on a syntax error.
std::vector<uint8_t> assemble(const std::string &Text,
                              const TestTarget &Target = TestTarget());

/// Names, as handlers have them, of all instructions that tests have run.
std::set<std::string> &executedNames();

/// Records what instructions ask of the machine.
class TestEnv : public vgpu::ExecEnv, public vgpu::CodeMemory {
public:
  std::string FaultText;
  vgpu::FaultKind Fault{};
  std::string Calls; // "barrier;", "msg 1;", …
  std::map<uint32_t, uint32_t> HwRegs;
  std::map<uint64_t, uint8_t> Code;

  size_t fetchCode(uint64_t Addr, void *Dst, size_t N) override;
  void *memory(vgpu::Wave &, uint64_t, size_t, vgpu::Access) override {
    return nullptr;
  }
  uint8_t *ldsBase(vgpu::Wave &) override { return nullptr; }
  size_t ldsSize(vgpu::Wave &) override { return 0; }
  uint64_t cycleClock(vgpu::Wave &) override { return 0; }
  uint64_t realTime(vgpu::Wave &) override { return 0; }
  void endProgram(vgpu::Wave &W) override {
    W.Status = vgpu::WaveStatus::Ended;
  }
  void barrier(vgpu::Wave &) override { Calls += "barrier;"; }
  void waitCounters(vgpu::Wave &, const vgpu::Inst &, uint32_t Imm) override {
    Calls += "wait " + std::to_string(Imm) + ";";
  }
  void sleep(vgpu::Wave &, uint32_t N) override {
    Calls += "sleep " + std::to_string(N) + ";";
  }
  void sendMessage(vgpu::Wave &, const vgpu::Inst &, uint32_t M,
                   uint32_t M0) override {
    Calls += "msg " + std::to_string(M) + " " + std::to_string(M0) + ";";
  }
  void trap(vgpu::Wave &, const vgpu::Inst &, uint32_t Id) override {
    Calls += "trap " + std::to_string(Id) + ";";
  }
  void setPriority(vgpu::Wave &, uint32_t P) override {
    Calls += "prio " + std::to_string(P) + ";";
  }
  bool readHwReg(vgpu::Wave &, uint32_t Id, uint32_t &Value) override {
    auto Found = HwRegs.find(Id);
    if (Found == HwRegs.end())
      return false;
    Value = Found->second;
    return true;
  }
  bool writeHwReg(vgpu::Wave &, uint32_t Id, uint32_t Value) override {
    HwRegs[Id] = Value;
    return true;
  }
  void invalidateCode(vgpu::Wave &) override { Calls += "icache;"; }
  void fault(vgpu::Wave &W, const vgpu::Inst &, vgpu::FaultKind Kind,
             std::string Text, unsigned, uint64_t) override {
    Fault = Kind;
    FaultText = Text;
    W.Status = vgpu::WaveStatus::Faulted;
  }
};

/// One wave with 256 VGPRs and, where the target has them, 256 AccVGPRs. MODE
/// as clang sets it: nearest even, all denormals, IEEE, DX10 clamp.
class WaveTest : public ::testing::Test {
protected:
  static constexpr uint32_t DefaultMode =
      0xf0 | vgpu::ModeDx10Clamp | vgpu::ModeIeee;

  explicit WaveTest(const TestTarget &Target = TestTarget::usual());

  unsigned lanes() const { return W.WaveSize; }
  uint64_t allLanes() const { return W.laneMask(); }
  /// Text as the test's target has it: other names of the same instructions,
  /// lane masks of 32 bits. Empty if gfx10 has no such instruction.
  std::string spell(const std::string &Text) const;

  /// Assembles, decodes and runs Text (one or more lines) as if at 0x1000. The
  /// same text again is not assembled again.
  void run(const std::string &Text);
  /// The same, expecting no fault.
  void runOk(const std::string &Text) {
    run(Text);
    ASSERT_EQ(Env.FaultText, "") << Text;
  }

  uint32_t *v(unsigned Reg) { return W.Vgpr[Reg].Lane; }
  uint64_t v64(unsigned Reg, unsigned Lane) {
    return uint64_t(v(Reg)[Lane]) | uint64_t(v(Reg + 1)[Lane]) << 32;
  }
  void setV(unsigned Reg, uint32_t Value) {
    for (unsigned L = 0; L < 64; ++L)
      v(Reg)[L] = Value;
  }
  void setV64(unsigned Reg, unsigned Lane, uint64_t Value) {
    v(Reg)[Lane] = uint32_t(Value);
    v(Reg + 1)[Lane] = uint32_t(Value >> 32);
  }
  uint32_t &s(unsigned Reg) { return W.Sgpr[Reg]; }
  uint64_t s64(unsigned Reg) { return W.scalar64(Reg); }
  void setMode(unsigned Shift, unsigned Width, uint32_t Value) {
    const uint32_t Mask = ((1u << Width) - 1) << Shift;
    W.Mode = (W.Mode & ~Mask) | Value << Shift;
  }

  /// Scalar: s0 = op(s2, s4) with 64-bit registers written whole; SCC in *Scc.
  uint64_t scalar2(const std::string &Text, uint64_t A, uint64_t B,
                   bool SccIn = false);

  /// Runs Text over all combinations of the values in v2, v4, v6 (pairs of
  /// registers if Wide) and calls Check(a, b, c, v0, lane mask in vcc).
  /// The mask is the lane's bit of VCC; of EXEC for v_cmpx of gfx10.
  template <class F>
  void sweep(const std::string &Text, unsigned Sources,
             const std::vector<uint64_t> &Values, F Check);

  const TestTarget Target;
  vgpu::Decoder D;
  TestEnv Env;
  std::vector<vgpu::Vreg> Registers;
  vgpu::Wave W;

private:
  void execute(const vgpu::Inst &I);

  std::string LastText; // what LastCode was decoded from
  std::vector<vgpu::Inst> LastCode;
};

template <class F>
void WaveTest::sweep(const std::string &Text, unsigned Sources,
                     const std::vector<uint64_t> &Values, F Check) {
  const std::string Spelled = spell(Text);
  if (Spelled.empty())
    return;
  size_t Total = 1;
  for (unsigned N = 0; N < Sources; ++N)
    Total *= Values.size();
  const std::vector<uint8_t> Code = assemble(Spelled, Target);
  vgpu::Inst I;
  D.decode(0x1000, Code.data(), Code.size(), I);
  const bool ToExec = Target.isGfx10() && I.Info->Flags & vgpu::OpCompareX;
  const unsigned Lanes = lanes();
  for (size_t First = 0; First < Total; First += Lanes) {
    uint64_t In[3][64];
    for (unsigned L = 0; L < Lanes; ++L) {
      size_t Index = (First + L) % Total;
      for (unsigned N = 0; N < 3; ++N) {
        In[N][L] = N < Sources ? Values[Index % Values.size()] : 0;
        Index /= Values.size();
        setV64(2 + 2 * N, L, In[N][L]);
      }
      // Bits 31 to 16 of v0 are 0 where 16-bit results keep them.
      setV64(0, L, Target.isGfx10() ? 0xdeadbeef0000f00d : 0xdeadbeefcafef00d);
    }
    W.Pc = 0x1000 + 4 * I.Size;
    W.Status = vgpu::WaveStatus::Running;
    Env.FaultText.clear();
    if (ToExec)
      W.setExec(allLanes());
    execute(I);
    ASSERT_EQ(Env.FaultText, "") << Spelled;
    const uint64_t Mask = ToExec ? W.exec() : W.vcc();
    for (unsigned L = 0; L < Lanes && First + L < Total; ++L) {
      Check(In[0][L], In[1][L], In[2][L], v64(0, L), bool((Mask >> L) & 1));
      if (HasFailure()) {
        ADD_FAILURE() << Spelled << std::hex << " a=0x" << In[0][L] << " b=0x"
                      << In[1][L] << " c=0x" << In[2][L] << " result=0x"
                      << v64(0, L);
        return;
      }
    }
  }
}

/// Edge values of each format.
const std::vector<uint64_t> &edgesInt32();
const std::vector<uint64_t> &edgesInt64();
const std::vector<uint64_t> &edgesFloat();
const std::vector<uint64_t> &edgesDouble();
const std::vector<uint64_t> &edgesHalf();

inline float asFloat(uint64_t Bits) {
  const uint32_t B = uint32_t(Bits);
  float V;
  std::memcpy(&V, &B, 4);
  return V;
}
inline double asDouble(uint64_t Bits) {
  double V;
  std::memcpy(&V, &Bits, 8);
  return V;
}
inline _Float16 asHalf(uint64_t Bits) {
  const uint16_t B = uint16_t(Bits);
  _Float16 V;
  std::memcpy(&V, &B, 2);
  return V;
}
inline uint32_t bits(float V) {
  uint32_t B;
  std::memcpy(&B, &V, 4);
  return B;
}
inline uint64_t bits(double V) {
  uint64_t B;
  std::memcpy(&B, &V, 8);
  return B;
}
inline uint16_t bits(_Float16 V) {
  uint16_t B;
  std::memcpy(&B, &V, 2);
  return B;
}

/// The first NaN among the operands, quiet, or the default NaN: what a float
/// operation of the device gives where the host gives some NaN.
uint32_t nanOf32(std::initializer_list<uint64_t> Operands);
uint64_t nanOf64(std::initializer_list<uint64_t> Operands);
uint16_t nanOf16(std::initializer_list<uint64_t> Operands);

} // namespace vgputest

#endif
