// Typed buffer loads and stores: every data and number format against
// conversions of the host, d16 forms, and loads that go to LDS.
#include "LaneFixture.h"

#include <cmath>
#include <cstring>

using namespace vgpu;
using namespace vgpu::test;

namespace {

/// Component widths by DATA_FORMAT, the first component in the lowest bits.
const std::vector<std::vector<unsigned>> Widths = {{},
                                                   {8},
                                                   {16},
                                                   {8, 8},
                                                   {32},
                                                   {16, 16},
                                                   {11, 11, 10},
                                                   {10, 11, 11},
                                                   {2, 10, 10, 10},
                                                   {10, 10, 10, 2},
                                                   {8, 8, 8, 8},
                                                   {32, 32},
                                                   {16, 16, 16, 16},
                                                   {32, 32, 32},
                                                   {32, 32, 32, 32}};
enum { Unorm, Snorm, Uscaled, Sscaled, Uint, Sint, Ogl, Float };

uint32_t floatBits(double V) {
  const float F = float(V);
  uint32_t B;
  std::memcpy(&B, &F, 4);
  return B;
}

/// A float of 5 exponent bits by its definition.
double smallFloat(uint32_t Raw, unsigned Mantissa) {
  const int Exponent = int(Raw >> Mantissa & 31);
  const double Fraction = double(Raw % (1u << Mantissa)) / (1u << Mantissa);
  if (Exponent == 31)
    return Fraction != 0 ? NAN : INFINITY;
  return Exponent ? std::ldexp(1 + Fraction, Exponent - 15)
                  : std::ldexp(Fraction, -14);
}

/// What a load gives for a component; Raw holds its Bits bits.
uint32_t expected(uint32_t Raw, unsigned Bits, int Format) {
  const int64_t Signed =
      int64_t(Raw) - (Raw >> (Bits - 1) ? int64_t(uint64_t(1) << Bits) : 0);
  const double Most = std::ldexp(1.0, int(Bits)) - 1;
  const double MostSigned = std::ldexp(1.0, int(Bits) - 1) - 1;
  switch (Format) {
  case Unorm:
    return floatBits(Raw / Most);
  case Snorm:
    return floatBits(std::max(-1.0, double(Signed) / MostSigned));
  case Uscaled:
    return floatBits(Raw);
  case Sscaled:
    return floatBits(double(Signed));
  case Uint:
    return Raw;
  case Sint:
    return uint32_t(Signed);
  default:
    if (Bits == 32)
      return Raw;
    if (Bits == 16)
      return floatBits(smallFloat(Raw & 0x7fff, 10)) | (Raw >> 15) << 31;
    return floatBits(smallFloat(Raw, Bits - 5));
  }
}

uint32_t component(const uint8_t *Texel, const std::vector<unsigned> &Bits,
                   unsigned C) {
  unsigned First = 0;
  for (unsigned I = 0; I < C; ++I)
    First += Bits[I];
  uint32_t Raw = 0;
  for (unsigned I = 0; I < Bits[C]; ++I)
    Raw |= uint32_t(Texel[(First + I) / 8] >> ((First + I) % 8) & 1) << I;
  return Raw;
}

class TypedBuffer : public LaneFixture {
protected:
  /// s[12:15]: In, s[16:19]: Out, 64 KiB each, format word as given.
  std::string resources(uint32_t Word3) const {
    return "s_mov_b32 s12, s8\ns_and_b32 s13, s9, 0xffff\n"
           "s_mov_b32 s16, s10\ns_and_b32 s17, s11, 0xffff\n"
           "s_mov_b32 s14, 0x10000\ns_mov_b32 s18, 0x10000\n"
           "s_mov_b32 s15, " +
           std::to_string(Word3) + "\ns_mov_b32 s19, s15\n";
  }
  const uint8_t *inByte(unsigned I) const {
    return reinterpret_cast<const uint8_t *>(In) + I;
  }
  const uint8_t *outByte(unsigned I) const {
    return reinterpret_cast<const uint8_t *>(Out) + I;
  }
};

TEST_F(TypedBuffer, EveryFormatBothWays) {
  unsigned Formats = 0;
  for (unsigned Data = 1; Data < Widths.size(); ++Data)
    for (int Number : {Unorm, Snorm, Uscaled, Sscaled, Uint, Sint, Float}) {
      const std::vector<unsigned> &Bits = Widths[Data];
      const bool HasFloat = Bits[0] == 16 || Bits[0] == 32 || Bits.size() == 3;
      if (Number == Float && !HasFloat)
        continue;
      ++Formats;
      std::memset(Out, 0, Bytes);
      const std::string Format =
          ", dfmt:" + std::to_string(Data) + ", nfmt:" + std::to_string(Number);
      EXPECT_RUNS(resources(0) +
                  "tbuffer_load_format_xyzw v[4:7], v2, s[12:15]" + Format +
                  ", 0 offen\ns_waitcnt vmcnt(0)\n" +
                  "global_store_dwordx4 v2, v[4:7], s[10:11]\n" +
                  "tbuffer_store_format_xyzw v[4:7], v2, s[16:19]" + Format +
                  ", 0 offen offset:2048\n");
      for (unsigned I = 0; I < 64; ++I) {
        const uint8_t *Texel = inByte(16 * I);
        for (unsigned C = 0; C < 4; ++C) {
          const uint32_t One =
              Number == Uint || Number == Sint ? 1 : 0x3f800000;
          const uint32_t Want =
              C < Bits.size()
                  ? expected(component(Texel, Bits, C), Bits[C], Number)
              : C == 3 ? One
                       : 0;
          const bool BothNan = (Want & 0x7fffffff) > 0x7f800000 &&
                               (Out[4 * I + C] & 0x7fffffff) > 0x7f800000;
          if (!BothNan) {
            ASSERT_EQ(Out[4 * I + C], Want)
                << "format " << Data << "/" << Number << " lane " << I
                << " component " << C;
          }
          if (C >= Bits.size() || (Bits[C] == 32 && Number < Uint) || BothNan)
            continue; // not every 32-bit number survives a float
          uint32_t Back = component(Texel, Bits, C);
          if (Number == Snorm && Back == 1u << (Bits[C] - 1))
            ++Back; // -1 has two codes, the other one is written
          ASSERT_EQ(component(outByte(2048 + 16 * I), Bits, C), Back)
              << "stored format " << Data << "/" << Number << " lane " << I;
        }
      }
    }
  EXPECT_EQ(Formats, 14u * 6 + 9);
}

TEST_F(TypedBuffer, StoresRoundAndClamp) {
  const float Values[8] = {-2.0f,      -0.0f,    0.5f, 1.6f / 255,
                           2.4f / 255, 0.99999f, 7.0f, NAN};
  for (unsigned I = 0; I < 64; ++I)
    std::memcpy(In + I, Values + I % 8, 4);
  EXPECT_RUNS(resources(0) + R"(
    global_load_dword v4, v1, s[8:9]
    s_waitcnt vmcnt(0)
    tbuffer_store_format_x v4, v1, s[16:19], dfmt:1, nfmt:0, 0 offen
    tbuffer_store_format_x v4, v1, s[16:19], dfmt:1, nfmt:1, 0 offen offset:1
    tbuffer_store_format_x v4, v1, s[16:19], dfmt:1, nfmt:3, 0 offen offset:2
    tbuffer_store_format_x v1, v1, s[16:19], dfmt:1, nfmt:5, 0 offen offset:3
  )");
  const uint8_t UnormWant[8] = {0, 0, 128, 2, 2, 255, 255, 0};
  const int8_t SnormWant[8] = {-127, 0, 64, 1, 1, 127, 127, 0};
  const int8_t ScaledWant[8] = {-2, 0, 0, 0, 0, 1, 7, 0};
  for (unsigned I = 0; I < 64; ++I) {
    EXPECT_EQ(*outByte(4 * I), UnormWant[I % 8]) << I;
    EXPECT_EQ(int8_t(*outByte(4 * I + 1)), SnormWant[I % 8]) << I;
    EXPECT_EQ(int8_t(*outByte(4 * I + 2)), ScaledWant[I % 8]) << I;
    EXPECT_EQ(*outByte(4 * I + 3), std::min(4 * I, 127u)) << I;
  }
}

TEST_F(TypedBuffer, SixteenBitRegisters) {
  // 8_8_8_8 unorm from the resource; component order w z y x for the load.
  EXPECT_RUNS(resources(0x50000 | 7 | 6 << 3 | 5 << 6 | 4 << 9) + R"(
    buffer_load_format_d16_xyzw v[4:5], v1, s[12:15], 0 offen
    v_mov_b32_e32 v6, 0x11112222
    v_mov_b32_e32 v7, 0x11112222
    buffer_load_format_d16_x v6, v1, s[12:15], 0 offen
    buffer_load_format_d16_hi_x v7, v1, s[12:15], 0 offen
    s_waitcnt vmcnt(0)
    global_store_dwordx4 v2, v[4:7], s[10:11]
    s_mov_b32 s19, 0x50fac
    buffer_store_format_d16_xyzw v[4:5], v1, s[16:19], 0 offen offset:1024
    s_mov_b32 s19, 0x08fac
    buffer_store_format_d16_x v4, v1, s[16:19], 0 offen offset:2048
    buffer_store_format_d16_hi_x v4, v1, s[16:19], 0 offen offset:2049
  )");
  auto Half = [](uint32_t Byte) {
    const _Float16 H = _Float16(float(Byte / 255.0));
    uint16_t B;
    std::memcpy(&B, &H, 2);
    return uint32_t(B);
  };
  for (unsigned I = 0; I < 64; ++I) {
    const uint8_t *T = inByte(4 * I);
    EXPECT_EQ(Out[4 * I], Half(T[3]) | Half(T[2]) << 16);
    EXPECT_EQ(Out[4 * I + 1], Half(T[1]) | Half(T[0]) << 16);
    EXPECT_EQ(Out[4 * I + 2], 0x11110000u | Half(T[3]));
    EXPECT_EQ(Out[4 * I + 3], Half(T[3]) << 16 | 0x2222);
    for (unsigned C = 0; C < 4; ++C) // a half holds every byte exactly enough
      EXPECT_EQ(*outByte(1024 + 4 * I + C), T[3 - C]);
    EXPECT_EQ(*outByte(2048 + 4 * I), T[3]);
    EXPECT_EQ(*outByte(2049 + 4 * I), T[2]);
  }
}

TEST_F(TypedBuffer, LoadsToLds) {
  L.GroupBytes = 2048;
  EXPECT_RUNS(resources(0x08fac) + R"(
    s_movk_i32 m0, 256
    s_mov_b32 exec_lo, 0x0f0f3355
    s_mov_b32 exec_hi, 0x00ff00ff
    buffer_load_dword v1, s[12:15], 0 offen lds
    buffer_load_sbyte v1, s[12:15], 0 offen offset:256 lds
    buffer_load_format_x v1, s[12:15], 0 offen offset:512 lds
    s_mov_b64 exec, -1
    s_waitcnt vmcnt(0)
    ds_read_b32 v4, v1 offset:256
    ds_read_b32 v5, v1 offset:512
    ds_read_b32 v6, v1 offset:768
    v_mov_b32_e32 v7, v0
    ds_write_b32 v1, v0 offset:1280
    s_waitcnt lgkmcnt(0)
    s_movk_i32 m0, 1280
    buffer_store_lds_dword s[16:19], 0 offset:0 lds
    global_store_dwordx4 v2, v[4:7], s[10:11] offset:2048
  )");
  EXPECT_EQ(Out[0], 63u) << "all lanes store to one place, the last wins";
  for (unsigned I = 0; I < 64; ++I) {
    const bool Active = 0x00ff00ff0f0f3355u >> I & 1;
    const uint32_t *Got = Out + 512 + 4 * I;
    EXPECT_EQ(Got[0], Active ? In[I] : 0) << I;
    EXPECT_EQ(Got[1], Active ? uint32_t(int8_t(*inByte(256 + 4 * I))) : 0) << I;
    EXPECT_EQ(Got[2], Active ? floatBits(*inByte(512 + 4 * I) / 255.0) : 0)
        << I;
  }
}

TEST_F(TypedBuffer, WhatIsNotModelledIsRefused) {
  EXPECT_FALSE(runs(resources(0x50fac) +
                    "buffer_store_format_x v0, v1, s[16:19], 0 offen\n"));
  EXPECT_NE(why().find("fewer components"), std::string::npos) << why();
  EXPECT_FALSE(
      runs(resources(0x50000 | 7 | 6 << 3 | 5 << 6 | 4 << 9) +
           "buffer_store_format_xyzw v[0:3], v1, s[16:19], 0 offen\n"));
  EXPECT_NE(why().find("reorders"), std::string::npos) << why();
  EXPECT_FALSE(
      runs(resources(0) + "buffer_load_format_x v4, v1, s[12:15], 0 offen\n"));
  EXPECT_NE(why().find("buffer format 0/0"), std::string::npos) << why();
  EXPECT_FALSE(runs(resources(0x50fac) +
                    "buffer_load_dword v4, v1, s[12:15], 0 offen tfe\n"));
  EXPECT_NE(why().find("tfe"), std::string::npos) << why();
}

} // namespace
