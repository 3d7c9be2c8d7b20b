// What kernels take, out of the metadata of a code object: every form that
// MessagePack has for it, and every way to cut it off.
#include "KernelNeeds.h"

#include <gtest/gtest.h>

using namespace kprobe;

namespace {

std::map<std::string, KprobeKernelNeeds> parse(const std::string &Bytes) {
  return readKernelMetadata(
      Span(reinterpret_cast<const uint8_t *>(Bytes.data()), Bytes.size()));
}

std::string shortText(const std::string &Text) {
  return std::string(1, char(0xa0 | Text.size())) + Text;
}

// A map of two, the second the kernels: one in short forms, one in long ones.
std::string sample() {
  using namespace std::string_literals;
  std::string Bytes = "\x82"s + shortText("amdhsa.version") + "\x92\x01\x02" +
                      shortText("amdhsa.kernels") + "\x93";
  Bytes += "\x86"s + shortText(".symbol") + shortText("small.kd") +
           shortText(".vgpr_count") + "\x0c" + shortText(".sgpr_count") +
           "\xcc\x50" + shortText(".args") + "\x91\x81\xa1x\xcb\0\0\0\0\0\0\0\0"s +
           "\xd9\x19.group_segment_fixed_size"s + "\xcd\x10\x00"s +
           shortText(".uses") + "\xc3";
  // Nothing of ours, not even a symbol.
  Bytes += "\x81"s + shortText(".language") + "\xd9\x01" "C"s;
  Bytes += "\xde\x00\x03"s + shortText(".symbol") + "\xda\x00\x08"s +
           "large.kd" + "\xda\x00\x1b.private_segment_fixed_size"s +
           "\xce\x00\x01\x00\x00"s + shortText(".vgpr_count") +
           "\xcf\x00\x00\x00\x00\x00\x00\x02\x00"s;
  return Bytes;
}

TEST(KernelNeeds, ReadsEveryForm) {
  auto Kernels = parse(sample());
  ASSERT_EQ(Kernels.size(), 2u);
  EXPECT_EQ(Kernels["small"].Vgprs, 12u);
  EXPECT_EQ(Kernels["small"].Sgprs, 80u);
  EXPECT_EQ(Kernels["small"].LdsBytes, 4096u);
  EXPECT_EQ(Kernels["small"].ScratchBytes, 0u);
  EXPECT_EQ(Kernels["large"].Vgprs, 512u);
  EXPECT_EQ(Kernels["large"].ScratchBytes, 65536u);
}

TEST(KernelNeeds, KeepsWhatIsWhole) {
  const std::string Whole = sample();
  const size_t SmallEnds = Whole.find("\x81" "\xa9.language");
  ASSERT_NE(SmallEnds, std::string::npos);
  for (size_t Cut = 0; Cut < Whole.size(); ++Cut) {
    // Of its own size, so that a sanitizer sees what reads on.
    std::string Part(Whole, 0, Cut);
    Part.shrink_to_fit();
    EXPECT_EQ(parse(Part).size(), Cut < SmallEnds ? 0u : 1u) << Cut;
  }
}

TEST(KernelNeeds, StopsAtWhatMakesNoSense) {
  // Lengths of gigabytes, nesting without end, a tag that does not exist.
  EXPECT_TRUE(parse("\xdf\xff\xff\xff\xff").empty());
  EXPECT_TRUE(parse("\x81\xdb\xff\xff\xff\xff").empty());
  EXPECT_TRUE(parse("\x81\xa1x" + std::string(100000, '\x91')).empty());
  EXPECT_TRUE(parse("\x81\xa1x\xc1").empty());
  EXPECT_TRUE(parse("\x90").empty());
}

} // namespace
