// What gfx10 has beyond gfx9, in waves of 32 and of 64 lanes, against host
// arithmetic. The instructions that both have are tested by the other files,
// which run a second and third time for gfx1030 (see CMakeLists.txt).
#include "Harness.h"

#include <cmath>

namespace vgputest {
namespace {

class Gfx10Test : public WaveTest,
                  public ::testing::WithParamInterface<unsigned> {
protected:
  Gfx10Test() : WaveTest(TestTarget("gfx1030", GetParam())) {
    for (unsigned L = 0; L < 64; ++L)
      v(2)[L] = 100 + L;
    // What is no mask in a wave32 must neither count nor change.
    if (lanes() == 32) {
      s(107) = 0x55555555;
      s(127) = 0xffffffff;
    }
  }
  void TearDown() override {
    if (lanes() == 32) {
      EXPECT_EQ(s(107), 0x55555555u) << "VCC_HI";
      EXPECT_EQ(s(127), 0xffffffffu) << "EXEC_HI";
    }
  }
  /// "s[10:11]" or "s10": registers of a lane mask.
  std::string mask(unsigned Reg) const {
    const std::string First = std::to_string(Reg);
    return lanes() == 32 ? "s" + First
                         : "s[" + First + ":" + std::to_string(Reg + 1) + "]";
  }
  std::string all(const std::string &Text) const {
    return Text + " row_mask:0xf bank_mask:0xf";
  }

  static constexpr int Kept = -1, Zero = -2;
  /// v0 after a DPP move of v2: From(lane) is the lane read, Kept or Zero.
  template <class F> void checkMove(const std::string &Text, F From) {
    setV(0, 7);
    runOk(Text);
    for (unsigned L = 0; L < lanes(); ++L) {
      const int S = (W.exec() >> L) & 1 ? From(int(L)) : Kept;
      EXPECT_EQ(v(0)[L], S == Kept   ? 7u
                         : S == Zero ? 0u
                                     : 100u + unsigned(S))
          << Text << " lane " << L;
    }
  }
};

INSTANTIATE_TEST_SUITE_P(Waves, Gfx10Test, ::testing::Values(32u, 64u),
                         [](const auto &Info) {
                           return "wave" + std::to_string(Info.param);
                         });

TEST_P(Gfx10Test, DppWithinRows) {
  for (int N : {0, 5, 15}) {
    checkMove(all("v_mov_b32_dpp v0, v2 row_share:" + std::to_string(N)),
              [&](int L) { return L / 16 * 16 + N; });
    checkMove(all("v_mov_b32_dpp v0, v2 row_xmask:" + std::to_string(N)),
              [&](int L) { return L ^ N; });
  }
  checkMove(all("v_mov_b32_dpp v0, v2 row_shr:5"),
            [](int L) { return L % 16 >= 5 ? L - 5 : Kept; });
  checkMove(all("v_mov_b32_dpp v0, v2 row_shl:3") + " bound_ctrl:0",
            [](int L) { return L % 16 + 3 < 16 ? L + 3 : Zero; });
  checkMove(all("v_mov_b32_dpp v0, v2 row_ror:4"),
            [](int L) { return L / 16 * 16 + (L % 16 + 12) % 16; });
  checkMove(all("v_mov_b32_dpp v0, v2 row_mirror"),
            [](int L) { return L / 16 * 16 + 15 - L % 16; });
  checkMove(all("v_mov_b32_dpp v0, v2 quad_perm:[3,1,2,0]"), [](int L) {
    const int P[4] = {3, 1, 2, 0};
    return L / 4 * 4 + P[L % 4];
  });
}

TEST_P(Gfx10Test, DppInactiveSources) {
  const uint64_t Exec = 0xfffffffffff0ff0f & allLanes();
  W.setExec(Exec);
  auto Active = [&](int L) { return bool((Exec >> L) & 1); };
  checkMove(all("v_mov_b32_dpp v0, v2 row_xmask:6"),
            [&](int L) { return Active(L ^ 6) ? L ^ 6 : Kept; });
  checkMove(all("v_mov_b32_dpp v0, v2 row_xmask:6") + " bound_ctrl:0",
            [&](int L) { return Active(L ^ 6) ? L ^ 6 : Zero; });
  checkMove(all("v_mov_b32_dpp v0, v2 row_xmask:6") + " fi:1",
            [&](int L) { return L ^ 6; });
  // fi does not bring back lanes beyond the row.
  checkMove(all("v_mov_b32_dpp v0, v2 row_shr:8") + " fi:1",
            [&](int L) { return L % 16 >= 8 ? L - 8 : Kept; });
}

TEST_P(Gfx10Test, Dpp8) {
  const int Lanes[8] = {7, 0, 2, 2, 5, 1, 3, 6};
  const std::string Text = "v_mov_b32_dpp v0, v2 dpp8:[7,0,2,2,5,1,3,6]";
  checkMove(Text, [&](int L) { return L / 8 * 8 + Lanes[L % 8]; });
  W.setExec(0xfffffffffffffff0 & allLanes());
  checkMove(Text, [&](int L) {
    const int S = L / 8 * 8 + Lanes[L % 8];
    return S < 4 ? Zero : S;
  });
  checkMove(Text + " fi:1", [&](int L) { return L / 8 * 8 + Lanes[L % 8]; });
  // With arithmetic, and only on the first source.
  W.setExec(allLanes());
  for (unsigned L = 0; L < lanes(); ++L)
    v(4)[L] = 1000 * L;
  runOk("v_add_nc_u32_dpp v0, v2, v4 dpp8:[7,0,2,2,5,1,3,6]");
  for (unsigned L = 0; L < lanes(); ++L)
    EXPECT_EQ(v(0)[L], 100 + L / 8 * 8 + unsigned(Lanes[L % 8]) + 1000 * L);
}

TEST_P(Gfx10Test, PermuteRows) {
  s(4) = 0x76543210;
  s(5) = 0x01234567;
  auto In = [&](int L) {
    const int N = L % 16;
    return N < 8 ? N : 15 - N; // as the eight digits of s5 say
  };
  checkMove("v_permlane16_b32 v0, v2, s4, s5",
            [&](int L) { return L / 16 * 16 + In(L); });
  checkMove("v_permlanex16_b32 v0, v2, s4, s5",
            [&](int L) { return (L / 16 * 16 ^ 16) + In(L); });
  W.setExec(0xfffffffffffffffe & allLanes());
  checkMove("v_permlane16_b32 v0, v2, s4, s5", [&](int L) {
    const int S = L / 16 * 16 + In(L);
    return S == 0 ? Kept : S;
  });
  checkMove("v_permlane16_b32 v0, v2, s4, s5 op_sel:[0,1]", [&](int L) {
    const int S = L / 16 * 16 + In(L);
    return S == 0 ? Zero : S;
  });
  checkMove("v_permlane16_b32 v0, v2, s4, s5 op_sel:[1,0]",
            [&](int L) { return L / 16 * 16 + In(L); });
  checkMove("v_permlanex16_b32 v0, v2, s4, 0", [&](int L) {
    const int S = (L / 16 * 16 ^ 16) + (L % 16 < 8 ? L % 16 : 0);
    return S == 0 ? Kept : S;
  });
}

TEST_P(Gfx10Test, ComparisonsAndMasks) {
  const uint64_t Exec = 0x00ff00ff00ff00ff & allLanes();
  W.setExec(Exec);
  setV(4, 116);
  uint64_t Want = 0;
  for (unsigned L = 0; L < lanes(); ++L)
    Want |= uint64_t(100 + L < 116) << L;
  W.setScalar64(10, ~uint64_t(0));
  runOk("v_cmp_lt_u32 " + mask(10) + ", v2, v4");
  EXPECT_EQ(W.scalarMask(10), Want & Exec);
  if (lanes() == 32) {
    EXPECT_EQ(s(11), ~0u);
  }
  runOk("v_cmp_lt_u32 vcc, v2, v4");
  EXPECT_EQ(W.vcc(), Want & Exec);
  // v_cmpx leaves VCC alone.
  W.setVcc(0x1234);
  runOk("v_cmpx_lt_u32 v2, v4");
  EXPECT_EQ(W.exec(), Want & Exec);
  EXPECT_EQ(W.vcc(), 0x1234u);
  W.setExec(Exec);
  runOk("v_cmpx_ge_u32_e64 v2, 0x74"); // 116, a literal
  EXPECT_EQ(W.exec(), ~Want & Exec);
  EXPECT_EQ(W.vcc(), 0x1234u);
  W.setExec(Exec);
  runOk("v_cmpx_eq_u32_sdwa v2, v4 src0_sel:BYTE_0 src1_sel:BYTE_0");
  EXPECT_EQ(W.exec(), uint64_t(1) << 16 & Exec);
  W.setExec(allLanes());
  runOk("v_cmp_eq_u32_sdwa " + mask(10) +
        ", v2, v4 src0_sel:BYTE_0 src1_sel:BYTE_0");
  EXPECT_EQ(W.scalarMask(10), uint64_t(1) << 16);
  // VCCZ and EXECZ look at the wave's lanes only.
  W.setVcc(0);
  W.setExec(0);
  runOk("s_mov_b32 s0, src_vccz\n s_mov_b32 s1, src_execz");
  EXPECT_EQ(s(0), 1u);
  EXPECT_EQ(s(1), 1u);
  runOk("s_cbranch_vccz 4");
  EXPECT_EQ(W.Pc, 0x1014u);
  runOk("s_cbranch_execnz 4");
  EXPECT_EQ(W.Pc, 0x1004u);
}

TEST_P(Gfx10Test, SelectionAndCarryByMask) {
  const uint64_t M = 0xf0f0f0f0f0f0f0f0;
  setV(4, 5);
  W.setScalar64(10, M);
  runOk("v_cndmask_b32 v0, v4, v2, " + mask(10));
  for (unsigned L = 0; L < lanes(); ++L)
    EXPECT_EQ(v(0)[L], L & 4 ? 100 + L : 5u);
  W.setScalar64(12, ~uint64_t(0));
  setV(4, 0xffffffff);
  runOk("v_add_co_ci_u32 v0, " + mask(12) + ", v2, v4, " + mask(10));
  for (unsigned L = 0; L < lanes(); ++L)
    EXPECT_EQ(v(0)[L], 99 + L + (L & 4 ? 1 : 0));
  EXPECT_EQ(W.scalarMask(12), allLanes());
  if (lanes() == 32) {
    EXPECT_EQ(s(13), ~0u);
  }
  // Carries may go nowhere.
  const auto Before = std::vector<uint32_t>(W.Sgpr, W.Sgpr + 128);
  runOk("v_add_co_u32 v0, null, v2, v4\n v_mad_u64_u32 v[6:7], null, v2, v4, 1");
  EXPECT_EQ(v(0)[3], 102u);
  EXPECT_EQ(v64(6, 3), uint64_t(103) * 0xffffffff + 1);
  EXPECT_EQ(Before, std::vector<uint32_t>(W.Sgpr, W.Sgpr + 128));
}

TEST_P(Gfx10Test, LanesOfTheWave) {
  // Garbage in the lanes that a wave32 has not.
  W.setExec(0);
  runOk("v_readfirstlane_b32 s4, v2");
  EXPECT_EQ(s(4), 100u);
  W.setExec(uint64_t(1) << (lanes() - 1));
  runOk("v_readfirstlane_b32 s4, v2");
  EXPECT_EQ(s(4), 99 + lanes());
  s(6) = lanes() + 3;
  runOk("v_readlane_b32 s4, v2, s6");
  EXPECT_EQ(s(4), 103u);
  runOk("v_readlane_b32 null, v2, s6\n s_mov_b32 s4, null");
  EXPECT_EQ(s(4), 0u);
}

TEST_P(Gfx10Test, SixteenBitResultsKeepTheOtherHalf) {
  setV(2, 0x3c004000); // 1.0, 2.0
  setV(4, bits(2.0f));
  const struct {
    const char *Text;
    uint16_t Want;
  } Cases[] = {
      {"v_add_f16 v0, v2, v2", 0x4400},
      {"v_fma_f16 v0, v2, v2, v2", 0x4600},
      {"v_rcp_f16 v0, v2", 0x3800},
      {"v_cvt_f16_f32 v0, v4", 0x4000},
      {"v_cvt_u16_f16 v0, v2", 2},
      {"v_add_nc_u16 v0, v2, v2", 0x8000},
      {"v_sub_nc_i16 v0, v2, 1", 0x3fff},
      {"v_lshrrev_b16 v0, 4, v2", 0x0400},
      {"v_mul_lo_u16 v0, v2, 3", 0xc000},
      {"v_mad_u16 v0, v2, 1, 1", 0x4001},
      {"v_max_i16 v0, v2, -1", 0x4000},
  };
  for (const auto &C : Cases) {
    setV(0, 0xaaaabbbb);
    runOk(C.Text);
    EXPECT_EQ(v(0)[1], 0xaaaa0000u | C.Want) << C.Text;
  }
  setV(0, 0xaaaabbbb);
  runOk("v_add_nc_u16 v0, v2, v2 op_sel:[1,0,1]");
  EXPECT_EQ(v(0)[1], 0x7c00bbbbu);
  setV(0, 0xaaaabbbb);
  runOk("v_fma_f16 v0, v2, v2, v2 op_sel:[1,0,0,1]");
  EXPECT_EQ(v(0)[1], 0x4400bbbbu);
  runOk("v_add_f16_sdwa v0, v2, -v2 dst_sel:WORD_1 dst_unused:UNUSED_PAD "
        "src0_sel:WORD_0 src1_sel:WORD_1"); // 2 - 1
  EXPECT_EQ(v(0)[1], 0x3c000000u);
}

TEST_P(Gfx10Test, FusedMultiplyAdd) {
  const float A = 1.0f + 0x1p-12f, C = -(1.0f + 0x1p-11f);
  setV(2, bits(A));
  setV(4, bits(C));
  setV(0, bits(C));
  runOk("v_fmac_f32 v0, v2, v2");
  EXPECT_EQ(asFloat(v(0)[0]), 0x1p-24f);
  runOk("v_fmamk_f32 v0, v2, 0x3f800800, v4"); // by the same number
  EXPECT_EQ(asFloat(v(0)[0]), 0x1p-24f);
  runOk("v_fmaak_f32 v0, v2, v2, 0xbf801000");
  EXPECT_EQ(asFloat(v(0)[0]), 0x1p-24f);
  setV(2, 0xaaaa4200); // 3.0
  setV(4, 0xaaaa4500); // 5.0
  setV(0, 0xaaaa4000); // 2.0
  runOk("v_fmac_f16 v0, v2, v4");
  EXPECT_EQ(v(0)[0], 0xaaaa4c40u); // 17
  runOk("v_fmamk_f16 v0, v2, 0x4900, v4");
  EXPECT_EQ(v(0)[0], 0xaaaa5060u); // 35
  runOk("v_fmaak_f16 v0, v2, v4, 0x4900");
  EXPECT_EQ(v(0)[0], 0xaaaa4e40u); // 25
}

TEST_P(Gfx10Test, LegacyMultiplyAdd) {
  sweep("v_fma_legacy_f32 v0, v2, v4, v6", 3, edgesFloat(),
        [&](uint64_t A, uint64_t B, uint64_t C, uint64_t Got, bool) {
          const float X = asFloat(A), Y = asFloat(B), Z = asFloat(C);
          if (X == 0 || Y == 0) {
            ASSERT_EQ(uint32_t(Got),
                      std::isnan(Z) ? nanOf32({C}) : bits(0.0f + Z));
            return;
          }
          const float R = std::fma(X, Y, Z);
          ASSERT_EQ(uint32_t(Got),
                    std::isnan(R) ? nanOf32({A, B, C}) : bits(R));
        });
  setV(0, bits(3.0f));
  setV(2, 0);
  setV(4, 0x7f800000);
  runOk("v_fmac_legacy_f32 v0, v2, v4");
  EXPECT_EQ(asFloat(v(0)[0]), 3.0f);
}

TEST_P(Gfx10Test, LiteralsInLongEncodings) {
  setV(2, 10);
  setV(4, 20);
  runOk("v_add3_u32 v0, v2, v4, 0x12345678");
  EXPECT_EQ(v(0)[0], 0x12345678u + 30);
  runOk("v_add_co_u32 v0, vcc, 0xfffffff6, v2");
  EXPECT_EQ(v(0)[0], 0u);
  EXPECT_EQ(W.vcc(), allLanes());
  for (unsigned L = 0; L < 64; ++L)
    setV64(6, L, bits(1.0));
  runOk("v_add_f64 v[8:9], v[6:7], 0x40080000"); // 3.0, its high half
  EXPECT_EQ(asDouble(v64(8, 1)), 4.0);
  setV(2, 0x00010002);
  runOk("v_pk_add_u16 v0, v2, 0x12345678 op_sel_hi:[1,1]");
  EXPECT_EQ(v(0)[0], 0x1235567au);
  runOk("v_xor3_b32 v0, v2, v4, 0x0f0f0f0f");
  EXPECT_EQ(v(0)[0], 0x00010002u ^ 20u ^ 0x0f0f0f0fu);
}

TEST_P(Gfx10Test, RelativeRegisters) {
  for (unsigned R = 10; R < 30; ++R)
    setV(R, R);
  s(124) = 4;
  runOk("v_movrels_b32 v0, v12");
  EXPECT_EQ(v(0)[0], 16u);
  runOk("v_movreld_b32 v12, 99");
  EXPECT_EQ(v(16)[0], 99u);
  EXPECT_EQ(v(12)[0], 12u);
  runOk("v_movrelsd_b32 v20, v13");
  EXPECT_EQ(v(24)[0], 17u);
  s(124) = 3 | 5 << 16;
  runOk("v_movrelsd_2_b32 v10, v11"); // v15 = v14
  EXPECT_EQ(v(15)[0], 14u);
  W.setExec(1);
  runOk("v_swaprel_b32 v20, v10"); // v25 and v13
  EXPECT_EQ(v(25)[0], 13u);
  EXPECT_EQ(v(13)[0], 25u);
  EXPECT_EQ(v(25)[1], 25u);
  s(124) = 0xffffffff;
  run("v_movrels_b32 v0, v12");
  EXPECT_EQ(Env.FaultText, "register index in M0 leads beyond the wave's 256 "
                           "vector registers");
  s(124) = 2 | 3 << 16;
  s(12) = 77;
  runOk("s_movrelsd_2_b32 s20, s10"); // s23 = s12
  EXPECT_EQ(s(23), 77u);
  s(124) = 5;
  runOk("s_movreld_b32 s100, s12"); // gfx10 has registers up to s105
  EXPECT_EQ(s(105), 77u);
  run("s_movreld_b32 s101, s12");
  EXPECT_EQ(Env.FaultText, "relative scalar register out of range");
}

TEST_P(Gfx10Test, NullRegister) {
  s(2) = 5;
  runOk("s_add_u32 s0, s2, null");
  EXPECT_EQ(s(0), 5u);
  const auto Before = std::vector<uint32_t>(W.Sgpr, W.Sgpr + 128);
  runOk("s_mov_b64 null, -1\n s_add_u32 null, s2, s2");
  EXPECT_EQ(Before, std::vector<uint32_t>(W.Sgpr, W.Sgpr + 128));
  runOk("s_mov_b64 s[4:5], null");
  EXPECT_EQ(s64(4), 0u);
  runOk("s_cmpk_eq_u32 null, 0");
  EXPECT_TRUE(W.Scc);
}

TEST_P(Gfx10Test, ScalarMasksOf32Bits) {
  const uint32_t Exec = 0xff00ff00, M = 0x0ff00ff0;
  const struct {
    const char *Name;
    uint32_t Want;
  } Cases[] = {
      {"and", M & Exec},     {"or", M | Exec},        {"xor", M ^ Exec},
      {"andn2", M & ~Exec},  {"orn2", M | ~Exec},     {"nand", ~(M & Exec)},
      {"nor", ~(M | Exec)},  {"xnor", ~(M ^ Exec)},   {"andn1", ~M & Exec},
      {"orn1", ~M | Exec},
  };
  for (const auto &C : Cases) {
    s(126) = Exec;
    s(2) = M;
    s(1) = 0x1111;
    runOk(std::string("s_") + C.Name + "_saveexec_b32 s0, s2");
    EXPECT_EQ(s(0), Exec) << C.Name;
    EXPECT_EQ(s(1), 0x1111u) << C.Name;
    EXPECT_EQ(s(126), C.Want) << C.Name;
    EXPECT_EQ(s(127), ~0u) << C.Name;
    EXPECT_TRUE(W.Scc);
  }
  s(126) = 0xff;
  s(2) = 0x0f;
  runOk("s_andn1_wrexec_b32 s0, s2");
  EXPECT_EQ(s(126), 0xf0u);
  EXPECT_EQ(s(0), 0xf0u);
  runOk("s_andn2_wrexec_b32 s0, s2");
  EXPECT_EQ(s(126), 0x0fu);
  s(2) = 0;
  runOk("s_and_saveexec_b32 s0, s2");
  EXPECT_FALSE(W.Scc);
}

TEST_P(Gfx10Test, SubvectorLoop) {
  if (lanes() == 32)
    GTEST_SKIP() << "only for wave64";
  // begin: to the low half first; end: then to the high one, then out.
  W.setExec(0x0000000300000005);
  runOk("s_subvector_loop_begin s0, 8");
  EXPECT_EQ(W.exec(), 5u);
  EXPECT_EQ(s(0), 3u);
  EXPECT_EQ(W.Pc, 0x1004u);
  runOk("s_subvector_loop_end s0, 0xfff0");
  EXPECT_EQ(W.exec(), 0x0000000300000000u);
  EXPECT_EQ(W.Pc, 0x1004u - 64);
  runOk("s_subvector_loop_end s0, 0xfff0");
  EXPECT_EQ(W.exec(), 0x0000000300000005u);
  EXPECT_EQ(W.Pc, 0x1004u);
  // One half only.
  W.setExec(0x0000000300000000);
  runOk("s_subvector_loop_begin s0, 8\n s_subvector_loop_end s0, 0xfff0");
  EXPECT_EQ(W.exec(), 0x0000000300000000u);
  EXPECT_EQ(W.Pc, 0x1008u);
  W.setExec(5);
  runOk("s_subvector_loop_begin s0, 8\n s_subvector_loop_end s0, 0xfff0");
  EXPECT_EQ(W.exec(), 5u);
  EXPECT_EQ(W.Pc, 0x1008u);
  W.setExec(0);
  runOk("s_subvector_loop_begin s0, 8");
  EXPECT_EQ(W.Pc, 0x1004u + 32);
}

TEST_P(Gfx10Test, ModesAndRegisters) {
  runOk("s_denorm_mode 0x5\n s_round_mode 0x9");
  EXPECT_EQ(W.Mode, (DefaultMode & ~0xffu) | 0x59);
  setV(2, bits(1.0f));
  setV(4, bits(0x1p-24f));
  runOk("v_add_f32 v0, v2, v4"); // rounds up now
  EXPECT_EQ(asFloat(v(0)[0]), std::nextafter(1.0f, 2.0f));
  const uint32_t Mode = W.Mode;
  s(1) = ~0u; // no relative registers by mode on gfx10
  runOk("s_setreg_b32 hwreg(HW_REG_MODE), s1\n v_mov_b32 v0, v2");
  EXPECT_EQ(asFloat(v(0)[0]), 1.0f);
  W.Mode = Mode;
  s(0) = 0x1000;
  s(1) = 0x7f;
  s(102) = s(103) = 0x999;
  runOk("s_setreg_b32 hwreg(HW_REG_FLAT_SCR_LO), s0\n"
        "s_setreg_b32 hwreg(HW_REG_FLAT_SCR_HI), s1");
  EXPECT_EQ(W.flatScratch(), 0x7f00001000u);
  EXPECT_EQ(s(102), 0x999u);
  runOk("s_getreg_b32 s4, hwreg(HW_REG_FLAT_SCR_LO, 12, 4)");
  EXPECT_EQ(s(4), 1u);
  Env.HwRegs[29] = 0x12345; // the machine's, like most
  runOk("s_getreg_b32 s4, hwreg(HW_REG_SHADER_CYCLES, 0, 20)");
  EXPECT_EQ(s(4), 0x12345u);
  Env.HwRegs[23] = 0xabcd1234;
  runOk("s_getreg_b32 s0, hwreg(HW_REG_HW_ID1, 8, 4)");
  EXPECT_EQ(s(0), 2u);
  Env.Calls.clear();
  runOk("s_clause 3\n s_inst_prefetch 1\n s_waitcnt_depctr 0xfffe\n"
        "s_ttracedata_imm 1\n v_pipeflush\n s_waitcnt lgkmcnt(33)");
  EXPECT_EQ(Env.Calls, "wait " + std::to_string(0xc07f | 33 << 8) + ";");
}

TEST_P(Gfx10Test, DotProducts) {
  setV(2, 0x40003c00); // 2.0, 1.0
  setV(4, 0x44004200); // 4.0, 3.0
  setV(6, bits(10.0f));
  runOk("v_dot2_f32_f16 v0, v2, v4, v6");
  EXPECT_EQ(asFloat(v(0)[0]), 21.0f);
  setV(2, 0xff020304);
  setV(4, 0x01020304);
  setV(6, 5);
  runOk("v_dot4_i32_i8 v0, v2, v4, v6");
  EXPECT_EQ(int32_t(v(0)[0]), -1 + 4 + 9 + 16 + 5);
  setV(0, 5);
  runOk("v_dot4c_i32_i8 v0, v2, v4");
  EXPECT_EQ(int32_t(v(0)[0]), -1 + 4 + 9 + 16 + 5);
}

} // namespace
} // namespace vgputest
