// Functions of halves over every half there is, and the rest of the 16-bit
// instructions that HalfTest and IntegerTest leave.
#include "Harness.h"

#include <algorithm>
#include <cmath>
#include <functional>

namespace vgputest {
namespace {

bool isNan16(uint64_t V) { return (V & 0x7fff) > 0x7c00; }
bool isSignalling16(uint64_t V) { return isNan16(V) && !(V & 0x200); }

const std::vector<uint64_t> &everyHalf() {
  static const std::vector<uint64_t> All = [] {
    std::vector<uint64_t> V(65536);
    for (unsigned N = 0; N < V.size(); ++N)
      V[N] = N;
    return V;
  }();
  return All;
}

class HalfFunctionsTest : public WaveTest {
protected:
  /// NAME v0, v2 over all halves that are numbers; NaNs give NaNs.
  void check1(const std::string &Name, std::function<uint16_t(float)> Fn) {
    sweep(Name + " v0, v2", 1, everyHalf(),
          [&](uint64_t A, uint64_t, uint64_t, uint64_t Got, bool) {
            ASSERT_EQ(uint16_t(Got),
                      isNan16(A) ? nanOf16({A}) : Fn(float(asHalf(A))))
                << std::hex << A;
          });
  }
};

TEST_F(HalfFunctionsTest, RoundToIntegral) {
  check1("v_floor_f16", [](float V) { return bits(_Float16(std::floor(V))); });
  check1("v_ceil_f16", [](float V) { return bits(_Float16(std::ceil(V))); });
  check1("v_trunc_f16", [](float V) { return bits(_Float16(std::trunc(V))); });
  check1("v_rndne_f16",
         [](float V) { return bits(_Float16(std::nearbyint(V))); });
  check1("v_fract_f16", [](float V) -> uint16_t {
    if (std::isinf(V))
      return 0x7e00;
    // A number just below a whole one has a fraction that rounds to 1.
    return std::min<uint16_t>(bits(_Float16(V - std::floor(V))), 0x3bff);
  });
}

TEST_F(HalfFunctionsTest, ExponentsAndScale) {
  sweep("v_frexp_exp_i16_f16 v0, v2", 1, everyHalf(),
        [&](uint64_t A, uint64_t, uint64_t, uint64_t Got, bool) {
          const float V = float(asHalf(A));
          int E = 0;
          if (std::isfinite(V))
            std::frexp(V, &E);
          ASSERT_EQ(int16_t(Got), E) << std::hex << A;
        });
  check1("v_frexp_mant_f16", [](float V) {
    int E;
    return bits(_Float16(std::frexp(V, &E)));
  });
  for (int E : {0, 1, -1, 10, -10, 15, -24, -25, 40, -40, 32767, -32768}) {
    s(10) = uint32_t(E) & 0xffff;
    sweep("v_ldexp_f16 v0, v2, s10", 1, everyHalf(),
          [&](uint64_t A, uint64_t, uint64_t, uint64_t Got, bool) {
            // In double, where no step but the last rounds.
            const double R =
                std::ldexp(double(float(asHalf(A))), std::clamp(E, -99, 99));
            ASSERT_EQ(uint16_t(Got),
                      isNan16(A) ? nanOf16({A}) : bits(_Float16(R)))
                << std::hex << A << " " << std::dec << E;
          });
  }
}

TEST_F(HalfFunctionsTest, Transcendental) {
  const double Turn = 6.283185307179586477;
  struct {
    const char *Name;
    std::function<double(double)> Fn;
  } const Cases[] = {
      {"v_rcp_f16", [](double V) { return 1 / V; }},
      {"v_sqrt_f16", [](double V) { return std::sqrt(V); }},
      {"v_rsq_f16", [](double V) { return V == 0 ? 1 / V : 1 / std::sqrt(V); }},
      {"v_exp_f16", [](double V) { return std::pow(2.0, V); }},
      {"v_log_f16", [](double V) { return std::log2(V); }},
      // The argument counts turns; from 256 on the result is that of 0.
      {"v_sin_f16",
       [&](double V) {
         return std::isinf(V)        ? double(NAN)
                : std::fabs(V) > 256 ? 0
                                     : std::sin(std::remainder(V, 1) * Turn);
       }},
      {"v_cos_f16",
       [&](double V) {
         return std::isinf(V)        ? double(NAN)
                : std::fabs(V) > 256 ? 1
                                     : std::cos(std::remainder(V, 1) * Turn);
       }},
  };
  for (const auto &C : Cases)
    sweep(std::string(C.Name) + " v0, v2", 1, everyHalf(),
          [&](uint64_t A, uint64_t, uint64_t, uint64_t Got, bool) {
            const double Want = C.Fn(double(float(asHalf(A))));
            const double Result = double(float(asHalf(Got)));
            if (std::isnan(Want)) {
              ASSERT_TRUE(isNan16(Got)) << C.Name << std::hex << A;
              return;
            }
            // Halves next to the exact value: at most one place away.
            const _Float16 Near = _Float16(Want);
            if (std::isinf(float(Near)) || Want == 0) {
              ASSERT_EQ(Result, double(float(Near))) << C.Name << std::hex << A;
              return;
            }
            const double Place = std::ldexp(
                1.0, std::max(std::ilogb(double(float(Near))), -14) - 10);
            ASSERT_LE(std::fabs(Result - Want), Place)
                << C.Name << " " << std::hex << A;
          });
}

TEST_F(HalfFunctionsTest, MinimumMaximumMedian) {
  auto Key = [](uint64_t V) { // orders numbers, -0 below +0
    return V & 0x8000 ? -int(V & 0x7fff) - 1 : int(V & 0x7fff);
  };
  auto Reference = [&](std::vector<uint64_t> Values, bool Max) -> uint16_t {
    // NaNs lose against numbers.
    std::vector<uint64_t> Numbers;
    for (uint64_t V : Values)
      if (!isNan16(V))
        Numbers.push_back(V);
    if (Numbers.empty())
      return 0x7e00;
    std::sort(Numbers.begin(), Numbers.end(),
              [&](uint64_t A, uint64_t B) { return Key(A) < Key(B); });
    return uint16_t(Max ? Numbers.back() : Numbers.front());
  };
  auto Check = [&](const std::string &Text, unsigned Sources, bool Max,
                   const std::function<uint64_t(uint64_t)> &Part) {
    sweep(Text, Sources, edgesHalf(),
          [&](uint64_t A, uint64_t B, uint64_t C, uint64_t Got, bool) {
            std::vector<uint64_t> V = {A, B};
            if (Sources == 3)
              V.push_back(C);
            if (std::any_of(V.begin(), V.end(), isSignalling16))
              return; // quiet instead, below
            const uint16_t Want = Reference(V, Max);
            if (isNan16(Want))
              ASSERT_TRUE(isNan16(Part(Got)));
            else
              ASSERT_EQ(uint16_t(Part(Got)), Want);
          });
  };
  auto Low = [](uint64_t V) { return V & 0xffff; };
  auto High = [](uint64_t V) { return V >> 16 & 0xffff; };
  for (bool Max : {false, true}) {
    const std::string Name = Max ? "max" : "min";
    Check("v_" + Name + "_f16 v0, v2, v4", 2, Max, Low);
    Check("v_" + Name + "3_f16 v0, v2, v4, v6", 3, Max, Low);
    Check("v_pk_" + Name + "_f16 v0, v2, v4 op_sel_hi:[0,0]", 2, Max, Low);
    Check("v_pk_" + Name + "_f16 v0, v2, v4 op_sel_hi:[0,0]", 2, Max, High);
  }
  sweep("v_med3_f16 v0, v2, v4, v6", 3, edgesHalf(),
        [&](uint64_t A, uint64_t B, uint64_t C, uint64_t Got, bool) {
          uint64_t V[3] = {A, B, C};
          if (std::any_of(V, V + 3, isNan16))
            return;
          std::sort(V, V + 3,
                    [&](uint64_t X, uint64_t Y) { return Key(X) < Key(Y); });
          ASSERT_EQ(Key(Got & 0xffff), Key(V[1]));
        });
  // IEEE mode: a signalling NaN is the result, quiet.
  setV(2, 0x7d23);
  setV(4, 0x3c00);
  runOk("v_min_f16 v0, v2, v4");
  EXPECT_EQ(v(0)[0], 0x7f23u);
  runOk("v_max_f16 v0, v4, v2");
  EXPECT_EQ(v(0)[0], 0x7f23u);
}

TEST_F(HalfFunctionsTest, Conversions) {
  sweep("v_cvt_f16_i16 v0, v2", 1, everyHalf(),
        [&](uint64_t A, uint64_t, uint64_t, uint64_t Got, bool) {
          ASSERT_EQ(uint16_t(Got), bits(_Float16(float(int16_t(A)))));
        });
  sweep("v_cvt_u16_f16 v0, v2", 1, everyHalf(),
        [&](uint64_t A, uint64_t, uint64_t, uint64_t Got, bool) {
          const float V = isNan16(A) ? 0 : float(asHalf(A));
          ASSERT_EQ(uint16_t(Got),
                    uint16_t(std::clamp(std::trunc(V), 0.0f, 65535.0f)));
        });
  auto Norm = [](uint64_t A, double Low, double Scale) {
    const double V = double(float(asHalf(A)));
    return isNan16(A) ? 0
                      : int(std::nearbyint(std::clamp(V, Low, 1.0) * Scale));
  };
  sweep("v_cvt_norm_i16_f16 v0, v2", 1, everyHalf(),
        [&](uint64_t A, uint64_t, uint64_t, uint64_t Got, bool) {
          ASSERT_EQ(int16_t(Got), Norm(A, -1, 32767)) << std::hex << A;
        });
  sweep("v_cvt_norm_u16_f16 v0, v2", 1, everyHalf(),
        [&](uint64_t A, uint64_t, uint64_t, uint64_t Got, bool) {
          ASSERT_EQ(uint16_t(Got), Norm(A, 0, 65535)) << std::hex << A;
        });
  sweep("v_cvt_pknorm_i16_f16 v0, v2, v4", 2, edgesHalf(),
        [&](uint64_t A, uint64_t B, uint64_t, uint64_t Got, bool) {
          ASSERT_EQ(int16_t(Got), Norm(A, -1, 32767));
          ASSERT_EQ(int16_t(Got >> 16), Norm(B, -1, 32767));
        });
  sweep("v_cvt_pknorm_u16_f16 v0, v2, v4", 2, edgesHalf(),
        [&](uint64_t A, uint64_t B, uint64_t, uint64_t Got, bool) {
          ASSERT_EQ(uint16_t(Got), Norm(A, 0, 65535));
          ASSERT_EQ(uint16_t(Got >> 16), Norm(B, 0, 65535));
        });
}

TEST_F(HalfFunctionsTest, DivisionFixup) {
  // Quotient, denominator, numerator, what comes out.
  const uint16_t Cases[][4] = {
      {0x3c00, 0x3c00, 0x7d23, 0x7f23}, {0x3c00, 0x7d23, 0x3c00, 0x7f23},
      {0x3c00, 0x0000, 0x0000, 0xfe00}, {0x3c00, 0x7c00, 0x7c00, 0xfe00},
      {0x3c00, 0x8000, 0x3c00, 0xfc00}, {0x3c00, 0x3c00, 0xfc00, 0xfc00},
      {0x3c00, 0xfc00, 0x3c00, 0x8000}, {0x3c00, 0x4000, 0x0000, 0x0000},
      {0x4248, 0xbc00, 0x3c00, 0xc248},
  };
  for (const auto &C : Cases) {
    setV(2, C[0]);
    setV(4, C[1]);
    setV(6, C[2]);
    runOk("v_div_fixup_f16 v0, v2, v4, v6");
    EXPECT_EQ(uint16_t(v(0)[0]), C[3]) << std::hex << C[1] << " " << C[2];
    if (!Target.isGfx10()) {
      runOk("v_div_fixup_legacy_f16 v0, v2, v4, v6");
      EXPECT_EQ(v(0)[0], C[3]) << std::hex << C[1] << " " << C[2];
    }
  }
}

TEST_F(HalfFunctionsTest, FormsOfMultiplyAdd) {
  if (Target.isGfx10())
    GTEST_SKIP() << "gfx9 only";
  using Quad = __float128;
  for (bool Fused : {false, true})
    sweep(std::string(Fused ? "v_fma" : "v_mad") + "_legacy_f16 v0, v2, v4, v6",
          3, edgesHalf(),
          [&](uint64_t A, uint64_t B, uint64_t C, uint64_t Got, bool) {
            const _Float16 Product = asHalf(A) * asHalf(B);
            const _Float16 R =
                Fused ? _Float16(Quad(asHalf(A)) * asHalf(B) + asHalf(C))
                      : _Float16(Product + asHalf(C));
            ASSERT_EQ(uint32_t(Got),
                      isNan16(bits(R)) ? nanOf16({A, B, C}) : bits(R));
          });
  setV(0, 0xaaaa0000);
  setV(2, 0x4200);                         // 3
  setV(4, 0x4500);                         // 5
  runOk("v_madmk_f16 v0, v2, 0x4900, v4"); // 3 * 10 + 5, keeps the high half
  EXPECT_EQ(v(0)[0], 0xaaaa5060u);
  runOk("v_madak_f16 v0, v2, v4, 0x4900"); // 3 * 5 + 10
  EXPECT_EQ(v(0)[0], 0xaaaa4e40u);
}

TEST_F(HalfFunctionsTest, SixteenBitIntegers) {
  auto Check = [&](const std::string &Text, unsigned Sources,
                   std::function<int(int64_t, int64_t, int64_t)> Fn) {
    sweep(Text, Sources, edgesInt32(),
          [&](uint64_t A, uint64_t B, uint64_t C, uint64_t Got, bool) {
            ASSERT_EQ(uint16_t(Got),
                      uint16_t(Fn(int64_t(A), int64_t(B), int64_t(C))))
                << Text << std::hex << " " << A << " " << B << " " << C;
          });
  };
  Check("v_subrev_u16 v0, v2, v4", 2,
        [](int64_t A, int64_t B, int64_t) { return int(B - A); });
  Check("v_sub_i16 v0, v2, v4 clamp", 2, [](int64_t A, int64_t B, int64_t) {
    return std::clamp(int16_t(A) - int16_t(B), -32768, 32767);
  });
  Check("v_max_u16 v0, v2, v4", 2, [](int64_t A, int64_t B, int64_t) {
    return int(std::max(uint16_t(A), uint16_t(B)));
  });
  Check("v_min_i16 v0, v2, v4", 2, [](int64_t A, int64_t B, int64_t) {
    return int(std::min(int16_t(A), int16_t(B)));
  });
  for (unsigned Which : {0u, 1u, 2u}) {
    const char *const Names[] = {"min3", "med3", "max3"};
    Check(std::string("v_") + Names[Which] + "_u16 v0, v2, v4, v6", 3,
          [&](int64_t A, int64_t B, int64_t C) {
            uint16_t V[3] = {uint16_t(A), uint16_t(B), uint16_t(C)};
            std::sort(V, V + 3);
            return int(V[Which]);
          });
  }
  Check("v_pk_max_u16 v0, v2, v4", 2, [](int64_t A, int64_t B, int64_t) {
    return int(std::max(uint16_t(A), uint16_t(B)));
  });
  Check("v_pk_min_i16 v0, v2, v4", 2, [](int64_t A, int64_t B, int64_t) {
    return int(std::min(int16_t(A), int16_t(B)));
  });
  Check("v_pk_lshrrev_b16 v0, v2, v4", 2, [](int64_t A, int64_t B, int64_t) {
    return int(uint16_t(B) >> (A % 16));
  });
  Check("v_pk_mad_i16 v0, v2, v4, v6 clamp", 3,
        [](int64_t A, int64_t B, int64_t C) {
          return int(std::clamp<int64_t>(
              int64_t(int16_t(A)) * int16_t(B) + int16_t(C), -32768, 32767));
        });
  if (Target.isGfx10())
    return;
  const auto Multiply = [](int64_t A, int64_t B, int64_t C) {
    return int(uint64_t(A) * uint64_t(B) + uint64_t(C));
  };
  Check("v_mad_legacy_u16 v0, v2, v4, v6", 3, Multiply);
  Check("v_mad_legacy_i16 v0, v2, v4, v6", 3, Multiply);
  sweep("v_sat_pk_u8_i16 v0, v2", 1, edgesInt32(),
        [&](uint64_t A, uint64_t, uint64_t, uint64_t Got, bool) {
          const int Low = std::clamp<int>(int16_t(A), 0, 255),
                    High = std::clamp<int>(int16_t(A >> 16), 0, 255);
          ASSERT_EQ(uint16_t(Got), Low | High << 8);
        });
}

/// gfx900 alone mixes precisions with two roundings.
class MadMixTest : public WaveTest {
protected:
  MadMixTest() : WaveTest(TestTarget("gfx900")) {}
};

TEST_F(MadMixTest, RoundsTwice) {
  const float A = 1.0f + 0x1p-12f;
  setV(2, bits(A));
  setV(4, 0x40003c00); // halves 2, 1
  setV(6, bits(-(A * A)));
  runOk("v_mad_mix_f32 v0, v2, v2, v6");
  EXPECT_EQ(asFloat(v(0)[0]), 0.0f); // a fused one would leave 2^-24
  runOk("v_mad_mix_f32 v0, -v4, |v2|, v4 op_sel:[1,0,0] op_sel_hi:[1,0,1]");
  EXPECT_EQ(asFloat(v(0)[0]), -2 * A + 1);
  setV(0, 0x11112222);
  runOk("v_mad_mixlo_f16 v0, v4, v4, v4 op_sel:[1,1,0] op_sel_hi:[1,1,1]");
  EXPECT_EQ(v(0)[0], 0x11114500u); // 2 * 2 + 1
  runOk("v_mad_mixhi_f16 v0, v4, v4, v4 op_sel_hi:[1,1,1]");
  EXPECT_EQ(v(0)[0], 0x40004500u); // 1 * 1 + 1
}

} // namespace
} // namespace vgputest
