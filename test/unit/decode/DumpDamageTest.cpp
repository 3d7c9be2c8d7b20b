// Damaged input: the valid prefix is delivered, then one fault with an offset.
// Nothing may crash, and no length may be believed before its bytes are there.
#include "TestDump.h"

#include "StatisticsReport.h"
#include "Timeline.h"

#include <algorithm>

using namespace kprobe;
using namespace kprobe::test;

namespace {

const std::string Small =
    std::string(Head) +
    "clock mono=2000000000 ticks=1000\n"
    "dispatch table=T waves=2 begin=2000000000 end=2000001000\n"
    "waves\n"
    "  wave begin=1000,1000 end=1900,1090\n"
    "    event site=0 clock=1010\n"
    "    events site=1 clock=1100 step=100 count=3\n"
    "  wave begun begin=1000,1000\n"
    "    event site=0 clock=1020\n"
    "end\n"
    "dispatch id=2 name=other\n"
    "message \"a message\"\n"
    "summary seen=2 traced=1\n";

/// Runs every sink that can walk \p Bytes.
std::string decodeAll(const std::vector<uint8_t> &Bytes) {
  AlignedBytes Input(Bytes);
  MemorySource Source(Input.data(), Input.size());
  Statistics S;
  Error E = readTrace(Source, S.open(), S);
  S.finish();
  EXPECT_FALSE(statisticsText(S, {}).empty());
  EXPECT_FALSE(statisticsJson(S, {}).empty());
  (void)Source.rewind();
  Timeline T;
  Error Again = T.open(Source);
  EXPECT_EQ(bool(E), bool(Again));
  TimelineItem Item;
  int64_t Last = INT64_MIN;
  for (bool Done = false; T.trace().Owner && !Done;) {
    EXPECT_FALSE(T.next(Item, Done));
    if (!Done) {
      EXPECT_GE(Item.Ns, Last) << "in the order of time";
    }
    Last = Done ? Last : Item.Ns;
  }
  return E ? E.text() : "";
}

TEST(DumpDamage, EveryCutGivesThePrefixAndOneFault) {
  std::vector<uint8_t> Whole = make(Small);
  CountingSink All;
  Trace Out;
  ASSERT_EQ(readInto(Whole, All, Out), "");
  ASSERT_EQ(All.Dispatches, 2u);
  ASSERT_EQ(All.Waves, 2u);
  ASSERT_EQ(All.Events, 5u);
  uint64_t LastSeen = 0;
  for (size_t Size = 0; Size < Whole.size(); ++Size) {
    std::vector<uint8_t> Cut(Whole.begin(),
                             Whole.begin() + static_cast<long>(Size));
    CountingSink Sink;
    Trace Part;
    std::string Fault = readInto(Cut, Sink, Part);
    ASSERT_EQ(Fault.rfind("offset ", 0), 0u) << Size << ": " << Fault;
    // The offset is where the last whole chunk ended, or in the file header.
    uint64_t Offset = std::stoull(Fault.substr(7));
    EXPECT_LE(Offset, Size);
    uint64_t Seen = Sink.Dispatches + Sink.Waves + Sink.Events;
    EXPECT_GE(Seen, LastSeen) << "more bytes never show less";
    LastSeen = Seen;
    EXPECT_EQ(decodeAll(Cut), Fault);
  }
  EXPECT_EQ(LastSeen, 9u) << "only the summary was missing at the end";
}

TEST(DumpDamage, EveryFlippedBitIsNoticedOrHarmless) {
  const std::vector<uint8_t> Whole = make(Small);
  for (size_t At = 0; At < Whole.size(); ++At)
    for (unsigned Bit = 0; Bit < 8; ++Bit) {
      std::vector<uint8_t> Bytes = Whole;
      Bytes[At] ^= static_cast<uint8_t>(1u << Bit);
      std::string Fault = decodeAll(Bytes);
      // Reserved bytes of the file header and the minor version are free.
      bool Free = At >= 24 && At < 32;
      Free |= At == offsetof(KprobeFileHeader, Minor) ||
              At == offsetof(KprobeFileHeader, Minor) + 1;
      EXPECT_EQ(Fault.empty(), Free) << "byte " << At << " bit " << Bit;
    }
}

TEST(DumpDamage, HeadersOfOtherFiles) {
  auto headed = [](const std::string &Header) {
    return faultOf("header " + Header + "\nprocess\nsummary\n");
  };
  EXPECT_EQ(headed("magic=0x4c45467f464c457f"),
            "offset 0: not a kprobe dump (wrong magic)");
  EXPECT_EQ(headed("magic=0x4b525042"
                   "44554d50"),
            "offset 0: written on a machine of the other byte order");
  EXPECT_EQ(headed("byteorder=0x04030201"),
            "offset 8: written on a machine of the other byte order");
  EXPECT_EQ(headed("byteorder=5"), "offset 8: byte order mark is damaged");
  EXPECT_EQ(headed("major=2 minor=3"),
            "offset 12: format version 2.3, this program reads version 1");
  EXPECT_EQ(headed("features=4"), "offset 20: needs features that this "
                                  "program does not know (0x4)");
  EXPECT_EQ(headed("bytes=64"), "offset 16: header says it has 64 bytes");
}

TEST(DumpDamage, ChunksSayWhatIsWrong) {
  EXPECT_EQ(faultOf("process\ndamage checksum\nagent\nsummary\n")
                    .find("chunk 1 (agent) is damaged (checksum differs)") !=
                std::string::npos,
            true);
  EXPECT_NE(faultOf("process\ndamage sequence\nagent\nsummary\n")
                .find("chunk 1 (agent) is out of sequence: it says 2"),
            std::string::npos);
  EXPECT_NE(faultOf("process\nsummary\ncut bytes=8\n")
                .find("chunk 1 (summary) is cut: it has 160 bytes, the file "
                      "only 152"),
            std::string::npos);
  EXPECT_NE(faultOf(std::string(Head) +
                    "dispatch table=T waves=5\nwaves more=2\n wave\nend\n")
                .find("waves chunk is too short for its content"),
            std::string::npos);
}

TEST(DumpDamage, PayloadsLongerOrShorterThanTheirRecords) {
  for (unsigned Kind = 1; Kind <= 6; ++Kind) {
    std::string Chunk = "process\nagent\nchunk kind=" + std::to_string(Kind);
    EXPECT_NE(faultOf(Chunk + " text=abc\nsummary\n"), "") << Kind;
    EXPECT_NE(
        faultOf(Chunk + " text=\"" + std::string(300, 'x') + "\"\nsummary\n"),
        "")
        << Kind;
  }
}

TEST(DumpDamage, LengthsAreNotBelieved) {
  std::vector<uint8_t> Bytes = make("process\n");
  KprobeChunkHeader Header;
  for (uint64_t Length :
       {UINT64_MAX, UINT64_MAX - 7, UINT64_MAX / 2, uint64_t(1) << 40}) {
    std::memcpy(&Header, &Bytes[32], sizeof(Header));
    Header.PayloadBytes = Length;
    std::memcpy(&Bytes[32], &Header, sizeof(Header));
    CountingSink Sink;
    Trace Out;
    EXPECT_NE(readInto(Bytes, Sink, Out), "");
  }
}

} // namespace
