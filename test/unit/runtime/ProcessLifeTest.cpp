// Ordinary runs, ends of the process, work in flight.
#include "ProcessTest.h"

namespace {

TEST_F(Process, RecordsTracedAndForeignDispatches) {
  DumpFile Dump = run("basic");
  expectWhole(Dump, 2, 1);
  EXPECT_EQ(Errors, "");
  auto Dispatches = Dump.dispatches();
  std::sort(Dispatches.begin(), Dispatches.end(), [](auto &A, auto &B) {
    return A.Record.Dispatch < B.Record.Dispatch;
  });
  const KprobeDispatchRecord &First = Dispatches[0].Record;
  EXPECT_EQ(Dispatches[0].Name, "k");
  EXPECT_EQ(First.Dispatch, 1u);
  EXPECT_EQ(First.Status, unsigned(KPROBE_DISPATCH_TRACED));
  EXPECT_EQ(First.Grid[0], 256u);
  EXPECT_EQ(First.Grid[1], 1u);
  EXPECT_EQ(First.Group[0], 128u);
  EXPECT_EQ(First.WaveCount, 4u);
  EXPECT_EQ(First.SlotCount, 4u);
  EXPECT_EQ(First.RingBytes, 65536u);
  EXPECT_EQ(First.LdsBytes, 4100u);
  EXPECT_EQ(First.ScratchBytes, 48u);
  EXPECT_GT(First.EndSystem, First.BeginSystem);
  EXPECT_NE(First.ThreadId, 0u);
  // The fake system clock runs 5 s ahead of CLOCK_MONOTONIC.
  EXPECT_NEAR(double(First.BeginSystem) - 5e9, double(First.SubmitNs), 1e9);
  const KprobeDispatchRecord &Second = Dispatches[1].Record;
  EXPECT_EQ(Dispatches[1].Name, "plain");
  EXPECT_EQ(Second.Status, unsigned(KPROBE_DISPATCH_NOT_INSTRUMENTED));
  EXPECT_EQ(Second.TableHash, 0u);
  EXPECT_EQ(Second.Kernel, KPROBE_NO_INDEX);
  auto Waves = Dump.waves();
  ASSERT_EQ(Waves.size(), 4u);
  for (auto &Wave : Waves) {
    EXPECT_EQ(Wave.Header.State, KPROBE_WAVE_ENDED);
    EXPECT_EQ(Wave.Events.size(), 3u);
  }
  // What a dispatch refers to stands before it.
  bool Agent = false, Table = false;
  for (const DumpChunk &Chunk : Dump.Chunks) {
    Agent |= Chunk.Kind == KPROBE_CHUNK_AGENT;
    Table |= Chunk.Kind == KPROBE_CHUNK_SITE_TABLE;
    if (Chunk.Kind == KPROBE_CHUNK_DISPATCH) {
      EXPECT_TRUE(Agent);
      if (Chunk.record<KprobeDispatchRecord>().TableHash) {
        EXPECT_TRUE(Table);
      }
    }
  }
  EXPECT_EQ(Dump.Chunks[0].Kind, unsigned(KPROBE_CHUNK_PROCESS));
}

// Statuses of a kernel's dispatches in order of submission, as digits.
std::string statuses(const DumpFile &Dump, const std::string &Kernel) {
  std::map<uint64_t, uint32_t> ByNumber;
  for (auto &D : Dump.dispatches())
    if (D.Name == Kernel)
      ByNumber[D.Record.Dispatch] = D.Record.Status;
  std::string Text;
  for (auto &[Number, Status] : ByNumber)
    Text += char('0' + Status);
  return Text;
}

// Each kernel is counted by itself, and on when its module is loaded again.
TEST_F(Process, TracesTheDispatchesThatWereAskedFor) {
  static_assert(KPROBE_DISPATCH_NOT_EVERY == 8 &&
                KPROBE_DISPATCH_NOT_FIRST == 9);
  DumpFile Dump = run("choices", {"KPROBE_EVERY=3", "KPROBE_FIRST=3"});
  expectWhole(Dump, 15, 5);
  EXPECT_EQ(statuses(Dump, "a"), "0880880889");
  EXPECT_EQ(statuses(Dump, "b"), "08808");
  EXPECT_EQ(Dump.summary().DispatchesByStatus[KPROBE_DISPATCH_NOT_EVERY], 9u);
  EXPECT_EQ(Dump.summary().DispatchesByStatus[KPROBE_DISPATCH_NOT_FIRST], 1u);
  // What the user left out is no news.
  EXPECT_EQ(Errors, "");
}

// Where it is not known what a kernel may reach, it runs once.
TEST_F(Process, RefusesToRunTwiceWhatItCannotSave) {
  DumpFile Dump = run("unloadFirst", {"KPROBE_MODE=exact"});
  expectWhole(Dump, 11, 10);
  EXPECT_EQ(Errors, "");
  for (auto &D : Dump.dispatches()) {
    EXPECT_EQ(D.Record.Mode, unsigned(KPROBE_MODE_RING));
    EXPECT_EQ(D.Record.Refusal, D.Name == "k"
                                    ? unsigned(KPROBE_REFUSAL_UNKNOWN_MEMORY)
                                    : unsigned(KPROBE_REFUSAL_NONE));
  }
}

TEST_F(Process, PairsClocksExactly) {
  DumpFile Dump = run("basic");
  auto Clocks = Dump.of(KPROBE_CHUNK_CLOCK);
  ASSERT_GE(Clocks.size(), 2u);
  for (const DumpChunk &Chunk : Clocks) {
    auto Record = Chunk.record<KprobeClockRecord>();
    EXPECT_EQ(Record.SystemHz, 1000000000u);
    // By the fake's construction; reading the clocks costs some time.
    EXPECT_NEAR(double(Record.SystemTicks - Record.MonotonicNs), 5e9, 1e6);
    EXPECT_NEAR(double(Record.DeviceTicks) * 10,
                double(Record.SystemTicks) - 2e9, 20.0);
  }
  auto Agent = Dump.of(KPROBE_CHUNK_AGENT).at(0).record<KprobeAgentRecord>();
  EXPECT_EQ(Agent.TickHz, 100000000u);
  EXPECT_EQ(Agent.CycleHz, 1800000000u);
  EXPECT_EQ(Agent.Flags, KPROBE_AGENT_VIRTUAL);
}

TEST_F(Process, SeesReplayedPackets) { // A18
  DumpFile Dump = run("graph");
  expectWhole(Dump, 300, 300);
  std::map<std::string, unsigned> ByName;
  for (auto &Dispatch : Dump.dispatches())
    ++ByName[Dispatch.Name];
  EXPECT_EQ(ByName["a"], 100u);
  EXPECT_EQ(ByName["b"], 100u);
  EXPECT_EQ(ByName["c"], 100u);
}

// A20
class Ends : public Process,
             public testing::WithParamInterface<const char *> {};
TEST_P(Ends, KeepsStatusAndDump) {
  DumpFile Dump = run(GetParam());
  expectWhole(Dump, 11, 10);
  EXPECT_EQ(Errors, "");
}
INSTANTIATE_TEST_SUITE_P(A20, Ends,
                         testing::Values("unloadFirst", "unloadInDestructor",
                                         "unloadNever", "unloadTwice",
                                         "exitOnThread", "exitInHandler",
                                         "dispatchAfterExit", "quickExit"));

// One dump, in which the agent is described once and numbers go on.
TEST_F(Process, MayOpenRocrAgain) {
  for (const char *Api : {"", "hsa"}) {
    unlink(Output.c_str());
    DumpFile Dump = run("reopens", {std::string("KPROBE_API=") + Api});
    expectWhole(Dump, 8, 7);
    EXPECT_EQ(Errors, "");
    EXPECT_EQ(Dump.of(KPROBE_CHUNK_PROCESS).size(), 1u);
    EXPECT_EQ(Dump.of(KPROBE_CHUNK_AGENT).size(), 1u);
    EXPECT_EQ(Dump.of(KPROBE_CHUNK_API_TABLE).size(), *Api ? 1u : 0u);
    // Each loading reads the clocks, and ends with a summary.
    EXPECT_GE(Dump.of(KPROBE_CHUNK_CLOCK).size(), 6u);
    EXPECT_EQ(Dump.of(KPROBE_CHUNK_SUMMARY).size(), 3u);
    std::set<uint64_t> Numbers;
    std::set<uint32_t> Queues;
    for (auto &D : Dump.dispatches()) {
      EXPECT_EQ(D.Record.Agent, 0u);
      Numbers.insert(D.Record.Dispatch);
      Queues.insert(D.Record.Queue);
    }
    EXPECT_EQ(Numbers, (std::set<uint64_t>{1, 2, 3, 4, 5, 6, 7, 8}));
    EXPECT_EQ(Queues.size(), 3u);
  }
}

// B55
class Killed
    : public Process,
      public testing::WithParamInterface<std::pair<const char *, int>> {};
TEST_P(Killed, LeavesWholeChunks) {
  int Raw = finish(launch(GetParam().first));
  int Expected = GetParam().second;
  EXPECT_EQ(WIFSIGNALED(Raw) ? WTERMSIG(Raw) : 0, Expected);
  if (!Expected) {
    EXPECT_EQ(WEXITSTATUS(Raw), 7);
  }
  DumpFile Dump = DumpFile::read(Output);
  EXPECT_EQ(Dump.Error, "");
  EXPECT_EQ(Dump.dispatches().size(), 11u);
  EXPECT_EQ(Dump.waves().size(), 40u);
  EXPECT_FALSE(Dump.hasSummary());
}
INSTANTIATE_TEST_SUITE_P(B55, Killed,
                         testing::Values(std::make_pair("killed", SIGKILL),
                                         std::make_pair("terminated", SIGTERM),
                                         std::make_pair("underscoreExit", 0),
                                         std::make_pair("aborted", SIGABRT),
                                         std::make_pair("handlesTerm", 0)));

TEST_F(Process, HasHandlersOnlyForSignalsOfTheProgram) {
  expectWhole(run("nobodyWaits"), 43, 43);
}

TEST_F(Process, WaitsForLateCompletions) { // A23
  expectWhole(run("late"), 40, 40);
}

TEST_F(Process, CountsWhatNeverCompletes) { // A23
  DumpFile Dump = run("hangs");
  expectWhole(Dump, 5, 5);
  EXPECT_EQ(Dump.summary().DispatchesPending, 3u);
  EXPECT_NE(Errors.find("3 unfinished"), std::string::npos) << Errors;
}

TEST_F(Process, SurvivesDestroyOfBusyQueue) { // B45
  DumpFile Dump = run("destroyInFlight");
  expectWhole(Dump, 12, 12);
  EXPECT_EQ(Dump.summary().DispatchesPending, 4u);
}

TEST_F(Process, NeverOverfillsTheQueue) { // B45
  DumpFile Dump = run("fullQueue");
  EXPECT_EQ(Dump.Error, "");
  EXPECT_EQ(Dump.dispatches().size(), 600u - 86u);
}

TEST_F(Process, DoesNotSerialise) { // B46
  expectWhole(run("needEachOther"), 2, 2);
}

TEST_F(Process, TakesManyThreads) { // B44
  DumpFile Dump = run("threads");
  EXPECT_EQ(Dump.Error, "");
  EXPECT_EQ(Dump.dispatches().size(), 1600u);
  std::set<uint64_t> Numbers;
  for (auto &Dispatch : Dump.dispatches())
    Numbers.insert(Dispatch.Record.Dispatch);
  EXPECT_EQ(Numbers.size(), 1600u);
  EXPECT_EQ(*Numbers.rbegin(), 1600u);
}

TEST_F(Process, SavesWhatWavesWroteWhenTheDeviceFails) {
  for (const char *Scenario : {"memoryFault", "queueError"}) {
    unlink(Output.c_str());
    DumpFile Dump = run(Scenario);
    expectWhole(Dump, 1, 1);
    EXPECT_EQ(Dump.summary().DispatchesPending, 1u);
    EXPECT_EQ(Dump.dispatches().at(0).Record.EndSystem, 0u);
    auto Waves = Dump.waves();
    ASSERT_EQ(Waves.size(), 2u);
    EXPECT_EQ(Waves[0].Header.State, KPROBE_WAVE_ENDED);
    EXPECT_EQ(Waves[1].Header.State, KPROBE_WAVE_BEGUN);
    EXPECT_EQ(Waves[1].Extent.Flags, KPROBE_EXTENT_RAW);
    EXPECT_EQ(Waves[1].Events.size(), 3u);
    // Placed on the time line by the waves' own ticks.
    EXPECT_NE(Dump.of(KPROBE_CHUNK_CLOCK)
                  .at(0)
                  .record<KprobeClockRecord>()
                  .DeviceTicks,
              0u);
    EXPECT_TRUE(Dump.says("what the waves have written so far is saved"));
  }
}

TEST_F(Process, ChildOfForkLetsGo) {
  DumpFile Dump = run("forks");
  expectWhole(Dump, 11, 10);
  EXPECT_EQ(files().size(), 2u); // dump and stderr
}

} // namespace
