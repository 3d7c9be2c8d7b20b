// Names and numbers as people see them.
#include "Names.h"

#include <gtest/gtest.h>

using namespace kprobe;

namespace {

TEST(Names, DemanglesWithoutTheCloneSuffix) {
  EXPECT_EQ(demangle("_Z3addPfi"), "add(float*, int)");
  EXPECT_EQ(demangle("_Z3addPfi.kprobe"), "add(float*, int)");
  EXPECT_EQ(demangle("_ZN12_GLOBAL__N_15scaleIdEEvPT_S1_.kprobe"),
            "void (anonymous namespace)::scale<double>(double*, double)");
}

TEST(Names, LeavesOtherNamesAlone) {
  EXPECT_EQ(demangle("main_kernel.kprobe"), "main_kernel");
  EXPECT_EQ(demangle("i"), "i") << "a type's code is no function";
  EXPECT_EQ(demangle(""), "");
  EXPECT_EQ(demangle(".kprobe"), ".kprobe");
  EXPECT_EQ(demangle("_Znonsense$"), "_Znonsense$");
  std::string Monster = "_Z" + std::string(100000, '1');
  EXPECT_EQ(demangle(Monster), Monster);
}

TEST(Names, Durations) {
  EXPECT_EQ(durationText(0), "0 ns");
  EXPECT_EQ(durationText(999), "999 ns");
  EXPECT_EQ(durationText(1234), "1.234 us");
  EXPECT_EQ(durationText(12345), "12.35 us");
  EXPECT_EQ(durationText(123456), "123.5 us");
  EXPECT_EQ(durationText(1234567), "1.235 ms");
  EXPECT_EQ(durationText(5000000000), "5.000 s");
}

TEST(Names, ShortenDoesNotCutCharacters) {
  EXPECT_EQ(shorten("kernel", 6), "kernel");
  EXPECT_EQ(shorten("kernels", 6), "ker...");
  // "é" is two bytes: the cut would fall between them.
  EXPECT_EQ(shorten("k\xc3\xa9\xc3\xa9\xc3\xa9\xc3\xa9", 8),
            "k\xc3\xa9\xc3\xa9...");
  EXPECT_EQ(shorten("k\xc3\xa9\xc3\xa9\xc3\xa9\xc3\xa9", 7), "k\xc3\xa9...");
}

TEST(Names, DatesAndFrequencies) {
  EXPECT_EQ(dateText(1700000000000000000), "2023-11-14T22:13:20Z");
  EXPECT_EQ(frequencyText(100000000), "100 MHz");
  EXPECT_EQ(frequencyText(1725000000), "1725 MHz");
  EXPECT_EQ(frequencyText(32768), "32.768 kHz");
}

} // namespace
