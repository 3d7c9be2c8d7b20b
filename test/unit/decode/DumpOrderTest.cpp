// The legal order of records, and the references between them.
#include "TestDump.h"

using namespace kprobe;
using namespace kprobe::test;

namespace {

const std::string Start = Head;
const std::string Tail = "summary\n";
const std::string Traced =
    "dispatch table=T\nwaves\n wave begin=1,1 end=2,2\nend\n";

void expectFault(const std::string &Text, const std::string &Part) {
  std::string Fault = faultOf(Text);
  EXPECT_NE(Fault.find(Part), std::string::npos) << "got: " << Fault;
  EXPECT_EQ(Fault.rfind("offset ", 0), 0u) << Fault;
}

TEST(DumpOrder, LegalDumpsAreRead) {
  EXPECT_EQ(faultOf(Start + Traced + Tail), "");
  EXPECT_EQ(faultOf("process\nsummary seen=0\n"), "") << "nothing was run";
  EXPECT_EQ(faultOf(Start + Tail + Traced + Tail), "")
      << "the last summary stands";
  EXPECT_EQ(faultOf(Start + "chunk kind=77 text=new\n" + Tail), "")
      << "kinds of a newer writer are skipped";
  EXPECT_EQ(faultOf("header minor=9\n" + Start + Tail), "");
}

TEST(DumpOrder, WhatComesTooEarly) {
  expectFault("agent\n", "agent comes before the process");
  expectFault("process\nclock mono=1\n", "clock of unknown agent 0");
  expectFault("process\ndispatch\n", "dispatch 1 runs on unknown agent 0");
  expectFault(Start + "waves dispatch=3\nend\n", "waves of unknown dispatch 3");
  expectFault(Start + "dispatch hash=5 kernel=0 status=0\n",
              "site table that is missing");
}

TEST(DumpOrder, WhatComesTwice) {
  expectFault(Start + "process\n", "second process");
  expectFault(Start + "agent\n", "agent 0 is described twice");
  expectFault(Start + "dispatch table=T\ndispatch table=T\n",
              "dispatch 1 appears twice");
}

TEST(DumpOrder, ASiteTableMayComeTwice) {
  std::string Table = Start.substr(Start.find("table"));
  EXPECT_EQ(faultOf(Start + Table + Traced + Tail), "");
}

TEST(DumpOrder, ReferencesThatLeadNowhere) {
  expectFault(Start + "dispatch table=T kernel=1\n",
              "kernel that its site table does not have");
  expectFault(Start + "dispatch status=0\n", "traced without a site table");
  expectFault(Start + "dispatch table=T status=3\nwaves\n wave\nend\n",
              "which was not traced");
}

TEST(DumpOrder, MoreWavesThanSlots) {
  expectFault(Start + "dispatch table=T slots=1\nwaves\n wave\n wave\nend\n",
              "more waves than slots");
  expectFault(Start + "dispatch table=T slots=1\n" +
                  "waves\n wave\nend\nwaves\n wave\nend\n",
              "more waves than slots");
  EXPECT_EQ(faultOf(Start + "dispatch table=T waves=2\n" +
                    "waves\n wave\nend\nwaves\n wave\nend\n" + Tail),
            "")
      << "a dispatch may have several chunks";
}

TEST(DumpOrder, FrequenciesThatCannotBe) {
  for (const char *Hz : {"0", "1", "9223372036854775808"}) {
    expectFault(std::string("process\nagent tickhz=") + Hz + "\n",
                "impossible tick frequency");
    expectFault(Start + "clock mono=1 systemhz=" + Hz + "\n",
                "impossible system frequency");
  }
  expectFault("process\nagent cyclehz=1\n", "impossible shader clock");
  for (const char *Hz : {"25000000", "27000000", "100000000"})
    EXPECT_EQ(faultOf(std::string("process\nagent cyclehz=0 tickhz=") + Hz +
                      "\nsummary seen=0\n"),
              "");
  EXPECT_EQ(faultOf(Start + "clock mono=0 systemhz=0\n" + Tail), "")
      << "a reading that failed";
}

TEST(DumpOrder, ADumpWithoutSummaryWasCutShort) {
  expectFault(Start + Traced, "ends without a summary");
  expectFault(Start + Tail + Traced, "ends without a summary");
}

TEST(DumpOrder, HugeGridsAreOnlyNumbers) {
  CountingSink Sink;
  Trace Out;
  EXPECT_EQ(
      readInto(make(Start +
                    "dispatch table=T grid=4294967295,65535,65535 "
                    "group=256,1,1 waves=0xffffffffffffffff "
                    "slots=0xffffffffffffffff\n" +
                    "waves\n wave index=0xfffffffffffffffe\nend\n" + Tail),
               Sink, Out),
      "");
  EXPECT_EQ(Sink.Waves, 1u);
  EXPECT_EQ(faultOf(Start + "dispatch table=T grid=0,0,0 waves=0\n" + Tail),
            "");
}

} // namespace
