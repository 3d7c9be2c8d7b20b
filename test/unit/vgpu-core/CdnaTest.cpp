// What gfx908 and gfx90a have besides matrices: packed singles, accumulating
// dot products, double-precision fmac, DPP on pairs, aligned tuples.
#include "Harness.h"

#include <cmath>
#include <functional>

namespace vgputest {
namespace {

class Gfx90a : public WaveTest {
protected:
  Gfx90a() : WaveTest("gfx90a") {}

  using Single = std::function<float(float, float, float)>;

  static std::vector<uint64_t> pairs() {
    const std::vector<uint64_t> &E = edgesFloat();
    std::vector<uint64_t> R;
    for (size_t N = 0; N < E.size(); ++N)
      R.push_back(E[N] | E[(N * 11 + 5) % E.size()] << 32);
    return R;
  }
  static uint32_t expected(const Single &Fn, unsigned Sources, uint32_t A,
                           uint32_t B, uint32_t C) {
    const float R = Fn(asFloat(A), asFloat(B), asFloat(C));
    if (!std::isnan(R))
      return bits(R);
    return Sources == 3 ? nanOf32({A, B, C}) : nanOf32({A, B});
  }
  void check(const std::string &Text, unsigned Sources, const Single &Fn) {
    sweep(Text, Sources, pairs(),
          [&](uint64_t A, uint64_t B, uint64_t C, uint64_t Got, bool) {
            ASSERT_EQ(uint32_t(Got), expected(Fn, Sources, uint32_t(A),
                                              uint32_t(B), uint32_t(C)));
            ASSERT_EQ(uint32_t(Got >> 32),
                      expected(Fn, Sources, uint32_t(A >> 32),
                               uint32_t(B >> 32), uint32_t(C >> 32)));
          });
  }
};

TEST_F(Gfx90a, PackedSingles) {
  check("v_pk_add_f32 v[0:1], v[2:3], v[4:5]", 2,
        [](float A, float B, float) { return A + B; });
  check("v_pk_mul_f32 v[0:1], v[2:3], v[4:5]", 2,
        [](float A, float B, float) { return A * B; });
  check("v_pk_fma_f32 v[0:1], v[2:3], v[4:5], v[6:7]", 3,
        [](float A, float B, float C) { return std::fmaf(A, B, C); });
}

TEST_F(Gfx90a, PackedSinglesObeyMode) {
  // 1 + 2^-24 in each rounding mode, and a denormal sum with flushing.
  const uint32_t Want[4] = {0x3f800000, 0x3f800001, 0x3f800000, 0x3f800000};
  setV(2, bits(1.0f));
  setV(3, bits(-1.0f));
  setV(4, 0x33800000);
  setV(5, 0xb3800000);
  for (unsigned Round = 0; Round < 4; ++Round) {
    setMode(vgpu::ModeRound32Shift, 2, Round);
    runOk("v_pk_add_f32 v[0:1], v[2:3], v[4:5]");
    EXPECT_EQ(v(0)[0], Want[Round]) << Round;
    EXPECT_EQ(v(1)[0], Round == 2 ? 0xbf800001 : 0xbf800000) << Round;
  }
  W.Mode = DefaultMode;
  setMode(vgpu::ModeDenorm32Shift, 2, 0);
  setV(4, 0x80000001);
  setV(2, 1);
  runOk("v_pk_mul_f32 v[0:1], v[2:3], v[4:5]");
  EXPECT_EQ(v(0)[0], 0x80000000u);
}

TEST_F(Gfx90a, PackedSinglesSelectNegateClamp) {
  for (unsigned Reg = 2; Reg < 8; ++Reg)
    setV(Reg, bits(float(Reg)));
  runOk("v_pk_add_f32 v[0:1], v[2:3], v[4:5] op_sel:[1,0] op_sel_hi:[0,0]");
  EXPECT_EQ(asFloat(v(0)[0]), 3.0f + 4);
  EXPECT_EQ(asFloat(v(1)[0]), 2.0f + 4);
  runOk("v_pk_fma_f32 v[0:1], v[2:3], v[4:5], v[6:7] neg_lo:[1,0,0] "
        "neg_hi:[0,0,1]");
  EXPECT_EQ(asFloat(v(0)[0]), -8.0f + 6);
  EXPECT_EQ(asFloat(v(1)[0]), 15.0f - 7);
  runOk("v_pk_mul_f32 v[0:1], v[2:3], v[4:5] neg_lo:[1,0] clamp");
  EXPECT_EQ(asFloat(v(0)[0]), 0.0f);
  EXPECT_EQ(asFloat(v(1)[0]), 1.0f);
  s(8) = bits(0.5f);
  s(9) = bits(0.25f);
  runOk("v_pk_mul_f32 v[0:1], s[8:9], v[4:5]");
  EXPECT_EQ(asFloat(v(0)[0]), 2.0f);
  EXPECT_EQ(asFloat(v(1)[0]), 1.25f);
  runOk("v_pk_add_f32 v[0:1], v[2:3], 1.0 op_sel_hi:[1,0]");
  EXPECT_EQ(asFloat(v(0)[0]), 3.0f);
  EXPECT_EQ(asFloat(v(1)[0]), 4.0f);
  // The result may be a source: both halves are read first.
  W.setExec(0xff);
  runOk("v_pk_add_f32 v[2:3], v[2:3], v[2:3] op_sel:[1,1] op_sel_hi:[0,0]");
  EXPECT_EQ(asFloat(v(2)[0]), 6.0f);
  EXPECT_EQ(asFloat(v(3)[0]), 4.0f);
  EXPECT_EQ(asFloat(v(2)[8]), 2.0f);
}

TEST_F(Gfx90a, PackedMove) {
  for (unsigned Reg = 2; Reg < 6; ++Reg)
    setV(Reg, Reg);
  runOk("v_pk_mov_b32 v[0:1], v[2:3], v[4:5]");
  EXPECT_EQ(v64(0, 3), 0x400000002u);
  runOk("v_pk_mov_b32 v[0:1], v[2:3], v[4:5] op_sel:[1,0]");
  EXPECT_EQ(v64(0, 3), 0x400000003u);
  runOk("v_pk_mov_b32 v[0:1], v[2:3], v[4:5] op_sel:[0,1]");
  EXPECT_EQ(v64(0, 3), 0x500000002u);
}

TEST_F(Gfx90a, DoubleFmac) {
  for (size_t N = 0; N < edgesDouble().size(); ++N)
    for (unsigned L = 0; L < 64; ++L) {
      const auto &E = edgesDouble();
      const uint64_t A = E[N], B = E[(N + L) % E.size()],
                     C = E[(3 * N + 7 * L) % E.size()];
      setV64(2, L, A);
      setV64(4, L, B);
      setV64(0, L, C);
      if (L < 63)
        continue;
      runOk("v_fmac_f64 v[0:1], v[2:3], v[4:5]");
      for (unsigned K = 0; K < 64; ++K) {
        const uint64_t Bk = E[(N + K) % E.size()],
                       Ck = E[(3 * N + 7 * K) % E.size()];
        const double Want = std::fma(asDouble(A), asDouble(Bk), asDouble(Ck));
        ASSERT_EQ(v64(0, K),
                  std::isnan(Want) ? nanOf64({A, Bk, Ck}) : bits(Want));
      }
    }
}

TEST_F(Gfx90a, RowBroadcast) {
  for (unsigned L = 0; L < 64; ++L) {
    v(2)[L] = 100 + L;
    setV64(4, L, bits(double(L) + 0.5));
    setV64(6, L, bits(1.0));
    setV64(8, L, bits(-1.0));
  }
  runOk("v_mov_b32_dpp v0, v2 row_newbcast:5 row_mask:0xf bank_mask:0xf");
  runOk("v_ceil_f64_dpp v[8:9], v[4:5] row_newbcast:3 row_mask:0x5 "
        "bank_mask:0xf");
  runOk("v_fmac_f64_dpp v[6:7], v[4:5], v[4:5] row_newbcast:1 row_mask:0xf "
        "bank_mask:0x3");
  for (unsigned L = 0; L < 64; ++L) {
    const unsigned Row = L & ~15u;
    EXPECT_EQ(v(0)[L], 100 + Row + 5);
    EXPECT_EQ(asDouble(v64(8, L)), Row / 16 % 2 ? -1.0 : Row + 4.0);
    EXPECT_EQ(asDouble(v64(6, L)),
              L % 16 < 8 ? (Row + 1.5) * (L + 0.5) + 1.0 : 1.0);
  }
}

TEST_F(Gfx90a, TuplesMustBeAligned) {
  // The assembler refuses odd tuples, so the encoding is patched.
  for (const char *Text : {"v_add_f64 v[0:1], v[2:3], v[4:5]",
                           "v_pk_add_f32 v[0:1], v[2:3], v[4:5]",
                           "v_mfma_f32_4x4x1f32 v[0:3], v4, v5, 0"}) {
    std::vector<uint8_t> Code = assemble(Text, "gfx90a");
    Code[0] |= 1; // VDST
    vgpu::Inst I;
    D.decode(0x1000, Code.data(), Code.size(), I);
    Env.FaultText.clear();
    vgpu::execute(W, I);
    EXPECT_NE(Env.FaultText, "") << Text;
  }
}

class Gfx908 : public WaveTest {
protected:
  Gfx908() : WaveTest("gfx908") {}
};

template <unsigned Bits> int64_t dot(uint32_t A, uint32_t B) {
  int64_t Sum = 0;
  for (unsigned N = 0; N < 32; N += Bits) {
    auto Part = [&](uint32_t V) {
      const int64_t P = V >> N & ((1u << Bits) - 1);
      return P >> (Bits - 1) ? P - (1 << Bits) : P;
    };
    Sum += Part(A) * Part(B);
  }
  return Sum;
}

TEST_F(Gfx908, AccumulatingDotProducts) {
  auto Check = [&](const std::string &Name,
                   std::function<int64_t(uint32_t, uint32_t)> Fn) {
    for (uint64_t A : edgesInt32())
      for (size_t N = 0; N < edgesInt32().size(); N += 4) {
        setV(2, uint32_t(A));
        for (unsigned L = 0; L < 64; ++L) {
          v(4)[L] = uint32_t(edgesInt32()[L % edgesInt32().size()]);
          v(0)[L] = uint32_t(edgesInt32()[N]);
        }
        runOk(Name + " v0, v2, v4");
        for (unsigned L = 0; L < 64; ++L)
          ASSERT_EQ(v(0)[L], uint32_t(Fn(uint32_t(A), v(4)[L]) +
                                      int64_t(edgesInt32()[N])))
              << Name;
      }
  };
  Check("v_dot2c_i32_i16", dot<16>);
  Check("v_dot4c_i32_i8", dot<8>);
  Check("v_dot8c_i32_i4", dot<4>);
  // DPP moves source 0.
  for (unsigned L = 0; L < 64; ++L)
    v(2)[L] = L;
  setV(4, 1);
  setV(0, 1000);
  runOk("v_dot4c_i32_i8_dpp v0, v2, v4 quad_perm:[1,0,3,2] row_mask:0xf "
        "bank_mask:0xf");
  for (unsigned L = 0; L < 64; ++L)
    EXPECT_EQ(v(0)[L], 1000 + (L ^ 1));
}

TEST_F(Gfx908, AccumulatingHalves) {
  setV(2, 0x40003c00); // 2, 1
  setV(4, 0x48004400); // 8, 4
  setV(0, bits(0.5f));
  runOk("v_dot2c_f32_f16 v0, v2, v4");
  EXPECT_EQ(asFloat(v(0)[0]), 20.5f);
  setV(0, 0x3c00b800); // 1, -0.5
  runOk("v_pk_fmac_f16 v0, v2, v4");
  EXPECT_EQ(v(0)[7], 0x4c404300u) << "2 * 8 + 1 and 1 * 4 - 0.5";
}

TEST_F(Gfx90a, DotProductsFlushDenormalHalves) {
  setV(2, 0x00010001);
  setV(4, 0x3c003c00);
  setV(6, bits(1.0f));
  runOk("v_dot2_f32_f16 v0, v2, v4, v6");
  EXPECT_EQ(asFloat(v(0)[0]), 1.0f);
  setV(6, 0);
  runOk("v_dot2_f32_f16 v0, v2, v4, v6");
  EXPECT_EQ(v(0)[0], 0u);
}

} // namespace
} // namespace vgputest
