// Scalar instructions against host integers.
#include "Harness.h"

#include <functional>

namespace vgputest {
namespace {

using Ref = std::function<uint64_t(uint64_t, uint64_t, bool &)>;

class ScalarTest : public WaveTest {
protected:
  /// Result and SCC of `Name s0, s2, s4` for all pairs; Wide: 64-bit registers.
  void check(const std::string &Name, bool WideD, bool WideA, bool WideB,
             Ref Reference) {
    const std::string Text = Name + (WideD ? " s[0:1]" : " s0") +
                             (WideA ? ", s[2:3]" : ", s2") +
                             (WideB ? ", s[4:5]" : ", s4");
    for (uint64_t A : WideA ? edgesInt64() : edgesInt32())
      for (uint64_t B : WideB ? edgesInt64() : edgesInt32())
        for (bool SccIn : {false, true}) {
          bool Scc = SccIn;
          const uint64_t Want = Reference(A, B, Scc);
          const uint64_t Got = scalar2(Text, A, B, SccIn);
          ASSERT_EQ(WideD ? Got : uint32_t(Got), WideD ? Want : uint32_t(Want))
              << Text << std::hex << " a=" << A << " b=" << B;
          ASSERT_EQ(W.Scc, Scc) << Text << std::hex << " a=" << A << " b=" << B;
        }
  }
  void check32(const std::string &Name, Ref R) {
    check(Name, false, false, false, R);
  }
  void check64(const std::string &Name, Ref R) {
    check(Name, true, true, true, R);
  }
};

TEST_F(ScalarTest, AddAndSubtract) {
  check32("s_add_u32", [](uint64_t A, uint64_t B, bool &Scc) {
    Scc = A + B > 0xffffffff;
    return A + B;
  });
  check32("s_addc_u32", [](uint64_t A, uint64_t B, bool &Scc) {
    const uint64_t R = A + B + Scc;
    Scc = R > 0xffffffff;
    return R;
  });
  check32("s_sub_u32", [](uint64_t A, uint64_t B, bool &Scc) {
    Scc = B > A;
    return A - B;
  });
  check32("s_subb_u32", [](uint64_t A, uint64_t B, bool &Scc) {
    const uint64_t Take = B + Scc;
    Scc = Take > A;
    return A - Take;
  });
  check32("s_add_i32", [](uint64_t A, uint64_t B, bool &Scc) {
    const int64_t R = int64_t(int32_t(A)) + int32_t(B);
    Scc = R != int32_t(R);
    return uint64_t(R);
  });
  check32("s_sub_i32", [](uint64_t A, uint64_t B, bool &Scc) {
    const int64_t R = int64_t(int32_t(A)) - int32_t(B);
    Scc = R != int32_t(R);
    return uint64_t(R);
  });
  check32("s_absdiff_i32", [](uint64_t A, uint64_t B, bool &Scc) {
    const uint32_t D = uint32_t(A) - uint32_t(B);
    const uint32_t R = D >> 31 ? ~D + 1 : D;
    Scc = R != 0;
    return uint64_t(R);
  });
  check32("s_lshl3_add_u32", [](uint64_t A, uint64_t B, bool &Scc) {
    Scc = (A * 8 + B) >> 32;
    return A * 8 + B;
  });
}

TEST_F(ScalarTest, MinimumAndMaximum) {
  check32("s_min_i32", [](uint64_t A, uint64_t B, bool &Scc) {
    Scc = int32_t(A) < int32_t(B);
    return std::min(int32_t(A), int32_t(B));
  });
  check32("s_max_i32", [](uint64_t A, uint64_t B, bool &Scc) {
    Scc = int32_t(A) > int32_t(B);
    return std::max(int32_t(A), int32_t(B));
  });
  check32("s_min_u32", [](uint64_t A, uint64_t B, bool &Scc) {
    Scc = A < B;
    return std::min(A, B);
  });
  check32("s_max_u32", [](uint64_t A, uint64_t B, bool &Scc) {
    Scc = A > B;
    return std::max(A, B);
  });
}

TEST_F(ScalarTest, LogicSetsSccOnNonZero) {
  struct {
    const char *Name;
    std::function<uint64_t(uint64_t, uint64_t)> Fn;
  } const Cases[] = {
      {"s_and", [](uint64_t A, uint64_t B) { return A & B; }},
      {"s_or", [](uint64_t A, uint64_t B) { return A | B; }},
      {"s_xor", [](uint64_t A, uint64_t B) { return A ^ B; }},
      {"s_andn2", [](uint64_t A, uint64_t B) { return A & ~B; }},
      {"s_orn2", [](uint64_t A, uint64_t B) { return A | ~B; }},
      {"s_nand", [](uint64_t A, uint64_t B) { return ~(A & B); }},
      {"s_nor", [](uint64_t A, uint64_t B) { return ~(A | B); }},
      {"s_xnor", [](uint64_t A, uint64_t B) { return ~(A ^ B); }},
  };
  for (const auto &C : Cases) {
    check32(std::string(C.Name) + "_b32",
            [&](uint64_t A, uint64_t B, bool &Scc) {
              const uint32_t R = uint32_t(C.Fn(A, B));
              Scc = R != 0;
              return uint64_t(R);
            });
    check64(std::string(C.Name) + "_b64",
            [&](uint64_t A, uint64_t B, bool &Scc) {
              Scc = C.Fn(A, B) != 0;
              return C.Fn(A, B);
            });
  }
}

TEST_F(ScalarTest, ShiftsTakeTheCountModuloTheWidth) {
  check32("s_lshl_b32", [](uint64_t A, uint64_t B, bool &Scc) {
    const uint32_t R = uint32_t(A << (B % 32));
    Scc = R;
    return uint64_t(R);
  });
  check32("s_lshr_b32", [](uint64_t A, uint64_t B, bool &Scc) {
    Scc = A >> (B % 32);
    return A >> (B % 32);
  });
  check32("s_ashr_i32", [](uint64_t A, uint64_t B, bool &Scc) {
    const int64_t R = int64_t(int32_t(A)) >> (B % 32);
    Scc = R != 0;
    return uint64_t(R);
  });
  check("s_lshl_b64", true, true, false, [](uint64_t A, uint64_t B, bool &Scc) {
    Scc = A << (B % 64);
    return A << (B % 64);
  });
  check("s_lshr_b64", true, true, false, [](uint64_t A, uint64_t B, bool &Scc) {
    Scc = A >> (B % 64);
    return A >> (B % 64);
  });
  check("s_ashr_i64", true, true, false, [](uint64_t A, uint64_t B, bool &Scc) {
    const int64_t R = int64_t(A) >> (B % 64);
    Scc = R != 0;
    return uint64_t(R);
  });
}

TEST_F(ScalarTest, BitFields) {
  auto Extract = [](uint64_t A, uint64_t B, unsigned Bits, bool Signed) {
    const unsigned Offset = B % Bits, Width = (B >> 16) & 127;
    uint64_t R = 0;
    // Bit by bit, so that the reference shares no shift trick.
    bool Top = false;
    for (unsigned N = 0; N < Width && Offset + N < Bits; ++N) {
      Top = (A >> (Offset + N)) & 1;
      R |= uint64_t(Top) << N;
    }
    if (Signed && Top)
      for (unsigned N = std::min(Width, Bits - Offset); N < 64; ++N)
        R |= uint64_t(1) << N;
    return R;
  };
  for (bool Signed : {false, true}) {
    const char *Suffix = Signed ? "i" : "u";
    for (uint64_t A : edgesInt64())
      for (unsigned Offset : {0u, 1u, 7u, 31u, 32u, 63u})
        for (unsigned Width : {0u, 1u, 5u, 31u, 32u, 33u, 64u, 100u}) {
          const uint64_t B = Offset | Width << 16;
          const uint64_t Got32 = uint32_t(
              scalar2(std::string("s_bfe_") + Suffix + "32 s0, s2, s4", A, B));
          ASSERT_EQ(Got32, uint32_t(Extract(uint32_t(A), B, 32, Signed)))
              << std::hex << A << " " << B << " " << Suffix;
          ASSERT_EQ(W.Scc, Got32 != 0);
          const uint64_t Got64 = scalar2(
              std::string("s_bfe_") + Suffix + "64 s[0:1], s[2:3], s4", A, B);
          ASSERT_EQ(Got64, Extract(A, B, 64, Signed))
              << std::hex << A << " " << B << " " << Suffix;
        }
  }
  check32("s_bfm_b32", [](uint64_t A, uint64_t B, bool &) {
    return ((uint64_t(1) << (A % 32)) - 1) << (B % 32);
  });
}

TEST_F(ScalarTest, Multiply) {
  check32("s_mul_i32", [](uint64_t A, uint64_t B, bool &) { return A * B; });
  check32("s_mul_hi_u32",
          [](uint64_t A, uint64_t B, bool &) { return (A * B) >> 32; });
  check32("s_mul_hi_i32", [](uint64_t A, uint64_t B, bool &) {
    return uint64_t((int64_t(int32_t(A)) * int32_t(B)) >> 32);
  });
}

TEST_F(ScalarTest, OneSourceOperations) {
  struct {
    const char *Text;
    std::function<uint64_t(uint64_t)> Fn;
    bool WideD, SetsScc;
  } const Cases[] = {
      {"s_not_b32 s0, s2", [](uint64_t A) { return ~A; }, false, true},
      {"s_not_b64 s[0:1], s[2:3]", [](uint64_t A) { return ~A; }, true, true},
      {"s_bcnt1_i32_b64 s0, s[2:3]",
       [](uint64_t A) {
         uint64_t N = 0;
         for (; A; A &= A - 1)
           ++N;
         return N;
       },
       false, true},
      {"s_bcnt0_i32_b32 s0, s2",
       [](uint64_t A) {
         uint64_t N = 0;
         for (unsigned B = 0; B < 32; ++B)
           N += !((A >> B) & 1);
         return N;
       },
       false, true},
      {"s_ff1_i32_b64 s0, s[2:3]",
       [](uint64_t A) {
         for (unsigned B = 0; B < 64; ++B)
           if ((A >> B) & 1)
             return uint64_t(B);
         return ~uint64_t(0);
       },
       false, false},
      {"s_ff0_i32_b32 s0, s2",
       [](uint64_t A) {
         for (unsigned B = 0; B < 32; ++B)
           if (!((A >> B) & 1))
             return uint64_t(B);
         return ~uint64_t(0);
       },
       false, false},
      {"s_flbit_i32_b32 s0, s2",
       [](uint64_t A) {
         for (unsigned B = 0; B < 32; ++B)
           if ((A >> (31 - B)) & 1)
             return uint64_t(B);
         return ~uint64_t(0);
       },
       false, false},
      {"s_flbit_i32_i64 s0, s[2:3]",
       [](uint64_t A) {
         for (unsigned B = 1; B < 64; ++B)
           if (((A >> (63 - B)) & 1) != A >> 63)
             return uint64_t(B);
         return ~uint64_t(0);
       },
       false, false},
      {"s_brev_b64 s[0:1], s[2:3]",
       [](uint64_t A) {
         uint64_t R = 0;
         for (unsigned B = 0; B < 64; ++B)
           R = R << 1 | ((A >> B) & 1);
         return R;
       },
       true, false},
      {"s_sext_i32_i8 s0, s2",
       [](uint64_t A) { return uint64_t(int64_t(int8_t(A))); }, false, false},
      {"s_sext_i32_i16 s0, s2",
       [](uint64_t A) { return uint64_t(int64_t(int16_t(A))); }, false, false},
      {"s_abs_i32 s0, s2",
       [](uint64_t A) {
         return int32_t(A) < 0 ? uint64_t(-int64_t(int32_t(A))) : A;
       },
       false, true},
      {"s_wqm_b64 s[0:1], s[2:3]",
       [](uint64_t A) {
         uint64_t R = 0;
         for (unsigned B = 0; B < 64; ++B)
           if ((A >> (B & ~3u)) & 15)
             R |= uint64_t(1) << B;
         return R;
       },
       true, true},
      {"s_quadmask_b64 s[0:1], s[2:3]",
       [](uint64_t A) {
         uint64_t R = 0;
         for (unsigned Q = 0; Q < 16; ++Q)
           if ((A >> (4 * Q)) & 15)
             R |= uint64_t(1) << Q;
         return R;
       },
       true, true},
      {"s_bitreplicate_b64_b32 s[0:1], s2",
       [](uint64_t A) {
         uint64_t R = 0;
         for (unsigned B = 0; B < 64; ++B)
           R |= ((A >> (B / 2)) & 1) << B;
         return R;
       },
       true, false},
  };
  for (const auto &C : Cases)
    for (uint64_t A : edgesInt64()) {
      const bool WideA =
          std::string(C.Text).find("s[2:3]") != std::string::npos;
      const uint64_t Raw = C.Fn(WideA ? A : uint32_t(A));
      const uint64_t Want = C.WideD ? Raw : uint32_t(Raw);
      const uint64_t Got = scalar2(C.Text, A, 0);
      ASSERT_EQ(C.WideD ? Got : uint32_t(Got), Want)
          << C.Text << std::hex << " " << A;
      ASSERT_EQ(W.Scc, C.SetsScc && Want != 0)
          << C.Text << std::hex << " " << A;
    }
}

TEST_F(ScalarTest, SaveExec) {
  if (Target.WaveSize == 32)
    GTEST_SKIP() << "64-bit masks";
  const uint64_t Exec = 0xff00ff00ff00ff00, Mask = 0x0ff00ff00ff00ff0;
  struct {
    const char *Name;
    uint64_t Want;
  } const Cases[] = {
      {"and", Mask & Exec},    {"or", Mask | Exec},
      {"xor", Mask ^ Exec},    {"andn2", Mask & ~Exec},
      {"orn2", Mask | ~Exec},  {"nand", ~(Mask & Exec)},
      {"nor", ~(Mask | Exec)}, {"xnor", ~(Mask ^ Exec)},
      {"andn1", ~Mask & Exec}, {"orn1", ~Mask | Exec},
  };
  for (const auto &C : Cases) {
    W.setExec(Exec);
    W.setScalar64(2, Mask);
    runOk(std::string("s_") + C.Name + "_saveexec_b64 s[0:1], s[2:3]");
    EXPECT_EQ(s64(0), Exec) << C.Name;
    EXPECT_EQ(W.exec(), C.Want) << C.Name;
    EXPECT_TRUE(W.Scc);
  }
  // Source and destination may be the same pair; SCC is clear for no lane.
  W.setExec(0xf);
  W.setScalar64(2, 0xf0);
  runOk("s_and_saveexec_b64 s[2:3], s[2:3]");
  EXPECT_EQ(s64(2), 0xfu);
  EXPECT_EQ(W.exec(), 0u);
  EXPECT_FALSE(W.Scc);
  W.setExec(0xff);
  W.setScalar64(2, 0x0f);
  runOk("s_andn2_wrexec_b64 s[0:1], s[2:3]");
  EXPECT_EQ(W.exec(), 0u);
  W.setExec(0xff);
  runOk("s_andn1_wrexec_b64 s[0:1], s[2:3]");
  EXPECT_EQ(W.exec(), 0xf0u);
  EXPECT_EQ(s64(0), 0xf0u);
}

TEST_F(ScalarTest, BranchesAndCalls) {
  if (Target.WaveSize == 32)
    GTEST_SKIP() << "asks for lane 40";
  runOk("s_branch 4");
  EXPECT_EQ(W.Pc, 0x1000u + 4 + 16);
  runOk("s_branch 0xfffe"); // -2 dwords
  EXPECT_EQ(W.Pc, 0x1000u + 4 - 8);
  W.Scc = true;
  runOk("s_cbranch_scc0 4");
  EXPECT_EQ(W.Pc, 0x1004u);
  runOk("s_cbranch_scc1 4");
  EXPECT_EQ(W.Pc, 0x1014u);
  W.setVcc(0);
  runOk("s_cbranch_vccz 1");
  EXPECT_EQ(W.Pc, 0x1008u);
  runOk("s_cbranch_vccnz 1");
  EXPECT_EQ(W.Pc, 0x1004u);
  W.setExec(uint64_t(1) << 40);
  runOk("s_cbranch_execz 1");
  EXPECT_EQ(W.Pc, 0x1004u);
  runOk("s_cbranch_execnz 1");
  EXPECT_EQ(W.Pc, 0x1008u);
  runOk("s_getpc_b64 s[4:5]");
  EXPECT_EQ(s64(4), 0x1004u);
  W.setScalar64(6, 0x123456789abc);
  runOk("s_swappc_b64 s[30:31], s[6:7]");
  EXPECT_EQ(s64(30), 0x1004u);
  EXPECT_EQ(W.Pc, 0x123456789abcu);
  runOk("s_setpc_b64 s[30:31]");
  EXPECT_EQ(W.Pc, 0x1004u);
  runOk("s_call_b64 s[8:9], 3");
  EXPECT_EQ(s64(8), 0x1004u);
  EXPECT_EQ(W.Pc, 0x1010u);
}

TEST_F(ScalarTest, ImmediatesAndCompares) {
  runOk("s_movk_i32 s0, 0x8000");
  EXPECT_EQ(s(0), 0xffff8000u);
  s(0) = 0x7fffffff;
  runOk("s_addk_i32 s0, 1");
  EXPECT_EQ(s(0), 0x80000000u);
  EXPECT_TRUE(W.Scc);
  s(0) = 7;
  runOk("s_mulk_i32 s0, 0xfffd");
  EXPECT_EQ(int32_t(s(0)), -21);
  s(0) = 0xffff;
  runOk("s_cmpk_eq_u32 s0, 0xffff");
  EXPECT_TRUE(W.Scc);
  runOk("s_cmpk_eq_i32 s0, 0xffff");
  EXPECT_FALSE(W.Scc);
  s(0) = uint32_t(-1);
  runOk("s_cmpk_eq_i32 s0, 0xffff");
  EXPECT_TRUE(W.Scc);
  runOk("s_cmpk_lt_i32 s0, 0");
  EXPECT_TRUE(W.Scc);
  runOk("s_cmpk_gt_u32 s0, 0");
  EXPECT_TRUE(W.Scc);
  s(2) = uint32_t(-5);
  runOk("s_cmp_lt_i32 s2, 3");
  EXPECT_TRUE(W.Scc);
  runOk("s_cmp_lt_u32 s2, 3");
  EXPECT_FALSE(W.Scc);
  W.setScalar64(2, uint64_t(1) << 40);
  runOk("s_cmp_lg_u64 s[2:3], 0");
  EXPECT_TRUE(W.Scc);
  runOk("s_bitcmp1_b64 s[2:3], 40");
  EXPECT_TRUE(W.Scc);
  runOk("s_bitcmp0_b32 s3, 8");
  EXPECT_FALSE(W.Scc);
  // Literals: 64-bit moves zero-extend, inline -1 sign-extends.
  runOk("s_mov_b64 s[0:1], 0x80000000");
  EXPECT_EQ(s64(0), 0x80000000u);
  runOk("s_mov_b64 s[0:1], -1");
  EXPECT_EQ(s64(0), ~uint64_t(0));
  runOk("s_mov_b32 s0, 1.0");
  EXPECT_EQ(s(0), 0x3f800000u);
}

TEST_F(ScalarTest, SelectMoveAndBits) {
  W.setScalar64(2, 0x1111111122222222);
  W.setScalar64(4, 0x3333333344444444);
  W.Scc = false;
  runOk("s_cselect_b64 s[0:1], s[2:3], s[4:5]");
  EXPECT_EQ(s64(0), 0x3333333344444444u);
  W.Scc = true;
  runOk("s_cselect_b32 s0, s2, s4");
  EXPECT_EQ(s(0), 0x22222222u);
  W.Scc = false;
  runOk("s_cmov_b32 s0, s4");
  EXPECT_EQ(s(0), 0x22222222u);
  s(0) = 0;
  runOk("s_bitset1_b32 s0, 35"); // modulo 32
  EXPECT_EQ(s(0), 8u);
  runOk("s_bitset0_b32 s0, 3");
  EXPECT_EQ(s(0), 0u);
  runOk("s_pack_lh_b32_b16 s0, s2, s4");
  EXPECT_EQ(s(0), 0x44442222u);
  W.Sgpr[124] = 2;
  s(12) = 77;
  runOk("s_movrels_b32 s0, s10");
  EXPECT_EQ(s(0), 77u);
  s(0) = 99;
  runOk("s_movreld_b32 s10, s0");
  EXPECT_EQ(s(12), 99u);
}

TEST_F(ScalarTest, HardwareRegistersAndMachineCalls) {
  if (Target.isGfx10())
    GTEST_SKIP() << "other registers: Gfx10Test";
  runOk("s_getreg_b32 s0, hwreg(HW_REG_MODE)");
  EXPECT_EQ(s(0), DefaultMode);
  runOk("s_setreg_imm32_b32 hwreg(HW_REG_MODE, 4, 2), 0");
  EXPECT_EQ(W.Mode, DefaultMode & ~0x30u);
  s(1) = 0xff;
  runOk("s_setreg_b32 hwreg(HW_REG_MODE, 0, 4), s1");
  EXPECT_EQ(W.Mode, (DefaultMode & ~0x30u) | 0xf);
  Env.HwRegs[4] = 0xabcd1234;
  runOk("s_getreg_b32 s0, hwreg(HW_REG_HW_ID, 8, 4)");
  EXPECT_EQ(s(0), 2u);
  runOk("s_getreg_b32 s0, hwreg(HW_REG_SH_MEM_BASES, 16, 16)");
  EXPECT_EQ(s(0), 1u);
  run("s_getreg_b32 s0, hwreg(HW_REG_LDS_ALLOC)");
  EXPECT_EQ(Env.FaultText, "no hardware register 6");
  Env.Calls.clear();
  W.Sgpr[124] = 5;
  runOk("s_barrier\n s_waitcnt vmcnt(0)\n s_sleep 3\n s_sendmsg "
        "sendmsg(MSG_INTERRUPT)\n"
        "s_setprio 2\n s_trap 2\n s_icache_inv");
  EXPECT_EQ(Env.Calls,
            "barrier;wait 3952;sleep 3;msg 1 5;prio 2;trap 2;icache;");
  runOk("s_endpgm");
  EXPECT_EQ(W.Status, vgpu::WaveStatus::Ended);
}

TEST_F(ScalarTest, SpecialSources) {
  runOk("s_mov_b64 s[0:1], src_shared_base");
  EXPECT_EQ(s64(0), uint64_t(1) << 48);
  W.setExec(0);
  runOk("s_mov_b32 s0, src_execz");
  EXPECT_EQ(s(0), 1u);
  W.Scc = true;
  runOk("s_mov_b32 s0, src_scc");
  EXPECT_EQ(s(0), 1u);
}

} // namespace
} // namespace vgputest
