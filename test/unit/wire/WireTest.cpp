// Event packing and the numbers that must not drift: other programs have them
// compiled in.
#include "kprobe/wire.h"

#include <gtest/gtest.h>

#include <cstring>
#include <set>

extern "C" uint32_t kprobeTestTagInC(uint32_t Site, uint32_t Lanes);

namespace {

TEST(WireEvent, UnpacksWhatAProbePacks) {
  for (uint32_t Site : {0u, 1u, 1023u, 65536u, KPROBE_MAX_SITES - 1})
    for (uint32_t Lanes = 1; Lanes <= 64; ++Lanes) {
      uint32_t Tag = kprobeTestTagInC(Site, Lanes);
      EXPECT_EQ(kprobe_tag_kind(Tag), KPROBE_EVENT_BLOCK);
      EXPECT_EQ(kprobe_tag_lanes(Tag), Lanes);
      EXPECT_EQ(kprobe_tag_site(Tag), Site);
      EXPECT_EQ(Tag >> 30, 0u) << "the top bits stay zero";
      EXPECT_NE(Tag, 0u) << "an event differs from an unwritten place";
    }
}

TEST(WireEvent, BytesInMemory) {
  // The example of FORMAT.md: site 5, 33 lanes, clock 0x12345678.
  KprobeEvent Event = {0x12345678, kprobeTestTagInC(5, 33)};
  const unsigned char Expected[8] = {0x78, 0x56, 0x34, 0x12,
                                     0x01, 0x16, 0x00, 0x00};
  EXPECT_EQ(std::memcmp(&Event, Expected, 8), 0);
}

TEST(WireRing, MaskKeepsPlacesAlignedAndInside) {
  for (uint32_t Bytes : {64u, 128u, 1u << 20}) {
    uint32_t Mask = KPROBE_RING_MASK(Bytes);
    EXPECT_EQ(0u & Mask, 0u);
    EXPECT_EQ((Bytes - 8) & Mask, Bytes - 8);
    EXPECT_EQ(Bytes & Mask, 0u);
    EXPECT_EQ((Bytes + 8) & Mask, 8u);
  }
}

TEST(WireNumbers, MagicsSpellTheirNames) {
  uint64_t File = KPROBE_FILE_MAGIC;
  EXPECT_EQ(std::memcmp(&File, "KRPBDUMP", 8), 0);
  uint32_t Chunk = KPROBE_CHUNK_MAGIC, Site = KPROBE_SITE_MAGIC,
           Begun = KPROBE_WAVE_BEGUN, Ended = KPROBE_WAVE_ENDED,
           Context = KPROBE_CONTEXT_MAGIC;
  EXPECT_EQ(std::memcmp(&Chunk, "KPCH", 4), 0);
  EXPECT_EQ(std::memcmp(&Site, "KSIT", 4), 0);
  EXPECT_EQ(std::memcmp(&Begun, "BEGN", 4), 0);
  EXPECT_EQ(std::memcmp(&Ended, "ENDS", 4), 0);
  EXPECT_EQ(std::memcmp(&Context, "KPC2", 4), 0);
}

TEST(WireNumbers, ValuesOfListsAreDistinctAndSmall) {
  std::set<uint32_t> Kinds, Statuses, Events;
  unsigned Count = 0;
#define KPROBE_CHUNK(Name, Value, Text) Kinds.insert(Value), ++Count;
#include "kprobe/chunk_kinds.def"
  EXPECT_EQ(Kinds.size(), Count);
  Count = 0;
#define KPROBE_DISPATCH_STATUS(Name, Value, Text)                              \
  Statuses.insert(Value), ++Count;
#include "kprobe/dispatch_status.def"
  EXPECT_EQ(Statuses.size(), Count);
  EXPECT_LT(*Statuses.rbegin(), 16u) << "a summary counts by status";
  Count = 0;
#define KPROBE_EVENT_KIND(Name, Value, Text) Events.insert(Value), ++Count;
#include "kprobe/event_kinds.def"
  EXPECT_EQ(Events.size(), Count);
  EXPECT_LT(*Events.rbegin(), 1u << KPROBE_TAG_KIND_BITS);
}

} // namespace
