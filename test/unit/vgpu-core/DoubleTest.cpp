// Double precision against the host's arithmetic, in all modes.
#include "Harness.h"

#include <algorithm>
#include <cfenv>
#include <cmath>
#include <functional>

namespace vgputest {
namespace {

bool isNan64(uint64_t V) {
  return (V & 0x7fffffffffffffff) > 0x7ff0000000000000;
}
uint64_t flush(uint64_t V) {
  return (V & 0x7ff0000000000000) == 0 ? V & 0x8000000000000000 : V;
}

double hostOp(char Op, double A, double B, double C, int Rounding) {
  volatile double X = A, Y = B, Z = C, R = 0;
  std::fesetround(Rounding);
  switch (Op) {
  case '+':
    R = X + Y;
    break;
  case '*':
    R = X * Y;
    break;
  case 'f':
    R = std::fma(X, Y, Z);
    break;
  }
  std::fesetround(FE_TONEAREST);
  return R;
}

using DoubleTest = WaveTest;

TEST_F(DoubleTest, ArithmeticInAllModes) {
  const int Roundings[4] = {FE_TONEAREST, FE_UPWARD, FE_DOWNWARD,
                            FE_TOWARDZERO};
  struct {
    const char *Text;
    unsigned Sources;
    char Op;
  } const Cases[] = {{"v_add_f64 v[0:1], v[2:3], v[4:5]", 2, '+'},
                     {"v_mul_f64 v[0:1], v[2:3], v[4:5]", 2, '*'},
                     {"v_fma_f64 v[0:1], v[2:3], v[4:5], v[6:7]", 3, 'f'}};
  for (unsigned Round = 0; Round < 4; ++Round)
    for (bool Flush : {false, true}) {
      setMode(vgpu::ModeRound64Shift, 2, Round);
      setMode(vgpu::ModeDenorm64Shift, 2, Flush ? 0 : 3);
      for (const auto &Case : Cases)
        sweep(Case.Text, Case.Sources, edgesDouble(),
              [&](uint64_t A, uint64_t B, uint64_t C, uint64_t Got, bool) {
                if (Flush) {
                  A = flush(A);
                  B = flush(B);
                  C = flush(C);
                }
                const double R = hostOp(Case.Op, asDouble(A), asDouble(B),
                                        asDouble(C), Roundings[Round]);
                uint64_t Want = !std::isnan(R)      ? bits(R)
                                : Case.Sources == 2 ? nanOf64({A, B})
                                                    : nanOf64({A, B, C});
                if (Flush)
                  Want = flush(Want);
                // A result that only rounding made normal may count as
                // denormal.
                if (Flush && Want << 1 == 0x0020000000000000 && Got << 1 == 0)
                  Want &= 0x8000000000000000;
                ASSERT_EQ(Got, Want);
              });
    }
}

TEST_F(DoubleTest, SourceModifiersAndConstants) {
  for (unsigned L = 0; L < lanes(); ++L)
    setV64(2, L, bits(-3.0));
  runOk("v_add_f64 v[0:1], |v[2:3]|, 1.0");
  EXPECT_EQ(asDouble(v64(0, 7)), 4.0);
  runOk("v_mul_f64 v[0:1], -v[2:3], 2"); // integer constants are bits, not
                                         // numbers
  EXPECT_EQ(asDouble(v64(0, 7)), 3.0 * 0x1p-1073);
  W.setScalar64(10, bits(0.25));
  runOk("v_fma_f64 v[0:1], s[10:11], v[2:3], 0.5");
  EXPECT_EQ(asDouble(v64(0, 7)), -0.25);
  runOk("v_add_f64 v[0:1], v[2:3], v[2:3] clamp");
  EXPECT_EQ(asDouble(v64(0, 7)), 0.0);
}

TEST_F(DoubleTest, RoundingExponentAndScale) {
  std::vector<uint64_t> Values = edgesDouble();
  for (double V : {0.5, 1.5, 2.5, -0.5, -1.5, 4503599627370495.5, -0.3, 2.7})
    Values.push_back(bits(V));
  struct {
    const char *Name;
    std::function<double(double)> Fn;
  } const Cases[] = {
      {"v_floor_f64", [](double V) { return std::floor(V); }},
      {"v_ceil_f64", [](double V) { return std::ceil(V); }},
      {"v_trunc_f64", [](double V) { return std::trunc(V); }},
      {"v_rndne_f64", [](double V) { return std::nearbyint(V); }},
      {"v_sqrt_f64", [](double V) { return std::sqrt(V); }},
      {"v_rcp_f64", [](double V) { return 1 / V; }},
      {"v_rsq_f64", [](double V) { return 1 / std::sqrt(V); }},
      {"v_frexp_mant_f64", [](double V) {
         int E;
         return std::frexp(V, &E);
       }}};
  for (const auto &C : Cases)
    sweep(std::string(C.Name) + " v[0:1], v[2:3]", 1, Values,
          [&](uint64_t A, uint64_t, uint64_t, uint64_t Got, bool) {
            const double R = C.Fn(asDouble(A));
            ASSERT_EQ(Got, std::isnan(R) ? nanOf64({A}) : bits(R)) << C.Name;
          });
  sweep("v_frexp_exp_i32_f64 v0, v[2:3]", 1, Values,
        [&](uint64_t A, uint64_t, uint64_t, uint64_t Got, bool) {
          int E = 0;
          if (std::isfinite(asDouble(A)))
            std::frexp(asDouble(A), &E);
          ASSERT_EQ(int32_t(Got), E);
        });
  for (int E : {0, 1, -1, 52, -52, 1023, -1023, 1074, -1074, 2100, -2100,
                INT32_MAX, INT32_MIN}) {
    s(10) = uint32_t(E);
    sweep("v_ldexp_f64 v[0:1], v[2:3], s10", 1, Values,
          [&](uint64_t A, uint64_t, uint64_t, uint64_t Got, bool) {
            ASSERT_EQ(Got, isNan64(A) ? nanOf64({A})
                                      : bits(std::ldexp(asDouble(A), E)))
                << E;
          });
  }
  sweep("v_fract_f64 v[0:1], v[2:3]", 1, Values,
        [&](uint64_t A, uint64_t, uint64_t, uint64_t Got, bool) {
          const double V = asDouble(A);
          if (std::isfinite(V)) {
            ASSERT_EQ(asDouble(Got),
                      std::min(V - std::floor(V), 0x1.fffffffffffffp-1));
          }
        });
  sweep("v_min_f64 v[0:1], v[2:3], v[4:5]", 2, edgesDouble(),
        [&](uint64_t A, uint64_t B, uint64_t, uint64_t Got, bool) {
          if (!isNan64(A) && !isNan64(B)) {
            ASSERT_EQ(asDouble(Got), std::min(asDouble(A), asDouble(B)));
          } else if (isNan64(A) != isNan64(B) &&
                     (isNan64(A) ? A : B) & 0x0008000000000000) {
            ASSERT_EQ(Got, isNan64(A) ? B : A);
          }
        });
}

TEST_F(DoubleTest, Conversions) {
  auto Clamp = [](double V, double Low, double High) {
    return std::isnan(V) ? 0 : V < Low ? Low : V > High ? High : std::trunc(V);
  };
  sweep("v_cvt_i32_f64 v0, v[2:3]", 1, edgesDouble(),
        [&](uint64_t A, uint64_t, uint64_t, uint64_t Got, bool) {
          ASSERT_EQ(int32_t(Got),
                    int32_t(Clamp(asDouble(A), INT32_MIN, INT32_MAX)));
        });
  sweep("v_cvt_u32_f64 v0, v[2:3]", 1, edgesDouble(),
        [&](uint64_t A, uint64_t, uint64_t, uint64_t Got, bool) {
          ASSERT_EQ(uint32_t(Got), uint32_t(Clamp(asDouble(A), 0, UINT32_MAX)));
        });
  sweep("v_cvt_f64_i32 v[0:1], v2", 1, edgesInt32(),
        [&](uint64_t A, uint64_t, uint64_t, uint64_t Got, bool) {
          ASSERT_EQ(asDouble(Got), double(int32_t(A)));
        });
  sweep("v_cvt_f64_u32 v[0:1], v2", 1, edgesInt32(),
        [&](uint64_t A, uint64_t, uint64_t, uint64_t Got, bool) {
          ASSERT_EQ(asDouble(Got), double(A));
        });
  sweep("v_cvt_f64_f32 v[0:1], v2", 1, edgesFloat(),
        [&](uint64_t A, uint64_t, uint64_t, uint64_t Got, bool) {
          if (std::isnan(asFloat(A)))
            ASSERT_EQ(Got, (A & 0x80000000) << 32 | 0x7ff8000000000000 |
                               (A & 0x3fffff) << 29);
          else
            ASSERT_EQ(asDouble(Got), double(asFloat(A)));
        });
  const int Roundings[4] = {FE_TONEAREST, FE_UPWARD, FE_DOWNWARD,
                            FE_TOWARDZERO};
  for (unsigned Round = 0; Round < 4; ++Round) {
    setMode(vgpu::ModeRound32Shift, 2, Round);
    sweep("v_cvt_f32_f64 v0, v[2:3]", 1, edgesDouble(),
          [&](uint64_t A, uint64_t, uint64_t, uint64_t Got, bool) {
            if (isNan64(A)) {
              ASSERT_EQ(uint32_t(Got), uint32_t(A >> 32 & 0x80000000) |
                                           0x7fc00000 |
                                           uint32_t(A >> 29 & 0x3fffff));
              return;
            }
            volatile double V = asDouble(A);
            std::fesetround(Roundings[Round]);
            volatile float Want = float(V);
            std::fesetround(FE_TONEAREST);
            ASSERT_EQ(uint32_t(Got), bits(float(Want)));
          });
  }
}

} // namespace
} // namespace vgputest
