// The assembler of the tests, and their wave.
#include "Harness.h"

#include "isa/Tables.h"

#include <llvm/MC/MCAsmBackend.h>
#include <llvm/MC/MCAsmInfo.h>
#include <llvm/MC/MCCodeEmitter.h>
#include <llvm/MC/MCContext.h>
#include <llvm/MC/MCFixup.h>
#include <llvm/MC/MCInstrInfo.h>
#include <llvm/MC/MCObjectFileInfo.h>
#include <llvm/MC/MCParser/MCAsmParser.h>
#include <llvm/MC/MCParser/MCTargetAsmParser.h>
#include <llvm/MC/MCRegisterInfo.h>
#include <llvm/MC/MCStreamer.h>
#include <llvm/MC/MCSubtargetInfo.h>
#include <llvm/MC/MCTargetOptions.h>
#include <llvm/MC/TargetRegistry.h>
#include <llvm/Support/MemoryBuffer.h>
#include <llvm/Support/SourceMgr.h>

#include <algorithm>
#include <cstdlib>
#include <regex>

extern "C" {
void LLVMInitializeAMDGPUTargetInfo();
void LLVMInitializeAMDGPUTargetMC();
void LLVMInitializeAMDGPUAsmParser();
}

namespace vgputest {

namespace {

/// Takes instructions as the parser makes them and keeps their bytes.
class ByteStreamer : public llvm::MCStreamer {
public:
  ByteStreamer(llvm::MCContext &Ctx, llvm::MCCodeEmitter &Emitter)
      : llvm::MCStreamer(Ctx), Emitter(Emitter) {}

  std::string Bytes;

  void emitInstruction(const llvm::MCInst &Inst,
                       const llvm::MCSubtargetInfo &STI) override {
    llvm::raw_string_ostream Out(Bytes);
    llvm::SmallVector<llvm::MCFixup, 4> Fixups;
    Emitter.encodeInstruction(Inst, Out, Fixups, STI);
  }
  bool emitSymbolAttribute(llvm::MCSymbol *, llvm::MCSymbolAttr) override {
    return true;
  }
  void emitCommonSymbol(llvm::MCSymbol *, uint64_t, unsigned) override {}
  void emitZerofill(llvm::MCSection *, llvm::MCSymbol *, uint64_t, unsigned,
                    llvm::SMLoc) override {}

private:
  llvm::MCCodeEmitter &Emitter;
};

struct Assembler {
  const llvm::Target *T = nullptr;
  std::unique_ptr<llvm::MCRegisterInfo> Registers;
  std::unique_ptr<llvm::MCAsmInfo> Asm;
  std::unique_ptr<llvm::MCInstrInfo> Instrs;
  std::unique_ptr<llvm::MCSubtargetInfo> Subtarget;
  llvm::MCTargetOptions Options;

  explicit Assembler(const TestTarget &Target) {
    LLVMInitializeAMDGPUTargetInfo();
    LLVMInitializeAMDGPUTargetMC();
    LLVMInitializeAMDGPUAsmParser();
    std::string Error;
    const std::string Triple = "amdgcn-amd-amdhsa";
    T = llvm::TargetRegistry::lookupTarget(Triple, Error);
    Registers.reset(T->createMCRegInfo(Triple));
    Asm.reset(T->createMCAsmInfo(*Registers, Triple, Options));
    Instrs.reset(T->createMCInstrInfo());
    const char *Features = !Target.isGfx10()       ? ""
                           : Target.WaveSize == 32 ? "+wavefrontsize32"
                                                   : "+wavefrontsize64";
    Subtarget.reset(T->createMCSubtargetInfo(Triple, Target.Name, Features));
  }
};

} // namespace

std::vector<uint8_t> assemble(const std::string &Text,
                              const TestTarget &Target) {
  static std::map<std::pair<std::string, unsigned>, std::unique_ptr<Assembler>>
      Assemblers;
  std::unique_ptr<Assembler> &Made = Assemblers[{Target.Name, Target.WaveSize}];
  if (!Made)
    Made = std::make_unique<Assembler>(Target);
  Assembler &A = *Made;
  llvm::SourceMgr Sources;
  std::string Message;
  Sources.setDiagHandler(
      [](const llvm::SMDiagnostic &Diag, void *Context) {
        *static_cast<std::string *>(Context) += Diag.getMessage().str();
      },
      &Message);
  Sources.AddNewSourceBuffer(llvm::MemoryBuffer::getMemBufferCopy(Text + "\n"),
                             llvm::SMLoc());
  llvm::MCContext Context(llvm::Triple("amdgcn-amd-amdhsa"), A.Asm.get(),
                          A.Registers.get(), A.Subtarget.get(), &Sources);
  std::unique_ptr<llvm::MCObjectFileInfo> Object(
      A.T->createMCObjectFileInfo(Context, true));
  Context.setObjectFileInfo(Object.get());
  std::unique_ptr<llvm::MCCodeEmitter> Emitter(
      A.T->createMCCodeEmitter(*A.Instrs, Context));
  ByteStreamer Streamer(Context, *Emitter);
  A.T->createNullTargetStreamer(Streamer);
  std::unique_ptr<llvm::MCAsmParser> Parser(
      llvm::createMCAsmParser(Sources, Context, Streamer, *A.Asm));
  std::unique_ptr<llvm::MCTargetAsmParser> TargetParser(
      A.T->createMCAsmParser(*A.Subtarget, *Parser, *A.Instrs, A.Options));
  Parser->setTargetParser(*TargetParser);
  if (Parser->Run(false) || Streamer.Bytes.empty())
    ADD_FAILURE() << "cannot assemble '" << Text << "': " << Message;
  return std::vector<uint8_t>(Streamer.Bytes.begin(), Streamer.Bytes.end());
}

size_t TestEnv::fetchCode(uint64_t Addr, void *Dst, size_t N) {
  auto *Bytes = static_cast<uint8_t *>(Dst);
  size_t Got = 0;
  for (auto At = Code.find(Addr);
       Got < N && At != Code.end() && At->first == Addr + Got; ++At)
    Bytes[Got++] = At->second;
  return Got;
}

/// VGPU_TEST_PORTABLE: the handlers for hosts without AVX2 take precedence.
static std::vector<vgpu::OpTable> extraTables() {
  return std::getenv("VGPU_TEST_PORTABLE") ? vgpu::portableVectorTables()
                                           : std::vector<vgpu::OpTable>();
}

TestTarget TestTarget::usual() {
  TestTarget T;
  if (const char *Text = std::getenv("VGPU_TEST_TARGET")) {
    T.Name = Text;
    const size_t Slash = T.Name.find('/');
    if (Slash != std::string::npos) {
      T.WaveSize = unsigned(std::stoul(T.Name.substr(Slash + 1)));
      T.Name.resize(Slash);
    }
  }
  return T;
}

WaveTest::WaveTest(const TestTarget &Target)
    : Target(Target), D(Target.Name, extraTables()),
      Registers(vgpu::Wave::registerSlots(256, 256)) {
  EXPECT_EQ(D.error(), "");
  W.Vgpr = Registers.data();
  W.NumVgprs = 256;
  W.NumAccs = D.target().HasAccVgprs ? 256 : 0;
  W.setTarget(D.target(), Target.WaveSize);
  W.Env = &Env;
  W.Mode = DefaultMode;
  W.setExec(allLanes());
  std::memset(static_cast<void *>(Registers.data()), 0,
              Registers.size() * sizeof(vgpu::Vreg));
}

std::string WaveTest::spell(const std::string &Text) const {
  if (!Target.isGfx10())
    return Text;
  // What has gone: multiplications that round before they add, comparisons of
  // 16-bit integers that look at neither.
  for (const char *Gone :
       {"v_mad_f", "v_mac_f", "v_madmk", "v_madak", "v_mad_legacy", "v_mad_mix",
        "v_subrev_u16", "_f_i16", "_f_u16", "_t_i16", "_t_u16"})
    if (Text.find(Gone) != std::string::npos)
      return {};
  std::string Spelled;
  for (size_t Start = 0; Start < Text.size();) {
    size_t End = Text.find('\n', Start);
    if (End == std::string::npos)
      End = Text.size();
    std::string Line = Text.substr(Start, End - Start);
    Start = End + 1;
    Line.erase(0, Line.find_first_not_of(' '));
    for (const vgpu::OpAlias &A : vgpu::gfx10Aliases()) {
      const std::string Old = A.Same;
      // Only whole names: what follows is an operand or an encoding.
      if (Line.compare(0, Old.size(), Old) == 0 &&
          (Line[Old.size()] == ' ' || Line[Old.size()] == '_')) {
        Line.replace(0, Old.size(), A.Name);
        break;
      }
    }
    if (Line.compare(0, 7, "v_cmpx_") == 0 &&
        std::count(Line.begin(), Line.end(), ',') == 2) {
      const size_t Space = Line.find(' '), Comma = Line.find(',');
      Line.erase(Space, Comma - Space);
      Line[Space] = ' ';
    }
    if (Target.WaveSize == 32 && Line[0] == 'v') {
      static const std::regex Vcc("\\bvcc\\b"), Pair("s\\[([0-9]+):[0-9]+\\]");
      Line = std::regex_replace(Line, Vcc, "vcc_lo");
      for (const char *TakesMask :
           {"v_cmp", "v_cndmask", "v_div_scale", "v_add_co", "v_sub_co",
            "v_subrev_co", "v_mad_u64", "v_mad_i64"})
        if (Line.compare(0, std::strlen(TakesMask), TakesMask) == 0)
          Line = std::regex_replace(Line, Pair, "s$1");
    }
    Spelled += Line + "\n";
  }
  return Spelled;
}

void WaveTest::run(const std::string &Text) {
  if (Text != LastText) {
    LastText = Text;
    LastCode.clear();
    const std::string Spelled = spell(Text);
    if (Spelled.empty())
      ADD_FAILURE() << "no such instruction on this target: " << Text;
    const std::vector<uint8_t> Code = assemble(Spelled, Target);
    for (size_t At = 0; At < Code.size(); At += 4 * LastCode.back().Size) {
      LastCode.emplace_back();
      D.decode(0x1000 + At, Code.data() + At, Code.size() - At,
               LastCode.back());
    }
  }
  Env.FaultText.clear();
  W.Status = vgpu::WaveStatus::Running;
  for (const vgpu::Inst &I : LastCode) {
    if (W.Status != vgpu::WaveStatus::Running)
      break;
    W.Pc = I.Pc + 4 * I.Size;
    execute(I);
  }
}

void WaveTest::execute(const vgpu::Inst &I) {
  executedNames().insert(I.Info->Name);
  const bool IsVector =
      I.Form >= vgpu::Format::Vop1 && I.Form <= vgpu::Format::Vop3p;
  if (!IsVector || lanes() != 32) {
    vgpu::execute(W, I);
    return;
  }
  // Lane masks of a wave32 are one register: VCC_HI, EXEC_HI and whatever else
  // lies beside one stay.
  uint32_t Before[128];
  std::memcpy(Before, W.Sgpr, sizeof Before);
  vgpu::execute(W, I);
  unsigned Changed = 0;
  for (unsigned N = 0; N < 128; ++N)
    Changed += W.Sgpr[N] != Before[N];
  EXPECT_LE(Changed, 1u) << I.Info->Name;
  EXPECT_EQ(W.Sgpr[107], Before[107]) << I.Info->Name << ": VCC_HI";
  EXPECT_EQ(W.Sgpr[127], Before[127]) << I.Info->Name << ": EXEC_HI";
}

std::set<std::string> &executedNames() {
  static std::set<std::string> Names;
  return Names;
}

uint64_t WaveTest::scalar2(const std::string &Text, uint64_t A, uint64_t B,
                           bool SccIn) {
  W.setScalar64(0, 0xdeadbeefcafef00d);
  W.setScalar64(2, A);
  W.setScalar64(4, B);
  W.Scc = SccIn;
  run(Text);
  EXPECT_EQ(Env.FaultText, "") << Text;
  return W.scalar64(0);
}

const std::vector<uint64_t> &edgesInt32() {
  static const std::vector<uint64_t> V = {
      0,          1,          2,          3,          31,         32,
      33,         63,         64,         0x7f,       0x80,       0xff,
      0x100,      0x7fff,     0x8000,     0xffff,     0x10000,    0x7fffff,
      0x800000,   0xffffff,   0x1000000,  0x12345678, 0x80000000, 0x7fffffff,
      0xfffffffe, 0xffffffff, 0xdeadbeef, 0xaaaa5555};
  return V;
}
const std::vector<uint64_t> &edgesInt64() {
  static const std::vector<uint64_t> V = {0,
                                          1,
                                          2,
                                          31,
                                          32,
                                          63,
                                          64,
                                          0xff,
                                          0x7fffffff,
                                          0x80000000,
                                          0xffffffff,
                                          0x100000000,
                                          0x7fffffffffffffff,
                                          0x8000000000000000,
                                          0xffffffffffffffff,
                                          0xfffffffffffffffe,
                                          0x123456789abcdef0,
                                          0xdeadbeefcafef00d,
                                          0x8000000080000000,
                                          33};
  return V;
}
const std::vector<uint64_t> &edgesFloat() {
  static const std::vector<uint64_t> V = {
      0x00000000, 0x80000000, 0x00000001, 0x80000001, 0x007fffff, 0x807fffff,
      0x00800000, 0x80800000, 0x3f800000, 0xbf800000, 0x3f7fffff, 0x3f800001,
      0x3f000000, 0x40490fdb, 0xc2f6e979, 0x4b000001, 0xcb7fffff, 0x4f000000,
      0xcf000000, 0x4f800000, 0x7f7fffff, 0xff7fffff, 0x7f800000, 0xff800000,
      0x7fc00000, 0xffc12345, 0x7f812345, 0xff800001, 0x33800000, 0x34000000,
      0x1a2b3c4d, 0x7e967699};
  return V;
}
const std::vector<uint64_t> &edgesDouble() {
  static const std::vector<uint64_t> V = {
      0x0000000000000000, 0x8000000000000000, 0x0000000000000001,
      0x8000000000000001, 0x000fffffffffffff, 0x0010000000000000,
      0x8010000000000000, 0x3ff0000000000000, 0xbff0000000000000,
      0x3fefffffffffffff, 0x3ff0000000000001, 0x400921fb54442d18,
      0xc05edd2f1a9fbe77, 0x4330000000000001, 0xc340000000000000,
      0x41dfffffffc00000, 0x7fefffffffffffff, 0xffefffffffffffff,
      0x7ff0000000000000, 0xfff0000000000000, 0x7ff8000000000000,
      0xfff8123456789abc, 0x7ff0000000000123, 0x3ca0000000000000,
      0x1234567890abcdef, 0x47e0000000000000, 0x36a0000000000000,
      0x3fe0000000000000};
  return V;
}
const std::vector<uint64_t> &edgesHalf() {
  static const std::vector<uint64_t> V = {
      0x0000, 0x8000, 0x0001, 0x8001, 0x03ff, 0x83ff, 0x0400, 0x8400,
      0x3c00, 0xbc00, 0x3bff, 0x3c01, 0x3800, 0x4248, 0xd640, 0x6401,
      0xe7ff, 0x7800, 0xf800, 0x7bff, 0xfbff, 0x7c00, 0xfc00, 0x7e00,
      0xfe12, 0x7d23, 0xfc01, 0x1000, 0x1400, 0x2e66};
  return V;
}

uint32_t nanOf32(std::initializer_list<uint64_t> Operands) {
  for (uint64_t O : Operands)
    if ((O & 0x7fffffff) > 0x7f800000)
      return uint32_t(O) | 0x00400000;
  return 0x7fc00000;
}
uint64_t nanOf64(std::initializer_list<uint64_t> Operands) {
  for (uint64_t O : Operands)
    if ((O & 0x7fffffffffffffff) > 0x7ff0000000000000)
      return O | 0x0008000000000000;
  return 0x7ff8000000000000;
}
uint16_t nanOf16(std::initializer_list<uint64_t> Operands) {
  for (uint64_t O : Operands)
    if ((O & 0x7fff) > 0x7c00)
      return uint16_t(O | 0x0200);
  return 0x7e00;
}

} // namespace vgputest
