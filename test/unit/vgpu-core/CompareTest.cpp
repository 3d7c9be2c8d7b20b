// Vector comparisons: every relation, type and destination.
#include "Harness.h"

#include <cmath>
#include <functional>

namespace vgputest {
namespace {

using CompareTest = WaveTest;

template <class T> T valueOf(uint64_t Bits);
template <> int16_t valueOf(uint64_t B) { return int16_t(B); }
template <> uint16_t valueOf(uint64_t B) { return uint16_t(B); }
template <> int32_t valueOf(uint64_t B) { return int32_t(B); }
template <> uint32_t valueOf(uint64_t B) { return uint32_t(B); }
template <> int64_t valueOf(uint64_t B) { return int64_t(B); }
template <> uint64_t valueOf(uint64_t B) { return B; }
template <> float valueOf(uint64_t B) { return asFloat(B); }
template <> double valueOf(uint64_t B) { return asDouble(B); }
template <> _Float16 valueOf(uint64_t B) { return asHalf(B); }

bool relation(const std::string &Name, int Order) { // -1, 0, 1; 2 unordered
  const bool Lt = Order == -1, Eq = Order == 0, Gt = Order == 1,
             Un = Order == 2;
  if (Name == "f")
    return false;
  if (Name == "lt")
    return Lt;
  if (Name == "eq")
    return Eq;
  if (Name == "le")
    return Lt || Eq;
  if (Name == "gt")
    return Gt;
  if (Name == "ne" || Name == "neq")
    return !Eq;
  if (Name == "lg")
    return Lt || Gt;
  if (Name == "ge")
    return Gt || Eq;
  if (Name == "o")
    return !Un;
  if (Name == "u")
    return Un;
  if (Name == "nge")
    return !(Gt || Eq);
  if (Name == "nlg")
    return !(Lt || Gt);
  if (Name == "ngt")
    return !Gt;
  if (Name == "nle")
    return !(Lt || Eq);
  if (Name == "nlt")
    return !Lt;
  return true; // t, tru
}

const std::vector<std::string> IntegerNames = {"f",  "lt", "eq", "le",
                                               "gt", "ne", "ge", "t"};
const std::vector<std::string> FloatNames = {
    "f", "lt",  "eq",  "le",  "gt",  "lg",  "ge",  "o",
    "u", "nge", "nlg", "ngt", "nle", "neq", "nlt", "tru"};

class RelationTest : public WaveTest {
protected:
  template <class T>
  void check(const std::string &Type, const std::vector<std::string> &Names,
             const std::vector<uint64_t> &Values) {
    const std::string Operands =
        sizeof(T) == 8 ? "vcc, v[2:3], v[4:5]" : "vcc, v2, v4";
    for (const std::string &Name : Names)
      for (const char *Prefix : {"v_cmp_", "v_cmpx_"}) {
        W.setExec(~uint64_t(0));
        const bool IsX = std::string(Prefix) == "v_cmpx_";
        sweep(
            Prefix + Name + "_" + Type + " " + Operands, 2, Values,
            [&](uint64_t A, uint64_t B, uint64_t, uint64_t, bool Got) {
              const T X = valueOf<T>(A), Y = valueOf<T>(B);
              const int Order = X < Y ? -1 : X > Y ? 1 : X == Y ? 0 : 2;
              ASSERT_EQ(Got, relation(Name, Order))
                  << Prefix << Name << "_" << Type;
              if (IsX && !Target.isGfx10()) {
                ASSERT_EQ(W.exec(), W.vcc());
              }
            },
            IsX);
      }
  }
  // v_cmpx changes EXEC: restore it before each batch.
  template <class F>
  void sweep(const std::string &Text, unsigned Sources,
             const std::vector<uint64_t> &Values, F Check, bool IsX) {
    if (!IsX) {
      WaveTest::sweep(Text, Sources, Values, Check);
      return;
    }
    std::vector<uint64_t> Few(Values.begin(),
                              Values.begin() + 8); // 64 pairs, one batch
    WaveTest::sweep(Text, Sources, Few, Check);
  }
};

TEST_F(RelationTest, Integers) {
  check<int16_t>("i16", IntegerNames, edgesInt32());
  check<uint16_t>("u16", IntegerNames, edgesInt32());
  check<int32_t>("i32", IntegerNames, edgesInt32());
  check<uint32_t>("u32", IntegerNames, edgesInt32());
  check<int64_t>("i64", IntegerNames, edgesInt64());
  check<uint64_t>("u64", IntegerNames, edgesInt64());
}

TEST_F(RelationTest, Floats) {
  check<_Float16>("f16", FloatNames, edgesHalf());
  check<float>("f32", FloatNames, edgesFloat());
  check<double>("f64", FloatNames, edgesDouble());
}

TEST_F(CompareTest, FlushedDenormalsAreZero) {
  setV(2, 1);
  runOk("v_cmp_eq_f32 vcc, 0, v2");
  EXPECT_EQ(W.vcc(), 0u);
  setMode(vgpu::ModeDenorm32Shift, 2, 0);
  runOk("v_cmp_eq_f32 vcc, 0, v2");
  EXPECT_EQ(W.vcc(), allLanes());
}

TEST_F(CompareTest, DestinationsAndInactiveLanes) {
  if (Target.isGfx10())
    GTEST_SKIP() << "v_cmpx writes EXEC only: Gfx10Test";
  for (unsigned L = 0; L < 64; ++L)
    v(2)[L] = L;
  W.setExec(0x00ff00ff00ff00ff);
  W.setScalar64(20, ~uint64_t(0));
  runOk("v_cmp_gt_u32 s[20:21], 32, v2");
  EXPECT_EQ(s64(20), 0x0000000000ff00ffu);
  runOk("v_cmpx_le_u32 s[20:21], 4, v2");
  EXPECT_EQ(s64(20), 0x00ff00ff00ff00f0u);
  EXPECT_EQ(W.exec(), 0x00ff00ff00ff00f0u);
  W.setExec(~uint64_t(0));
  runOk("v_cmp_eq_u32_sdwa s[22:23], v2, v2 src0_sel:BYTE_0 src1_sel:BYTE_1");
  EXPECT_EQ(s64(22), 1u);
}

TEST_F(CompareTest, Classes) {
  // One value of each class, in bit order.
  const uint32_t Values[10] = {0x7f800001, 0x7fc00000, 0xff800000, 0xbf800000,
                               0x80000001, 0x80000000, 0x00000000, 0x00000001,
                               0x3f800000, 0x7f800000};
  for (unsigned N = 0; N < 10; ++N)
    for (unsigned Bit = 0; Bit < 10; ++Bit) {
      setV(2, Values[N]);
      s(2) = 1u << Bit;
      runOk("v_cmp_class_f32 vcc, v2, s2");
      ASSERT_EQ(W.vcc(), N == Bit ? allLanes() : 0) << N << " " << Bit;
    }
  const uint64_t Doubles[10] = {0x7ff0000000000001,
                                0x7ff8000000000000,
                                0xfff0000000000000,
                                0xbff0000000000000,
                                0x8000000000000001,
                                0x8000000000000000,
                                0,
                                1,
                                0x3ff0000000000000,
                                0x7ff0000000000000};
  const uint16_t Halves[10] = {0x7c01, 0x7e00, 0xfc00, 0xbc00, 0x8001,
                               0x8000, 0,      1,      0x3c00, 0x7c00};
  for (unsigned N = 0; N < 10; ++N) {
    s(2) = 1u << N;
    for (unsigned L = 0; L < 64; ++L)
      setV64(4, L, Doubles[N]);
    runOk("v_cmp_class_f64 vcc, v[4:5], s2");
    EXPECT_EQ(W.vcc(), allLanes()) << N;
    setV(6, Halves[N]);
    runOk("v_cmp_class_f16 vcc, v6, s2");
    EXPECT_EQ(W.vcc(), allLanes()) << N;
  }
}

} // namespace
} // namespace vgputest
