// Reads at and across the end of the input.
#include "ByteReader.h"
#include "ByteSource.h"

#include <gtest/gtest.h>

#include <cstdio>
#include <sys/resource.h>
#include <unistd.h>

using namespace kprobe;

namespace {

alignas(8) const uint8_t Data[16] = {1, 2,  3,  4,  5,  6,  7,  8,
                                     9, 10, 11, 12, 13, 14, 15, 16};

TEST(ByteReader, ReadsLittleEndianAndAdvances) {
  ByteReader R(Data, 16, 100);
  uint32_t Value = 0;
  ASSERT_TRUE(R.read(Value));
  EXPECT_EQ(Value, 0x04030201u);
  EXPECT_EQ(R.offset(), 104u);
  EXPECT_EQ(R.remaining(), 12u);
}

TEST(ByteReader, FailedReadChangesNothing) {
  ByteReader R(Data, 7);
  uint64_t Value = 42;
  EXPECT_FALSE(R.read(Value));
  EXPECT_EQ(Value, 42u);
  EXPECT_EQ(R.offset(), 0u);
}

TEST(ByteReader, EveryLengthFitsOrFails) {
  for (size_t Size = 0; Size <= 16; ++Size) {
    ByteReader R(Data, Size);
    std::string_view Text;
    EXPECT_TRUE(ByteReader(Data, Size).takeString(Size, Text));
    EXPECT_EQ(Text.size(), Size);
    EXPECT_FALSE(ByteReader(Data, Size).takeString(Size + 1, Text));
    const uint64_t *Words = nullptr;
    EXPECT_EQ(ByteReader(Data, Size).takeArray(1, Words), Size >= 8);
  }
}

TEST(ByteReader, HugeOffsetsAndCountsDoNotWrap) {
  ByteReader R(Data, 16);
  uint64_t Value;
  const uint64_t *Words = nullptr;
  ByteReader Slice;
  EXPECT_FALSE(R.readAt(UINT64_MAX, Value));
  EXPECT_FALSE(R.readAt(UINT64_MAX - 7, Value));
  EXPECT_FALSE(R.readAt(9, Value));
  EXPECT_FALSE(R.holds(8, UINT64_MAX));
  EXPECT_FALSE(R.take(UINT64_MAX, Slice));
  EXPECT_FALSE(R.takeArray(UINT64_MAX / 8 + 1, Words)) << "count x 8 wraps";
  EXPECT_TRUE(R.holds(16, 0));
  EXPECT_FALSE(R.holds(17, 0));
}

TEST(ByteReader, ArraysMustBeAligned) {
  ByteReader R(Data, 16);
  uint8_t Byte;
  ASSERT_TRUE(R.read(Byte));
  const uint64_t *Words = nullptr;
  EXPECT_FALSE(R.takeArray(1, Words));
}

TEST(FileSource, NamesWhatCannotBeRead) {
  FileSource Missing, Folder;
  EXPECT_EQ(Missing.open("/nonexistent/x").text(), "No such file or directory");
  EXPECT_EQ(Folder.open("/tmp").text(), "is a directory");
}

TEST(FileSource, ALengthAloneAllocatesNothing) {
  char Path[] = "/tmp/kprobe-source-XXXXXX";
  int File = mkstemp(Path);
  ASSERT_GE(File, 0);
  ASSERT_EQ(write(File, Data, 16), 16);
  close(File);
  FileSource Source;
  ASSERT_FALSE(Source.open(Path));
  struct rusage Before, After;
  getrusage(RUSAGE_SELF, &Before);
  ByteSpan Span;
  ASSERT_FALSE(Source.next(uint64_t(1) << 60, Span));
  getrusage(RUSAGE_SELF, &After);
  EXPECT_EQ(Span.Size, 16u);
  EXPECT_LT(After.ru_maxrss - Before.ru_maxrss, 64 * 1024) << "KiB";
  uint32_t Value = 0;
  ASSERT_FALSE(Source.readAt(4, &Value, 4));
  EXPECT_EQ(Value, 0x08070605u);
  EXPECT_TRUE(bool(Source.readAt(14, &Value, 4)));
  ASSERT_FALSE(Source.rewind());
  ASSERT_FALSE(Source.next(8, Span));
  EXPECT_EQ(Span.Size, 8u);
  unlink(Path);
}

} // namespace
