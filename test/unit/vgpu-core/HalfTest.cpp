// Half precision against the compiler's own _Float16.
#include "Harness.h"

#include <algorithm>
#include <cmath>

namespace vgputest {
namespace {

bool isNan16(uint64_t V) { return (V & 0x7fff) > 0x7c00; }

class HalfTest : public WaveTest {
protected:
  template <class F> void check2(const std::string &Text, F Fn) {
    sweep(Text, 2, edgesHalf(),
          [&](uint64_t A, uint64_t B, uint64_t, uint64_t Got, bool) {
            const _Float16 R = Fn(asHalf(A), asHalf(B));
            ASSERT_EQ(uint32_t(Got),
                      isNan16(bits(R)) ? nanOf16({A, B}) : bits(R));
          });
  }
};

TEST_F(HalfTest, Arithmetic) {
  check2("v_add_f16 v0, v2, v4", [](_Float16 A, _Float16 B) { return A + B; });
  check2("v_sub_f16 v0, v2, v4", [](_Float16 A, _Float16 B) { return A - B; });
  check2("v_subrev_f16 v0, v2, v4",
         [](_Float16 A, _Float16 B) { return B - A; });
  check2("v_mul_f16 v0, v2, v4", [](_Float16 A, _Float16 B) { return A * B; });
}

TEST_F(HalfTest, FusedMultiplyAdd) {
  // 113 bits hold the exact result; one conversion rounds it.
  sweep("v_fma_f16 v0, v2, v4, v6", 3, edgesHalf(),
        [&](uint64_t A, uint64_t B, uint64_t C, uint64_t Got, bool) {
          const __float128 Exact =
              __float128(asHalf(A)) * asHalf(B) + asHalf(C);
          const _Float16 R = _Float16(Exact);
          ASSERT_EQ(uint16_t(Got),
                    isNan16(bits(R)) ? nanOf16({A, B, C}) : bits(R));
        });
  sweep("v_mad_f16 v0, v2, v4, v6", 3, edgesHalf(),
        [&](uint64_t A, uint64_t B, uint64_t C, uint64_t Got, bool) {
          const _Float16 P = asHalf(A) * asHalf(B);
          const _Float16 R = P + asHalf(C);
          ASSERT_EQ(uint16_t(Got),
                    isNan16(bits(R)) ? nanOf16({A, B, C}) : bits(R));
        });
}

TEST_F(HalfTest, RoundingModes) {
  // 1 + 2^-11 lies between two halves; so does its negative.
  const uint16_t Tiny = 0x1000; // 2^-11
  const uint16_t Want[4][2] = {
      {0x3c00, 0xbc00}, {0x3c01, 0xbc00}, {0x3c00, 0xbc01}, {0x3c00, 0xbc00}};
  for (unsigned Round = 0; Round < 4; ++Round) {
    setMode(vgpu::ModeRound64Shift, 2, Round);
    setV(2, Tiny);
    runOk("v_add_f16 v0, 1.0, v2");
    EXPECT_EQ(v(0)[0], Want[Round][0]) << Round;
    setV(2, Tiny | 0x8000);
    runOk("v_add_f16 v0, -1.0, v2");
    EXPECT_EQ(v(0)[0], Want[Round][1]) << Round;
    // Overflow: to infinity or to the largest number.
    setV(2, 0x7bff);
    runOk("v_add_f16 v0, v2, v2");
    EXPECT_EQ(v(0)[0], Round == 0 || Round == 1 ? 0x7c00u : 0x7bffu) << Round;
    // x - x is -0 only when rounding down.
    runOk("v_sub_f16 v0, v2, v2");
    EXPECT_EQ(v(0)[0], Round == 2 ? 0x8000u : 0u) << Round;
  }
}

TEST_F(HalfTest, DenormalFlushing) {
  setMode(vgpu::ModeDenorm64Shift, 2, 0);
  setV(2, 0x0200);
  setV(4, 0x8400);
  runOk("v_add_f16 v0, v2, v2");
  EXPECT_EQ(v(0)[0], 0u);
  runOk("v_mul_f16 v0, 0.5, v4"); // result would be denormal
  EXPECT_EQ(v(0)[0], 0x8000u);
}

TEST_F(HalfTest, ConversionsToAndFrom) {
  sweep("v_cvt_f16_f32 v0, v2", 1, edgesFloat(),
        [&](uint64_t A, uint64_t, uint64_t, uint64_t Got, bool) {
          if (std::isnan(asFloat(A)))
            ASSERT_TRUE(isNan16(Got));
          else
            ASSERT_EQ(uint32_t(Got), bits(_Float16(asFloat(A))));
        });
  // Every half, exactly.
  std::vector<uint64_t> All(65536);
  for (unsigned N = 0; N < All.size(); ++N)
    All[N] = N;
  sweep("v_cvt_f32_f16 v0, v2", 1, All,
        [&](uint64_t A, uint64_t, uint64_t, uint64_t Got, bool) {
          if (isNan16(A))
            ASSERT_EQ(uint32_t(Got),
                      (A & 0x8000) << 16 | 0x7fc00000 | (A & 0x3ff) << 13);
          else
            ASSERT_EQ(uint32_t(Got), bits(float(asHalf(A))));
        });
  sweep("v_cvt_f16_u16 v0, v2", 1, All,
        [&](uint64_t A, uint64_t, uint64_t, uint64_t Got, bool) {
          ASSERT_EQ(uint32_t(Got), bits(_Float16(float(A))));
        });
  sweep("v_cvt_i16_f16 v0, v2", 1, edgesHalf(),
        [&](uint64_t A, uint64_t, uint64_t, uint64_t Got, bool) {
          const float V = isNan16(A) ? 0 : float(asHalf(A));
          ASSERT_EQ(int16_t(Got),
                    int16_t(std::clamp(std::trunc(V), -32768.0f, 32767.0f)));
        });
  sweep("v_cvt_pkrtz_f16_f32 v0, v2, 1.0", 1, edgesFloat(),
        [&](uint64_t A, uint64_t, uint64_t, uint64_t Got, bool) {
          ASSERT_EQ(uint32_t(Got) >> 16, 0x3c00u);
          const float V = asFloat(A);
          if (std::isnan(V))
            return;
          const float R = float(asHalf(Got & 0xffff));
          ASSERT_LE(std::fabs(R), std::fabs(V));
          if (std::isfinite(V) && std::fabs(V) < 65504) {
            ASSERT_GT(float(asHalf((Got & 0xffff) + 1)) *
                          (std::signbit(V) ? -1 : 1),
                      std::fabs(V));
          }
        });
}

TEST_F(HalfTest, UnaryOperations) {
  sweep("v_rcp_f16 v0, v2", 1, edgesHalf(),
        [&](uint64_t A, uint64_t, uint64_t, uint64_t Got, bool) {
          const _Float16 R = _Float16(1.0f) / asHalf(A);
          ASSERT_EQ(uint32_t(Got), isNan16(A) ? nanOf16({A}) : bits(R));
        });
  sweep("v_sqrt_f16 v0, v2", 1, edgesHalf(),
        [&](uint64_t A, uint64_t, uint64_t, uint64_t Got, bool) {
          const _Float16 R = _Float16(std::sqrt(float(asHalf(A))));
          ASSERT_EQ(uint32_t(Got), isNan16(bits(R)) ? nanOf16({A}) : bits(R));
        });
  sweep("v_floor_f16 v0, v2", 1, edgesHalf(),
        [&](uint64_t A, uint64_t, uint64_t, uint64_t Got, bool) {
          const _Float16 R = _Float16(std::floor(float(asHalf(A))));
          ASSERT_EQ(uint32_t(Got), isNan16(A) ? nanOf16({A}) : bits(R));
        });
  sweep("v_frexp_mant_f16 v0, v2", 1, edgesHalf(),
        [&](uint64_t A, uint64_t, uint64_t, uint64_t Got, bool) {
          int E;
          const _Float16 R = _Float16(std::frexp(float(asHalf(A)), &E));
          ASSERT_EQ(uint32_t(Got), isNan16(A) ? nanOf16({A}) : bits(R));
        });
  sweep("v_ldexp_f16 v0, v2, 3", 1, edgesHalf(),
        [&](uint64_t A, uint64_t, uint64_t, uint64_t Got, bool) {
          const _Float16 R = _Float16(float(asHalf(A)) * 8);
          ASSERT_EQ(uint32_t(Got), isNan16(A) ? nanOf16({A}) : bits(R));
        });
}

TEST_F(HalfTest, HalvesOfRegisters) {
  if (Target.isGfx10())
    GTEST_SKIP() << "every 16-bit result keeps the other half: Gfx10Test";
  setV(0, 0xaaaabbbb);
  setV(2, 0x3c004000);                                // high 1.0, low 2.0
  runOk("v_fma_f16 v0, v2, v2, v2 op_sel:[1,0,0,1]"); // 1 * 2 + 2 to the high
                                                      // half
  EXPECT_EQ(v(0)[0], 0x4400bbbbu);
  setV(0, 0xaaaabbbb);
  runOk("v_add_f16 v0, v2, v2"); // clears the other half
  EXPECT_EQ(v(0)[0], 0x4400u);
  setV(0, 0xaaaa3c00);
  runOk("v_mac_f16 v0, v2, v2"); // keeps it
  EXPECT_EQ(v(0)[0], 0xaaaa4500u);
  setV(4, 0x0000bc00);
  runOk("v_pack_b32_f16 v0, v4, v2");
  EXPECT_EQ(v(0)[0], 0x4000bc00u);
  runOk("v_add_f16_sdwa v0, v2, -v2 dst_sel:WORD_1 dst_unused:UNUSED_PRESERVE "
        "src0_sel:WORD_0 "
        "src1_sel:WORD_1"); // 2 - 1
  EXPECT_EQ(v(0)[0], 0x3c00bc00u);
}

} // namespace
} // namespace vgputest
