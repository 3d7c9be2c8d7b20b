// Scalar comparisons, conditional moves and bits, and the instructions that
// change nothing here.
#include "Harness.h"

#include <functional>

namespace vgputest {
namespace {

using ScalarCompareTest = WaveTest;

struct Relation {
  const char *Name;
  std::function<bool(int64_t, int64_t)> Holds;
};
const Relation Relations[] = {
    {"eq", [](int64_t A, int64_t B) { return A == B; }},
    {"lg", [](int64_t A, int64_t B) { return A != B; }},
    {"gt", [](int64_t A, int64_t B) { return A > B; }},
    {"ge", [](int64_t A, int64_t B) { return A >= B; }},
    {"lt", [](int64_t A, int64_t B) { return A < B; }},
    {"le", [](int64_t A, int64_t B) { return A <= B; }},
};

TEST_F(ScalarCompareTest, EveryRelation) {
  for (const Relation &R : Relations)
    for (bool Signed : {true, false}) {
      const std::string Text = std::string("s_cmp_") + R.Name +
                               (Signed ? "_i32" : "_u32") + " s2, s4";
      auto Value = [&](uint64_t V) {
        return Signed ? int64_t(int32_t(V)) : int64_t(V);
      };
      for (uint64_t A : edgesInt32())
        for (uint64_t B : edgesInt32()) {
          s(2) = uint32_t(A);
          s(4) = uint32_t(B);
          runOk(Text);
          ASSERT_EQ(W.Scc, R.Holds(Value(A), Value(B)))
              << Text << std::hex << " " << A << " " << B;
        }
    }
  for (uint64_t A : edgesInt64())
    for (uint64_t B : edgesInt64()) {
      W.setScalar64(2, A);
      W.setScalar64(4, B);
      runOk("s_cmp_eq_u64 s[2:3], s[4:5]");
      ASSERT_EQ(W.Scc, A == B);
      runOk("s_cmp_lg_u64 s[2:3], s[4:5]");
      ASSERT_EQ(W.Scc, A != B);
    }
}

TEST_F(ScalarCompareTest, EveryRelationWithAnImmediate) {
  // 16 bits, sign-extended for signed comparisons and zero-extended for others.
  for (const Relation &R : Relations)
    for (bool Signed : {true, false})
      for (uint32_t Imm : {0u, 1u, 0x7fffu, 0x8000u, 0xffffu}) {
        const std::string Text = std::string("s_cmpk_") + R.Name +
                                 (Signed ? "_i32" : "_u32") + " s2, " +
                                 std::to_string(Imm);
        const int64_t B = Signed ? int64_t(int16_t(Imm)) : int64_t(Imm);
        for (uint64_t A : edgesInt32()) {
          s(2) = uint32_t(A);
          runOk(Text);
          const int64_t V = Signed ? int64_t(int32_t(A)) : int64_t(A);
          ASSERT_EQ(W.Scc, R.Holds(V, B)) << Text << std::hex << " " << A;
        }
      }
}

TEST_F(ScalarCompareTest, Bits) {
  for (uint64_t A : edgesInt64())
    for (uint32_t Bit : {0u, 1u, 31u, 32u, 33u, 63u, 64u, 95u, 0xffffffffu}) {
      W.setScalar64(2, A);
      s(4) = Bit;
      const bool In32 = (A >> (Bit % 32)) & 1, In64 = (A >> (Bit % 64)) & 1;
      runOk("s_bitcmp0_b32 s2, s4");
      ASSERT_EQ(W.Scc, !In32);
      runOk("s_bitcmp1_b32 s2, s4");
      ASSERT_EQ(W.Scc, In32);
      runOk("s_bitcmp0_b64 s[2:3], s4");
      ASSERT_EQ(W.Scc, !In64);
      runOk("s_bitcmp1_b64 s[2:3], s4");
      ASSERT_EQ(W.Scc, In64);
      const uint64_t One = uint64_t(1) << (Bit % 64);
      runOk("s_mov_b64 s[0:1], s[2:3]\n s_bitset0_b64 s[0:1], s4");
      ASSERT_EQ(s64(0), A & ~One);
      runOk("s_mov_b64 s[0:1], s[2:3]\n s_bitset1_b64 s[0:1], s4");
      ASSERT_EQ(s64(0), A | One);
    }
  for (uint32_t Count : {0u, 1u, 31u, 32u, 63u, 64u, 100u})
    for (uint32_t Offset : {0u, 5u, 32u, 63u, 64u}) {
      s(2) = Count;
      s(4) = Offset;
      uint64_t Want = 0;
      for (unsigned N = 0; N < Count % 64 && N + Offset % 64 < 64; ++N)
        Want |= uint64_t(1) << (N + Offset % 64);
      runOk("s_bfm_b64 s[0:1], s2, s4");
      ASSERT_EQ(s64(0), Want) << Count << " " << Offset;
    }
}

TEST_F(ScalarCompareTest, Counts) {
  const struct {
    const char *Text;
    std::function<uint64_t(uint64_t)> Fn; // of the source's own width
    bool SetsScc;
  } Cases[] = {
      {"s_bcnt0_i32_b64 s0, s[2:3]",
       [](uint64_t A) { return 64 - __builtin_popcountll(A); }, true},
      {"s_bcnt1_i32_b32 s0, s2",
       [](uint64_t A) { return __builtin_popcountll(A); }, true},
      {"s_ff0_i32_b64 s0, s[2:3]",
       [](uint64_t A) { return __builtin_ffsll(int64_t(~A)) - 1; }, false},
      {"s_ff1_i32_b32 s0, s2",
       [](uint64_t A) { return __builtin_ffsll(int64_t(A)) - 1; }, false},
      {"s_flbit_i32_b64 s0, s[2:3]",
       [](uint64_t A) { return A ? __builtin_clzll(A) : -1; }, false},
      {"s_flbit_i32 s0, s2",
       [](uint64_t A) {
         for (int N = 1; N < 32; ++N)
           if (((A >> (31 - N)) & 1) != A >> 31)
             return N;
         return -1;
       },
       false},
      {"s_brev_b32 s0, s2",
       [](uint64_t A) {
         uint64_t R = 0;
         for (unsigned N = 0; N < 32; ++N)
           R |= ((A >> N) & 1) << (31 - N);
         return R;
       },
       false},
      {"s_wqm_b32 s0, s2",
       [](uint64_t A) {
         uint64_t R = 0;
         for (unsigned N = 0; N < 32; N += 4)
           R |= uint64_t((A >> N) & 15 ? 15 : 0) << N;
         return R;
       },
       true},
      {"s_quadmask_b32 s0, s2",
       [](uint64_t A) {
         uint64_t R = 0;
         for (unsigned N = 0; N < 8; ++N)
           R |= uint64_t((A >> (4 * N)) & 15 ? 1 : 0) << N;
         return R;
       },
       true},
  };
  for (const auto &C : Cases)
    for (uint64_t A : edgesInt64()) {
      const bool Wide = std::string(C.Text).find("s[2:3]") != std::string::npos;
      const uint32_t Want = uint32_t(C.Fn(Wide ? A : uint32_t(A)));
      ASSERT_EQ(uint32_t(scalar2(C.Text, A, 0, true)), Want)
          << C.Text << std::hex << " " << A;
      ASSERT_EQ(W.Scc, !C.SetsScc || Want != 0) << C.Text;
    }
}

TEST_F(ScalarCompareTest, ShiftedAddsAndPacks) {
  for (unsigned Shift : {1u, 2u, 3u, 4u})
    for (uint64_t A : edgesInt32())
      for (uint64_t B : edgesInt32()) {
        const uint64_t Sum = (A << Shift) + B;
        ASSERT_EQ(uint32_t(scalar2("s_lshl" + std::to_string(Shift) +
                                       "_add_u32 s0, s2, s4",
                                   A, B)),
                  uint32_t(Sum));
        ASSERT_EQ(W.Scc, Sum >> 32 != 0);
      }
  s(2) = 0x11112222;
  s(4) = 0x33334444;
  runOk("s_pack_ll_b32_b16 s0, s2, s4");
  EXPECT_EQ(s(0), 0x44442222u);
  runOk("s_pack_lh_b32_b16 s0, s2, s4");
  EXPECT_EQ(s(0), 0x33332222u);
  runOk("s_pack_hh_b32_b16 s0, s2, s4");
  EXPECT_EQ(s(0), 0x33331111u);
}

TEST_F(ScalarCompareTest, MovesOnCondition) {
  for (bool Scc : {false, true}) {
    W.setScalar64(0, 1);
    W.setScalar64(4, 0x1234567890abcdef);
    W.Scc = Scc;
    runOk("s_cmov_b64 s[0:1], s[4:5]");
    EXPECT_EQ(s64(0), Scc ? 0x1234567890abcdefu : 1u);
    s(0) = 1;
    runOk("s_cmovk_i32 s0, 0x8001");
    EXPECT_EQ(s(0), Scc ? 0xffff8001u : 1u);
    EXPECT_EQ(W.Scc, Scc);
  }
  W.Sgpr[124] = 4;
  W.setScalar64(14, 0xabcdef0123456789);
  runOk("s_movrels_b64 s[0:1], s[10:11]");
  EXPECT_EQ(s64(0), 0xabcdef0123456789u);
  runOk("s_movreld_b64 s[16:17], s[0:1]");
  EXPECT_EQ(s64(20), 0xabcdef0123456789u);
  W.Sgpr[124] = 200;
  run("s_movrels_b64 s[0:1], s[10:11]");
  EXPECT_EQ(Env.Fault, vgpu::FaultKind::IllegalOperand);
}

TEST_F(ScalarCompareTest, HintsChangeNothing) {
  const auto Before = std::vector<uint32_t>(W.Sgpr, W.Sgpr + 128);
  for (bool Scc : {false, true}) {
    W.Scc = Scc;
    runOk("s_nop 3\n s_incperflevel 1\n s_decperflevel 1\n s_ttracedata\n "
          "v_nop\n v_clrexcp");
    if (!Target.isGfx10())
      runOk("s_wakeup");
    EXPECT_EQ(W.Scc, Scc);
    EXPECT_EQ(W.Mode, DefaultMode);
  }
  // No debugger is attached.
  for (const char *Name : {"sys", "user", "sys_or_user", "sys_and_user"}) {
    runOk(std::string("s_cbranch_cdbg") + Name + " 4");
    EXPECT_EQ(W.Pc, 0x1004u);
  }
  EXPECT_EQ(Env.Calls, "");
  EXPECT_EQ(Before, std::vector<uint32_t>(W.Sgpr, W.Sgpr + 128));
  runOk("s_endpgm_saved");
  EXPECT_EQ(W.Status, vgpu::WaveStatus::Ended);
}

class ScalarGfx10Test : public WaveTest {
protected:
  ScalarGfx10Test() : WaveTest(TestTarget("gfx1030", 32)) {}
};

TEST_F(ScalarGfx10Test, WaitsForOneCounter) {
  s(7) = 10; // adds to the immediate; null adds nothing
  runOk("s_waitcnt_vmcnt null, 0x3\n s_waitcnt_expcnt s7, 0x2\n "
        "s_waitcnt_lgkmcnt null, 0x5\n s_waitcnt_vscnt s7, 0x4");
  EXPECT_EQ(Env.Calls, "wait 3;wait 12;wait 5;wait 14;");
  Env.Calls.clear();
  runOk("s_version 0x2006\n s_wait_idle");
  EXPECT_EQ(Env.Calls, "");
}

} // namespace
} // namespace vgputest
