// Every rounding mode with every denormal mode, over all kinds of float
// arithmetic: singles and doubles against the host's own rounding modes, halves
// against rounding by hand from 113 bits.
#include "Harness.h"

#include <algorithm>
#include <cfenv>
#include <cmath>
#include <functional>

namespace vgputest {
namespace {

const int HostRounding[4] = {FE_TONEAREST, FE_UPWARD, FE_DOWNWARD,
                             FE_TOWARDZERO};

/// Fn under a rounding mode of the host. Fn reads what it rounds from volatile
/// variables, so that it stays between the calls.
template <class F> auto rounding(unsigned Round, F Fn) {
  std::fesetround(HostRounding[Round]);
  volatile decltype(Fn()) R = Fn();
  std::fesetround(FE_TONEAREST);
  return decltype(Fn())(R);
}

/// Zero of the same sign where V is denormal and On.
uint64_t flush32(uint64_t V, bool On) {
  return On && !(V & 0x7f800000) ? V & 0x80000000 : uint32_t(V);
}
uint64_t flush64(uint64_t V, bool On) {
  return On && !(V & 0x7ff0000000000000) ? V & 0x8000000000000000 : V;
}
uint64_t flush16(uint64_t V, bool On) {
  return On && !(V & 0x7c00) ? V & 0x8000 : V & 0xffff;
}

/// The half that a rounding mode gives for an exact value: one of its two
/// neighbours, found from the nearest one.
uint16_t roundToHalf(__float128 Exact, unsigned Round, bool NegativeZero) {
  if (Exact == 0)
    return NegativeZero ? 0x8000 : 0;
  const uint16_t Nearest = bits(_Float16(Exact));
  const bool Negative = Exact < 0;
  const uint16_t Sign = Negative ? 0x8000 : 0;
  const __float128 Size = Negative ? -Exact : Exact;
  const uint16_t Near = Nearest & 0x7fff;
  if (Size > __float128(1e300)) // infinity, which is exact
    return Nearest;
  // Inward: the larger half that is not beyond the value.
  uint16_t Inward = Near;
  if (Near == 0x7c00 || __float128(asHalf(Near)) > Size)
    --Inward;
  if (__float128(asHalf(Inward)) == Size)
    return Sign | Inward;
  switch (Round) {
  case 1:
    return Sign | (Negative ? Inward : Inward + 1);
  case 2:
    return Sign | (Negative ? Inward + 1 : Inward);
  case 3:
    return Sign | Inward;
  default:
    return Nearest;
  }
}

/// x + -x is -0 only when rounding down.
bool sumIsNegativeZero(__float128 A, __float128 B, unsigned Round) {
  const bool NegA = __builtin_signbit(double(A)),
             NegB = __builtin_signbit(double(B));
  return NegA == NegB ? NegA : Round == 2;
}

class ModeTest : public WaveTest {
protected:
  /// Body for all 16 modes of singles, or of doubles and halves.
  void allModes(unsigned RoundShift, unsigned DenormShift,
                const std::function<void(unsigned, bool, bool)> &Body) {
    for (unsigned Round = 0; Round < 4; ++Round)
      for (unsigned Denorm = 0; Denorm < 4; ++Denorm) {
        setMode(RoundShift, 2, Round);
        setMode(DenormShift, 2, Denorm);
        SCOPED_TRACE("round " + std::to_string(Round) + ", denormals " +
                     std::to_string(Denorm));
        Body(Round, !(Denorm & 1), !(Denorm & 2));
      }
  }
  void modes32(const std::function<void(unsigned, bool, bool)> &Body) {
    allModes(vgpu::ModeRound32Shift, vgpu::ModeDenorm32Shift, Body);
  }
  void modes64(const std::function<void(unsigned, bool, bool)> &Body) {
    allModes(vgpu::ModeRound64Shift, vgpu::ModeDenorm64Shift, Body);
  }
};

/// A flushed result may be the smallest normal number on a host that looks
/// before rounding, or zero where it looks after.
template <class T> bool sameButUnderflow(T Got, T Want, bool Flush, T Least) {
  const T Sign = T(1) << (8 * sizeof(T) - 1);
  return Got == Want ||
         (Flush && (Want & ~Sign) == Least && Got == (Want & Sign));
}

TEST_F(ModeTest, Singles) {
  struct {
    const char *Text;
    unsigned Sources;
    std::function<float(float, float, float)> Fn;
  } const Cases[] = {
      {"v_add_f32 v0, v2, v4", 2,
       [](volatile float A, volatile float B, float) { return A + B; }},
      {"v_sub_f32 v0, v2, v4", 2,
       [](volatile float A, volatile float B, float) { return A - B; }},
      {"v_mul_f32 v0, v2, v4", 2,
       [](volatile float A, volatile float B, float) { return A * B; }},
      {"v_fma_f32 v0, v2, v4, v6", 3,
       [](volatile float A, volatile float B, volatile float C) {
         return std::fma(A, B, C);
       }},
      {"v_sqrt_f32 v0, v2", 1,
       [](volatile float A, float, float) { return std::sqrt(A); }},
      {"v_rcp_f32 v0, v2", 1,
       [](volatile float A, float, float) { return 1.0f / A; }},
  };
  modes32([&](unsigned Round, bool FlushIn, bool FlushOut) {
    for (const auto &C : Cases)
      sweep(C.Text, C.Sources, edgesFloat(),
            [&](uint64_t A, uint64_t B, uint64_t D, uint64_t Got, bool) {
              A = flush32(A, FlushIn);
              B = flush32(B, FlushIn);
              D = flush32(D, FlushIn);
              const float R = rounding(Round, [&] {
                return C.Fn(asFloat(A), asFloat(B), asFloat(D));
              });
              const uint32_t Want = !std::isnan(R)
                                        ? uint32_t(flush32(bits(R), FlushOut))
                                    : C.Sources == 1 ? nanOf32({A})
                                    : C.Sources == 2 ? nanOf32({A, B})
                                                     : nanOf32({A, B, D});
              ASSERT_TRUE(
                  sameButUnderflow(uint32_t(Got), Want, FlushOut, 0x00800000u))
                  << C.Text << std::hex << " " << A << " " << B << " " << D
                  << " got " << Got << " want " << Want;
            });
  });
}

TEST_F(ModeTest, Doubles) {
  struct {
    const char *Text;
    unsigned Sources;
    std::function<double(double, double, double)> Fn;
  } const Cases[] = {
      {"v_add_f64 v[0:1], v[2:3], v[4:5]", 2,
       [](volatile double A, volatile double B, double) { return A + B; }},
      {"v_mul_f64 v[0:1], v[2:3], v[4:5]", 2,
       [](volatile double A, volatile double B, double) { return A * B; }},
      {"v_fma_f64 v[0:1], v[2:3], v[4:5], v[6:7]", 3,
       [](volatile double A, volatile double B, volatile double C) {
         return std::fma(A, B, C);
       }},
      {"v_sqrt_f64 v[0:1], v[2:3]", 1,
       [](volatile double A, double, double) { return std::sqrt(A); }},
      {"v_rcp_f64 v[0:1], v[2:3]", 1,
       [](volatile double A, double, double) { return 1.0 / A; }},
  };
  modes64([&](unsigned Round, bool FlushIn, bool FlushOut) {
    for (const auto &C : Cases)
      sweep(C.Text, C.Sources, edgesDouble(),
            [&](uint64_t A, uint64_t B, uint64_t D, uint64_t Got, bool) {
              A = flush64(A, FlushIn);
              B = flush64(B, FlushIn);
              D = flush64(D, FlushIn);
              const double R = rounding(Round, [&] {
                return C.Fn(asDouble(A), asDouble(B), asDouble(D));
              });
              const uint64_t Want = !std::isnan(R) ? flush64(bits(R), FlushOut)
                                    : C.Sources == 1 ? nanOf64({A})
                                    : C.Sources == 2 ? nanOf64({A, B})
                                                     : nanOf64({A, B, D});
              ASSERT_TRUE(sameButUnderflow<uint64_t>(Got, Want, FlushOut,
                                                     0x0010000000000000))
                  << C.Text << std::hex << " " << A << " " << B << " " << D
                  << " got " << Got << " want " << Want;
            });
  });
}

TEST_F(ModeTest, Halves) {
  using Quad = __float128;
  struct {
    const char *Text;
    unsigned Sources;
    std::function<Quad(Quad, Quad, Quad)> Fn;
    bool IsSum; // else the sign of a zero is that of the product
  } const Cases[] = {
      {"v_add_f16 v0, v2, v4", 2, [](Quad A, Quad B, Quad) { return A + B; },
       true},
      {"v_mul_f16 v0, v2, v4", 2, [](Quad A, Quad B, Quad) { return A * B; },
       false},
      {"v_fma_f16 v0, v2, v4, v6", 3,
       [](Quad A, Quad B, Quad C) { return A * B + C; }, true},
  };
  modes64([&](unsigned Round, bool FlushIn, bool FlushOut) {
    for (const auto &C : Cases)
      sweep(C.Text, C.Sources, edgesHalf(),
            [&](uint64_t A, uint64_t B, uint64_t D, uint64_t Got, bool) {
              A = flush16(A, FlushIn);
              B = flush16(B, FlushIn);
              D = flush16(D, FlushIn);
              const Quad X = asHalf(A), Y = asHalf(B), Z = asHalf(D);
              const Quad Exact = C.Fn(X, Y, Z);
              uint16_t Want;
              if (Exact != Exact) {
                Want = C.Sources == 2 ? nanOf16({A, B}) : nanOf16({A, B, D});
              } else {
                const Quad First = C.Sources == 2 ? X : X * Y;
                const bool Negative =
                    C.IsSum ? sumIsNegativeZero(First, C.Sources == 2 ? Y : Z,
                                                Round)
                            : (A ^ B) & 0x8000;
                Want = flush16(roundToHalf(Exact, Round, Negative), FlushOut);
              }
              ASSERT_EQ(uint16_t(Got), Want)
                  << C.Text << std::hex << " " << A << " " << B << " " << D;
            });
  });
}

TEST_F(ModeTest, PackedHalves) {
  modes64([&](unsigned Round, bool FlushIn, bool FlushOut) {
    sweep("v_pk_add_f16 v0, v2, v4 op_sel_hi:[0,0]", 2, edgesHalf(),
          [&](uint64_t A, uint64_t B, uint64_t, uint64_t Got, bool) {
            A = flush16(A, FlushIn);
            B = flush16(B, FlushIn);
            const __float128 X = asHalf(A), Y = asHalf(B), Exact = X + Y;
            const uint16_t Want =
                Exact != Exact
                    ? nanOf16({A, B})
                    : flush16(roundToHalf(Exact, Round,
                                          sumIsNegativeZero(X, Y, Round)),
                              FlushOut);
            ASSERT_EQ(uint32_t(Got), Want * 0x10001u)
                << std::hex << A << " " << B;
          });
  });
}

TEST_F(ModeTest, SinglesToHalves) {
  // Denormal sources go by the mode of singles, results by that of halves.
  for (bool FlushIn : {false, true}) {
    setMode(vgpu::ModeDenorm32Shift, 2, FlushIn ? 2 : 3);
    modes64([&](unsigned Round, bool, bool FlushOut) {
      std::vector<uint64_t> Values = edgesFloat();
      // About the halves' own limits: overflow, underflow, ties.
      for (float V : {65504.0f, 65519.0f, 65520.0f, 0x1p-14f, 0x1.ffcp-15f,
                      0x1p-24f, 0x1p-25f, 0x1.8p-25f, 0x1.002p0f, 0x1.006p0f})
        for (float Signed : {V, -V})
          Values.push_back(bits(Signed));
      sweep("v_cvt_f16_f32 v0, v2", 1, Values,
            [&](uint64_t A, uint64_t, uint64_t, uint64_t Got, bool) {
              const float V = asFloat(flush32(A, FlushIn));
              if (std::isnan(V)) {
                ASSERT_EQ(uint16_t(Got),
                          (A >> 16 & 0x8000) | 0x7e00 | (A >> 13 & 0x3ff));
                return;
              }
              ASSERT_EQ(
                  uint16_t(Got),
                  flush16(roundToHalf(V, Round, std::signbit(V)), FlushOut));
            });
    });
  }
}

TEST_F(ModeTest, DoublesToSingles) {
  // The other way about: sources by the mode of doubles, results by singles'.
  for (bool FlushIn : {false, true}) {
    setMode(vgpu::ModeDenorm64Shift, 2, FlushIn ? 2 : 3);
    modes32([&](unsigned Round, bool, bool FlushOut) {
      sweep("v_cvt_f32_f64 v0, v[2:3]", 1, edgesDouble(),
            [&](uint64_t A, uint64_t, uint64_t, uint64_t Got, bool) {
              volatile double V = asDouble(flush64(A, FlushIn));
              if (std::isnan(double(V)))
                return; // DoubleTest
              const float R = rounding(Round, [&] { return float(V); });
              ASSERT_TRUE(sameButUnderflow(uint32_t(Got),
                                           uint32_t(flush32(bits(R), FlushOut)),
                                           FlushOut, 0x00800000u))
                  << std::hex << Got << " " << bits(R);
            });
    });
  }
}

TEST_F(ModeTest, MixedPrecision) {
  // A half times a single plus a single, in the mode of singles; halves that
  // are denormal go by their own mode.
  for (bool FlushHalves : {false, true}) {
    setMode(vgpu::ModeDenorm64Shift, 2, FlushHalves ? 0 : 3);
    modes32([&](unsigned Round, bool FlushIn, bool FlushOut) {
      if (FlushIn != FlushOut)
        return;
      const float Factor = 0x1.000002p0f, Addend = -0x1p-20f;
      setV(8, bits(Factor));
      setV(9, bits(Addend));
      sweep("v_fma_mix_f32 v0, v2, v8, v9 op_sel_hi:[1,0,0]", 1, edgesHalf(),
            [&](uint64_t A, uint64_t, uint64_t, uint64_t Got, bool) {
              volatile float X = float(asHalf(flush16(A, FlushHalves)));
              const float R = rounding(
                  Round, [&] { return std::fma(float(X), Factor, Addend); });
              if (!std::isnan(R)) {
                ASSERT_EQ(uint32_t(Got), flush32(bits(R), FlushOut));
              }
            });
    });
  }
}

TEST_F(ModeTest, ExponentsThatUnderflow) {
  for (int E : {-126, -130, -149, -150, -160, 1, 30, 126, 150}) {
    s(10) = uint32_t(E);
    modes32([&](unsigned Round, bool FlushIn, bool FlushOut) {
      sweep("v_ldexp_f32 v0, v2, s10", 1, edgesFloat(),
            [&](uint64_t A, uint64_t, uint64_t, uint64_t Got, bool) {
              volatile float V = asFloat(flush32(A, FlushIn));
              if (std::isnan(float(V)))
                return;
              const float R =
                  rounding(Round, [&] { return std::ldexp(float(V), E); });
              ASSERT_TRUE(sameButUnderflow(uint32_t(Got),
                                           uint32_t(flush32(bits(R), FlushOut)),
                                           FlushOut, 0x00800000u))
                  << std::hex << A << " " << std::dec << E << std::hex
                  << " got " << Got << " want " << bits(R);
            });
    });
  }
}

TEST_F(ModeTest, MinimaFlushTheirSources) {
  modes32([&](unsigned, bool FlushIn, bool) {
    for (bool Max : {false, true})
      sweep(std::string(Max ? "v_max" : "v_min") + "_f32 v0, v2, v4", 2,
            edgesFloat(),
            [&](uint64_t A, uint64_t B, uint64_t, uint64_t Got, bool) {
              A = flush32(A, FlushIn);
              B = flush32(B, FlushIn);
              if (std::isnan(asFloat(A)) || std::isnan(asFloat(B)))
                return; // FloatTest
              const bool TakeA = asFloat(A) == asFloat(B)
                                     ? bool(A >> 31) != Max
                                     : (asFloat(A) < asFloat(B)) != Max;
              ASSERT_EQ(uint32_t(Got), uint32_t(TakeA ? A : B));
            });
  });
}

TEST_F(ModeTest, ResultModifiersRound) {
  // omod after the operation, with denormal results off and IEEE mode off.
  W.Mode &= ~uint32_t(vgpu::ModeIeee);
  setMode(vgpu::ModeDenorm32Shift, 2, 0);
  for (unsigned Round = 0; Round < 4; ++Round) {
    setMode(vgpu::ModeRound32Shift, 2, Round);
    sweep("v_mul_f32_e64 v0, v2, v4 mul:4", 2, edgesFloat(),
          [&](uint64_t A, uint64_t B, uint64_t, uint64_t Got, bool) {
            volatile float X = asFloat(flush32(A, true)),
                           Y = asFloat(flush32(B, true));
            volatile float Product =
                rounding(Round, [&] { return float(X * Y); });
            const float R = Product;
            if (std::isnan(R) || std::fabs(R) <= 0x1p-126f)
              return;
            const float Want =
                rounding(Round, [&] { return float(Product * 4); });
            ASSERT_EQ(uint32_t(Got), bits(Want));
          });
  }
}

} // namespace
} // namespace vgputest
