// The division helpers, by what they are for: the sequence that the compiler
// emits must give the correctly rounded quotient for every pair of operands.
#include "Harness.h"

#include <cmath>
#include <random>

namespace vgputest {
namespace {

using DivideTest = WaveTest;

std::vector<uint64_t> withRandom(std::vector<uint64_t> Values, unsigned Count,
                                 uint64_t Mask) {
  std::mt19937_64 Random(12345);
  for (unsigned N = 0; N < Count; ++N)
    Values.push_back(Random() & Mask);
  return Values;
}

TEST_F(DivideTest, SinglePrecisionQuotients) {
  const std::vector<uint64_t> Values = withRandom(edgesFloat(), 64, 0xffffffff);
  const std::string Sequence = "v_div_scale_f32 v10, s[0:1], v4, v4, v2\n"
                               "v_div_scale_f32 v11, vcc, v2, v4, v2\n"
                               "v_rcp_f32 v12, v10\n"
                               "v_fma_f32 v13, -v10, v12, 1.0\n"
                               "v_fma_f32 v12, v13, v12, v12\n"
                               "v_mul_f32 v13, v11, v12\n"
                               "v_fma_f32 v14, -v10, v13, v11\n"
                               "v_fma_f32 v13, v14, v12, v13\n"
                               "v_fma_f32 v10, -v10, v13, v11\n"
                               "v_div_fmas_f32 v10, v10, v12, v13\n"
                               "v_div_fixup_f32 v0, v10, v4, v2\n";
  for (uint64_t Num : Values)
    for (size_t First = 0; First < Values.size(); First += lanes()) {
      setV(2, uint32_t(Num));
      for (unsigned L = 0; L < lanes(); ++L)
        v(4)[L] = uint32_t(Values[(First + L) % Values.size()]);
      runOk(Sequence);
      for (unsigned L = 0; L < lanes(); ++L) {
        const uint32_t Den = v(4)[L];
        const float Want = asFloat(Num) / asFloat(Den);
        if (std::isnan(Want))
          ASSERT_TRUE(std::isnan(asFloat(v(0)[L])))
              << std::hex << Num << " / " << Den;
        else
          ASSERT_EQ(v(0)[L], bits(Want)) << std::hex << Num << " / " << Den;
      }
    }
}

TEST_F(DivideTest, DoublePrecisionQuotients) {
  const std::vector<uint64_t> Values =
      withRandom(edgesDouble(), 64, ~uint64_t(0));
  const std::string Sequence =
      "v_div_scale_f64 v[10:11], s[0:1], v[4:5], v[4:5], v[2:3]\n"
      "v_rcp_f64 v[12:13], v[10:11]\n"
      "v_fma_f64 v[14:15], -v[10:11], v[12:13], 1.0\n"
      "v_fma_f64 v[12:13], v[12:13], v[14:15], v[12:13]\n"
      "v_fma_f64 v[14:15], -v[10:11], v[12:13], 1.0\n"
      "v_fma_f64 v[12:13], v[12:13], v[14:15], v[12:13]\n"
      "v_div_scale_f64 v[14:15], vcc, v[2:3], v[4:5], v[2:3]\n"
      "v_mul_f64 v[16:17], v[14:15], v[12:13]\n"
      "v_fma_f64 v[10:11], -v[10:11], v[16:17], v[14:15]\n"
      "v_div_fmas_f64 v[10:11], v[10:11], v[12:13], v[16:17]\n"
      "v_div_fixup_f64 v[0:1], v[10:11], v[4:5], v[2:3]\n";
  for (uint64_t Num : Values)
    for (size_t First = 0; First < Values.size(); First += lanes()) {
      for (unsigned L = 0; L < lanes(); ++L) {
        setV64(2, L, Num);
        setV64(4, L, Values[(First + L) % Values.size()]);
      }
      runOk(Sequence);
      for (unsigned L = 0; L < lanes(); ++L) {
        const uint64_t Den = v64(4, L);
        const double Want = asDouble(Num) / asDouble(Den);
        if (std::isnan(Want))
          ASSERT_TRUE(std::isnan(asDouble(v64(0, L))))
              << std::hex << Num << " / " << Den;
        else
          ASSERT_EQ(v64(0, L), bits(Want)) << std::hex << Num << " / " << Den;
      }
    }
}

TEST_F(DivideTest, FixupNamesTheSpecialCases) {
  const uint32_t Inf = 0x7f800000, One = 0x3f800000, Nan = 0x7f800123;
  struct {
    uint32_t Quotient, Den, Num, Want;
  } const Cases[] = {
      {One, One, Nan, Nan | 0x400000},
      {One, Nan, One, Nan | 0x400000},
      {One, 0, 0, 0xffc00000},
      {One, Inf, Inf, 0xffc00000},
      {One, 0x80000000, One, 0xff800000},
      {One, One, Inf, Inf},
      {One, Inf | 0x80000000, One, 0x80000000},
      {One, One | 0x80000000, One, One | 0x80000000},
  };
  for (const auto &C : Cases) {
    setV(2, C.Quotient);
    setV(4, C.Den);
    setV(6, C.Num);
    runOk("v_div_fixup_f32 v0, v2, v4, v6");
    EXPECT_EQ(v(0)[0], C.Want) << std::hex << C.Den << " " << C.Num;
  }
}

TEST_F(DivideTest, TrigPreopGivesTwoOverPiInSegments) {
  for (unsigned L = 0; L < lanes(); ++L)
    setV64(2, L, bits(1.0));
  runOk("v_trig_preop_f64 v[0:1], v[2:3], 0\n v_trig_preop_f64 v[4:5], v[2:3], "
        "1\n"
        "v_trig_preop_f64 v[6:7], v[2:3], 2");
  const double A = asDouble(v64(0, 0)), B = asDouble(v64(4, 0)),
               C = asDouble(v64(6, 0));
  // Truncated pieces of 53 bits each: leading, following, following.
  EXPECT_EQ(A, 0x1.45f306dc9c882p-1);
  EXPECT_GT(B, 0);
  EXPECT_LT(B, 0x1p-52);
  EXPECT_LT(C, 0x1p-105);
  const __float128 TwoOverPi =
      __float128(0x1.45f306dc9c883p-1) - __float128(0x1.6b01ec5417056p-55);
  const __float128 Sum = __float128(A) + B + C;
  const double Difference = double(Sum - TwoOverPi);
  EXPECT_LT(std::fabs(Difference), 0x1p-105);
}

} // namespace
} // namespace vgputest
