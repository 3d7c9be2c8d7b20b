// Memory instructions of gfx90a (and gfx908) that older targets lack: data in
// accumulation registers, and floating-point atomics.
#include "LaneFixture.h"

#include <cmath>
#include <cstring>

using namespace vgpu;
using namespace vgpu::test;

namespace {

template <typename To, typename From> To as(From V) {
  static_assert(sizeof(To) == sizeof(From));
  To R;
  std::memcpy(&R, &V, sizeof R);
  return R;
}

class Gfx90aMemory : public LaneFixture {
protected:
  Gfx90aMemory() : LaneFixture("gfx90a") {}

  bool runsWithAccs(const std::string &Body) {
    return runs(Body, {"accum_offset 32", "next_free_vgpr 64"});
  }
  uint64_t in64(unsigned I) const {
    return reinterpret_cast<const uint64_t *>(In)[I];
  }
  uint64_t out64(unsigned I) const {
    return reinterpret_cast<const uint64_t *>(Out)[I];
  }
};

#define EXPECT_RUNS_ACC(...) ASSERT_TRUE(runsWithAccs(__VA_ARGS__)) << why()

TEST_F(Gfx90aMemory, LoadsAndStoresOfAccs) {
  L.GroupBytes = 2048;
  EXPECT_RUNS_ACC(R"(
    s_mov_b32 s12, s8
    s_and_b32 s13, s9, 0xffff
    s_mov_b32 s14, 0x10000
    s_mov_b32 s15, 0x27fac
    s_mov_b32 s16, s10
    s_and_b32 s17, s11, 0xffff
    s_mov_b32 s18, 0x10000
    s_mov_b32 s19, s15
    v_mov_b32_e32 v4, 77
    global_load_dwordx4 a[4:7], v2, s[8:9]
    v_mov_b32_e32 v5, s8
    v_mov_b32_e32 v7, s9
    v_add_co_u32_e32 v6, vcc, v5, v1
    v_addc_co_u32_e32 v7, vcc, 0, v7, vcc
    flat_load_dword a8, v[6:7]
    buffer_load_dwordx2 a[10:11], v2, s[12:15], 0 offen
    s_waitcnt vmcnt(0) lgkmcnt(0)
    ds_write_b64 v2, a[6:7]
    ds_write2_b32 v2, a8, a10 offset0:2 offset1:3
    s_waitcnt lgkmcnt(0)
    ds_read_b128 a[12:15], v2
    ds_read2_b32 a[16:17], v2 offset0:3 offset1:1
    s_waitcnt lgkmcnt(0)
    global_store_dwordx4 v2, a[12:15], s[10:11]
    global_store_dword v2, a16, s[10:11] offset:1024
    buffer_store_dword a17, v2, s[16:19], 0 offen offset:1028
    global_store_dword v2, v4, s[10:11] offset:1032
    buffer_store_short_d16_hi a11, v2, s[16:19], 0 offen offset:1036
  )");
  for (unsigned I = 0; I < 64; ++I) {
    EXPECT_EQ(Out[4 * I], In[4 * I + 2]);
    EXPECT_EQ(Out[4 * I + 1], In[4 * I + 3]);
    EXPECT_EQ(Out[4 * I + 2], In[I]);
    EXPECT_EQ(Out[4 * I + 3], In[4 * I]);
    const uint32_t *Second = Out + 256 + 4 * I;
    EXPECT_EQ(Second[0], In[4 * I]);
    EXPECT_EQ(Second[1], In[4 * I + 3]);
    EXPECT_EQ(Second[2], 77u) << "v4 is not a4";
    EXPECT_EQ(Second[3], In[4 * I + 1] >> 16);
  }
}

TEST_F(Gfx90aMemory, AccsBeyondTheAllocation) {
  EXPECT_FALSE(runsWithAccs("global_load_dword a32, v1, s[8:9]\n"));
  EXPECT_NE(why().find("a32 is beyond the wave's 32"), std::string::npos)
      << why();
  EXPECT_FALSE(runsWithAccs("v_mov_b32_e32 v32, 0\n"));
  EXPECT_NE(why().find("v32 is beyond the wave's 32"), std::string::npos)
      << why();
}


/// All pairs of these: memory In[i], data In[i + 64], 64 bits each.
const double Doubles[8] = {1.5,    -0.0,     0.0,       -3.25e300,
                           5e-324, INFINITY, -INFINITY, NAN};

TEST_F(Gfx90aMemory, DoubleAtomics) {
  L.GroupBytes = 512;
  auto *Pairs = reinterpret_cast<double *>(In);
  for (unsigned I = 0; I < 64; ++I) {
    Pairs[I] = Doubles[I % 8];
    Pairs[64 + I] = Doubles[I / 8];
  }
  struct Kind {
    const char *Before, *Atomic, *After;
  };
  // v[4:5]: memory, v[6:7]: data, v[8:9]: what comes back.
  const Kind Kinds[] = {
      {"global_store_dwordx2 v3, v[4:5], s[10:11]\n",
       "global_atomic_OP_f64 v[8:9], v3, v[6:7], s[10:11] glc\n", ""},
      {"global_store_dwordx2 v3, v[4:5], s[10:11]\n",
       "flat_atomic_OP_f64 v[8:9], v[10:11], v[6:7] glc\n", ""},
      {"global_store_dwordx2 v3, v[4:5], s[10:11]\n",
       "v_mov_b32_e32 v8, v6\nv_mov_b32_e32 v9, v7\n"
       "buffer_atomic_OP_f64 v[8:9], v3, s[16:19], 0 offen glc\n",
       ""},
      {"ds_write_b64 v3, v[4:5]\n", "ds_OP_rtn_f64 v[8:9], v3, v[6:7]\n",
       "ds_read_b64 v[4:5], v3\ns_waitcnt lgkmcnt(0)\n"
       "global_store_dwordx2 v3, v[4:5], s[10:11]\n"},
  };
  for (const Kind &K : Kinds)
    for (const std::string Op : {"add", "min", "max"}) {
      std::string Atomic = K.Atomic;
      Atomic.replace(Atomic.find("OP"), 2, Op);
      EXPECT_RUNS_ACC(std::string(R"(
        s_mov_b32 s16, s10
        s_and_b32 s17, s11, 0xffff
        s_mov_b32 s18, 0x10000
        s_mov_b32 s19, 0x27fac
        v_lshlrev_b32_e32 v3, 3, v0
        v_mov_b32_e32 v10, s10
        v_mov_b32_e32 v11, s11
        v_add_co_u32_e32 v10, vcc, v10, v3
        v_addc_co_u32_e32 v11, vcc, 0, v11, vcc
        global_load_dwordx2 v[4:5], v3, s[8:9]
        global_load_dwordx2 v[6:7], v3, s[8:9] offset:512
        s_waitcnt vmcnt(0)
      )") + K.Before + "s_waitcnt vmcnt(0) lgkmcnt(0)\n" +
                      Atomic + "s_waitcnt vmcnt(0) lgkmcnt(0)\n" + K.After +
                      "global_store_dwordx2 v3, v[8:9], s[10:11] offset:512\n");
      for (unsigned I = 0; I < 64; ++I) {
        const double M = Doubles[I % 8], Data = Doubles[I / 8];
        const double Got = as<double>(out64(I));
        EXPECT_EQ(out64(64 + I), as<uint64_t>(M)) << Atomic << I;
        if (Op == "add") {
          EXPECT_EQ(std::isnan(Got), std::isnan(M + Data)) << Atomic << I;
          if (!std::isnan(Got)) {
            EXPECT_EQ(out64(I), as<uint64_t>(M + Data)) << Atomic << I;
          }
          continue;
        }
        // A number wins against a NaN; -0 is below +0.
        const bool TakesData =
            std::isnan(M) ||
            (Op == "min" ? Data < M || (Data == M && std::signbit(Data))
                         : Data > M || (Data == M && !std::signbit(Data)));
        EXPECT_EQ(out64(I), as<uint64_t>(TakesData ? Data : M)) << Atomic << I;
      }
    }
}

/// Single precision in memory flushes denormals, whatever MODE says.
TEST_F(Gfx90aMemory, SingleAtomicsReturnAndFlush) {
  for (unsigned I = 0; I < 64; ++I) {
    In[I] = I % 2 ? 0x00000001 : as<uint32_t>(float(I));
    Out[I] = I % 3 ? 0x80000001 : as<uint32_t>(0.5f);
  }
  EXPECT_RUNS_ACC(R"(
    global_load_dword v4, v1, s[8:9]
    s_waitcnt vmcnt(0)
    global_atomic_add_f32 v5, v1, v4, s[10:11] glc
    s_waitcnt vmcnt(0)
    global_store_dword v1, v5, s[10:11] offset:256
  )");
  for (unsigned I = 0; I < 64; ++I) {
    const uint32_t Before = I % 3 ? 0x80000001 : as<uint32_t>(0.5f);
    const float Data = I % 2 ? 0.0f : float(I), M = I % 3 ? -0.0f : 0.5f;
    EXPECT_EQ(Out[64 + I], Before);
    EXPECT_EQ(Out[I], as<uint32_t>(M + Data)) << I;
  }
}

TEST_F(Gfx90aMemory, PackedHalvesAdd) {
  const uint16_t Halves[8] = {0x3c00, 0x8000, 0x0001, 0x7bff,
                              0x7c00, 0xfc00, 0x7d01, 0xc248};
  auto Value = [](uint16_t B) { return float(as<_Float16>(B)); };
  for (unsigned I = 0; I < 64; ++I) {
    In[I] = Halves[I % 8] | uint32_t(Halves[(I + 3) % 8]) << 16;
    Out[I] = Halves[I / 8] | uint32_t(Halves[7 - I / 8]) << 16;
  }
  EXPECT_RUNS_ACC(R"(
    v_accvgpr_write_b32 a0, 0
    global_load_dword a1, v1, s[8:9]
    s_waitcnt vmcnt(0)
    global_atomic_pk_add_f16 a0, v1, a1, s[10:11] glc
    s_waitcnt vmcnt(0)
    global_store_dword v1, a0, s[10:11] offset:256
  )");
  for (unsigned I = 0; I < 64; ++I)
    for (unsigned H = 0; H < 2; ++H) {
      const uint16_t Data = H ? Halves[(I + 3) % 8] : Halves[I % 8];
      const uint16_t M = H ? Halves[7 - I / 8] : Halves[I / 8];
      const auto Got = uint16_t(Out[I] >> (16 * H));
      const float Sum = Value(M) + Value(Data);
      EXPECT_EQ(uint16_t(Out[64 + I] >> (16 * H)), M);
      if (std::isnan(Sum)) {
        EXPECT_GT(Got & 0x7fff, 0x7c00) << I;
      } else {
        EXPECT_EQ(Got, as<uint16_t>(_Float16(Sum))) << I;
      }
    }
}

TEST_F(Gfx90aMemory, CacheInstructionsAreHints) {
  EXPECT_RUNS_ACC(R"(
    global_store_dword v1, v0, s[10:11]
    buffer_wbl2
    buffer_invl2
    buffer_wbinvl1_vol
    s_waitcnt vmcnt(0)
    global_load_dword v4, v1, s[10:11]
    s_waitcnt vmcnt(0)
    global_store_dword v1, v4, s[10:11] offset:256
  )");
  for (unsigned I = 0; I < 64; ++I)
    EXPECT_EQ(Out[64 + I], I);
}

class Gfx908Memory : public LaneFixture {
protected:
  Gfx908Memory() : LaneFixture("gfx908") {}
};

TEST_F(Gfx908Memory, AtomicsWithoutResult) {
  for (unsigned I = 0; I < 64; ++I) {
    Out[I] = as<uint32_t>(float(I));
    Out[64 + I] = 0x3c003c00;
  }
  EXPECT_RUNS(R"(
    v_mov_b32_e32 v4, 0.5
    v_mov_b32_e32 v5, 0x40003c00
    global_atomic_add_f32 v1, v4, s[10:11]
    global_atomic_pk_add_f16 v1, v5, s[10:11] offset:256
    v_accvgpr_write_b32 a0, v0
    s_nop 1
    v_accvgpr_read_b32 v6, a0
    global_store_dword v1, v6, s[10:11] offset:512
  )");
  for (unsigned I = 0; I < 64; ++I) {
    EXPECT_EQ(Out[I], as<uint32_t>(float(I) + 0.5f));
    EXPECT_EQ(Out[64 + I], 0x42004000u);
    EXPECT_EQ(Out[128 + I], I);
  }
}

} // namespace
