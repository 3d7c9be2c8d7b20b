// Stacks of interpreters that publish their offsets: read from images of each
// layout; what does not fit makes a stack broken.
#include "PythonImage.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <pthread.h>
#include <unistd.h>

using namespace kprobe;

namespace {

const uint64_t Self = uint64_t(pthread_self());

class Reading {
public:
  Reading()
      : Ring((1 << 20) / 8),
        Stream(reinterpret_cast<uint8_t *>(Ring.data()), 1 << 20, 1, 1),
        Scratch(std::make_unique<PythonScratch>()) {
    Memory.Process = getpid();
  }

  struct Line {
    std::string Name, File;
    uint32_t FirstLine;
    int32_t Offset;
    uint32_t Entry;
    std::string Table;
  };
  bool Broken = false, Cut = false;

  // Innermost first.
  std::vector<Line> of(const PythonImage &P) {
    KprobePythonFrame Frames[PythonScratch::MostFrames];
    PythonStack Out = {Frames, PythonScratch::MostFrames, 0, false, false};
    readPythonStack(P.I, Memory, Self, Stream, *Scratch, Out);
    Broken = Out.Broken;
    Cut = Out.Cut;
    learn();
    std::vector<Line> Lines;
    for (uint32_t N = 0; N < Out.Count; ++N) {
      Line L = Codes.at(Frames[N].Code);
      L.Offset = Frames[N].Offset;
      L.Entry = Frames[N].Entry;
      Lines.push_back(L);
    }
    return Lines;
  }
  size_t described() const { return Codes.size(); }

private:
  void learn() {
    HostStream::Span Span = Stream.readable(1 << 20);
    for (size_t At = 0; At < Span.Bytes;) {
      KprobePythonCode C;
      std::memcpy(&C, Span.Data + At, sizeof(C));
      ASSERT_EQ(C.Head.Kind, KPROBE_HOST_PYTHON_CODE);
      auto Text = reinterpret_cast<const char *>(Span.Data + At + sizeof(C));
      Codes[C.Code] = {{Text, C.NameBytes},
                       {Text + C.NameBytes, C.FileBytes},
                       C.FirstLine,
                       0,
                       0,
                       {Text + C.NameBytes + C.FileBytes, C.LineTableBytes}};
      At += C.Head.Bytes;
    }
    Stream.consume(Span.Bytes);
  }
  std::vector<uint64_t> Ring;
  HostStream Stream;
  StackMemory Memory;
  std::unique_ptr<PythonScratch> Scratch;
  std::map<uint64_t, Line> Codes;
};

// C > main > helper > C (a library) > callback of a generator
uint64_t someFrames(PythonImage &P) {
  uint64_t Main = P.code(P.ascii("main"), "/a/app.py", 7, "\x80\x01"),
           Helper = P.code(P.text(std::u16string(u"h\u00e9lp\u20ac"), false),
                           "/a/app.py", 20, "\x81"),
           Callback = P.code(P.text(std::string("\xe9t\xe9"), false),
                             "/a/b.py", 1, std::string(300, '\x82'));
  uint64_t F = P.frame(0, 0, 0, 3);
  F = P.frame(F, Main, 40);
  F = P.frame(F, Helper, 8);
  F = P.frame(F, 0, 0, 3);
  return P.frame(F, Callback, 0, 1);
}

void expectThoseFrames(const std::vector<Reading::Line> &Lines) {
  ASSERT_EQ(Lines.size(), 3u);
  EXPECT_EQ(Lines[0].Name, "\u00e9t\u00e9");
  EXPECT_EQ(Lines[0].File, "/a/b.py");
  EXPECT_EQ(Lines[0].FirstLine, 1u);
  EXPECT_EQ(Lines[0].Offset, 0);
  EXPECT_EQ(Lines[0].Entry, 1u);
  EXPECT_EQ(Lines[0].Table, std::string(300, '\x82'));
  EXPECT_EQ(Lines[1].Name, "h\u00e9lp\u20ac");
  EXPECT_EQ(Lines[1].Offset, 8);
  EXPECT_EQ(Lines[1].Entry, 0u);
  EXPECT_EQ(Lines[2].Name, "main");
  EXPECT_EQ(Lines[2].FirstLine, 7u);
  EXPECT_EQ(Lines[2].Offset, 40);
  EXPECT_EQ(Lines[2].Entry, 1u);
  EXPECT_EQ(Lines[2].Table, "\x80\x01");
}

TEST(PythonStack, IsReadByWhatEachVersionPublishes) {
  struct {
    unsigned Minor;
    bool MoreOfTypes, FreeThreaded;
  } All[] = {{13, false, false}, {13, false, true}, {14, false, false},
             {14, false, true},  {15, false, false}, {15, true, false},
             {16, true, false},  {16, true, true}};
  for (auto &Each : All) {
    SCOPED_TRACE("3." + std::to_string(Each.Minor) +
                 (Each.MoreOfTypes ? " with more of types" : "") +
                 (Each.FreeThreaded ? " without the lock" : ""));
    PythonImage P(Each.Minor, Each.MoreOfTypes, Each.FreeThreaded);
    ASSERT_EQ(P.Why, "");
    P.start(P.interpreter(
        P.state(1, 0x10, true, P.state(Self, someFrames(P), true))));
    Reading R;
    expectThoseFrames(R.of(P));
    EXPECT_FALSE(R.Broken);
    // Once described, code is known.
    expectThoseFrames(R.of(P));
    EXPECT_EQ(R.described(), 3u);
  }
}

TEST(PythonStack, TablesThatDoNotHoldTogetherAreRefused) {
  // Each is read by another version's list.
  for (unsigned Minor : {13u, 14u, 15u})
    for (unsigned Other : {13u, 14u, 15u}) {
      PythonImage P(Minor);
      uint64_t Words[200] = {};
      std::memcpy(Words, reinterpret_cast<void *>(P.I.Runtime), 120 * 8);
      Words[1] = 3u << 24 | Other << 16;
      PythonLayout L;
      bool Read = publishedPythonLayout(Words, uint32_t(Words[1]), L).empty();
      // What is newer than 3.14 may still have its list.
      EXPECT_EQ(Read, Minor == Other || (Other == 15 && Minor == 14))
          << Minor << " as " << Other;
    }
  PythonImage P(14);
  PythonLayout L;
  uint64_t Words[200] = {};
  EXPECT_NE(publishedPythonLayout(Words, P.I.Version, L), "");
  std::memcpy(Words, "xdebugpy", 8);
  EXPECT_NE(publishedPythonLayout(Words, P.I.Version, L), "");
  EXPECT_NE(publishedPythonLayout(Words, 0x030c01f0, L), "");
}

TEST(PythonStack, OfSeveralInterpretersTheActiveOne) {
  PythonImage P(14);
  uint64_t Outer = P.frame(P.frame(0, 0, 0, 3),
                           P.code(P.ascii("outer"), "o.py", 1, ""), 0);
  uint64_t Other = P.state(Self + 1, Outer, true);
  uint64_t First = P.state(Self, Outer, false, Other);
  uint64_t Second = P.state(Self, someFrames(P), true);
  P.start(P.interpreter(Second, P.interpreter(First)));
  Reading R;
  expectThoseFrames(R.of(P));
  // It goes back to the first one.
  P.put(Second + P.StateStatus, uint32_t(3));
  P.put(First + P.StateStatus, uint32_t(0x13));
  std::vector<Reading::Line> Lines = R.of(P);
  ASSERT_EQ(Lines.size(), 1u);
  EXPECT_EQ(Lines[0].Name, "outer");
  // Waiting in one of them.
  P.put(First + P.StateStatus, uint32_t(3));
  EXPECT_TRUE(R.of(P).empty());
  EXPECT_TRUE(R.Broken);
  // The second one is gone: it waits in the first.
  P.put(Second + P.StateThread, uint64_t(0));
  EXPECT_EQ(R.of(P).size(), 1u);
  EXPECT_FALSE(R.Broken);
  // A thread that is not Python's has no stack, and none is missing.
  P.put(First + P.StateThread, uint64_t(0));
  EXPECT_TRUE(R.of(P).empty());
  EXPECT_FALSE(R.Broken);
}

// What a sample may meet while a frame is made or dropped, and damage.
TEST(PythonStack, WhatDoesNotFitIsBroken) {
  PythonImage P(13);
  uint64_t Good = P.code(P.ascii("f"), "f.py", 1, "");
  uint64_t Base = P.frame(P.frame(0, 0, 0, 3), Good, 4);
  uint64_t NoCode = P.allocate(4096);
  uint64_t NoText = P.code(NoCode, "f.py", 1, "");
  uint64_t Circle = P.frame(Base, Good, 0);
  P.put(Circle + P.Previous, P.frame(Circle, Good, 0));
  struct {
    const char *What;
    uint64_t Frame;
  } All[] = {
      {"an object that is no code", P.frame(Base, NoCode, 0)},
      {"no object", P.frame(Base, 0, 0)},
      {"memory that is not there", P.frame(Base, 0x7000, 0)},
      {"a name that is no str", P.frame(Base, NoText, 0)},
      {"an instruction of other code", P.frame(Base, Good, -4096)},
      {"an owner that is none", P.frame(Base, Good, 0, 9)},
      {"a frame that is not there", P.frame(0x7000, Good, 0)},
      {"a frame at an odd place", Base + 4},
      {"the innermost not there", 0x7000},
  };
  uint64_t State = P.state(Self, Base, true);
  P.start(P.interpreter(State));
  Reading R;
  EXPECT_EQ(R.of(P).size(), 1u);
  for (auto &Each : All) {
    P.put(State + P.StateFrame, Each.Frame);
    EXPECT_TRUE(R.of(P).empty()) << Each.What;
    EXPECT_TRUE(R.Broken) << Each.What;
  }
  // A circle ends, and says that something is missing.
  P.put(State + P.StateFrame, Circle);
  EXPECT_EQ(R.of(P).size(), size_t(PythonScratch::MostFrames));
  EXPECT_TRUE(R.Cut);
  // And it goes on as before.
  P.put(State + P.StateFrame, Base);
  EXPECT_EQ(R.of(P).size(), 1u);
  EXPECT_FALSE(R.Broken || R.Cut);
}

// More code than is read at once, and frames that lie in a row as CPython's do.
TEST(PythonStack, ManyFunctions) {
  PythonImage P(14);
  constexpr unsigned Deep = 200, FrameBytes = 96;
  uint64_t Chunk = P.allocate(Deep * FrameBytes);
  uint64_t Outer = P.frame(0, 0, 0, 3);
  for (unsigned N = 0; N < Deep; ++N) {
    uint64_t Code = P.code(P.ascii("f" + std::to_string(N % 150)), "f.py", N, "");
    uint64_t Place = Chunk + N * FrameBytes;
    std::memcpy(reinterpret_cast<void *>(Place),
                reinterpret_cast<void *>(P.frame(Outer, Code, N)), FrameBytes);
    Outer = Place;
  }
  P.start(P.interpreter(P.state(Self, Outer, true)));
  Reading R;
  std::vector<Reading::Line> Lines = R.of(P);
  ASSERT_EQ(Lines.size(), size_t(Deep));
  for (unsigned N = 0; N < Deep; ++N) {
    EXPECT_EQ(Lines[N].FirstLine, Deep - 1 - N);
    EXPECT_EQ(Lines[N].Offset, int32_t(Deep - 1 - N));
    EXPECT_EQ(Lines[N].Entry, N == Deep - 1 ? 1u : 0u);
  }
}

// Without the lock a thread may execute its own copy of a function.
TEST(PythonStack, CopiesOfInstructions) {
  PythonImage P(14, false, true);
  uint64_t Code = P.code(P.ascii("f"), "f.py", 1, "");
  uint64_t List = P.allocate(64), Copy = P.allocate(4096);
  P.put(Code + P.Copies, List);
  P.put(List, uint64_t(3));
  P.put(List + 8 + 2 * 8, Copy);
  uint64_t Frame = P.frame(P.frame(0, 0, 0, 3), Code, 0);
  P.put(Frame + P.Copy, int32_t(2));
  P.put(Frame + P.Instruction, Copy + 24);
  P.start(P.interpreter(P.state(Self, Frame, true)));
  Reading R;
  std::vector<Reading::Line> Lines = R.of(P);
  ASSERT_EQ(Lines.size(), 1u);
  EXPECT_EQ(Lines[0].Offset, 24);
  P.put(Frame + P.Copy, int32_t(1));
  EXPECT_TRUE(R.of(P).empty());
  EXPECT_TRUE(R.Broken);
}

} // namespace
