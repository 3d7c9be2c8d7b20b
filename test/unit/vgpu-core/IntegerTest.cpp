// Integer vector instructions against host integers.
#include "Harness.h"

#include <algorithm>
#include <cstdlib>
#include <functional>

namespace vgputest {
namespace {

class IntegerTest : public WaveTest {
protected:
  using Fn2 = std::function<uint64_t(uint64_t, uint64_t)>;
  using Fn3 = std::function<uint64_t(uint64_t, uint64_t, uint64_t)>;

  void check2(const std::string &Text, Fn2 Reference) {
    sweep(Text, 2, edgesInt32(),
          [&](uint64_t A, uint64_t B, uint64_t, uint64_t Got, bool) {
            ASSERT_EQ(uint32_t(Got), uint32_t(Reference(A, B)));
          });
  }
  void check3(const std::string &Text, Fn3 Reference) {
    sweep(Text, 3, edgesInt32(),
          [&](uint64_t A, uint64_t B, uint64_t C, uint64_t Got, bool) {
            ASSERT_EQ(uint32_t(Got), uint32_t(Reference(A, B, C)));
          });
  }
};

int64_t sx(uint64_t V) { return int32_t(V); }
int64_t sx24(uint64_t V) { return (V & 0xffffff) - ((V & 0x800000) << 1); }
int64_t clampTo(int64_t V, int64_t Low, int64_t High) {
  return V < Low ? Low : V > High ? High : V;
}

TEST_F(IntegerTest, Arithmetic) {
  check2("v_add_u32 v0, v2, v4", [](uint64_t A, uint64_t B) { return A + B; });
  check2("v_sub_u32 v0, v2, v4", [](uint64_t A, uint64_t B) { return A - B; });
  check2("v_subrev_u32 v0, v2, v4",
         [](uint64_t A, uint64_t B) { return B - A; });
  check2("v_add_u32_e64 v0, v2, v4 clamp", [](uint64_t A, uint64_t B) {
    return std::min<uint64_t>(A + B, 0xffffffff);
  });
  check2("v_sub_u32_e64 v0, v2, v4 clamp",
         [](uint64_t A, uint64_t B) { return A < B ? 0 : A - B; });
  check2("v_add_i32 v0, v2, v4 clamp", [](uint64_t A, uint64_t B) {
    return uint64_t(clampTo(sx(A) + sx(B), INT32_MIN, INT32_MAX));
  });
  check2("v_sub_i32 v0, v2, v4", [](uint64_t A, uint64_t B) { return A - B; });
  check2("v_mul_lo_u32 v0, v2, v4",
         [](uint64_t A, uint64_t B) { return A * B; });
  check2("v_mul_hi_u32 v0, v2, v4",
         [](uint64_t A, uint64_t B) { return (A * B) >> 32; });
  check2("v_mul_hi_i32 v0, v2, v4", [](uint64_t A, uint64_t B) {
    return uint64_t((sx(A) * sx(B)) >> 32);
  });
  check2("v_mul_i32_i24 v0, v2, v4",
         [](uint64_t A, uint64_t B) { return uint64_t(sx24(A) * sx24(B)); });
  check2("v_mul_hi_i32_i24 v0, v2, v4", [](uint64_t A, uint64_t B) {
    return uint64_t((sx24(A) * sx24(B)) >> 32);
  });
  check2("v_mul_u32_u24 v0, v2, v4", [](uint64_t A, uint64_t B) {
    return (A & 0xffffff) * (B & 0xffffff);
  });
  check2("v_mul_hi_u32_u24 v0, v2, v4", [](uint64_t A, uint64_t B) {
    return ((A & 0xffffff) * (B & 0xffffff)) >> 32;
  });
  check3("v_mad_i32_i24 v0, v2, v4, v6",
         [](uint64_t A, uint64_t B, uint64_t C) {
           return uint64_t(sx24(A) * sx24(B)) + C;
         });
  check3("v_mad_u32_u24 v0, v2, v4, v6 clamp", [](uint64_t A, uint64_t B,
                                                  uint64_t C) {
    return std::min<uint64_t>((A & 0xffffff) * (B & 0xffffff) + C, 0xffffffff);
  });
  check3("v_add3_u32 v0, v2, v4, v6",
         [](uint64_t A, uint64_t B, uint64_t C) { return A + B + C; });
  check3("v_mad_u32_u16 v0, v2, v4, v6",
         [](uint64_t A, uint64_t B, uint64_t C) {
           return (A & 0xffff) * (B & 0xffff) + C;
         });
  check3("v_mad_i32_i16 v0, v2, v4, v6",
         [](uint64_t A, uint64_t B, uint64_t C) {
           return uint64_t(int64_t(int16_t(A)) * int16_t(B)) + C;
         });
  check3("v_sad_u32 v0, v2, v4, v6", [](uint64_t A, uint64_t B, uint64_t C) {
    return (A > B ? A - B : B - A) + C;
  });
}

TEST_F(IntegerTest, ShiftsAndLogic) {
  check2("v_lshlrev_b32 v0, v2, v4",
         [](uint64_t A, uint64_t B) { return B << (A % 32); });
  check2("v_lshrrev_b32 v0, v2, v4",
         [](uint64_t A, uint64_t B) { return B >> (A % 32); });
  check2("v_ashrrev_i32 v0, v2, v4",
         [](uint64_t A, uint64_t B) { return uint64_t(sx(B) >> (A % 32)); });
  check2("v_and_b32 v0, v2, v4", [](uint64_t A, uint64_t B) { return A & B; });
  check2("v_or_b32 v0, v2, v4", [](uint64_t A, uint64_t B) { return A | B; });
  check2("v_xor_b32 v0, v2, v4", [](uint64_t A, uint64_t B) { return A ^ B; });
  check2("v_xnor_b32 v0, v2, v4",
         [](uint64_t A, uint64_t B) { return ~(A ^ B); });
  check2("v_bfm_b32 v0, v2, v4", [](uint64_t A, uint64_t B) {
    return ((uint64_t(1) << (A % 32)) - 1) << (B % 32);
  });
  check2("v_bcnt_u32_b32 v0, v2, v4",
         [](uint64_t A, uint64_t B) { return __builtin_popcountll(A) + B; });
  check3(
      "v_lshl_add_u32 v0, v2, v4, v6",
      [](uint64_t A, uint64_t B, uint64_t C) { return (A << (B % 32)) + C; });
  check3("v_add_lshl_u32 v0, v2, v4, v6",
         [](uint64_t A, uint64_t B, uint64_t C) {
           return uint64_t(uint32_t(A + B)) << (C % 32);
         });
  check3(
      "v_lshl_or_b32 v0, v2, v4, v6",
      [](uint64_t A, uint64_t B, uint64_t C) { return (A << (B % 32)) | C; });
  check3("v_and_or_b32 v0, v2, v4, v6",
         [](uint64_t A, uint64_t B, uint64_t C) { return (A & B) | C; });
  check3("v_or3_b32 v0, v2, v4, v6",
         [](uint64_t A, uint64_t B, uint64_t C) { return A | B | C; });
  check3("v_xad_u32 v0, v2, v4, v6",
         [](uint64_t A, uint64_t B, uint64_t C) { return (A ^ B) + C; });
  check3("v_bfi_b32 v0, v2, v4, v6",
         [](uint64_t A, uint64_t B, uint64_t C) { return (A & B) | (~A & C); });
  check3("v_alignbit_b32 v0, v2, v4, v6",
         [](uint64_t A, uint64_t B, uint64_t C) {
           return (A << 32 | B) >> (C % 32);
         });
  check3("v_alignbyte_b32 v0, v2, v4, v6",
         [](uint64_t A, uint64_t B, uint64_t C) {
           return (A << 32 | B) >> (C % 4 * 8);
         });
  auto Field = [](uint64_t A, uint64_t B, uint64_t C, bool Signed) {
    uint64_t R = 0;
    bool Top = false;
    for (unsigned N = 0; N < C % 32; ++N) {
      Top = B % 32 + N < 32 && ((A >> (B % 32 + N)) & 1);
      R |= uint64_t(Top) << N;
    }
    if (Signed && Top)
      R |= ~uint64_t(0) << (C % 32);
    return R;
  };
  check3("v_bfe_u32 v0, v2, v4, v6", [&](uint64_t A, uint64_t B, uint64_t C) {
    return Field(A, B, C, false);
  });
  check3("v_bfe_i32 v0, v2, v4, v6", [&](uint64_t A, uint64_t B, uint64_t C) {
    return Field(A, B, C, true);
  });
}

TEST_F(IntegerTest, MinimumMaximumMedian) {
  check2("v_min_i32 v0, v2, v4",
         [](uint64_t A, uint64_t B) { return std::min(sx(A), sx(B)); });
  check2("v_max_i32 v0, v2, v4",
         [](uint64_t A, uint64_t B) { return std::max(sx(A), sx(B)); });
  check2("v_min_u32 v0, v2, v4",
         [](uint64_t A, uint64_t B) { return std::min(A, B); });
  check2("v_max_u32 v0, v2, v4",
         [](uint64_t A, uint64_t B) { return std::max(A, B); });
  auto Sorted = [](auto A, auto B, auto C) {
    std::vector<decltype(A)> V = {A, B, C};
    std::sort(V.begin(), V.end());
    return V;
  };
  for (int Which = 0; Which < 3; ++Which) {
    const std::string Name = Which == 0   ? "v_min3_"
                             : Which == 1 ? "v_med3_"
                                          : "v_max3_";
    check3(Name + "i32 v0, v2, v4, v6",
           [&](uint64_t A, uint64_t B, uint64_t C) {
             return uint64_t(Sorted(int32_t(A), int32_t(B), int32_t(C))[Which]);
           });
    check3(
        Name + "u32 v0, v2, v4, v6", [&](uint64_t A, uint64_t B, uint64_t C) {
          return uint64_t(Sorted(uint32_t(A), uint32_t(B), uint32_t(C))[Which]);
        });
    check3(Name + "i16 v0, v2, v4, v6",
           [&](uint64_t A, uint64_t B, uint64_t C) {
             return uint64_t(
                 uint16_t(Sorted(int16_t(A), int16_t(B), int16_t(C))[Which]));
           });
  }
}

TEST_F(IntegerTest, BitCounts) {
  auto Check = [&](const std::string &Name,
                   std::function<uint32_t(uint32_t)> Fn) {
    sweep(Name + " v0, v2", 1, edgesInt32(),
          [&](uint64_t A, uint64_t, uint64_t, uint64_t Got, bool) {
            ASSERT_EQ(uint32_t(Got), Fn(uint32_t(A)));
          });
  };
  Check("v_not_b32", [](uint32_t A) { return ~A; });
  Check("v_bfrev_b32", [](uint32_t A) {
    uint32_t R = 0;
    for (unsigned N = 0; N < 32; ++N)
      R = R << 1 | ((A >> N) & 1);
    return R;
  });
  Check("v_ffbh_u32", [](uint32_t A) {
    for (unsigned N = 0; N < 32; ++N)
      if ((A >> (31 - N)) & 1)
        return N;
    return ~0u;
  });
  Check("v_ffbl_b32", [](uint32_t A) {
    for (unsigned N = 0; N < 32; ++N)
      if ((A >> N) & 1)
        return N;
    return ~0u;
  });
  Check("v_ffbh_i32", [](uint32_t A) {
    for (unsigned N = 1; N < 32; ++N)
      if (((A >> (31 - N)) & 1) != A >> 31)
        return N;
    return ~0u;
  });
  // Lanes below this one, in a mask of the whole wave.
  s(2) = 0xf0f0f0f0;
  s(3) = 0x12345678;
  runOk("v_mbcnt_lo_u32_b32 v0, s2, 0\n v_mbcnt_hi_u32_b32 v0, s3, v0");
  const uint64_t Mask = 0x12345678f0f0f0f0;
  for (unsigned L = 0; L < lanes(); ++L)
    EXPECT_EQ(v(0)[L], unsigned(__builtin_popcountll(L ? Mask << (64 - L) : 0)))
        << L;
}

TEST_F(IntegerTest, CarryChains) {
  sweep("v_add_co_u32 v0, vcc, v2, v4", 2, edgesInt32(),
        [](uint64_t A, uint64_t B, uint64_t, uint64_t Got, bool Carry) {
          ASSERT_EQ(uint32_t(Got), uint32_t(A + B));
          ASSERT_EQ(Carry, bool((A + B) >> 32));
        });
  sweep("v_sub_co_u32 v0, vcc, v2, v4", 2, edgesInt32(),
        [](uint64_t A, uint64_t B, uint64_t, uint64_t Got, bool Borrow) {
          ASSERT_EQ(uint32_t(Got), uint32_t(A - B));
          ASSERT_EQ(Borrow, A < B);
        });
  for (uint64_t In : {uint64_t(0), ~uint64_t(0)}) {
    W.setScalar64(10, In);
    const uint64_t C = In & 1;
    sweep("v_addc_co_u32 v0, vcc, v2, v4, s[10:11]", 2, edgesInt32(),
          [&](uint64_t A, uint64_t B, uint64_t, uint64_t Got, bool Carry) {
            ASSERT_EQ(uint32_t(Got), uint32_t(A + B + C));
            ASSERT_EQ(Carry, bool((A + B + C) >> 32));
          });
    sweep("v_subb_co_u32 v0, vcc, v2, v4, s[10:11]", 2, edgesInt32(),
          [&](uint64_t A, uint64_t B, uint64_t, uint64_t Got, bool Borrow) {
            ASSERT_EQ(uint32_t(Got), uint32_t(A - B - C));
            ASSERT_EQ(Borrow, A < B + C);
          });
    sweep("v_subbrev_co_u32 v0, vcc, v2, v4, s[10:11]", 2, edgesInt32(),
          [&](uint64_t A, uint64_t B, uint64_t, uint64_t Got, bool Borrow) {
            ASSERT_EQ(uint32_t(Got), uint32_t(B - A - C));
            ASSERT_EQ(Borrow, B < A + C);
          });
  }
  // In place, carry in and out through VCC, partial EXEC: inactive lanes keep
  // their value and give no carry.
  setV(0, 0xffffffff);
  setV(2, 1);
  W.setVcc(~uint64_t(0));
  W.setExec(0x00000000ffff0000);
  runOk("v_addc_co_u32 v0, vcc, v0, v2, vcc");
  for (unsigned L = 0; L < 64; ++L)
    EXPECT_EQ(v(0)[L], L >= 16 && L < 32 ? 1u : 0xffffffffu) << L;
  EXPECT_EQ(W.vcc(), 0x00000000ffff0000u);
}

TEST_F(IntegerTest, WideOperations) {
  auto Check = [&](const std::string &Text,
                   std::function<uint64_t(uint64_t, uint64_t)> Fn) {
    sweep(Text, 2, edgesInt64(),
          [&](uint64_t A, uint64_t B, uint64_t, uint64_t Got, bool) {
            ASSERT_EQ(Got, Fn(A, B));
          });
  };
  Check("v_lshlrev_b64 v[0:1], v2, v[4:5]",
        [](uint64_t A, uint64_t B) { return B << (A % 64); });
  Check("v_lshrrev_b64 v[0:1], v2, v[4:5]",
        [](uint64_t A, uint64_t B) { return B >> (A % 64); });
  Check("v_ashrrev_i64 v[0:1], v2, v[4:5]", [](uint64_t A, uint64_t B) {
    return uint64_t(int64_t(B) >> (A % 64));
  });
  sweep("v_mad_u64_u32 v[0:1], vcc, v2, v4, v[6:7]", 3, edgesInt64(),
        [](uint64_t A, uint64_t B, uint64_t C, uint64_t Got, bool Carry) {
          const auto R = (unsigned __int128)(uint32_t(A)) * uint32_t(B) + C;
          ASSERT_EQ(Got, uint64_t(R));
          ASSERT_EQ(Carry, bool(R >> 64));
        });
  sweep("v_mad_i64_i32 v[0:1], vcc, v2, v4, v[6:7]", 3, edgesInt64(),
        [](uint64_t A, uint64_t B, uint64_t C, uint64_t Got, bool Carry) {
          const __int128 R = __int128(int32_t(A)) * int32_t(B) + int64_t(C);
          ASSERT_EQ(Got, uint64_t(R));
          ASSERT_EQ(Carry, bool((R >> 64) & 1));
        });
  // Overlapping destination and source.
  for (unsigned L = 0; L < 64; ++L)
    setV64(2, L, 0x123456789abcdef0 + L);
  runOk("v_lshlrev_b64 v[3:4], 4, v[2:3]");
  for (unsigned L = 0; L < lanes(); ++L)
    EXPECT_EQ(v64(3, L), (uint64_t(0x123456789abcdef0) + L) << 4);
}

TEST_F(IntegerTest, SixteenBit) {
  check2("v_add_u16 v0, v2, v4",
         [](uint64_t A, uint64_t B) { return (A + B) & 0xffff; });
  check2("v_sub_u16 v0, v2, v4",
         [](uint64_t A, uint64_t B) { return (A - B) & 0xffff; });
  check2("v_mul_lo_u16 v0, v2, v4",
         [](uint64_t A, uint64_t B) { return (A * B) & 0xffff; });
  check2("v_lshlrev_b16 v0, v2, v4", [](uint64_t A, uint64_t B) {
    return ((B & 0xffff) << (A % 16)) & 0xffff;
  });
  check2("v_lshrrev_b16 v0, v2, v4",
         [](uint64_t A, uint64_t B) { return (B & 0xffff) >> (A % 16); });
  check2("v_ashrrev_i16 v0, v2, v4", [](uint64_t A, uint64_t B) {
    return uint64_t(uint16_t(int16_t(B) >> (A % 16)));
  });
  check2("v_max_i16 v0, v2, v4", [](uint64_t A, uint64_t B) {
    return uint16_t(std::max(int16_t(A), int16_t(B)));
  });
  check2("v_min_u16 v0, v2, v4", [](uint64_t A, uint64_t B) {
    return std::min(uint16_t(A), uint16_t(B));
  });
  check2("v_add_u16_e64 v0, v2, v4 clamp", [](uint64_t A, uint64_t B) {
    return std::min<uint64_t>((A & 0xffff) + (B & 0xffff), 0xffff);
  });
  check2("v_add_i16 v0, v2, v4 clamp", [](uint64_t A, uint64_t B) {
    return uint64_t(
        uint16_t(clampTo(int16_t(A) + int16_t(B), INT16_MIN, INT16_MAX)));
  });
  check3("v_mad_u16 v0, v2, v4, v6", [](uint64_t A, uint64_t B, uint64_t C) {
    return ((A & 0xffff) * (B & 0xffff) + C) & 0xffff;
  });
  check3("v_mad_i16 v0, v2, v4, v6 clamp", [](uint64_t A, uint64_t B,
                                              uint64_t C) {
    return uint64_t(uint16_t(clampTo(
        int64_t(int16_t(A)) * int16_t(B) + int16_t(C), INT16_MIN, INT16_MAX)));
  });
  // op_sel picks halves of the sources and of the destination.
  check2("v_add_i16 v0, v2, v4 op_sel:[1,0,1]", [](uint64_t A, uint64_t B) {
    return uint64_t(uint16_t((A >> 16) + B)) << 16 | 0xf00d;
  });
}

TEST_F(IntegerTest, Bytes) {
  auto Byte = [](uint64_t V, unsigned N) { return int((V >> (8 * N)) & 255); };
  check3("v_sad_u8 v0, v2, v4, v6", [&](uint64_t A, uint64_t B, uint64_t C) {
    for (unsigned N = 0; N < 4; ++N)
      C += std::abs(Byte(A, N) - Byte(B, N));
    return C;
  });
  check3("v_msad_u8 v0, v2, v4, v6", [&](uint64_t A, uint64_t B, uint64_t C) {
    for (unsigned N = 0; N < 4; ++N)
      if (Byte(B, N))
        C += std::abs(Byte(A, N) - Byte(B, N));
    return C;
  });
  check3("v_sad_hi_u8 v0, v2, v4, v6", [&](uint64_t A, uint64_t B, uint64_t C) {
    for (unsigned N = 0; N < 4; ++N)
      C += uint64_t(std::abs(Byte(A, N) - Byte(B, N))) << 16;
    return C;
  });
  check3("v_sad_u16 v0, v2, v4, v6", [&](uint64_t A, uint64_t B, uint64_t C) {
    return C + std::abs(int(A & 0xffff) - int(B & 0xffff)) +
           std::abs(int(A >> 16) - int(B >> 16));
  });
  check3("v_lerp_u8 v0, v2, v4, v6", [&](uint64_t A, uint64_t B, uint64_t C) {
    uint64_t R = 0;
    for (unsigned N = 0; N < 4; ++N)
      R |= uint64_t((Byte(A, N) + Byte(B, N) + (Byte(C, N) & 1)) / 2)
           << (8 * N);
    return R;
  });
  const uint64_t Data = 0x8877665544332211; // words 0x2211 0x4433 0x6655 0x8877
  setV(2, uint32_t(Data >> 32));
  setV(4, uint32_t(Data));
  s(6) = 0x07030500;
  runOk("v_perm_b32 v0, v2, v4, s6");
  EXPECT_EQ(v(0)[0], 0x88446611u);
  s(6) = 0x0d0c0b08;
  runOk("v_perm_b32 v0, v2, v4, s6");
  EXPECT_EQ(v(0)[0], 0xff00ff00u);
  check2("v_cvt_pk_u16_u32 v0, v2, v4", [](uint64_t A, uint64_t B) {
    return std::min<uint64_t>(A, 0xffff) | std::min<uint64_t>(B, 0xffff) << 16;
  });
  check2("v_cvt_pk_i16_i32 v0, v2, v4", [](uint64_t A, uint64_t B) {
    return uint64_t(uint16_t(clampTo(sx(A), INT16_MIN, INT16_MAX))) |
           uint64_t(uint16_t(clampTo(sx(B), INT16_MIN, INT16_MAX))) << 16;
  });
  // Four sliding sums; the accumulator is packed.
  auto Sad = [&](uint32_t A, uint32_t B, bool Masked) {
    unsigned Sum = 0;
    for (unsigned N = 0; N < 4; ++N)
      if (!Masked || Byte(B, N))
        Sum += unsigned(std::abs(Byte(A, N) - Byte(B, N)));
    return Sum;
  };
  for (bool Masked : {false, true})
    sweep(std::string(Masked ? "v_mqsad" : "v_qsad") +
              "_pk_u16_u8 v[0:1], v[2:3], v4, v[6:7]",
          3, edgesInt64(),
          [&](uint64_t A, uint64_t B, uint64_t C, uint64_t Got, bool) {
            for (unsigned N = 0; N < 4; ++N)
              ASSERT_EQ(uint16_t(Got >> (16 * N)),
                        uint16_t((C >> (16 * N)) + Sad(uint32_t(A >> (8 * N)),
                                                       uint32_t(B), Masked)));
          });
}

} // namespace
} // namespace vgputest
