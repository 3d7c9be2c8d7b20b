// The code cache: one decode per address, and never stale code.
#include "Harness.h"

#include "core/CodeCache.h"

namespace vgputest {
namespace {

class CodeCacheTest : public WaveTest {
protected:
  void place(uint64_t Addr, const std::string &Text) {
    for (uint8_t B : assemble(Text, Target))
      Env.Code[Addr++] = B;
  }
  vgpu::CodeCache Cache{D, Env};
};

TEST_F(CodeCacheTest, HandsOutTheSameInstruction) {
  place(0x2000, "v_mov_b32 v0, 1\n s_mov_b32 s0, 0x12345678\n s_endpgm");
  const vgpu::Inst &I = Cache.at(0x2004);
  EXPECT_STREQ(I.Info->Name, "s_mov_b32");
  EXPECT_EQ(I.Size, 2);
  EXPECT_EQ(I.Pc, 0x2004u);
  EXPECT_EQ(&Cache.at(0x2004), &I);
  EXPECT_EQ(D.disassemble(I), "s_mov_b32 s0, 0x12345678");
  Cache.invalidate();
  EXPECT_EQ(&Cache.at(0x2004), &I); // bytes are the same: decoded once
}

TEST_F(CodeCacheTest, NoticesReplacedCode) {
  place(0x2000, "v_mov_b32 v0, 1");
  EXPECT_STREQ(Cache.at(0x2000).Info->Name, "v_mov_b32");
  place(0x2000, "v_not_b32 v0, v1");
  Cache.invalidate();
  EXPECT_STREQ(Cache.at(0x2000).Info->Name, "v_not_b32");
  // A literal that lies in the next page belongs to the instruction too.
  place(0x2ffc, "s_mov_b32 s0, 0x11111111");
  EXPECT_EQ(Cache.at(0x2000).Info->Name, std::string("v_not_b32"));
  Cache.invalidate();
  EXPECT_EQ(Cache.at(0x2ffc).Src[0].Value, 0x11111111u);
  place(0x2ffc, "s_mov_b32 s0, 0x22222222");
  Cache.invalidate();
  EXPECT_EQ(Cache.at(0x2ffc).Src[0].Value, 0x22222222u);
}

TEST_F(CodeCacheTest, CodeMayStartAnywhereInAPage) {
  place(0x2010, "s_mov_b32 s0, 1\n s_mov_b32 s1, 2\n s_endpgm");
  EXPECT_EQ(Cache.at(0x2014).Src[0].Value, 2u);
  EXPECT_EQ(Cache.at(0x2010).Src[0].Value, 1u);
  vgpu::execute(W, Cache.at(0x200c));
  EXPECT_EQ(Env.FaultText, "instruction fetch from unmapped memory");
}

TEST_F(CodeCacheTest, FaultsOnUnmappedAndMisalignedCode) {
  place(0x2000, "s_endpgm");
  auto Fault = [&](uint64_t Pc) {
    Env.FaultText.clear();
    vgpu::execute(W, Cache.at(Pc));
    return Env.FaultText;
  };
  EXPECT_EQ(Fault(0x9000), "instruction fetch from unmapped memory");
  EXPECT_EQ(Fault(0x2004), "instruction fetch from unmapped memory");
  EXPECT_EQ(Fault(0x2002), "instruction fetch from misaligned address");
  Env.Code.clear();
  Cache.invalidate();
  EXPECT_EQ(Fault(0x2000), "instruction fetch from unmapped memory");
}

TEST_F(CodeCacheTest, UnknownInstructionsAreNamed) {
  auto Fault = [&](uint32_t Word0, uint32_t Word1) {
    const uint32_t Words[2] = {Word0, Word1};
    vgpu::Inst I;
    D.decode(0x1000, reinterpret_cast<const uint8_t *>(Words), sizeof Words, I);
    Env.FaultText.clear();
    vgpu::execute(W, I);
    EXPECT_EQ(Env.Fault, vgpu::FaultKind::UnknownInstruction);
    return Env.FaultText;
  };
  const bool Gfx10 = Target.isGfx10();
  EXPECT_EQ(Fault(Gfx10 ? 0xf8000000 : 0xc4000000, 0),
            std::string("unknown instruction exp (encoding ") +
                (Gfx10 ? "f8000000" : "c4000000") + " 00000000)");
  EXPECT_EQ(Fault(0xffffffff, 0),
            "unknown instruction (not an instruction) (encoding ffffffff)");
}

TEST_F(CodeCacheTest, RejectsUnknownTargets) {
  EXPECT_EQ(vgpu::Decoder("gfx9999").error(),
            "unknown target 'gfx9999' (known: gfx900, gfx906, gfx908, "
            "gfx90a, gfx1030)");
}

} // namespace
} // namespace vgputest
