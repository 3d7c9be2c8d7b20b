// Every read-modify-write of global memory and LDS, against the manuals'
// pseudo code written down here once more, for edge values.
#include "LaneFixture.h"

#include <cmath>
#include <cstring>
#include <functional>

using namespace vgpu;
using namespace vgpu::test;

namespace {

using Fold = std::function<uint64_t(uint64_t Memory, uint64_t Data)>;

struct Operation {
  const char *Global; ///< Suffix of global_atomic_, or null.
  const char
      *Lds; ///< Between ds_ and _rtn_u32/_u32, with its type letter after ':'.
  Fold Narrow, Wide;
};

int32_t s32(uint64_t V) { return int32_t(uint32_t(V)); }
int64_t s64(uint64_t V) { return int64_t(V); }

const Operation Operations[] = {
    {"swap", nullptr, [](uint64_t, uint64_t D) { return D; },
     [](uint64_t, uint64_t D) { return D; }},
    {"add", "add:u", [](uint64_t M, uint64_t D) { return M + D; },
     [](uint64_t M, uint64_t D) { return M + D; }},
    {"sub", "sub:u", [](uint64_t M, uint64_t D) { return M - D; },
     [](uint64_t M, uint64_t D) { return M - D; }},
    {nullptr, "rsub:u", [](uint64_t M, uint64_t D) { return D - M; },
     [](uint64_t M, uint64_t D) { return D - M; }},
    {"smin", "min:i",
     [](uint64_t M, uint64_t D) { return s32(M) < s32(D) ? M : D; },
     [](uint64_t M, uint64_t D) { return s64(M) < s64(D) ? M : D; }},
    {"umin", "min:u", [](uint64_t M, uint64_t D) { return M < D ? M : D; },
     [](uint64_t M, uint64_t D) { return M < D ? M : D; }},
    {"smax", "max:i",
     [](uint64_t M, uint64_t D) { return s32(M) > s32(D) ? M : D; },
     [](uint64_t M, uint64_t D) { return s64(M) > s64(D) ? M : D; }},
    {"umax", "max:u", [](uint64_t M, uint64_t D) { return M > D ? M : D; },
     [](uint64_t M, uint64_t D) { return M > D ? M : D; }},
    {"and", "and:b", [](uint64_t M, uint64_t D) { return M & D; },
     [](uint64_t M, uint64_t D) { return M & D; }},
    {"or", "or:b", [](uint64_t M, uint64_t D) { return M | D; },
     [](uint64_t M, uint64_t D) { return M | D; }},
    {"xor", "xor:b", [](uint64_t M, uint64_t D) { return M ^ D; },
     [](uint64_t M, uint64_t D) { return M ^ D; }},
    {"inc", "inc:u", [](uint64_t M, uint64_t D) { return M >= D ? 0 : M + 1; },
     [](uint64_t M, uint64_t D) { return M >= D ? 0 : M + 1; }},
    {"dec", "dec:u",
     [](uint64_t M, uint64_t D) { return M == 0 || M > D ? D : M - 1; },
     [](uint64_t M, uint64_t D) { return M == 0 || M > D ? D : M - 1; }},
};

const uint64_t Edges[] = {0,
                          1,
                          2,
                          0x7fffffff,
                          0x80000000,
                          0xffffffff,
                          0x7fffffffffffffff,
                          0x8000000000000000,
                          ~uint64_t(0),
                          0x123456789abcdef0,
                          100,
                          99};

class Atomics : public LaneFixture {
protected:
  /// In[2 i] is data, In[128 + 2 i] memory; 64-bit each, all pairs of edges.
  void fill(bool Wide) {
    auto *Data = reinterpret_cast<uint64_t *>(In);
    for (unsigned I = 0; I < 64; ++I) {
      Data[I] = Edges[I % 12] & (Wide ? ~uint64_t(0) : 0xffffffff);
      Data[64 + I] = Edges[(I / 5) % 12] & (Wide ? ~uint64_t(0) : 0xffffffff);
    }
  }
  uint64_t data(unsigned I) { return reinterpret_cast<uint64_t *>(In)[I]; }
  uint64_t memory(unsigned I) {
    return reinterpret_cast<uint64_t *>(In)[64 + I];
  }
  uint64_t out(unsigned I) { return reinterpret_cast<uint64_t *>(Out)[I]; }

  /// Memory in LDS at v3, data 512 bytes behind it and in v[4:5].
  void runInLds(const std::string &Instruction) {
    L.GroupBytes = 1024;
    EXPECT_TRUE(runs(R"(
      v_lshlrev_b32_e32 v3, 3, v0
      v_mov_b32_e32 v6, 0x77777777
      v_mov_b32_e32 v7, 0
      global_load_dwordx2 v[4:5], v3, s[8:9]
      global_load_dwordx2 v[8:9], v3, s[8:9] offset:512
      s_waitcnt vmcnt(0)
      ds_write_b64 v3, v[8:9]
      ds_write_b64 v3, v[4:5] offset:512
    )" + Instruction +
                     R"(
      ds_read_b64 v[10:11], v3
      s_waitcnt lgkmcnt(0)
      global_store_dwordx2 v3, v[10:11], s[10:11]
      global_store_dwordx2 v3, v[6:7], s[10:11] offset:512
    )"))
        << Instruction << ": " << why();
  }

  void check(const Operation &Op, bool Wide, bool Returns,
             const std::string &Name) {
    const uint64_t Mask = Wide ? ~uint64_t(0) : 0xffffffff;
    for (unsigned I = 0; I < 64; ++I) {
      uint64_t New = (Wide ? Op.Wide : Op.Narrow)(memory(I), data(I)) & Mask;
      EXPECT_EQ(out(I) & Mask, New) << Name << " lane " << I << " memory "
                                    << memory(I) << " data " << data(I);
      EXPECT_EQ(out(64 + I) & Mask,
                Returns ? memory(I) & Mask : 0x77777777 & Mask)
          << Name << " returned value, lane " << I;
    }
  }
};

/// global_, flat_ and buffer_: the same operations by three ways of addressing.
TEST_F(Atomics, ThroughEveryKindOfAddress) {
  for (const std::string Kind : {"global", "flat", "buffer"})
    for (const Operation &Op : Operations)
      for (bool Wide : {false, true})
        for (bool Returns : {false, true}) {
          if (!Op.Global)
            continue;
          fill(Wide);
          std::memcpy(Out, In + 128, 512);
          const std::string Data = Wide ? "v[4:5]" : "v4";
          const std::string Dst = Wide ? "v[6:7]" : "v6";
          const std::string Name =
              Kind + "_atomic_" + Op.Global + (Wide ? "_x2" : "");
          const std::string Glc = Returns ? " glc\n" : "\n";
          std::string Atomic;
          if (Kind == "global")
            Atomic = Name + " " + (Returns ? Dst + ", " : "") + "v3, " + Data +
                     ", s[10:11]" + Glc;
          else if (Kind == "flat")
            Atomic = Name + " " + (Returns ? Dst + ", " : "") + "v[8:9], " +
                     Data + Glc;
          else // What comes back takes the place of the data.
            Atomic = Name + " " + Data + ", v3, s[12:15], 0 offen" + Glc +
                     "s_waitcnt vmcnt(0)\n" +
                     (Returns ? "v_mov_b32_e32 v6, v4\n" : "") +
                     (Returns && Wide ? "v_mov_b32_e32 v7, v5\n" : "");
          EXPECT_RUNS(R"(
            s_mov_b32 s12, s10
            s_and_b32 s13, s11, 0xffff
            s_mov_b32 s14, 0x10000
            s_mov_b32 s15, 0x27fac
            v_lshlrev_b32_e32 v3, 3, v0
            v_mov_b32_e32 v9, s11
            v_add_co_u32_e32 v8, vcc, s10, v3
            v_addc_co_u32_e32 v9, vcc, 0, v9, vcc
            v_mov_b32_e32 v6, 0x77777777
            v_mov_b32_e32 v7, 0
            global_load_dwordx2 v[4:5], v3, s[8:9]
            s_waitcnt vmcnt(0)
          )" + Atomic +
                      R"(
            s_waitcnt vmcnt(0) lgkmcnt(0)
            global_store_dwordx2 v3, v[6:7], s[10:11] offset:512
          )");
          check(Op, Wide, Returns, Name);
        }
}

TEST_F(Atomics, Lds) {
  for (const Operation &Op : Operations)
    for (bool Wide : {false, true}) {
      if (!Op.Lds)
        continue;
      fill(Wide);
      const std::string Spec = Op.Lds;
      const std::string Base = "ds_" + Spec.substr(0, Spec.find(':'));
      const std::string Type = Spec.substr(Spec.find(':') + 1) + (Wide ? "64" : "32");
      const std::string Data = Wide ? "v[4:5]" : "v4", Dst = Wide ? "v[6:7]" : "v6";
      for (const bool Returns : {false, true}) {
        const std::string Name = Base + (Returns ? "_rtn_" : "_") + Type;
        runInLds(Name + " " + (Returns ? Dst + ", " : "") + "v3, " + Data);
        check(Op, Wide, Returns, Name);
      }
      // The second operand in LDS too, 128 dwords away.
      runInLds(Base + "_src2_" + Type + " v3 offset:128");
      check(Op, Wide, false, Base + "_src2_" + Type);
    }
}

/// T is what the instruction works on; \p Expected is told memory and data.
template <typename T, typename F>
void eachLane(const uint32_t *In, const uint32_t *Out, const std::string &Name, F Expected) {
  for (unsigned I = 0; I < 64; ++I) {
    T Memory, Data, New;
    std::memcpy(&Data, In + 2 * I, sizeof(T));
    std::memcpy(&Memory, In + 128 + 2 * I, sizeof(T));
    std::memcpy(&New, Out + 2 * I, sizeof(T));
    EXPECT_EQ(New, Expected(Memory, Data)) << Name << " lane " << I;
  }
}

TEST_F(Atomics, LdsFloatsWithBothOperandsThere) {
  auto Run = [&](const std::string &Name) { runInLds(Name + " v3 offset:128"); };
  for (unsigned I = 0; I < 128; ++I) {
    const float Value = float(int(I * 37 % 64) - 32) * 0.25f;
    std::memcpy(In + 2 * I, &Value, sizeof Value);
    In[2 * I + 1] = ~I; // Stays as it is.
  }
  for (const bool Larger : {false, true}) {
    const std::string Name = Larger ? "ds_max_src2_f32" : "ds_min_src2_f32";
    Run(Name);
    eachLane<float>(In, Out, Name, [&](float A, float B) { return (A < B) == Larger ? B : A; });
    for (unsigned I = 0; I < 64; ++I)
      EXPECT_EQ(Out[2 * I + 1], In[128 + 2 * I + 1]);
  }
  Run("ds_add_src2_f32");
  eachLane<float>(In, Out, "add", [](float A, float B) { return A + B; });
  Run("ds_write_src2_b32");
  eachLane<float>(In, Out, "write", [](float, float B) { return B; });
  for (unsigned I = 0; I < 128; ++I) {
    const double Value = (int(I * 37 % 64) - 32) * 1e200;
    std::memcpy(In + 2 * I, &Value, sizeof Value);
  }
  for (const bool Larger : {false, true}) {
    const std::string Name = Larger ? "ds_max_src2_f64" : "ds_min_src2_f64";
    Run(Name);
    eachLane<double>(In, Out, Name, [&](double A, double B) { return (A < B) == Larger ? B : A; });
  }
  Run("ds_write_src2_b64");
  eachLane<double>(In, Out, "write", [](double, double B) { return B; });
}

TEST_F(Atomics, CompareAndSwapOrderOfOperands) {
  // Global: data0 new, data1 compared. DS: data0 compared, data1 new.
  L.GroupBytes = 512;
  for (unsigned I = 0; I < 64; ++I)
    Out[I] = I % 3;
  EXPECT_RUNS(R"(
    v_mov_b32_e32 v4, 77
    v_mov_b32_e32 v5, 1
    global_load_dword v7, v1, s[10:11]
    global_atomic_cmpswap v6, v1, v[4:5], s[10:11] glc
    s_waitcnt vmcnt(0)
    ds_write_b32 v1, v7
    ds_cmpst_rtn_b32 v8, v1, v5, v4
    ds_read_b32 v9, v1
    s_waitcnt lgkmcnt(0)
    global_store_dword v1, v6, s[10:11] offset:256
    global_store_dword v1, v8, s[10:11] offset:512
    global_store_dword v1, v9, s[10:11] offset:768
  )");
  for (unsigned I = 0; I < 64; ++I) {
    EXPECT_EQ(Out[I], I % 3 == 1 ? 77 : I % 3);
    EXPECT_EQ(Out[64 + I], I % 3);
    EXPECT_EQ(Out[128 + I], I % 3);
    EXPECT_EQ(Out[192 + I], I % 3 == 1 ? 77 : I % 3);
  }
}

TEST_F(Atomics, LdsFloat) {
  L.GroupBytes = 64;
  float Values[64];
  for (unsigned I = 0; I < 64; ++I)
    Values[I] = float(int(I * 37 % 64) - 32) * 0.25f;
  std::memcpy(In, Values, sizeof Values);
  EXPECT_RUNS(R"(
    global_load_dword v4, v1, s[8:9]
    v_mov_b32_e32 v5, 0
    ds_write_b32 v5, v5
    ds_write_b32 v5, v5 offset:4
    ds_write_b32 v5, v5 offset:8
    s_waitcnt vmcnt(0)
    ds_add_f32 v5, v4
    ds_min_f32 v5, v4 offset:4
    ds_max_f32 v5, v4 offset:8
    ds_read_b96 v[6:8], v5
    s_waitcnt lgkmcnt(0)
    global_store_dwordx3 v5, v[6:8], s[10:11]
  )");
  float Sum = 0, Results[3];
  for (float V : Values)
    Sum += V;
  std::memcpy(Results, Out, sizeof Results);
  EXPECT_EQ(Results[0], Sum);
  EXPECT_EQ(Results[1], -8.0f);
  EXPECT_EQ(Results[2], 7.75f);
}

TEST_F(Atomics, LdsFloatEdges) {
  // All pairs of these, memory in v4, data in v5; LDS obeys the denormal mode.
  const uint32_t Values[8] = {0x3f800000, 0x80000000, 0x00000000, 0x007fffff,
                              0x80000001, 0x7f800000, 0xff800000, 0x7f812345};
  for (unsigned I = 0; I < 64; ++I) {
    In[I] = Values[I % 8];
    In[64 + I] = Values[I / 8];
  }
  L.GroupBytes = 1024;
  for (bool Keep : {true, false}) {
    EXPECT_RUNS(std::string("s_setreg_imm32_b32 hwreg(HW_REG_MODE, 4, 2), ") +
                    (Keep ? "3" : "0") + R"(
      global_load_dword v4, v1, s[8:9]
      global_load_dword v5, v1, s[8:9] offset:256
      s_waitcnt vmcnt(0)
      ds_write_b32 v1, v4
      ds_write_b32 v1, v4 offset:256
      ds_write_b32 v1, v4 offset:512
      ds_add_f32 v1, v5
      ds_min_f32 v1, v5 offset:256
      ds_max_f32 v1, v5 offset:512
      ds_read_b32 v6, v1
      ds_read_b32 v7, v1 offset:256
      ds_read_b32 v8, v1 offset:512
      v_mov_b32_e32 v9, 0
      s_waitcnt lgkmcnt(0)
      global_store_dwordx4 v2, v[6:9], s[10:11]
    )",
                {});
    for (unsigned I = 0; I < 64; ++I) {
      auto Value = [&](uint32_t Bits, bool Flush) {
        if (Flush && !(Bits & 0x7f800000))
          Bits &= 0x80000000;
        float F;
        std::memcpy(&F, &Bits, 4);
        return F;
      };
      auto Bits = [](float F) {
        uint32_t B;
        std::memcpy(&B, &F, 4);
        return B;
      };
      const float M = Value(In[I], !Keep), D = Value(In[64 + I], !Keep);
      uint32_t Sum = Bits(Value(Bits(M + D), !Keep));
      if (std::isnan(M + D))
        Sum = std::isnan(M) || std::isnan(D) ? 0x7fc12345 : 0x7fc00000;
      EXPECT_EQ(Out[4 * I], Sum) << "lane " << I << " keep " << Keep;
      // A number wins against a NaN. Zeros are looked at below.
      const float A = Value(In[I], false), B = Value(In[64 + I], false);
      const float Small = std::isnan(A) || B < A ? B : A;
      const float Large = std::isnan(A) || B > A ? B : A;
      if (std::isnan(A) && std::isnan(B)) {
        EXPECT_EQ(Out[4 * I + 1], 0x7f812345u);
      } else {
        EXPECT_EQ(Value(Out[4 * I + 1], false), Small) << I;
        EXPECT_EQ(Value(Out[4 * I + 2], false), Large) << I;
      }
    }
    // Zeros of both signs: -0 is the smaller.
    EXPECT_EQ(Out[4 * 17 + 1], 0x80000000u);
    EXPECT_EQ(Out[4 * 17 + 2], 0u);
  }
}

TEST_F(Atomics, AllLanesOnOneAddress) {
  EXPECT_RUNS(R"(
    v_mov_b32_e32 v3, 0
    v_mov_b32_e32 v4, 1
    global_atomic_add v5, v3, v4, s[10:11] glc
    s_waitcnt vmcnt(0)
    global_store_dword v1, v5, s[10:11] offset:256
  )");
  EXPECT_EQ(Out[0], 64u);
  for (unsigned I = 0; I < 64; ++I)
    EXPECT_EQ(Out[64 + I], I);
}

} // namespace
