// Validation of site tables: each pointer, one at a time, led astray.
#include "SiteTable.h"

#include "DumpBuilder.h"

#include <gtest/gtest.h>

#include <cstddef>
#include <functional>

using namespace kprobe;

namespace {

std::vector<uint8_t> sample() {
  TableBuilder T;
  TableBuilder::Site Entry, Exit;
  Entry.Block = "entry";
  Entry.File = "a.cpp";
  Entry.Record.Line = 3;
  Entry.Record.LoopHeader = KPROBE_NO_INDEX;
  Entry.Frames = {{"caller", "b.cpp", 9, 1}};
  Entry.Edges = {1};
  Exit.Record.LoopHeader = KPROBE_NO_INDEX;
  T.Kernels = {
      {"_Z1kv", "_Z1kv.kprobe", {{"_Z1kv", "a.cpp", 2, {Entry, Exit}}}}};
  return T.build();
}

std::string fault(const std::vector<uint8_t> &Bytes) {
  SiteTable T;
  Error E = T.parse(ByteReader(Bytes.data(), Bytes.size(), 1000));
  return E ? E.text() : "";
}

template <typename T> T &at(std::vector<uint8_t> &Bytes, size_t Offset) {
  return *reinterpret_cast<T *>(Bytes.data() + Offset);
}

void rehash(std::vector<uint8_t> &Bytes) {
  at<KprobeSiteTableHeader>(Bytes, 0).ContentHash = tableHash(Bytes);
}

TEST(SiteTable, ReadsWhatWasBuilt) {
  std::vector<uint8_t> Bytes = sample();
  SiteTable T;
  ASSERT_FALSE(T.parse(ByteReader(Bytes.data(), Bytes.size())));
  EXPECT_EQ(T.target(), "gfx906");
  ASSERT_EQ(T.kernels().size(), 1u);
  EXPECT_EQ(T.string(T.kernels()[0].CloneName), "_Z1kv.kprobe");
  ASSERT_EQ(T.sites().size(), 2u);
  EXPECT_EQ(T.string(T.sites()[0].Block), "entry");
  EXPECT_EQ(T.sites()[0].Line, 3u);
  EXPECT_EQ(T.string(T.frames()[T.sites()[0].FirstFrame].File), "b.cpp");
  EXPECT_EQ(T.edges(), std::vector<uint32_t>{1});
  EXPECT_EQ(T.string(T.sites()[1].Block), "");
}

TEST(SiteTable, AStaleHashIsRefused) {
  std::vector<uint8_t> Bytes = sample();
  Bytes.back() ^= 1;
  EXPECT_EQ(fault(Bytes),
            "offset 1000: site table: content does not match its hash");
}

TEST(SiteTable, EveryCutIsRefused) {
  std::vector<uint8_t> Bytes = sample();
  for (size_t Size = 0; Size < Bytes.size(); ++Size)
    EXPECT_NE(fault({Bytes.begin(), Bytes.begin() + static_cast<long>(Size)}),
              "");
}

TEST(SiteTable, EveryPointerIsChecked) {
  using H = KprobeSiteTableHeader;
  const std::vector<uint8_t> Good = sample();
  ASSERT_EQ(fault(Good), "");
  const H Header = *reinterpret_cast<const H *>(Good.data());
  const size_t K = Header.KernelOffset, F = Header.FunctionOffset,
               S = Header.SiteOffset, R = Header.FrameOffset,
               E = Header.EdgeOffset;
  const size_t Fields[] = {
      offsetof(H, KernelCount),
      offsetof(H, KernelOffset),
      offsetof(H, FunctionCount),
      offsetof(H, FunctionOffset),
      offsetof(H, SiteCount),
      offsetof(H, SiteOffset),
      offsetof(H, FrameCount),
      offsetof(H, FrameOffset),
      offsetof(H, EdgeCount),
      offsetof(H, EdgeOffset),
      offsetof(H, StringBytes),
      offsetof(H, StringOffset),
      offsetof(H, Producer),
      offsetof(H, Target),
      offsetof(H, WaveSize),
      offsetof(H, Magic),
      offsetof(H, TotalBytes),
      offsetof(H, Version),
      K + offsetof(KprobeKernelRecord, Name),
      K + offsetof(KprobeKernelRecord, CloneName),
      K + offsetof(KprobeKernelRecord, FirstFunction),
      K + offsetof(KprobeKernelRecord, FunctionCount),
      K + offsetof(KprobeKernelRecord, FirstSite),
      K + offsetof(KprobeKernelRecord, SiteCount),
      F + offsetof(KprobeFunctionRecord, Name),
      F + offsetof(KprobeFunctionRecord, File),
      F + offsetof(KprobeFunctionRecord, Kernel),
      F + offsetof(KprobeFunctionRecord, FirstSite),
      F + offsetof(KprobeFunctionRecord, SiteCount),
      S + offsetof(KprobeSiteRecord, Function),
      S + offsetof(KprobeSiteRecord, Block),
      S + offsetof(KprobeSiteRecord, File),
      S + offsetof(KprobeSiteRecord, FirstFrame),
      S + offsetof(KprobeSiteRecord, FrameCount),
      S + offsetof(KprobeSiteRecord, FirstEdge),
      S + offsetof(KprobeSiteRecord, EdgeCount),
      S + offsetof(KprobeSiteRecord, LoopHeader),
      R + offsetof(KprobeFrameRecord, Function),
      R + offsetof(KprobeFrameRecord, File),
      E,
  };
  for (size_t Field : Fields)
    for (uint32_t Bad : {0xfffffffeu, 0x7fffffffu, 0x00100001u}) {
      std::vector<uint8_t> Bytes = Good;
      at<uint32_t>(Bytes, Field) = Bad;
      rehash(Bytes);
      EXPECT_NE(fault(Bytes), "") << "field at " << Field << " = " << Bad;
    }
}

TEST(SiteTable, StringsEndInsideTheTable) {
  std::vector<uint8_t> Bytes = sample();
  auto &Header = at<KprobeSiteTableHeader>(Bytes, 0);
  Bytes[Header.StringOffset + Header.StringBytes - 1] = 'x';
  rehash(Bytes);
  EXPECT_NE(fault(Bytes).find("NUL"), std::string::npos);
}

} // namespace
