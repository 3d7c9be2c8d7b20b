// VOP3P: packed 16-bit arithmetic, mixed precision, dot products.
#include "Harness.h"

#include <algorithm>
#include <cmath>
#include <functional>

namespace vgputest {
namespace {

class PackedTest : public WaveTest {
protected:
  using Fn =
      std::function<uint32_t(uint32_t, uint32_t, uint32_t)>; // 16-bit values

  static std::vector<uint64_t> pairs(const std::vector<uint64_t> &Values) {
    std::vector<uint64_t> R;
    for (size_t N = 0; N < Values.size(); ++N)
      R.push_back((Values[N] & 0xffff) |
                  (Values[(N * 7 + 3) % Values.size()] & 0xffff) << 16);
    return R;
  }
  void check(const std::string &Text, unsigned Sources,
             const std::vector<uint64_t> &Values, Fn Reference) {
    sweep(Text, Sources, pairs(Values),
          [&](uint64_t A, uint64_t B, uint64_t C, uint64_t Got, bool) {
            ASSERT_EQ(uint32_t(Got) & 0xffff,
                      Reference(A & 0xffff, B & 0xffff, C & 0xffff) & 0xffff);
            ASSERT_EQ(uint32_t(Got) >> 16,
                      Reference(uint32_t(A) >> 16, uint32_t(B) >> 16,
                                uint32_t(C) >> 16) &
                          0xffff);
          });
  }
};

uint32_t half16(_Float16 R, std::initializer_list<uint64_t> Sources) {
  const uint16_t B = bits(R);
  return (B & 0x7fff) > 0x7c00 ? nanOf16(Sources) : B;
}

TEST_F(PackedTest, Integers) {
  check("v_pk_add_u16 v0, v2, v4", 2, edgesInt32(),
        [](uint32_t A, uint32_t B, uint32_t) { return A + B; });
  check("v_pk_sub_i16 v0, v2, v4", 2, edgesInt32(),
        [](uint32_t A, uint32_t B, uint32_t) { return A - B; });
  check("v_pk_add_i16 v0, v2, v4 clamp", 2, edgesInt32(),
        [](uint32_t A, uint32_t B, uint32_t) {
          return uint32_t(std::clamp(int16_t(A) + int16_t(B), -32768, 32767));
        });
  check("v_pk_sub_u16 v0, v2, v4 clamp", 2, edgesInt32(),
        [](uint32_t A, uint32_t B, uint32_t) { return A < B ? 0 : A - B; });
  check("v_pk_mul_lo_u16 v0, v2, v4", 2, edgesInt32(),
        [](uint32_t A, uint32_t B, uint32_t) { return A * B; });
  check("v_pk_mad_u16 v0, v2, v4, v6", 3, edgesInt32(),
        [](uint32_t A, uint32_t B, uint32_t C) { return A * B + C; });
  check("v_pk_max_i16 v0, v2, v4", 2, edgesInt32(),
        [](uint32_t A, uint32_t B, uint32_t) {
          return uint32_t(std::max(int16_t(A), int16_t(B)));
        });
  check("v_pk_min_u16 v0, v2, v4", 2, edgesInt32(),
        [](uint32_t A, uint32_t B, uint32_t) { return std::min(A, B); });
  check("v_pk_lshlrev_b16 v0, v2, v4", 2, edgesInt32(),
        [](uint32_t A, uint32_t B, uint32_t) { return B << (A % 16); });
  check("v_pk_ashrrev_i16 v0, v2, v4", 2, edgesInt32(),
        [](uint32_t A, uint32_t B, uint32_t) {
          return uint32_t(int16_t(B) >> (A % 16));
        });
}

TEST_F(PackedTest, Halves) {
  check("v_pk_add_f16 v0, v2, v4", 2, edgesHalf(),
        [](uint32_t A, uint32_t B, uint32_t) {
          return half16(asHalf(A) + asHalf(B), {A, B});
        });
  check("v_pk_mul_f16 v0, v2, v4", 2, edgesHalf(),
        [](uint32_t A, uint32_t B, uint32_t) {
          return half16(asHalf(A) * asHalf(B), {A, B});
        });
  check("v_pk_fma_f16 v0, v2, v4, v6", 3, edgesHalf(),
        [](uint32_t A, uint32_t B, uint32_t C) {
          return half16(_Float16(__float128(asHalf(A)) * asHalf(B) + asHalf(C)),
                        {A, B, C});
        });
}

TEST_F(PackedTest, HalfSelectionAndSigns) {
  setV(2, 0x40003c00); // 2, 1
  setV(4, 0x48004400); // 8, 4
  runOk("v_pk_add_f16 v0, v2, v4 op_sel:[1,0] op_sel_hi:[0,0]");
  EXPECT_EQ(v(0)[0], 0x45004600u); // 1+4, 2+4
  runOk("v_pk_add_f16 v0, v2, v4 neg_lo:[1,0] neg_hi:[0,1]");
  EXPECT_EQ(v(0)[0], 0xc6004200u); // 2-8, -1+4
  runOk("v_pk_mul_f16 v0, v2, v4 clamp");
  EXPECT_EQ(v(0)[0], 0x3c003c00u);
}

TEST_F(PackedTest, MixedPrecision) {
  setV(2, 0x40003c00); // halves 2, 1
  setV(4, bits(0.1f));
  setV(6, bits(10.0f));
  runOk("v_fma_mix_f32 v0, v2, v4, v6 op_sel:[1,0,0] op_sel_hi:[1,0,0]");
  EXPECT_EQ(asFloat(v(0)[0]), std::fma(2.0f, 0.1f, 10.0f));
  runOk("v_fma_mix_f32 v0, -v2, |v4|, v6 op_sel_hi:[1,0,0]");
  EXPECT_EQ(asFloat(v(0)[0]), std::fma(-1.0f, 0.1f, 10.0f));
  setV(0, 0x11112222);
  runOk("v_fma_mixlo_f16 v0, v2, v4, v6 op_sel_hi:[1,0,0]");
  EXPECT_EQ(v(0)[0], 0x11110000u | bits(_Float16(10.1f)));
  runOk(
      "v_fma_mixhi_f16 v0, v2, v2, v2 op_sel:[1,1,0] op_sel_hi:[1,1,1]"); // 2*2+1
  EXPECT_EQ(v(0)[0], 0x45000000u | bits(_Float16(10.1f)));
}

template <unsigned Bits, bool Signed> int64_t dot(uint64_t A, uint64_t B) {
  int64_t Sum = 0;
  for (unsigned N = 0; N < 32; N += Bits) {
    int64_t P = (A >> N) & ((1u << Bits) - 1),
            Q = (B >> N) & ((1u << Bits) - 1);
    if (Signed && P >> (Bits - 1))
      P -= 1 << Bits;
    if (Signed && Q >> (Bits - 1))
      Q -= 1 << Bits;
    Sum += P * Q;
  }
  return Sum;
}

TEST_F(PackedTest, DotProducts) {
  auto Check = [&](const std::string &Text,
                   std::function<int64_t(uint64_t, uint64_t)> Fn, bool Signed,
                   bool Clamp) {
    sweep(Text, 3, edgesInt32(),
          [&](uint64_t A, uint64_t B, uint64_t C, uint64_t Got, bool) {
            int64_t Want =
                Fn(A, B) + (Signed ? int64_t(int32_t(C)) : int64_t(C));
            if (Clamp)
              Want = Signed ? std::clamp<int64_t>(Want, INT32_MIN, INT32_MAX)
                            : std::min<int64_t>(Want, UINT32_MAX);
            ASSERT_EQ(uint32_t(Got), uint32_t(Want));
          });
  };
  Check("v_dot2_i32_i16 v0, v2, v4, v6", dot<16, true>, true, false);
  Check("v_dot2_u32_u16 v0, v2, v4, v6 clamp", dot<16, false>, false, true);
  Check("v_dot4_i32_i8 v0, v2, v4, v6 clamp", dot<8, true>, true, true);
  Check("v_dot4_u32_u8 v0, v2, v4, v6", dot<8, false>, false, false);
  Check("v_dot8_i32_i4 v0, v2, v4, v6", dot<4, true>, true, false);
  Check("v_dot8_u32_u4 v0, v2, v4, v6 clamp", dot<4, false>, false, true);
  setV(2, 0x40003c00);
  setV(4, 0x48004400);
  setV(6, bits(0.5f));
  runOk("v_dot2_f32_f16 v0, v2, v4, v6");
  EXPECT_EQ(asFloat(v(0)[0]), 20.5f);
}

} // namespace
} // namespace vgputest
