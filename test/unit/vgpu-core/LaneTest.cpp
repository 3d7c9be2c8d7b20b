// Everything about which lane or part of a register is read and written: DPP,
// SDWA, readlane and friends, relative registers, selection by mask.
#include "Harness.h"

namespace vgputest {
namespace {

class LaneTest : public WaveTest {
protected:
  LaneTest() {
    for (unsigned L = 0; L < 64; ++L)
      v(2)[L] = 100 + L;
  }
  static constexpr int Kept = -1, Zero = -2;

  /// v0 after a DPP move: from[L] is the lane read, Kept or Zero.
  template <class F> void checkDpp(const std::string &Control, F From) {
    setV(0, 7);
    runOk("v_mov_b32_dpp v0, v2 " + Control);
    for (int L = 0; L < 64; ++L) {
      const int S = From(L);
      EXPECT_EQ(v(0)[L], S == Kept   ? 7u
                         : S == Zero ? 0u
                                     : 100u + unsigned(S))
          << Control << " lane " << L;
    }
  }
};

TEST_F(LaneTest, DppControls) {
  if (Target.isGfx10())
    GTEST_SKIP() << "other controls, other relative registers: Gfx10Test";
  const std::string All = " row_mask:0xf bank_mask:0xf";
  checkDpp("quad_perm:[3,1,2,0]" + All, [](int L) {
    const int P[4] = {3, 1, 2, 0};
    return (L & ~3) + P[L & 3];
  });
  checkDpp("row_shl:3" + All,
           [](int L) { return L % 16 + 3 < 16 ? L + 3 : Kept; });
  checkDpp("row_shr:5" + All, [](int L) { return L % 16 >= 5 ? L - 5 : Kept; });
  checkDpp("row_shr:5" + All + " bound_ctrl:0",
           [](int L) { return L % 16 >= 5 ? L - 5 : Zero; });
  checkDpp("row_ror:4" + All,
           [](int L) { return L / 16 * 16 + (L % 16 + 12) % 16; });
  checkDpp("wave_shl:1" + All, [](int L) { return L < 63 ? L + 1 : Kept; });
  checkDpp("wave_rol:1" + All, [](int L) { return (L + 1) % 64; });
  checkDpp("wave_shr:1" + All, [](int L) { return L > 0 ? L - 1 : Kept; });
  checkDpp("wave_ror:1" + All, [](int L) { return (L + 63) % 64; });
  checkDpp("row_mirror" + All, [](int L) { return L / 16 * 16 + 15 - L % 16; });
  checkDpp("row_half_mirror" + All,
           [](int L) { return L / 8 * 8 + 7 - L % 8; });
  checkDpp("row_bcast:15" + All,
           [](int L) { return L < 16 ? Kept : L / 16 * 16 - 1; });
  checkDpp("row_bcast:31" + All, [](int L) { return L < 32 ? Kept : 31; });
}

TEST_F(LaneTest, DppMasksAndInactiveSources) {
  if (Target.isGfx10())
    GTEST_SKIP() << "other controls, other relative registers: Gfx10Test";
  checkDpp("row_shl:1 row_mask:0xa bank_mask:0x5", [](int L) {
    if (!(0xa >> (L / 16) & 1) || !(0x5 >> (L / 4 % 4) & 1))
      return Kept;
    return L % 16 < 15 ? L + 1 : Kept;
  });
  // A source lane that EXEC switches off counts as missing.
  W.setExec(~(uint64_t(1) << 5));
  checkDpp("row_shl:1 row_mask:0xf bank_mask:0xf", [](int L) {
    return L == 5 || L == 4 || L % 16 == 15 ? Kept : L + 1;
  });
  checkDpp("row_shl:1 row_mask:0xf bank_mask:0xf bound_ctrl:0", [](int L) {
    return L == 5 ? Kept : L == 4 || L % 16 == 15 ? Zero : L + 1;
  });
}

TEST_F(LaneTest, DppReduction) {
  if (Target.isGfx10())
    GTEST_SKIP() << "other controls, other relative registers: Gfx10Test";
  // The classic sum of a wave, as the compiler's atomic optimizer emits it.
  for (unsigned L = 0; L < 64; ++L)
    v(2)[L] = L * L;
  runOk("v_add_u32_dpp v2, v2, v2 row_shr:1 row_mask:0xf bank_mask:0xf "
        "bound_ctrl:0\n"
        "v_add_u32_dpp v2, v2, v2 row_shr:2 row_mask:0xf bank_mask:0xf "
        "bound_ctrl:0\n"
        "v_add_u32_dpp v2, v2, v2 row_shr:4 row_mask:0xf bank_mask:0xf "
        "bound_ctrl:0\n"
        "v_add_u32_dpp v2, v2, v2 row_shr:8 row_mask:0xf bank_mask:0xf "
        "bound_ctrl:0\n"
        "v_add_u32_dpp v2, v2, v2 row_bcast:15 row_mask:0xa bank_mask:0xf\n"
        "v_add_u32_dpp v2, v2, v2 row_bcast:31 row_mask:0xc bank_mask:0xf\n");
  uint32_t Want = 0;
  for (uint32_t L = 0; L < 64; ++L)
    Want += L * L;
  EXPECT_EQ(v(2)[63], Want);
}

TEST_F(LaneTest, SdwaSelections) {
  setV(2, 0x81726354);
  setV(4, 0x01020384);
  setV(0, 0xaaaaaaaa);
  runOk("v_add_u32_sdwa v0, v2, v4 dst_sel:BYTE_1 dst_unused:UNUSED_PRESERVE "
        "src0_sel:BYTE_3 "
        "src1_sel:BYTE_2");
  EXPECT_EQ(v(0)[3], 0xaaaa83aau);
  runOk("v_add_u32_sdwa v0, v2, v4 dst_sel:WORD_1 dst_unused:UNUSED_PAD "
        "src0_sel:WORD_0 "
        "src1_sel:BYTE_1");
  EXPECT_EQ(v(0)[3], 0x63570000u);
  runOk("v_add_u32_sdwa v0, sext(v2), sext(v4) dst_sel:DWORD "
        "dst_unused:UNUSED_PAD "
        "src0_sel:BYTE_3 src1_sel:BYTE_0");
  EXPECT_EQ(int32_t(v(0)[3]), -127 - 124);
  runOk("v_mov_b32_sdwa v0, v2 dst_sel:BYTE_2 dst_unused:UNUSED_SEXT "
        "src0_sel:BYTE_3");
  EXPECT_EQ(v(0)[3], 0xff810000u);
  s(6) = 0x11223344;
  runOk("v_and_b32_sdwa v0, v2, s6 dst_sel:DWORD dst_unused:UNUSED_PAD "
        "src0_sel:DWORD "
        "src1_sel:BYTE_0");
  EXPECT_EQ(v(0)[3], 0x81726354u & 0x44);
  setV(2, bits(-2.5f));
  runOk("v_add_f32_sdwa v0, |v2|, -v2 dst_sel:DWORD dst_unused:UNUSED_PAD "
        "src0_sel:DWORD "
        "src1_sel:DWORD");
  EXPECT_EQ(asFloat(v(0)[3]), 5.0f);
}

TEST_F(LaneTest, ReadAndWriteLanes) {
  W.setExec(0xff00);
  runOk("v_readfirstlane_b32 s4, v2");
  EXPECT_EQ(s(4), 108u);
  W.setExec(0);
  runOk("v_readfirstlane_b32 s4, v2");
  EXPECT_EQ(s(4), 100u);
  s(6) = lanes() + 9; // modulo the wave size
  runOk("v_readlane_b32 s4, v2, s6");
  EXPECT_EQ(s(4), 109u);
  s(4) = 0xabc;
  runOk("v_writelane_b32 v2, s4, 17"); // whatever EXEC says
  EXPECT_EQ(v(2)[17], 0xabcu);
  EXPECT_EQ(v(2)[16], 116u);
}

TEST_F(LaneTest, SelectionByMask) {
  setV(4, 5);
  W.setScalar64(10, 0xf0f0f0f0f0f0f0f0);
  runOk("v_cndmask_b32 v0, v4, v2, s[10:11]");
  for (unsigned L = 0; L < lanes(); ++L)
    EXPECT_EQ(v(0)[L], L & 4 ? 100 + L : 5u);
  W.setVcc(1);
  runOk("v_cndmask_b32 v0, 0, v2, vcc");
  EXPECT_EQ(v(0)[0], 100u);
  EXPECT_EQ(v(0)[1], 0u);
  setV(4, bits(2.0f));
  runOk("v_cndmask_b32_e64 v0, -v4, |v4|, vcc");
  EXPECT_EQ(asFloat(v(0)[1]), -2.0f);
}

TEST_F(LaneTest, Swap) {
  setV(4, 5);
  W.setExec(3);
  runOk("v_swap_b32 v2, v4");
  EXPECT_EQ(v(2)[1], 5u);
  EXPECT_EQ(v(4)[1], 101u);
  EXPECT_EQ(v(2)[2], 102u);
  EXPECT_EQ(v(4)[2], 5u);
}

TEST_F(LaneTest, RelativeRegisters) {
  if (Target.isGfx10())
    GTEST_SKIP() << "other controls, other relative registers: Gfx10Test";
  for (unsigned R = 10; R < 20; ++R)
    setV(R, R);
  s(5) = 4;
  runOk("s_set_gpr_idx_on s5, gpr_idx(SRC0)\n v_mov_b32 v0, v12\n "
        "s_set_gpr_idx_off");
  EXPECT_EQ(v(0)[0], 16u);
  runOk("s_set_gpr_idx_on s5, gpr_idx(DST)\n v_mov_b32 v12, 99\n "
        "s_set_gpr_idx_off");
  EXPECT_EQ(v(16)[0], 99u);
  EXPECT_EQ(v(12)[0], 12u);
  runOk("v_mov_b32 v0, v12"); // off again
  EXPECT_EQ(v(0)[0], 12u);
  runOk("s_set_gpr_idx_on s5, gpr_idx(SRC0,SRC1)\n s_set_gpr_idx_mode "
        "gpr_idx(SRC1)\n"
        "s_set_gpr_idx_idx 5\n v_add_u32 v0, v12, v12\n s_set_gpr_idx_off");
  EXPECT_EQ(v(0)[0], 12u + 17);
  s(5) = 250;
  run("s_set_gpr_idx_on s5, gpr_idx(SRC0)\n v_mov_b32 v0, v12");
  EXPECT_EQ(Env.Fault, vgpu::FaultKind::IllegalOperand);
  EXPECT_EQ(Env.FaultText,
            "register index 250 leads beyond the wave's 256 vector registers");
}

TEST_F(LaneTest, RegistersBeyondTheAllocationFault) {
  W.NumVgprs = 24;
  runOk("v_mov_b32 v23, 0");
  run("v_mov_b32 v24, 0");
  EXPECT_EQ(Env.FaultText, "v24 is beyond the wave's 24 vector registers");
  run("v_add_f64 v[22:23], v[23:24], 0");
  EXPECT_EQ(Env.FaultText, "v24 is beyond the wave's 24 vector registers");
}

} // namespace
} // namespace vgputest
