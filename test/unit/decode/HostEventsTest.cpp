// Host events: what decodes, what is damage, and the order they come out in.
#include "HostMerge.h"
#include "TestDump.h"

#include <gtest/gtest.h>

namespace kprobe::test {
namespace {

const std::string Api = "process\n"
                        "api domain=2 name=hip\n"
                        "  function name=f in=ptr:POINTER,size:U64 "
                        "out=*ptr:POINTER enum=success,failure\n"
                        "  function name=g in=text:STRING,x:F32,flag:BOOLEAN "
                        "result=VOID\n"
                        "end\n"
                        "thread id=1 tid=77 name=main\n"
                        "thread id=2 tid=78\n";

struct EventText : TraceSink {
  Trace T;
  std::string Text;
  Error hostEvents(const HostThread &Thread,
                   const ByteReader &Events) override {
    HostEventReader Reader(Events);
    HostEvent E;
    while (Reader.next(E)) {
      Text += Thread.Name + ":";
      Text += std::string(hostEventText(E.Head.Kind));
      if (const ApiFunction *F = T.functionOf(E.Head)) {
        bool Begin = E.Head.Kind == KPROBE_HOST_CALL_BEGIN;
        const ApiTable &Table = *T.tableOf(E.Head);
        Text += " " + F->Name + "(" +
                valuesText(Table, Begin ? F->In : F->Out, E.values()) + ")";
        if (!Begin)
          Text += "=" + resultText(Table, *F, E.as<KprobeCallEnd>().Result);
      }
      Text += "\n";
    }
    return Error::success();
  }
};

std::string decode(const std::string &Text, std::string &Fault,
                   EventText &Sink) {
  AlignedBytes Bytes(make(Text));
  MemorySource Source(Bytes.data(), Bytes.size());
  Error E = readTrace(Source, Sink.T, Sink);
  Fault = E ? E.text() : "";
  return Sink.Text;
}

std::string faultOf(const std::string &Events) {
  std::string Fault;
  EventText Sink;
  decode(Api + Events + "summary seen=0\n", Fault, Sink);
  return Fault;
}

TEST(HostEvents, ShowArgumentsAndResults) {
  std::string Fault;
  EventText Sink;
  std::string Text =
      decode(Api + "host thread=1\n"
                   "begin function=f call=1 ns=5 values=0x1000,64\n"
                   "begin function=g call=2 ns=6 values=hello,0x3fc00000,1\n"
                   "unknown\n"
                   "finish function=g call=2 ns=7\n"
                   "submit dispatch=3 call=1 ns=7\n"
                   "finish function=f call=1 ns=8 values=0x2000\n"
                   "begin function=f call=3 ns=9 values=0,0\n"
                   "finish function=f call=3 ns=9 result=1\n"
                   "end\nsummary seen=0\n",
             Fault, Sink);
  EXPECT_EQ(Fault, "");
  EXPECT_EQ(Text, "main:call begins f(ptr=0x1000, size=64)\n"
                  "main:call begins g(text=\"hello\", x=1.5, flag=true)\n"
                  "main:call ends g()=\n"
                  "main:dispatch submitted\n"
                  "main:call ends f(*ptr=0x2000)=success\n"
                  "main:call begins f(ptr=0x0, size=0)\n"
                  "main:call ends f()=failure\n");
  ASSERT_NE(Sink.T.causeOf(3), nullptr);
  EXPECT_EQ(Sink.T.causeOf(3)->Call, 1u);
  EXPECT_EQ(Sink.T.causeOf(3)->Thread, 1u);
  EXPECT_EQ(Sink.T.causeOf(4), nullptr);
}

TEST(HostEvents, DamageHasAnOffset) {
  const std::pair<const char *, const char *> Cases[] = {
      {"host thread=9\nend\n", "events of unknown thread 9"},
      {"host thread=1\nbegin function=f call=1 beyond=7 values=1,2\nend\n",
       "call of a function that no API table has"},
      {"host thread=1\nbegin function=f call=1 values=1\nend\n",
       "call of f is too short for its arguments"},
      {"host thread=1\nbegin function=f call=1 values=1,2 bytes=24\nend\n",
       "host event is too short for its kind"},
      {"host thread=1\nbegin function=f call=1 values=1,2 bytes=47\nend\n",
       "host event has an impossible size"},
      {"host thread=1\nbegin function=f call=1 values=1,2 bytes=0\nend\n",
       "host event has an impossible size"},
      {"host thread=1\nbegin function=f call=1 values=1,2 bytes=4096\nend\n",
       "host event has an impossible size"},
      {"api domain=2 name=hip\nend\n", "API 2 is described twice"},
  };
  for (auto &[Text, Expected] : Cases) {
    std::string Fault = faultOf(Text);
    EXPECT_EQ(Fault.rfind("offset ", 0), 0u) << Fault;
    EXPECT_NE(Fault.find(Expected), std::string::npos) << Fault;
  }
}

TEST(HostEvents, EveryCutKeepsWhatCameBefore) {
  std::vector<uint8_t> Whole =
      make(Api + "host thread=1\nbegin function=f call=1 ns=5 values=1,2\nend\n"
                 "host thread=2\nbegin function=g call=9 ns=6 values=a,0,0\n"
                 "end\nsummary seen=0\n");
  size_t LastLength = 0;
  for (size_t Size = 0; Size < Whole.size(); ++Size) {
    AlignedBytes Bytes(
        std::vector<uint8_t>(Whole.begin(), Whole.begin() + long(Size)));
    MemorySource Source(Bytes.data(), Bytes.size());
    EventText Sink;
    EXPECT_TRUE(bool(readTrace(Source, Sink.T, Sink))) << Size;
    EXPECT_GE(Sink.Text.size(), LastLength);
    LastLength = Sink.Text.size();
  }
  EXPECT_GT(LastLength, 0u);
}

TEST(HostEvents, EveryChangedByteOfATableIsSurvived) {
  std::vector<uint8_t> Payload;
  {
    AlignedBytes Bytes(make(Api));
    // Behind file header, process chunk and the table's chunk header.
    const uint8_t *Found = nullptr;
    for (size_t At = 32; At + 40 < Bytes.size(); At += 8) {
      KprobeChunkHeader H;
      std::memcpy(&H, Bytes.data() + At, sizeof(H));
      if (H.Magic == KPROBE_CHUNK_MAGIC && H.Kind == KPROBE_CHUNK_API_TABLE) {
        Found = Bytes.data() + At + sizeof(H);
        Payload.assign(Found, Found + H.PayloadBytes);
      }
    }
    ASSERT_NE(Found, nullptr);
  }
  ApiTable Good;
  EXPECT_FALSE(bool(Good.parse(ByteReader(Payload.data(), Payload.size()))));
  EXPECT_EQ(Good.functions().size(), 2u);
  for (size_t At = 0; At < Payload.size(); ++At)
    for (uint8_t Change : {0x01, 0x80, 0xff}) {
      std::vector<uint8_t> Spoilt = Payload;
      Spoilt[At] ^= Change;
      ApiTable Table;
      // Either is refused or gives out what is inside it.
      if (!Table.parse(ByteReader(Spoilt.data(), Spoilt.size())))
        for (const ApiFunction &F : Table.functions())
          (void)valuesFit(F.In, ByteReader(Spoilt.data(), Spoilt.size()));
    }
}

std::string merged(const std::string &Events) {
  AlignedBytes Bytes(make(Api + Events + "summary seen=0\n"));
  MemorySource Source(Bytes.data(), Bytes.size());
  struct Collect : TraceSink {
    HostMerge Merge;
    Error hostEvents(const HostThread &Thread,
                     const ByteReader &Payload) override {
      Merge.add(Thread, Payload.offset(), Payload.size());
      return Error::success();
    }
  } Sink;
  Trace T;
  Error E = readTrace(Source, T, Sink);
  EXPECT_FALSE(bool(E)) << E.text();
  EXPECT_FALSE(bool(Sink.Merge.start(Source)));
  std::string Text;
  while (const HostItem *Item = Sink.Merge.head()) {
    const KprobeHostEvent &H = Item->Event.Head;
    Text += std::to_string(H.Ns) +
            (H.Kind == KPROBE_HOST_CALL_BEGIN ? " begin "
             : Item->Left                     ? " left "
                                              : " end ") +
            std::to_string(H.Call) + ", ";
    EXPECT_FALSE(bool(Sink.Merge.step()));
  }
  return Text;
}

TEST(HostMerge, OrdersThreadsByTime) {
  EXPECT_EQ(
      merged("host thread=2\nbegin function=g call=21 ns=15 values=a,0,0\n"
             "end\n"
             "host thread=1\nbegin function=f call=11 ns=10 values=1,2\n"
             "end\n"
             "host thread=1\nfinish function=f call=11 ns=20\nend\n"
             "host thread=2\nfinish function=g call=21 ns=18\nend\n"),
      "10 begin 11, 15 begin 21, 18 end 21, 20 end 11, ");
}

TEST(HostMerge, WhatComesOutNests) {
  EXPECT_EQ(merged("host thread=1\n"
                   "finish function=f call=99 ns=1\n" // its begin is lost
                   "begin function=f call=1 ns=10 values=1,2\n"
                   "begin function=f call=2 ns=11 values=1,2\n"
                   "begin function=f call=3 ns=12 values=1,2\n"
                   "finish function=f call=1 ns=20\n"
                   "finish function=f call=2 ns=21\n"
                   "begin function=f call=4 ns=5 values=1,2\n" // runs back
                   "end\n"),
            "10 begin 1, 11 begin 2, 12 begin 3, 20 left 3, 20 left 2, "
            "20 end 1, 20 begin 4, ");
}

} // namespace
} // namespace kprobe::test
