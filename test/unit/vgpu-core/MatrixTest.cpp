// Matrix instructions against plain products on the host. The layout is
// written down from the side of the registers: which element a lane holds.
#include "Harness.h"

#include <cmath>
#include <random>

namespace vgputest {
namespace {

enum Element { F32, F16, Bf16, I8, F64 };

struct Shape {
  const char *Name;
  unsigned M, K, Blocks; // N is M
  Element Type;
  bool OnlyGfx90a = false;

  unsigned inLane() const { return K * M * Blocks / 64; } // of A and of B
  unsigned results() const { return M * M * Blocks / 64; }
  unsigned words() const { return Type == F64 ? 2 : 1; }
  unsigned inputRegisters() const {
    const unsigned Bits[] = {32, 16, 16, 8, 64};
    return inLane() * Bits[Type] / 32;
  }
};

const Shape Shapes[] = {
    {"f32_32x32x1f32", 32, 1, 2, F32},
    {"f32_16x16x1f32", 16, 1, 4, F32},
    {"f32_4x4x1f32", 4, 1, 16, F32},
    {"f32_32x32x2f32", 32, 2, 1, F32},
    {"f32_16x16x4f32", 16, 4, 1, F32},
    {"f32_32x32x4f16", 32, 4, 2, F16},
    {"f32_16x16x4f16", 16, 4, 4, F16},
    {"f32_4x4x4f16", 4, 4, 16, F16},
    {"f32_32x32x8f16", 32, 8, 1, F16},
    {"f32_16x16x16f16", 16, 16, 1, F16},
    {"i32_32x32x4i8", 32, 4, 2, I8},
    {"i32_16x16x4i8", 16, 4, 4, I8},
    {"i32_4x4x4i8", 4, 4, 16, I8},
    {"i32_32x32x8i8", 32, 8, 1, I8},
    {"i32_16x16x16i8", 16, 16, 1, I8},
    {"f32_32x32x2bf16", 32, 2, 2, Bf16},
    {"f32_16x16x2bf16", 16, 2, 4, Bf16},
    {"f32_4x4x2bf16", 4, 2, 16, Bf16},
    {"f32_32x32x4bf16", 32, 4, 1, Bf16},
    {"f32_16x16x8bf16", 16, 8, 1, Bf16},
    {"f32_32x32x4bf16_1k", 32, 4, 2, Bf16, true},
    {"f32_16x16x4bf16_1k", 16, 4, 4, Bf16, true},
    {"f32_4x4x4bf16_1k", 4, 4, 16, Bf16, true},
    {"f32_32x32x8bf16_1k", 32, 8, 1, Bf16, true},
    {"f32_16x16x16bf16_1k", 16, 16, 1, Bf16, true},
    {"f64_16x16x4f64", 16, 4, 1, F64, true},
    {"f64_4x4x4f64", 4, 4, 4, F64, true},
};

/// Row (or column), step and block of element E of a lane of A (or B).
struct Place {
  unsigned Row, Step, Block;
};
Place inputPlace(const Shape &S, unsigned Lane, unsigned E) {
  const unsigned Group = Lane / S.M;
  return {Lane % S.M, Group / S.Blocks * S.inLane() + E, Group % S.Blocks};
}
/// Row and block of result R of a lane; the column is Lane % M.
Place resultPlace(const Shape &S, unsigned Lane, unsigned R) {
  if (S.Type == F64 && S.M == 4)
    return {Lane / 16, 0, Lane / 4 % 4};
  if (S.Type == F64)
    return {4 * R + Lane / 16, 0, 0};
  switch (S.M) {
  case 4:
    return {R, 0, Lane / 4};
  case 16:
    return {4 * (Lane / 16) + R % 4, 0, R / 4};
  default:
    return {8 * (R / 4 % 4) + 4 * (Lane / 32) + R % 4, 0, R / 16};
  }
}

class MatrixTest : public WaveTest {
protected:
  explicit MatrixTest(const std::string &Target) : WaveTest(Target.c_str()) {}

  static constexpr unsigned RegA = 4, RegB = 12, RegC = 64, RegD = 128;
  std::mt19937 Random{1};

  static uint16_t halfBits(double V) { return bits(_Float16(V)); }

  void setElement(const Shape &S, unsigned Reg, unsigned Lane, unsigned E,
                  double V) {
    const unsigned PerRegister = S.Type == I8                      ? 4
                                 : S.Type == F16 || S.Type == Bf16 ? 2
                                                                   : 1;
    if (S.Type == F64) {
      setV64(Reg + 2 * E, Lane, bits(V));
      return;
    }
    uint32_t Bits;
    switch (S.Type) {
    case F16:
      Bits = halfBits(V);
      break;
    case Bf16:
      Bits = bits(float(V)) >> 16;
      break;
    case I8:
      Bits = uint8_t(int8_t(V));
      break;
    default:
      Bits = bits(float(V));
    }
    const unsigned Width = 32 / PerRegister, Shift = E % PerRegister * Width;
    uint32_t &Word = v(Reg + E / PerRegister)[Lane];
    const uint32_t Mask = uint32_t((uint64_t(1) << Width) - 1) << Shift;
    Word = (Word & ~Mask) | Bits << Shift;
  }
  double result(const Shape &S, unsigned Reg, unsigned Lane, unsigned R) {
    if (S.Type == F64)
      return asDouble(v64(Reg + 2 * R, Lane));
    if (S.Type == I8)
      return int32_t(v(Reg + R)[Lane]);
    return asFloat(v(Reg + R)[Lane]);
  }
  void setResult(const Shape &S, unsigned Reg, unsigned Lane, unsigned R,
                 double V) {
    if (S.Type == F64)
      setV64(Reg + 2 * R, Lane, bits(V));
    else
      v(Reg + R)[Lane] = S.Type == I8 ? uint32_t(int32_t(V)) : bits(float(V));
  }
  static std::string tuple(char Kind, unsigned First, unsigned Count) {
    const std::string At = std::to_string(First);
    return Count == 1 ? Kind + At
                      : Kind + ("[" + At + ":" +
                                std::to_string(First + Count - 1) + "]");
  }

  /// Runs one product; A, B and C/D in v or a registers as Kinds says. With
  /// small integers every sum is exact; else the bound is one rounding a step.
  void check(const Shape &S, const std::string &Kinds, bool Exact,
             const std::string &Modifiers = "", unsigned Cbsz = 0,
             unsigned Abid = 0, unsigned Blgp = 0) {
    std::uniform_int_distribution<int> Small(-8, 8);
    std::uniform_real_distribution<double> Any(-1, 1);
    auto Draw = [&]() -> double {
      if (Exact || S.Type == I8)
        return Small(Random);
      double V = Any(Random);
      if (std::fabs(V) < 0x1p-14) // gfx90a flushes denormal halves
        V = 0.5;
      if (S.Type == F16)
        return double(asHalf(halfBits(V)));
      if (S.Type == Bf16)
        return asFloat(bits(float(V)) & 0xffff0000u);
      return S.Type == F32 ? double(float(V)) : V;
    };
    std::vector<double> A(S.M * S.K * S.Blocks), B(A.size()),
        C(S.M * S.M * S.Blocks);
    auto Index = [&](unsigned Block, unsigned Step, unsigned Row) {
      return (Block * S.K + Step) * S.M + Row;
    };
    const unsigned BaseA = Kinds[0] == 'a' ? 256 : 0,
                   BaseB = Kinds[1] == 'a' ? 256 : 0,
                   BaseC = Kinds[2] == 'a' ? 256 : 0;
    double LaneB[64][16];
    for (unsigned L = 0; L < 64; ++L) {
      for (unsigned E = 0; E < S.inLane(); ++E) {
        const Place P = inputPlace(S, L, E);
        setElement(S, BaseA + RegA, L, E,
                   A[Index(P.Block, P.Step, P.Row)] = Draw());
        setElement(S, BaseB + RegB, L, E, LaneB[L][E] = Draw());
      }
      for (unsigned R = 0; R < S.results(); ++R) {
        const Place P = resultPlace(S, L, R);
        setResult(S, BaseC + RegC, L, R,
                  C[(P.Block * S.M + P.Row) * S.M + L % S.M] = Draw());
      }
    }
    for (unsigned L = 0; L < 64; ++L) {
      // The lane whose B is seen where lane L's would be.
      unsigned From = L;
      if (Blgp == 1 || Blgp == 2)
        From = (L & 31) + 32 * (Blgp - 1);
      else if (Blgp == 3)
        From = L < 48 ? L + 16 : L - 48;
      else if (Blgp >= 4)
        From = (L & 15) + 16 * (Blgp - 4);
      for (unsigned E = 0; E < S.inLane(); ++E) {
        const Place P = inputPlace(S, L, E);
        B[Index(P.Block, P.Step, P.Row)] = LaneB[From][E];
      }
    }
    W.setExec(0x123456789abcdef0); // must not matter
    runOk("v_mfma_" + std::string(S.Name) + " " +
          tuple(Kinds[2], RegD, S.results() * S.words()) + ", " +
          tuple(Kinds[0], RegA, S.inputRegisters()) + ", " +
          tuple(Kinds[1], RegB, S.inputRegisters()) + ", " +
          tuple(Kinds[2], RegC, S.results() * S.words()) + Modifiers);
    for (unsigned L = 0; L < 64; ++L)
      for (unsigned R = 0; R < S.results(); ++R) {
        const Place P = resultPlace(S, L, R);
        const unsigned Column = L % S.M;
        const unsigned BlockA = P.Block - P.Block % (1u << Cbsz) + Abid;
        long double Want = C[(P.Block * S.M + P.Row) * S.M + Column];
        long double Sizes = std::fabs(Want);
        for (unsigned Step = 0; Step < S.K; ++Step) {
          const long double Product =
              (long double)A[Index(BlockA, Step, P.Row)] *
              B[Index(P.Block, Step, Column)];
          Want += Product;
          Sizes += std::fabs(Product);
        }
        const long double Bound =
            Exact || S.Type == I8
                ? 0
                : S.K * Sizes * (S.Type == F64 ? 0x1p-53L : 0x1p-24L);
        const double Got = result(S, BaseC + RegD, L, R);
        ASSERT_LE(std::fabs(Got - Want), Bound)
            << S.Name << " " << Kinds << Modifiers << " lane " << L
            << " result " << R << " got " << Got << " want " << double(Want);
      }
  }
};

class Mfma90a : public MatrixTest {
protected:
  Mfma90a() : MatrixTest("gfx90a") {}
};
class Mfma908 : public MatrixTest {
protected:
  Mfma908() : MatrixTest("gfx908") {}
};

TEST_F(Mfma90a, EveryShapeInBothKindsOfRegisters) {
  for (const Shape &S : Shapes)
    for (const char *Kinds : {"vvv", "aaa", "vaa", "avv"})
      for (bool Exact : {true, false}) {
        check(S, Kinds, Exact);
        if (HasFailure())
          return;
      }
}

TEST_F(Mfma908, EveryShape) {
  for (const Shape &S : Shapes)
    for (const char *Kinds : {"vva", "aaa", "vaa", "ava"}) {
      if (S.OnlyGfx90a)
        continue;
      check(S, Kinds, true);
      check(S, Kinds, false);
      if (HasFailure())
        return;
    }
}

TEST_F(Mfma90a, BroadcastsAndLanePatterns) {
  for (const Shape &S : Shapes) {
    for (unsigned Blgp = 1; Blgp < 8 && S.Type != F64; ++Blgp)
      check(S, "vvv", true, " blgp:" + std::to_string(Blgp), 0, 0, Blgp);
    for (unsigned Cbsz = 1; S.Type != F64 && 1u << Cbsz <= S.Blocks; ++Cbsz)
      for (unsigned Abid = 0; Abid < 1u << Cbsz; ++Abid)
        check(S, "vva", true,
              " cbsz:" + std::to_string(Cbsz) + " abid:" + std::to_string(Abid),
              Cbsz, Abid);
    if (HasFailure())
      return;
  }
  check(Shapes[1], "vvv", true, " cbsz:1 abid:1 blgp:6", 1, 1, 6);
}

TEST_F(Mfma90a, WhatAShapeDoesNotHaveIsIllegal) {
  for (const char *Text :
       {"v_mfma_f64_4x4x4f64 v[0:1], v[2:3], v[4:5], v[0:1] blgp:1",
        "v_mfma_f32_32x32x2f32 v[0:15], v16, v17, v[0:15] cbsz:1",
        "v_mfma_f32_32x32x1f32 v[0:31], v32, v33, v[0:31] cbsz:1 abid:2"}) {
    run(Text);
    EXPECT_NE(Env.FaultText.find("cannot have"), std::string::npos) << Text;
    EXPECT_EQ(Env.Fault, vgpu::FaultKind::IllegalOperand);
  }
}

TEST_F(Mfma90a, ConstantsStandForEveryElement) {
  setV(4, bits(2.0f));
  setV(5, bits(3.0f));
  runOk("v_mfma_f32_4x4x1f32 a[0:3], v4, v5, 0.5");
  for (unsigned R = 0; R < 4; ++R)
    for (unsigned L = 0; L < 64; ++L)
      ASSERT_EQ(asFloat(v(256 + R)[L]), 6.5f);
  setV(4, 0x02020202);
  setV(5, 0xfdfdfdfd);
  runOk("v_mfma_i32_4x4x4i8 v[0:3], v4, v5, -7");
  EXPECT_EQ(int32_t(v(3)[63]), 4 * 2 * -3 - 7);
  for (unsigned L = 0; L < 64; ++L) {
    setV64(4, L, bits(2.0));
    setV64(6, L, bits(0.25));
  }
  runOk("v_mfma_f64_16x16x4f64 v[8:15], v[4:5], v[6:7], 1.0");
  for (unsigned R = 0; R < 4; ++R)
    EXPECT_EQ(asDouble(v64(8 + 2 * R, 17)), 3.0);
}

TEST_F(Mfma90a, ResultMayOverlapTheSources) {
  setV(0, bits(2.0f));
  setV(1, bits(3.0f));
  setV(2, bits(1.0f));
  setV(3, bits(1.0f));
  runOk("v_mfma_f32_4x4x1f32 v[0:3], v0, v1, v[0:3]");
  const float Want[4] = {8, 9, 7, 7};
  for (unsigned R = 0; R < 4; ++R)
    EXPECT_EQ(asFloat(v(R)[5]), Want[R]);
}

/// Halves that are denormal, and results that are: gfx90a takes both for zero
/// where the elements are 16-bit floats; gfx908 and singles keep them. MODE
/// has no say.
TEST_F(Mfma90a, DenormalHalvesAreFlushed) {
  W.Mode = DefaultMode;
  for (unsigned Reg = 4; Reg < 8; ++Reg)
    setV(Reg, 0x02000200); // halves 2^-15
  runOk("v_mfma_f32_4x4x4f16 v[0:3], v[4:5], v[6:7], 1.0");
  EXPECT_EQ(asFloat(v(0)[0]), 1.0f);
  setV(4, 0x00000001);
  setV(5, bits(1.0f));
  runOk("v_mfma_f32_4x4x1f32 v[0:3], v4, v5, 0");
  EXPECT_EQ(v(0)[0], 1u);
  setV(4, 0x00010001); // bfloat16 denormals
  setV(5, 0x3f803f80);
  runOk("v_mfma_f32_4x4x2bf16 v[0:3], v4, v5, 0");
  EXPECT_EQ(v(0)[0], 0u);
  setV(4, 0x00800080); // the smallest normal; half of it is denormal
  setV(5, 0x00003f00);
  runOk("v_mfma_f32_4x4x2bf16 v[0:3], v4, v5, 0");
  EXPECT_EQ(v(0)[0], 0u);
}

TEST_F(Mfma908, DenormalHalvesAreKept) {
  for (unsigned Reg = 4; Reg < 8; ++Reg)
    setV(Reg, 0x02000200);
  for (unsigned Reg = 0; Reg < 4; ++Reg)
    setV(256 + Reg, bits(0x1p-20f));
  runOk("v_mfma_f32_4x4x4f16 a[0:3], v[4:5], v[6:7], a[0:3]");
  EXPECT_EQ(asFloat(v(256)[0]), 0x1p-20f + 4 * 0x1p-30f);
}

TEST_F(Mfma90a, InfinitiesAndNans) {
  setV(4, 0x7f800000);
  setV(5, bits(-2.0f));
  runOk("v_mfma_f32_4x4x1f32 v[0:3], v4, v5, 1.0");
  EXPECT_EQ(v(0)[0], 0xff800000u);
  setV(5, 0);
  runOk("v_mfma_f32_4x4x1f32 v[0:3], v4, v5, 1.0");
  EXPECT_EQ(v(0)[0], 0x7fc00000u);
  setV(4, 0x00007c00); // half: infinity, zeros
  setV(5, 0);
  setV(6, 0x3c003c00);
  setV(7, 0x3c003c00);
  runOk("v_mfma_f32_4x4x4f16 v[0:3], v[4:5], v[6:7], 1.0");
  EXPECT_EQ(v(0)[0], 0x7f800000u);
}

TEST_F(Mfma90a, MovesBetweenTheKinds) {
  W.setExec(0x5555555555555555);
  setV(3, 0xffffffff);
  for (unsigned L = 0; L < 64; ++L)
    v(256 + 7)[L] = 100 + L;
  runOk("v_accvgpr_read_b32 v3, a7");
  runOk("v_accvgpr_write_b32 a255, v3");
  runOk("v_accvgpr_mov_b32 a9, a7");
  runOk("v_accvgpr_write_b32 a10, 1.0");
  s(5) = 0x1234;
  runOk("v_accvgpr_write_b32 a11, s5");
  for (unsigned L = 0; L < 64; ++L) {
    EXPECT_EQ(v(3)[L], L % 2 ? 0xffffffff : 100 + L);
    EXPECT_EQ(v(256 + 255)[L], L % 2 ? 0 : 100 + L);
    EXPECT_EQ(v(256 + 9)[L], L % 2 ? 0 : 100 + L);
    EXPECT_EQ(v(256 + 10)[L], L % 2 ? 0 : 0x3f800000);
    EXPECT_EQ(v(256 + 11)[L], L % 2 ? 0 : 0x1234);
  }
}

TEST_F(Mfma908, MovesBetweenTheKinds) {
  setV(3, 17);
  runOk("v_accvgpr_write_b32 a5, v3");
  runOk("v_accvgpr_write_b32 a6, -3");
  runOk("v_accvgpr_read_b32 v4, a5");
  runOk("v_accvgpr_read_b32 v5, a6");
  EXPECT_EQ(v(4)[9], 17u);
  EXPECT_EQ(int32_t(v(5)[9]), -3);
}

TEST_F(Mfma90a, RegistersBeyondTheAllocation) {
  W.NumVgprs = 32;
  W.NumAccs = 8;
  runOk("v_accvgpr_read_b32 v31, a7");
  run("v_accvgpr_read_b32 v31, a8");
  EXPECT_NE(Env.FaultText.find("a8 is beyond the wave's 8 acc"),
            std::string::npos)
      << Env.FaultText;
  run("v_mfma_f32_16x16x1f32 a[0:15], v0, v1, 0");
  EXPECT_NE(Env.FaultText.find("a15 is beyond"), std::string::npos);
  run("v_mfma_f32_16x16x4f32 v[30:33], v0, v1, 0");
  EXPECT_NE(Env.FaultText.find("v33 is beyond"), std::string::npos);
}

} // namespace
} // namespace vgputest
