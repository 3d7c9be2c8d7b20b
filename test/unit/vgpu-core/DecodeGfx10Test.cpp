// Where gfx10's encodings keep their fields: instructions as LLVM encodes them,
// with operands whose numbers alternate bits (0x55, 0xaa and the like), so that
// a field that is read a bit off shows.
#include "Harness.h"

#include "isa/MemTables.h"

#include <cstdio>

namespace vgputest {
namespace {

using vgpu::Inst;
using vgpu::OperandKind;

class DecodeGfx10Test : public ::testing::Test {
protected:
  DecodeGfx10Test() : D("gfx1030", vgpu::memoryTables()) {
    EXPECT_EQ(D.error(), "");
  }
  Inst decode(const std::string &Text) {
    const std::vector<uint8_t> Code =
        assemble(Text, TestTarget("gfx1030", 32));
    Inst I;
    D.decode(0x1000, Code.data(), Code.size(), I);
    EXPECT_EQ(4u * I.Size, Code.size()) << Text;
    EXPECT_EQ(I.Run, I.Info->Run) << Text << ": not legal";
    return I;
  }
  /// "v85", "s42", "0x5", "special 253".
  static std::string name(const vgpu::Operand &O) {
    switch (O.Kind) {
    case OperandKind::Vgpr:
      return "v" + std::to_string(O.Reg);
    case OperandKind::Sgpr:
      return "s" + std::to_string(O.Reg);
    case OperandKind::Special:
      return "special " + std::to_string(O.Reg);
    case OperandKind::Const: {
      char Text[20];
      std::snprintf(Text, sizeof Text, "0x%llx", (unsigned long long)O.Value);
      return Text;
    }
    default:
      return "none";
    }
  }
  /// Destination and sources.
  static std::string operands(const Inst &I) {
    std::string Text = name(I.Dst);
    for (const vgpu::Operand &O : I.Src)
      if (O.Kind != OperandKind::None)
        Text += " " + name(O);
    return Text;
  }

  vgpu::Decoder D;
};

TEST_F(DecodeGfx10Test, ScalarFormats) {
  EXPECT_EQ(operands(decode("s_add_u32 s85, s42, s84")), "s85 s42 s84");
  EXPECT_EQ(operands(decode("s_add_u32 s42, s85, -16")),
            "s42 s85 0xfffffff0");
  EXPECT_EQ(operands(decode("s_and_b64 s[84:85], s[42:43], 0x12345678")),
            "s84 s42 0x12345678");
  EXPECT_EQ(operands(decode("s_mov_b32 s105, 0.5")), "s105 0x3f000000");
  EXPECT_EQ(operands(decode("s_mov_b32 vcc_hi, src_scc")),
            "s107 special 253");
  EXPECT_EQ(operands(decode("s_mov_b64 exec, src_private_base")),
            "s126 special 237");
  EXPECT_EQ(operands(decode("s_mov_b32 m0, ttmp1")), "s124 s109");
  EXPECT_EQ(operands(decode("s_cmp_lt_i32 s42, 64")), "none s42 0x40");
  const Inst K = decode("s_addk_i32 s42, 0xaaaa");
  EXPECT_EQ(K.Dst.Reg, 42u);
  EXPECT_EQ(K.Imm, -0x5556);
  EXPECT_EQ(operands(decode("s_setreg_imm32_b32 hwreg(20), 0x12345678")),
            "none 0x12345678");
  EXPECT_EQ(decode("s_cbranch_scc0 0x5555").Imm, 0x5555);
}

TEST_F(DecodeGfx10Test, VectorFormats) {
  EXPECT_EQ(operands(decode("v_mov_b32 v170, v85")), "v170 v85");
  EXPECT_EQ(operands(decode("v_add_f32 v85, v170, v42")), "v85 v170 v42");
  EXPECT_EQ(operands(decode("v_fmamk_f32 v170, v85, 0x12345678, v42")),
            "v170 v85 0x12345678 v42");
  EXPECT_EQ(operands(decode("v_fmaak_f16 v85, s42, v170, 0x1234")),
            "v85 s42 v170 0x1234");
  const Inst Compare = decode("v_cmp_lt_f64 vcc_lo, s[42:43], v[170:171]");
  EXPECT_EQ(operands(Compare), "none s42 v170");
  EXPECT_EQ(Compare.SDst, 106u);
  EXPECT_EQ(decode("v_cmp_lt_f32_e64 s85, v1, v2").SDst, 85u);
  EXPECT_EQ(decode("v_cmpx_lt_f32_e64 v1, v2").SDst, 126u);
  EXPECT_EQ(decode("v_cmpx_lt_f32_e32 v1, v2").SDst, 126u);

  Inst I = decode("v_fma_f32 v170, -v85, |v42|, -|s84| clamp mul:4");
  EXPECT_EQ(operands(I), "v170 v85 v42 s84");
  EXPECT_TRUE(I.Clamp);
  EXPECT_EQ(I.Omod, 2);
  EXPECT_EQ(I.Src[0].Mods, vgpu::ModNeg);
  EXPECT_EQ(I.Src[1].Mods, vgpu::ModAbs);
  EXPECT_EQ(I.Src[2].Mods, vgpu::ModNeg | vgpu::ModAbs);
  I = decode("v_mad_u64_u32 v[84:85], s42, v170, v85, v[42:43]");
  EXPECT_EQ(operands(I), "v84 v170 v85 v42");
  EXPECT_EQ(I.SDst, 42u);
  I = decode("v_mad_u64_u32 v[84:85], s85, 0x12345678, v85, v[42:43]");
  EXPECT_EQ(operands(I), "v84 0x12345678 v85 v42");
  I = decode("v_add_co_ci_u32 v85, vcc_lo, v170, v42, vcc_lo");
  EXPECT_EQ(operands(I), "v85 v170 v42 s106");
  EXPECT_EQ(I.SDst, 106u);
  EXPECT_EQ(decode("v_mad_u16 v1, v2, v3, v4 op_sel:[1,0,1,0]").OpSel, 5);
  EXPECT_EQ(decode("v_mad_u16 v1, v2, v3, v4 op_sel:[0,1,0,1]").OpSel, 10);
  EXPECT_EQ(operands(decode("v_readlane_b32 s85, v170, s42")),
            "s85 v170 s42");
  I = decode("v_pk_fma_f16 v170, v85, v42, 0x12345678 op_sel:[1,0,1] "
             "op_sel_hi:[0,1,0] neg_lo:[1,0,0] neg_hi:[0,1,1] clamp");
  EXPECT_EQ(operands(I), "v170 v85 v42 0x12345678");
  EXPECT_EQ(I.OpSel, 5);
  EXPECT_EQ(I.OpSelHi, 2);
  EXPECT_EQ(I.Src[0].Mods, vgpu::ModNeg);
  EXPECT_EQ(I.Src[1].Mods, vgpu::ModNegHi);
  EXPECT_EQ(I.Src[2].Mods, vgpu::ModNegHi);
  EXPECT_TRUE(I.Clamp);
}

TEST_F(DecodeGfx10Test, SubDwordAndLanes) {
  Inst I = decode("v_add_nc_u32_sdwa v170, sext(v85), s42 dst_sel:WORD_1 "
                  "dst_unused:UNUSED_PRESERVE src0_sel:BYTE_2 src1_sel:WORD_0");
  EXPECT_EQ(operands(I), "v170 v85 s42");
  EXPECT_EQ(I.DstSel, vgpu::SelWord1);
  EXPECT_EQ(I.DstUnusedMode, vgpu::UnusedPreserve);
  EXPECT_EQ(I.Src[0].Select, vgpu::SelByte2);
  EXPECT_EQ(I.Src[0].Mods, vgpu::ModSext);
  EXPECT_EQ(I.Src[1].Select, vgpu::SelWord0);
  I = decode("v_cmp_lt_f32_sdwa s85, -v170, |v42| src0_sel:DWORD "
             "src1_sel:BYTE_3");
  EXPECT_EQ(operands(I), "none v170 v42");
  EXPECT_EQ(I.SDst, 85u);
  EXPECT_EQ(I.Src[0].Mods, vgpu::ModNeg);
  EXPECT_EQ(I.Src[1].Mods, vgpu::ModAbs);
  I = decode("v_add_f32_dpp v170, -v85, |v42| row_xmask:10 row_mask:0xa "
             "bank_mask:0x5 bound_ctrl:0 fi:1");
  EXPECT_EQ(operands(I), "v170 v85 v42");
  EXPECT_EQ(I.DppCtrl, 0x16a);
  EXPECT_EQ(I.RowMask, 0xa);
  EXPECT_EQ(I.BankMask, 5);
  EXPECT_TRUE(I.BoundCtrl && I.FetchInactive);
  EXPECT_EQ(I.Src[0].Mods, vgpu::ModNeg);
  EXPECT_EQ(I.Src[1].Mods, vgpu::ModAbs);
  I = decode("v_add_f32_dpp v170, v85, v42 dpp8:[5,2,5,2,5,2,5,2]");
  EXPECT_EQ(operands(I), "v170 v85 v42");
  EXPECT_EQ(I.Dpp8Lanes, 025252525u);
  EXPECT_FALSE(I.FetchInactive);
  EXPECT_TRUE(decode("v_mov_b32_dpp v1, v2 dpp8:[0,0,0,0,0,0,0,0] fi:1")
                  .FetchInactive);
}

TEST_F(DecodeGfx10Test, ScalarMemory) {
  Inst I = decode("s_load_dwordx2 s[84:85], s[42:43], 0xaaaaa glc dlc");
  EXPECT_EQ(I.SData, 84u);
  EXPECT_EQ(I.SBase, 42u);
  EXPECT_EQ(I.Offset, 0xaaaaa);
  EXPECT_TRUE(I.Glc && I.Dlc);
  EXPECT_EQ(I.SOffset.Kind, OperandKind::Const);
  EXPECT_EQ(I.SOffset.Value, 0u);
  I = decode("s_load_dword s42, s[84:85], s85 offset:0x55555");
  EXPECT_EQ(I.SData, 42u);
  EXPECT_EQ(I.SBase, 84u);
  EXPECT_EQ(name(I.SOffset), "s85");
  EXPECT_EQ(I.Offset, 0x55555);
  EXPECT_FALSE(I.Glc || I.Dlc);
  EXPECT_EQ(decode("s_load_dword s42, s[84:85], -0x55556").Offset, -0x55556);
  I = decode("s_buffer_load_dwordx16 s[0:15], s[84:87], s42");
  EXPECT_EQ(I.SBase, 84u);
  EXPECT_EQ(name(I.SOffset), "s42");
  EXPECT_EQ(decode("s_memtime s[84:85]").SData, 84u);
}

TEST_F(DecodeGfx10Test, VectorMemory) {
  Inst I = decode("global_load_dwordx2 v[170:171], v[84:85], off offset:-1366 "
                  "glc slc dlc");
  EXPECT_EQ(I.VDst, 170u);
  EXPECT_EQ(I.VAddr, 84u);
  EXPECT_EQ(I.SAddr, Inst::NoReg);
  EXPECT_EQ(I.Offset, -1366);
  EXPECT_TRUE(I.Glc && I.Slc && I.Dlc);
  EXPECT_EQ(I.Seg, vgpu::Segment::Global);
  I = decode("global_store_dword v170, v85, s[42:43] offset:1365");
  EXPECT_EQ(I.VAddr, 170u);
  EXPECT_EQ(I.VData, 85u);
  EXPECT_EQ(I.SAddr, 42u);
  EXPECT_EQ(I.Offset, 1365);
  EXPECT_FALSE(I.Glc || I.Slc || I.Dlc);
  I = decode("flat_load_dword v85, v[170:171] offset:1365");
  EXPECT_EQ(I.Offset, 1365);
  EXPECT_EQ(I.Seg, vgpu::Segment::Flat);
  EXPECT_EQ(I.SAddr, Inst::NoReg);
  I = decode("scratch_load_dword v170, v85, off offset:16");
  EXPECT_EQ(I.VAddr, 85u);
  EXPECT_EQ(I.SAddr, Inst::NoReg);
  EXPECT_EQ(I.Seg, vgpu::Segment::Scratch);
  I = decode("scratch_load_dword v170, off, s42 offset:16");
  EXPECT_EQ(I.VAddr, Inst::NoReg);
  EXPECT_EQ(I.SAddr, 42u);
  I = decode("scratch_store_dword off, v85, off offset:16");
  EXPECT_EQ(I.VAddr, Inst::NoReg);
  EXPECT_EQ(I.SAddr, Inst::NoReg);
  EXPECT_EQ(I.VData, 85u);

  I = decode("ds_write2_b32 v170, v85, v42 offset0:0x55 offset1:0xaa");
  EXPECT_EQ(I.VAddr, 170u);
  EXPECT_EQ(I.VData, 85u);
  EXPECT_EQ(I.VData1, 42u);
  EXPECT_EQ(I.Offset0, 0x55);
  EXPECT_EQ(I.Offset1, 0xaa);
  EXPECT_FALSE(I.Gds);
  I = decode("ds_add_rtn_u32 v85, v170, v42 offset:0xaaaa gds");
  EXPECT_EQ(I.VDst, 85u);
  EXPECT_EQ(I.Offset, 0xaaaa);
  EXPECT_TRUE(I.Gds);

  I = decode("buffer_load_dword v170, v[84:85], s[40:43], s85 idxen offen "
             "offset:0x555 glc");
  EXPECT_EQ(I.VDst, 170u);
  EXPECT_EQ(I.VAddr, 84u);
  EXPECT_EQ(I.SRsrc, 40u);
  EXPECT_EQ(name(I.SOffset), "s85");
  EXPECT_EQ(I.Offset, 0x555);
  EXPECT_TRUE(I.Idxen && I.Offen && I.Glc);
  EXPECT_FALSE(I.Slc || I.Dlc || I.LdsDma || I.Tfe);
  I = decode("buffer_store_dword v85, off, s[84:87], 0 offset:0xaaa slc dlc");
  EXPECT_EQ(I.VData, 85u);
  EXPECT_EQ(I.VAddr, Inst::NoReg);
  EXPECT_EQ(I.SRsrc, 84u);
  EXPECT_EQ(I.Offset, 0xaaa);
  EXPECT_TRUE(I.Slc && I.Dlc);
  EXPECT_FALSE(I.Idxen || I.Offen || I.Glc);
}

TEST_F(DecodeGfx10Test, BufferFormats) {
  const std::map<std::string, unsigned> Data = {
      {"8", 1},           {"16", 2},      {"8_8", 3},       {"32", 4},
      {"16_16", 5},       {"10_11_11", 6}, {"11_11_10", 7},
      {"10_10_10_2", 8},  {"2_10_10_10", 9}, {"8_8_8_8", 10}, {"32_32", 11},
      {"16_16_16_16", 12}, {"32_32_32", 13}, {"32_32_32_32", 14}};
  const std::map<std::string, unsigned> Number = {
      {"UNORM", 0}, {"SNORM", 1}, {"USCALED", 2}, {"SSCALED", 3},
      {"UINT", 4},  {"SINT", 5},  {"FLOAT", 7}};
  for (unsigned Format = 1; Format <= 77; ++Format) {
    // LLVM prints the format's name.
    const Inst I = decode("tbuffer_load_format_x v1, off, s[4:7], format:" +
                          std::to_string(Format) + ", 0");
    std::string Name = D.disassemble(I);
    if (Format == 1) { // the default is not printed
      EXPECT_EQ(I.DFmt, 1);
      EXPECT_EQ(I.NFmt, 0);
      continue;
    }
    Name.erase(0, Name.find("BUF_FMT_") + 8);
    Name.resize(Name.find(']'));
    const size_t Last = Name.rfind('_');
    EXPECT_EQ(I.DFmt, Data.at(Name.substr(0, Last))) << Name;
    EXPECT_EQ(I.NFmt, Number.at(Name.substr(Last + 1))) << Name;
  }
}

TEST_F(DecodeGfx10Test, TextSuitsTheWaveSize) {
  const Inst I = decode("v_cmp_lt_f32_e32 vcc_lo, v1, v2");
  EXPECT_EQ(D.disassemble(I), "v_cmp_lt_f32_e32 vcc_lo, v1, v2");
  EXPECT_EQ(D.disassemble(I, 32), "v_cmp_lt_f32_e32 vcc_lo, v1, v2");
  EXPECT_EQ(D.disassemble(I, 64), "v_cmp_lt_f32_e32 vcc, v1, v2");
}

TEST_F(DecodeGfx10Test, WhatIsNoOperandIsRefused) {
  // v_mov_b32 v0 from a reserved source; by a DPP control that only gfx9 has.
  const uint32_t Reserved[2] = {0x7e0002d1, 0};
  const uint32_t WaveShift[2] = {0x7e0002fa, 0xff013001};
  const vgpu::Handler Move = decode("v_mov_b32 v0, v1").Run;
  for (const uint32_t *Words : {Reserved, WaveShift}) {
    Inst I;
    D.decode(0, reinterpret_cast<const uint8_t *>(Words), 8, I);
    EXPECT_NE(I.Run, Move) << D.disassemble(I);
  }
}

} // namespace
} // namespace vgputest
