// HW_ID by target, against values worked out by hand from the manual's table.
#include "HardwarePlace.h"

#include <gtest/gtest.h>

using namespace kprobe;

namespace {

TEST(HardwarePlace, Gfx906FieldByField) {
  struct Case {
    uint32_t Raw;
    uint32_t HardwarePlace::*Field;
    uint32_t Value;
  };
  const Case Cases[] = {
      {0x0000000f, &HardwarePlace::Slot, 15},
      {0x00000030, &HardwarePlace::Simd, 3},
      {0x000000c0, &HardwarePlace::Pipe, 3},
      {0x00000f00, &HardwarePlace::ComputeUnit, 15},
      {0x00001000, &HardwarePlace::ShaderArray, 1},
      {0x00006000, &HardwarePlace::ShaderEngine, 3},
      {0x07000000, &HardwarePlace::Queue, 7},
  };
  for (const Case &C : Cases) {
    std::optional<HardwarePlace> P = decodePlace("gfx906", {C.Raw, 0});
    ASSERT_TRUE(P);
    EXPECT_EQ((*P).*(C.Field), C.Value) << std::hex << C.Raw;
    // Every other field is untouched by these bits.
    uint32_t Sum = P->Slot + P->Simd + P->Pipe + P->ComputeUnit +
                   P->ShaderArray + P->ShaderEngine + P->Queue + P->Xcc;
    EXPECT_EQ(Sum, C.Value) << std::hex << C.Raw;
  }
  // vm_id, tg_id, state_id and me_id are no place.
  EXPECT_EQ(placeText("gfx906", {0xf8ff8000, 0}), "se0 sh0 cu0 simd0 slot0");
}

TEST(HardwarePlace, TextAndFeatureSuffix) {
  EXPECT_EQ(placeText("gfx906", {0x00003a25, 0}), "se1 sh1 cu10 simd2 slot5");
  EXPECT_EQ(placeText("gfx906:sramecc+:xnack-", {0x00003a25, 0}),
            "se1 sh1 cu10 simd2 slot5");
}

// One raw value, read with the layouts of five families, by hand:
// 0x0007aa35 = 0000'0000'0000'0111'1010'1010'0011'0101.
TEST(HardwarePlace, OneValueByFamily) {
  const uint32_t Raw[2] = {0x0007aa35, 0x3};
  // gfx9: slot 0101, simd 11, cu 1010, sh 0, se 01 (14:13).
  for (const char *Target : {"gfx900", "gfx906", "gfx90c", "gfx9-generic"})
    EXPECT_EQ(placeText(Target, Raw), "se1 sh0 cu10 simd3 slot5") << Target;
  // gfx908: se 101 (15:13).
  for (const char *Target : {"gfx908", "gfx90a:sramecc+:xnack-"})
    EXPECT_EQ(placeText(Target, Raw), "se5 sh0 cu10 simd3 slot5") << Target;
  for (const char *Target : {"gfx942", "gfx950", "gfx9-4-generic"})
    EXPECT_EQ(placeText(Target, Raw), "xcc3 se1 sh0 cu10 simd3 slot5")
        << Target;
  // gfx10: slot 10101, simd 10, wgp 1010, sa 1, se 01 (19:18).
  for (const char *Target : {"gfx1010", "gfx1030", "gfx10-3-generic"})
    EXPECT_EQ(placeText(Target, Raw), "se1 sa1 wgp10 simd2 slot21") << Target;
  for (const char *Target : {"gfx1100", "gfx1151", "gfx11-generic"})
    EXPECT_EQ(placeText(Target, Raw), "se1 sa1 wgp10 simd2 slot21") << Target;
  // The third bit of gfx11's se (20) is no part of gfx10's.
  EXPECT_EQ(placeText("gfx1030", {0x00100000, 0}), "se0 sa0 wgp0 simd0 slot0");
  EXPECT_EQ(placeText("gfx1100", {0x00100000, 0}), "se4 sa0 wgp0 simd0 slot0");
  // The die is no part of a place elsewhere.
  EXPECT_EQ(placeText("gfx906", {0, 0x7}), "se0 sh0 cu0 simd0 slot0");
}

TEST(HardwarePlace, UnknownTargetIsShownRaw) {
  for (const char *Target : {"", "gfx1200", "gfx803", "gfx9060", "sm_80"}) {
    EXPECT_FALSE(decodePlace(Target, {0x00003a25, 1}));
    EXPECT_EQ(placeText(Target, {0x00003a25, 1}), "hw 0x00003a25:00000001");
  }
}

} // namespace
