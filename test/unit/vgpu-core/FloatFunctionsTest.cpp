// Less common single and double precision instructions, and the last few of
// 32-bit integers, against host arithmetic.
#include "Harness.h"

#include <algorithm>
#include <cmath>

namespace vgputest {
namespace {

using FloatFunctionsTest = WaveTest;

bool isNan32(uint64_t V) { return (V & 0x7fffffff) > 0x7f800000; }
bool isNan64(uint64_t V) { return V << 1 > 0xffe0000000000000; }
float flushed(uint64_t V) {
  return asFloat(V & 0x7f800000 ? V : V & 0x80000000);
}

TEST_F(FloatFunctionsTest, LegacyMultiplication) {
  // Zero times anything is zero, infinities and NaNs too.
  sweep("v_mul_legacy_f32 v0, v2, v4", 2, edgesFloat(),
        [&](uint64_t A, uint64_t B, uint64_t, uint64_t Got, bool) {
          const float X = asFloat(A), Y = asFloat(B), P = X * Y;
          const bool Zero = X == 0 || Y == 0;
          ASSERT_EQ(uint32_t(Got), Zero            ? 0
                                   : std::isnan(P) ? nanOf32({A, B})
                                                   : bits(P));
        });
  sweep("v_mad_legacy_f32 v0, v2, v4, v6", 3, edgesFloat(),
        [&](uint64_t A, uint64_t B, uint64_t C, uint64_t Got, bool) {
          // Denormals count as zeros, on the way in and out.
          const float X = flushed(A), Y = flushed(B), Z = flushed(C);
          const float P = X == 0 || Y == 0 ? 0 : flushed(bits(X * Y));
          const float R = P + Z;
          if (std::isnan(R))
            ASSERT_TRUE(isNan32(Got));
          else
            ASSERT_EQ(uint32_t(Got), bits(flushed(bits(R))));
        });
}

TEST_F(FloatFunctionsTest, ExtremesOfThree) {
  for (bool Max : {false, true})
    sweep(std::string(Max ? "v_max3" : "v_min3") + "_f32 v0, v2, v4, v6", 3,
          edgesFloat(),
          [&](uint64_t A, uint64_t B, uint64_t C, uint64_t Got, bool) {
            float Best = NAN;
            for (uint64_t V : {A, B, C}) {
              if (isNan32(V) && !(V & 0x00400000))
                return; // signalling: HalfFunctionsTest
              if (!isNan32(V))
                Best = std::isnan(Best) ? asFloat(V)
                       : Max            ? std::max(Best, asFloat(V))
                                        : std::min(Best, asFloat(V));
            }
            if (std::isnan(Best)) {
              ASSERT_TRUE(isNan32(Got));
            } else {
              ASSERT_EQ(asFloat(Got), Best);
            }
          });
  sweep("v_max_f64 v[0:1], v[2:3], v[4:5]", 2, edgesDouble(),
        [&](uint64_t A, uint64_t B, uint64_t, uint64_t Got, bool) {
          if (!isNan64(A) && !isNan64(B)) {
            ASSERT_EQ(asDouble(Got), std::max(asDouble(A), asDouble(B)));
          } else if (!isNan64(A) && B & 0x0008000000000000) {
            ASSERT_EQ(Got, A);
          } else if (!isNan64(B) && A & 0x0008000000000000) {
            ASSERT_EQ(Got, B);
          }
        });
}

TEST_F(FloatFunctionsTest, Conversions) {
  std::vector<uint64_t> Values = edgesFloat();
  for (float V : {0.5f, 1.5f, -0.5f, -1.5f, 0.49999997f, 8388607.5f, 2.25f})
    Values.push_back(bits(V));
  sweep("v_cvt_rpi_i32_f32 v0, v2", 1, Values,
        [&](uint64_t A, uint64_t, uint64_t, uint64_t Got, bool) {
          const double V = std::floor(double(asFloat(A)) + 0.5);
          ASSERT_EQ(int32_t(Got),
                    std::isnan(V)
                        ? 0
                        : int32_t(std::clamp(V, -2147483648.0, 2147483647.0)))
              << std::hex << A;
        });
  for (unsigned N = 0; N < 4; ++N)
    sweep("v_cvt_f32_ubyte" + std::to_string(N) + " v0, v2", 1, edgesInt32(),
          [&](uint64_t A, uint64_t, uint64_t, uint64_t Got, bool) {
            ASSERT_EQ(asFloat(Got), float((A >> (8 * N)) & 255));
          });
  if (Target.isGfx10())
    return;
  for (unsigned N : {0u, 1u, 2u, 3u, 5u}) {
    s(10) = N;
    sweep("v_cvt_pkaccum_u8_f32 v0, v2, s10", 1, Values,
          [&](uint64_t A, uint64_t, uint64_t, uint64_t Got, bool) {
            const float V = asFloat(A);
            const uint32_t Byte =
                std::isnan(V)
                    ? 0
                    : uint32_t(std::clamp(std::nearbyint(V), 0.0f, 255.0f));
            const unsigned Shift = 8 * (N % 4);
            ASSERT_EQ(uint32_t(Got),
                      (0xcafef00d & ~(255u << Shift)) | Byte << Shift);
          });
  }
}

TEST_F(FloatFunctionsTest, LegacyPowersAndLogarithms) {
  if (Target.isGfx10())
    GTEST_SKIP() << "gfx9 only";
  for (const char *Name : {"exp", "log"})
    sweep(std::string("v_") + Name + "_legacy_f32 v0, v2", 1, edgesFloat(),
          [&](uint64_t A, uint64_t, uint64_t, uint64_t Got, bool) {
            const double V = asFloat(A);
            const float Want =
                float(*Name == 'e' ? std::pow(2.0, V) : std::log2(V));
            if (std::isnan(Want))
              ASSERT_TRUE(isNan32(Got));
            else
              ASSERT_LE(std::abs(int64_t(int32_t(Got)) - int32_t(bits(Want))),
                        1)
                  << std::hex << A; // neighbours have neighbouring bits
          });
}

TEST_F(FloatFunctionsTest, ClassesIntoExec) {
  const struct {
    const char *Type, *Source;
    uint64_t Normal, Infinity;
  } Cases[] = {
      {"f16", "v2", 0x3c00, 0x7c00},
      {"f32", "v2", 0x3f800000, 0x7f800000},
      {"f64", "v[2:3]", 0x3ff0000000000000, 0x7ff0000000000000},
  };
  for (const auto &C : Cases) {
    for (unsigned L = 0; L < 64; ++L)
      setV64(2, L, L % 3 == 0 ? C.Infinity : C.Normal);
    const uint64_t Exec = 0x00ffff00f0f0f0f0 & allLanes();
    W.setExec(Exec);
    s(10) = 1u << 9; // +infinity
    runOk(spell(std::string("v_cmpx_class_") + C.Type + " vcc, " + C.Source +
                ", s10"));
    uint64_t Want = 0;
    for (unsigned L = 0; L < lanes(); L += 3)
      Want |= uint64_t(1) << L;
    EXPECT_EQ(W.exec(), Want & Exec) << C.Type;
    if (!Target.isGfx10()) {
      EXPECT_EQ(W.vcc(), Want & Exec) << C.Type;
    }
    W.setExec(allLanes());
  }
}

TEST_F(FloatFunctionsTest, Integers) {
  sweep("v_subrev_co_u32 v0, vcc, v2, v4", 2, edgesInt32(),
        [](uint64_t A, uint64_t B, uint64_t, uint64_t Got, bool Borrow) {
          ASSERT_EQ(uint32_t(Got), uint32_t(B - A));
          ASSERT_EQ(Borrow, B < A);
        });
  // Four sums of masked byte differences, each added to 32 bits of its own.
  setV(6, 10);
  setV(7, 20);
  setV(8, 0xfffffff0);
  setV(9, 0);
  const uint64_t A = 0x8811220033445566;
  const uint32_t B = 0x40003010;
  for (unsigned L = 0; L < 64; ++L)
    setV64(2, L, A);
  setV(4, B);
  W.setExec(5);
  setV(10, 77);
  runOk("v_mqsad_u32_u8 v[10:13], v[2:3], v4, v[6:9]");
  const uint32_t Acc[4] = {10, 20, 0xfffffff0, 0};
  for (unsigned N = 0; N < 4; ++N) {
    uint32_t Want = Acc[N];
    for (unsigned Byte = 0; Byte < 4; ++Byte) {
      const int P = int((A >> (8 * (N + Byte))) & 255),
                Q = int((B >> (8 * Byte)) & 255);
      Want += Q ? uint32_t(std::abs(P - Q)) : 0;
    }
    EXPECT_EQ(v(10 + N)[2], Want) << N;
  }
  EXPECT_EQ(v(10)[1], 77u);
}

} // namespace
} // namespace vgputest
