// Single precision against the host's arithmetic, in all modes.
#include "Harness.h"

#include <algorithm>
#include <cfenv>
#include <cmath>
#include <functional>

namespace vgputest {
namespace {

bool isNan32(uint64_t V) { return (V & 0x7fffffff) > 0x7f800000; }
uint32_t flush(uint64_t V) {
  return (V & 0x7f800000) == 0 ? V & 0x80000000 : uint32_t(V);
}

/// The operation computed by the host in a given rounding mode.
float hostOp(char Op, float A, float B, float C, int Rounding) {
  volatile float X = A, Y = B, Z = C, R;
  std::fesetround(Rounding);
  switch (Op) {
  case '+':
    R = X + Y;
    break;
  case '-':
    R = X - Y;
    break;
  case '*':
    R = X * Y;
    break;
  case 'f':
    R = std::fma(X, Y, Z);
    break;
  case 'r':
    R = 1.0f / X;
    break;
  case 'q':
    R = std::sqrt(X);
    break;
  default:
    R = 0;
    break;
  }
  std::fesetround(FE_TONEAREST);
  return R;
}

class FloatTest : public WaveTest {
protected:
  void check(const std::string &Text, unsigned Sources, char Op, int Rounding,
             bool Flush) {
    sweep(Text, Sources, edgesFloat(),
          [&](uint64_t A, uint64_t B, uint64_t C, uint64_t Got, bool) {
            if (Flush) {
              A = flush(A);
              B = flush(B);
              C = flush(C);
            }
            if (Op == 'R') { // reversed subtraction
              const float R = hostOp('-', asFloat(B), asFloat(A), 0, Rounding);
              const uint32_t Want = std::isnan(R) ? nanOf32({A, B}) : bits(R);
              ASSERT_EQ(uint32_t(Got), Flush ? flush(Want) : Want);
              return;
            }
            const float R =
                hostOp(Op, asFloat(A), asFloat(B), asFloat(C), Rounding);
            uint32_t Want = std::isnan(R) ? Sources == 1   ? nanOf32({A})
                                            : Sources == 2 ? nanOf32({A, B})
                                                           : nanOf32({A, B, C})
                                          : bits(R);
            if (Flush)
              Want = flush(Want);
            // A result that only rounding made normal may count as denormal.
            if (Flush && (Want & 0x7fffffff) == 0x00800000 &&
                (Got & 0x7fffffff) == 0)
              Want &= 0x80000000;
            ASSERT_EQ(uint32_t(Got), Want);
          });
  }
};

TEST_F(FloatTest, ArithmeticInAllModes) {
  const int Roundings[4] = {FE_TONEAREST, FE_UPWARD, FE_DOWNWARD,
                            FE_TOWARDZERO};
  for (unsigned Round = 0; Round < 4; ++Round)
    for (bool Flush : {false, true}) {
      setMode(vgpu::ModeRound32Shift, 2, Round);
      setMode(vgpu::ModeDenorm32Shift, 2, Flush ? 0 : 3);
      check("v_add_f32 v0, v2, v4", 2, '+', Roundings[Round], Flush);
      check("v_sub_f32 v0, v2, v4", 2, '-', Roundings[Round], Flush);
      check("v_subrev_f32 v0, v2, v4", 2, 'R', Roundings[Round], Flush);
      check("v_mul_f32 v0, v2, v4", 2, '*', Roundings[Round], Flush);
      check("v_fma_f32 v0, v2, v4, v6", 3, 'f', Roundings[Round], Flush);
    }
}

TEST_F(FloatTest, FusedIsNotTwoRoundings) {
  const float A = 1.0f + 0x1p-12f, C = -(1.0f + 0x1p-11f);
  setV(2, bits(A));
  setV(4, bits(C));
  runOk("v_fma_f32 v0, v2, v2, v4");
  EXPECT_EQ(asFloat(v(0)[0]), 0x1p-24f);
  setV(0, bits(C));
  runOk("v_fmac_f32 v0, v2, v2");
  EXPECT_EQ(asFloat(v(0)[0]), 0x1p-24f);
  if (Target.isGfx10())
    GTEST_SKIP() << "the rest is about v_mad, which gfx1030 has not";
  runOk("v_mad_f32 v0, v2, v2, v4");
  EXPECT_EQ(asFloat(v(0)[0]), 0.0f);
  setV(0, bits(C));
  runOk("v_mac_f32 v0, v2, v2");
  EXPECT_EQ(asFloat(v(0)[0]), 0.0f);
  setV(2, bits(3.0f));
  setV(4, bits(5.0f));
  runOk("v_madmk_f32 v0, v2, 0x41200000, v4"); // 3 * 10 + 5
  EXPECT_EQ(asFloat(v(0)[0]), 35.0f);
  runOk("v_madak_f32 v0, v2, v4, 0x41200000"); // 3 * 5 + 10
  EXPECT_EQ(asFloat(v(0)[0]), 25.0f);
}

TEST_F(FloatTest, MinimumAndMaximum) {
  auto Reference = [](uint64_t A, uint64_t B, bool Max, bool Ieee) -> uint32_t {
    auto Signalling = [](uint64_t V) {
      return isNan32(V) && !(V & 0x00400000);
    };
    if (Ieee && Signalling(A))
      return uint32_t(A) | 0x00400000;
    if (Ieee && Signalling(B))
      return uint32_t(B) | 0x00400000;
    if (isNan32(A))
      return uint32_t(B);
    if (isNan32(B))
      return uint32_t(A);
    const float X = asFloat(A), Y = asFloat(B);
    if (X == Y) // only the signs of zero may differ
      return uint32_t(Max ? (A & B) : (A | B));
    return bits((X < Y) != Max ? X : Y);
  };
  for (bool Ieee : {false, true}) {
    W.Mode = (W.Mode & ~uint32_t(vgpu::ModeIeee)) |
             (Ieee ? uint32_t(vgpu::ModeIeee) : 0u);
    for (bool Max : {false, true})
      sweep(std::string(Max ? "v_max" : "v_min") + "_f32 v0, v2, v4", 2,
            edgesFloat(),
            [&](uint64_t A, uint64_t B, uint64_t, uint64_t Got, bool) {
              ASSERT_EQ(uint32_t(Got), Reference(A, B, Max, Ieee))
                  << Max << Ieee;
            });
  }
  // Median of numbers; with a NaN, the minimum.
  sweep("v_med3_f32 v0, v2, v4, v6", 3, edgesFloat(),
        [&](uint64_t A, uint64_t B, uint64_t C, uint64_t Got, bool) {
          if (isNan32(A) || isNan32(B) || isNan32(C))
            return;
          float V[3] = {asFloat(A), asFloat(B), asFloat(C)};
          std::sort(V, V + 3);
          ASSERT_EQ(asFloat(Got), V[1]);
        });
}

TEST_F(FloatTest, ModifiersOnSourcesAndResult) {
  sweep("v_add_f32_e64 v0, -|v2|, -v4", 2, edgesFloat(),
        [&](uint64_t A, uint64_t B, uint64_t, uint64_t Got, bool) {
          const uint64_t X = A | 0x80000000, Y = B ^ 0x80000000;
          const float R = hostOp('+', asFloat(X), asFloat(Y), 0, FE_TONEAREST);
          ASSERT_EQ(uint32_t(Got), std::isnan(R) ? nanOf32({X, Y}) : bits(R));
        });
  sweep("v_mul_f32_e64 v0, v2, v4 clamp", 2, edgesFloat(),
        [&](uint64_t A, uint64_t B, uint64_t, uint64_t Got, bool) {
          const float R = hostOp('*', asFloat(A), asFloat(B), 0, FE_TONEAREST);
          const float Want = std::isnan(R) ? 0 : R < 0 ? 0 : R > 1 ? 1 : R;
          ASSERT_EQ(asFloat(Got), Want);
        });
  W.Mode &= ~uint32_t(vgpu::ModeDx10Clamp);
  setV(2, 0x7fc00000);
  runOk("v_mul_f32_e64 v0, v2, v2 clamp");
  EXPECT_TRUE(isNan32(v(0)[0]));
  // omod acts only outside IEEE mode with denormal results off.
  setV(2, bits(3.0f));
  runOk("v_mul_f32_e64 v0, v2, 1.0 mul:2");
  EXPECT_EQ(asFloat(v(0)[0]), 3.0f);
  W.Mode &= ~uint32_t(vgpu::ModeIeee);
  setMode(vgpu::ModeDenorm32Shift, 2, 0);
  runOk("v_mul_f32_e64 v0, v2, 1.0 mul:2");
  EXPECT_EQ(asFloat(v(0)[0]), 6.0f);
  runOk("v_mul_f32_e64 v0, v2, 1.0 mul:4");
  EXPECT_EQ(asFloat(v(0)[0]), 12.0f);
  runOk("v_mul_f32_e64 v0, v2, 1.0 div:2");
  EXPECT_EQ(asFloat(v(0)[0]), 1.5f);
}

TEST_F(FloatTest, RoundToIntegral) {
  struct {
    const char *Name;
    std::function<float(float)> Fn;
  } const Cases[] = {
      {"v_floor_f32", [](float V) { return std::floor(V); }},
      {"v_ceil_f32", [](float V) { return std::ceil(V); }},
      {"v_trunc_f32", [](float V) { return std::trunc(V); }},
      {"v_rndne_f32", [](float V) { return std::nearbyint(V); }}};
  std::vector<uint64_t> Values = edgesFloat();
  for (float V : {0.5f, 1.5f, 2.5f, -0.5f, -1.5f, 8388607.5f, -0.3f, 2.7f})
    Values.push_back(bits(V));
  setMode(vgpu::ModeRound32Shift, 2, 1); // none of them looks at the mode
  for (const auto &C : Cases)
    sweep(std::string(C.Name) + " v0, v2", 1, Values,
          [&](uint64_t A, uint64_t, uint64_t, uint64_t Got, bool) {
            ASSERT_EQ(uint32_t(Got),
                      isNan32(A) ? nanOf32({A}) : bits(C.Fn(asFloat(A))));
          });
  sweep("v_fract_f32 v0, v2", 1, Values,
        [&](uint64_t A, uint64_t, uint64_t, uint64_t Got, bool) {
          const float V = asFloat(A);
          if (isNan32(A) || std::isinf(V)) {
            ASSERT_EQ(uint32_t(Got), nanOf32({A}));
            return;
          }
          ASSERT_EQ(asFloat(Got), std::min(V - std::floor(V), 0x1.fffffep-1f));
        });
}

TEST_F(FloatTest, ExponentAndSignificand) {
  sweep("v_frexp_mant_f32 v0, v2", 1, edgesFloat(),
        [&](uint64_t A, uint64_t, uint64_t, uint64_t Got, bool) {
          int E;
          ASSERT_EQ(uint32_t(Got), isNan32(A)
                                       ? nanOf32({A})
                                       : bits(std::frexp(asFloat(A), &E)));
        });
  sweep("v_frexp_exp_i32_f32 v0, v2", 1, edgesFloat(),
        [&](uint64_t A, uint64_t, uint64_t, uint64_t Got, bool) {
          int E = 0;
          if (std::isfinite(asFloat(A)))
            std::frexp(asFloat(A), &E);
          ASSERT_EQ(int32_t(Got), E);
        });
  for (int E : {0, 1, -1, 23, -23, 64, -64, 149, -149, 300, -300, 2000,
                INT32_MAX, INT32_MIN}) {
    s(10) = uint32_t(E);
    sweep("v_ldexp_f32 v0, v2, s10", 1, edgesFloat(),
          [&](uint64_t A, uint64_t, uint64_t, uint64_t Got, bool) {
            ASSERT_EQ(uint32_t(Got), isNan32(A)
                                         ? nanOf32({A})
                                         : bits(std::ldexp(asFloat(A), E)));
          });
  }
}

TEST_F(FloatTest, Conversions) {
  auto Clamp = [](double V, double Low, double High) {
    return std::isnan(V) ? 0 : V < Low ? Low : V > High ? High : std::trunc(V);
  };
  sweep("v_cvt_i32_f32 v0, v2", 1, edgesFloat(),
        [&](uint64_t A, uint64_t, uint64_t, uint64_t Got, bool) {
          ASSERT_EQ(int32_t(Got),
                    int32_t(Clamp(asFloat(A), INT32_MIN, INT32_MAX)));
        });
  sweep("v_cvt_u32_f32 v0, v2", 1, edgesFloat(),
        [&](uint64_t A, uint64_t, uint64_t, uint64_t Got, bool) {
          ASSERT_EQ(uint32_t(Got), uint32_t(Clamp(asFloat(A), 0, UINT32_MAX)));
        });
  sweep("v_cvt_flr_i32_f32 v0, v2", 1, edgesFloat(),
        [&](uint64_t A, uint64_t, uint64_t, uint64_t Got, bool) {
          ASSERT_EQ(int32_t(Got), int32_t(Clamp(std::floor(asFloat(A)),
                                                INT32_MIN, INT32_MAX)));
        });
  const int Roundings[4] = {FE_TONEAREST, FE_UPWARD, FE_DOWNWARD,
                            FE_TOWARDZERO};
  for (unsigned Round = 0; Round < 4; ++Round) {
    setMode(vgpu::ModeRound32Shift, 2, Round);
    sweep("v_cvt_f32_u32 v0, v2", 1, edgesInt32(),
          [&](uint64_t A, uint64_t, uint64_t, uint64_t Got, bool) {
            std::fesetround(Roundings[Round]);
            volatile double D = double(A);
            volatile float Want = float(D);
            std::fesetround(FE_TONEAREST);
            ASSERT_EQ(asFloat(Got), Want);
          });
    sweep("v_cvt_f32_i32 v0, v2", 1, edgesInt32(),
          [&](uint64_t A, uint64_t, uint64_t, uint64_t Got, bool) {
            std::fesetround(Roundings[Round]);
            volatile double D = int32_t(A);
            volatile float Want = float(D);
            std::fesetround(FE_TONEAREST);
            ASSERT_EQ(asFloat(Got), Want);
          });
  }
  setV(2, 0xff804021);
  runOk("v_cvt_f32_ubyte0 v0, v2");
  EXPECT_EQ(asFloat(v(0)[5]), 33.0f);
  runOk("v_cvt_f32_ubyte3 v0, v2");
  EXPECT_EQ(asFloat(v(0)[5]), 255.0f);
  setV(2, 0x9);
  runOk("v_cvt_off_f32_i4 v0, v2");
  EXPECT_EQ(asFloat(v(0)[5]), -0.4375f);
  setV(2, bits(-1.5f));
  setV(4, bits(0.5f));
  runOk("v_cvt_pknorm_i16_f32 v0, v2, v4");
  EXPECT_EQ(v(0)[0], 0x40008001u);
  runOk("v_cvt_pknorm_u16_f32 v0, v2, v4");
  EXPECT_EQ(v(0)[0], 0x80000000u);
  setV(2, bits(300.0f));
  setV(6, 0x11223344);
  runOk("v_cvt_pk_u8_f32 v0, v2, 2, v6");
  EXPECT_EQ(v(0)[0], 0x11ff3344u);
}

TEST_F(FloatTest, Transcendental) {
  auto Close = [](float Got, double Want, double Ulps) {
    const float W32 = float(Want);
    if (std::isnan(W32) || std::isinf(W32) || W32 == 0)
      return std::isnan(W32) ? std::isnan(Got) : Got == W32;
    const double Ulp = std::fabs(double(std::nextafter(W32, INFINITY)) - W32);
    return std::fabs(double(Got) - Want) <= Ulps * Ulp;
  };
  struct {
    const char *Name;
    std::function<double(double)> Fn;
  } const Cases[] = {
      {"v_rcp_f32", [](double V) { return 1 / V; }},
      {"v_rcp_iflag_f32", [](double V) { return 1 / V; }},
      {"v_sqrt_f32", [](double V) { return std::sqrt(V); }},
      {"v_rsq_f32", [](double V) { return 1 / std::sqrt(V); }},
      {"v_exp_f32", [](double V) { return std::pow(2.0, V); }},
      {"v_log_f32", [](double V) { return std::log2(V); }},
      {"v_sin_f32",
       [](double V) {
         if (std::isinf(V))
           return double(NAN);
         return std::fabs(V) > 256
                    ? 0
                    : double(std::sin(V * 2 * 3.14159265358979323846L));
       }},
      {"v_cos_f32",
       [](double V) {
         if (std::isinf(V))
           return double(NAN);
         return std::fabs(V) > 256
                    ? 1
                    : double(std::cos(V * 2 * 3.14159265358979323846L));
       }},
  };
  std::vector<uint64_t> Values = edgesFloat();
  for (float V : {0.25f, 0.125f, 0.1f, -0.3f, 2.7f, 10.3f, -126.5f, 127.9f,
                  100.01f, 0.75f})
    Values.push_back(bits(V));
  for (const auto &C : Cases)
    sweep(std::string(C.Name) + " v0, v2", 1, Values,
          [&](uint64_t A, uint64_t, uint64_t, uint64_t Got, bool) {
            if (isNan32(A)) {
              ASSERT_EQ(uint32_t(Got), nanOf32({A}));
              return;
            }
            const double Want = C.Fn(asFloat(A));
            // Exact zeros of sine and cosine are not what double pi gives.
            if (std::fabs(Want) < 1e-13 && std::fabs(asFloat(Got)) < 1e-13)
              return;
            ASSERT_TRUE(Close(asFloat(Got), Want, 1.0))
                << asFloat(Got) << " for " << Want;
          });
  setV(2, bits(0.5f));
  runOk("v_sin_f32 v0, v2");
  EXPECT_EQ(asFloat(v(0)[0]), 0.0f);
  setV(2, bits(0.25f));
  runOk("v_cos_f32 v0, v2");
  EXPECT_EQ(asFloat(v(0)[0]), 0.0f);
}

TEST_F(FloatTest, InactiveLanesKeepTheirValue) {
  for (unsigned L = 0; L < 64; ++L) {
    v(0)[L] = 1000 + L;
    v(2)[L] = bits(float(L));
  }
  const uint64_t Exec = 0x8000000180000001 & allLanes();
  W.setExec(Exec);
  runOk("v_add_f32 v0, v2, v2");
  for (unsigned L = 0; L < lanes(); ++L)
    EXPECT_EQ(v(0)[L], (Exec >> L) & 1 ? bits(float(2 * L)) : 1000 + L);
  runOk("v_exp_f32 v0, 0");
  EXPECT_EQ(v(0)[1], 1001u);
  EXPECT_EQ(asFloat(v(0)[lanes() - 1]), 1.0f);
}

TEST_F(FloatTest, CubeMaps) {
  setV(2, bits(-3.0f));
  setV(4, bits(2.0f));
  setV(6, bits(1.0f));
  runOk("v_cubeid_f32 v0, v2, v4, v6\n v_cubesc_f32 v8, v2, v4, v6\n"
        "v_cubetc_f32 v9, v2, v4, v6\n v_cubema_f32 v10, v2, v4, v6");
  EXPECT_EQ(asFloat(v(0)[0]), 1.0f);
  EXPECT_EQ(asFloat(v(8)[0]), 1.0f);
  EXPECT_EQ(asFloat(v(9)[0]), -2.0f);
  EXPECT_EQ(asFloat(v(10)[0]), -6.0f);
}

} // namespace
} // namespace vgputest
