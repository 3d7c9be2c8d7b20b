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

TEST(HardwarePlace, UnknownTargetIsShownRaw) {
  for (const char *Target : {"", "gfx1030", "gfx942", "gfx9060", "sm_80"}) {
    EXPECT_FALSE(decodePlace(Target, {0x00003a25, 1}));
    EXPECT_EQ(placeText(Target, {0x00003a25, 1}), "hw 0x00003a25:00000001");
  }
}

} // namespace
