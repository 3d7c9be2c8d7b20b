// The runtime over the life of a process: each test runs one scenario of
// Scenario.cpp and reads what is left: exit status, stderr, dump.
#include "DumpFile.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <csignal>
#include <dirent.h>
#include <fcntl.h>
#include <fstream>
#include <map>
#include <set>
#include <sstream>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

namespace {

class Process : public testing::Test {
protected:
  void SetUp() override {
    char Name[] = "/tmp/kprobe-runtime-XXXXXX";
    ASSERT_NE(mkdtemp(Name), nullptr);
    Folder = Name;
    Output = Folder + "/t.kpd";
  }
  void TearDown() override {
    chmod(Folder.c_str(), 0755);
    for (const std::string &File : files())
      unlink((Folder + "/" + File).c_str());
    rmdir(Folder.c_str());
  }

  // Starts a scenario; Settings are "NAME=value".
  pid_t launch(const std::string &Scenario,
               const std::vector<std::string> &Settings = {}) {
    pid_t Child = fork();
    if (Child != 0)
      return Child;
    int Errors =
        open((Folder + "/stderr").c_str(), O_WRONLY | O_CREAT | O_APPEND, 0644);
    dup2(Errors, 2);
    setenv("KPROBE_OUTPUT", Output.c_str(), 1);
    setenv("KPROBE_BUFFER", "8M", 1);
    for (const std::string &Setting : Settings)
      putenv(strdup(Setting.c_str()));
    execl(KPROBE_SCENARIO, "scenario", Scenario.c_str(), nullptr);
    _exit(98);
  }
  int finish(pid_t Child) {
    int Raw = 0;
    waitpid(Child, &Raw, 0);
    std::ifstream In(Folder + "/stderr");
    std::stringstream Text;
    Text << In.rdbuf();
    Errors = Text.str();
    return Raw;
  }
  // Runs to the end; expects the program's own status.
  DumpFile run(const std::string &Scenario,
               const std::vector<std::string> &Settings = {}) {
    int Raw = finish(launch(Scenario, Settings));
    EXPECT_TRUE(WIFEXITED(Raw)) << "signal " << WTERMSIG(Raw) << "\n" << Errors;
    EXPECT_EQ(WEXITSTATUS(Raw), 7) << Errors;
    struct stat Info;
    bool Device = stat(Output.c_str(), &Info) == 0 && !S_ISREG(Info.st_mode);
    return Device ? DumpFile() : DumpFile::read(Output);
  }
  std::vector<std::string> files() {
    std::vector<std::string> Names;
    if (DIR *Dir = opendir(Folder.c_str())) {
      while (dirent *Entry = readdir(Dir))
        if (Entry->d_name[0] != '.')
          Names.push_back(Entry->d_name);
      closedir(Dir);
    }
    return Names;
  }
  static size_t count(const std::string &Text, const std::string &Part) {
    size_t Found = 0;
    for (size_t At = 0; (At = Text.find(Part, At)) != std::string::npos; ++At)
      ++Found;
    return Found;
  }

  std::string Folder, Output, Errors;
};

void expectWhole(const DumpFile &Dump, uint64_t Seen, uint64_t Traced) {
  EXPECT_EQ(Dump.Error, "");
  EXPECT_EQ(Dump.dispatches().size(), Seen);
  ASSERT_TRUE(Dump.hasSummary());
  EXPECT_EQ(Dump.summary().DispatchesSeen, Seen);
  EXPECT_EQ(Dump.summary().DispatchesTraced, Traced);
  EXPECT_EQ(Dump.summary().ChunksDropped, 0u);
}

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

TEST_F(Process, RunsOnWithoutMemory) { // B41
  DumpFile Dump = run("noMemory");
  expectWhole(Dump, 3, 0);
  EXPECT_EQ(Dump.summary().DispatchesByStatus[KPROBE_DISPATCH_NO_BUFFER], 3u);
  EXPECT_TRUE(Dump.says("no memory"));
  EXPECT_EQ(count(Errors, "kprobe: warning:"), 1u) << Errors;
  EXPECT_NE(Errors.find("3 not traced (no ring buffer free)"),
            std::string::npos);
}

TEST_F(Process, TakesLessMemoryThanAskedFor) { // B41
  DumpFile Dump = run("littleMemory");
  expectWhole(Dump, 3, 3);
  EXPECT_TRUE(Dump.says("only 4096 KiB"));
}

TEST_F(Process, GivesBackWhatIsOfNoUse) { // B41
  DumpFile Dump = run("noRings");
  EXPECT_EQ(Dump.summary().DispatchesByStatus[KPROBE_DISPATCH_NO_BUFFER], 3u);
}

TEST_F(Process, LeavesPacketsAloneWithoutSignals) {
  DumpFile Dump = run("noSignals");
  EXPECT_EQ(Dump.summary().DispatchesByStatus[KPROBE_DISPATCH_NO_SIGNAL], 3u);
}

TEST_F(Process, LeavesAnotherToolsTagAlone) {
  DumpFile Dump = run("tagInUse");
  EXPECT_EQ(Dump.summary().DispatchesByStatus[KPROBE_DISPATCH_TAG_IN_USE], 1u);
}

TEST_F(Process, SaysThatAQueueCannotBeIntercepted) { // B57
  DumpFile Dump = run("interceptFails");
  EXPECT_TRUE(Dump.says("cannot be intercepted"));
  EXPECT_NE(Errors.find("0 dispatches seen"), std::string::npos) << Errors;
}

TEST_F(Process, TakesNominalRateAndSaysSo) { // A27
  DumpFile Dump = run("noClock", {"SCENARIO_TARGET=gfx906"});
  auto Agent = Dump.of(KPROBE_CHUNK_AGENT).at(0).record<KprobeAgentRecord>();
  EXPECT_EQ(Agent.TickHz, 100000000u);
  EXPECT_TRUE(Dump.says("nominal 100000000 Hz taken"));
}

TEST_F(Process, GuessesNoRate) { // A27
  DumpFile Dump = run("noClock", {"SCENARIO_TARGET=gfx777"});
  auto Agent = Dump.of(KPROBE_CHUNK_AGENT).at(0).record<KprobeAgentRecord>();
  EXPECT_EQ(Agent.TickHz, 0u);
  EXPECT_NE(Errors.find("rate of the real-time counter is not known"),
            std::string::npos);
}

TEST_F(Process, BelievesMeasuredRate) { // A27
  DumpFile Dump = run("slowClock");
  auto Agent = Dump.of(KPROBE_CHUNK_AGENT).at(0).record<KprobeAgentRecord>();
  EXPECT_NEAR(double(Agent.TickHz), 25e6, 100.0);
  EXPECT_TRUE(Dump.says("the measured rate is used"));
}

TEST_F(Process, EndsTraceAtFileSizeLimit) {
  DumpFile Dump = run("fileLimit");
  EXPECT_EQ(Dump.Error, "");
  EXPECT_FALSE(Dump.Chunks.empty());
  EXPECT_EQ(count(Errors, "kprobe: error:"), 1u) << Errors;
  EXPECT_NE(Errors.find("File too large"), std::string::npos);
}

TEST_F(Process, EndsTraceOnFullDisk) {
  Output = "/dev/full";
  run("unloadFirst");
  EXPECT_EQ(count(Errors, "kprobe: error:"), 1u) << Errors;
  EXPECT_NE(Errors.find("No space left on device"), std::string::npos);
}

TEST_F(Process, EndsTraceOnClosedPipe) {
  std::string Pipe = Folder + "/pipe";
  ASSERT_EQ(mkfifo(Pipe.c_str(), 0644), 0);
  Output = Pipe;
  int Reader = open(Pipe.c_str(), O_RDONLY | O_NONBLOCK | O_CLOEXEC);
  pid_t Child = launch("late");
  usleep(100000);
  close(Reader);
  int Raw = finish(Child);
  EXPECT_TRUE(WIFEXITED(Raw));
  EXPECT_EQ(WEXITSTATUS(Raw), 7);
  EXPECT_EQ(count(Errors, "kprobe: error:"), 1u) << Errors;
}

TEST_F(Process, RunsOnWhereNoFileCanBeMade) {
  Output = Folder + "/no/such/folder/t.kpd";
  run("unloadFirst");
  EXPECT_EQ(count(Errors, "kprobe: error:"), 1u) << Errors;
  EXPECT_NE(Errors.find("No such file or directory"), std::string::npos);
}

TEST_F(Process, AccountsForOverwrittenEvents) { // A22
  DumpFile Dump = run("overflow", {"KPROBE_RING=4096"});
  expectWhole(Dump, 3, 3);
  auto Waves = Dump.waves();
  ASSERT_EQ(Waves.size(), 18u);
  const uint64_t Counts[] = {0, 511, 512, 513, 1024, 1025};
  for (auto &Wave : Waves) {
    uint64_t Written = Counts[Wave.Header.WaveIndex % 6];
    EXPECT_EQ(Wave.Header.Cursor, Written * 8);
    uint64_t Kept = std::min<uint64_t>(Written, 512);
    ASSERT_EQ(Wave.Events.size(), Kept);
    // The newest, oldest first.
    for (uint64_t I = 0; I < Kept; ++I)
      ASSERT_EQ(Wave.Events[I].Clock, Written - Kept + I);
  }
}

TEST_F(Process, HandsOverRawRingOfADeadWave) {
  DumpFile Dump = run("deadWaves", {"KPROBE_RING=4096"});
  expectWhole(Dump, 2, 2);
  unsigned Dead = 0;
  for (auto &Wave : Dump.waves())
    if (Wave.Header.State == KPROBE_WAVE_BEGUN) {
      ++Dead;
      EXPECT_EQ(Wave.Extent.Flags, KPROBE_EXTENT_RAW);
      ASSERT_EQ(Wave.Events.size(), 512u);
      EXPECT_EQ(Wave.Events[0].Clock, 512u); // place 0 was overwritten
      EXPECT_EQ(Wave.Events[88].Clock, 88u);
    }
  EXPECT_EQ(Dead, 2u);
}

TEST_F(Process, ShrinksRingsThenSamples) {
  // 4096 waves in 8 MiB: 1 KiB rings fit, 2 KiB ones do not.
  DumpFile Dump = run("bigGrid");
  auto Record = Dump.dispatches().at(0).Record;
  EXPECT_EQ(Record.RingBytes, 1024u);
  EXPECT_EQ(Record.SampleShift, 0u);
  EXPECT_EQ(Record.SlotCount, 4096u);
  unlink(Output.c_str());
  Dump = run("bigGrid", {"KPROBE_BUFFER=1M"});
  Record = Dump.dispatches().at(0).Record;
  EXPECT_EQ(Record.RingBytes, 1024u);
  EXPECT_EQ(Record.SampleShift, 3u); // 910 slots: 512 of 4096 waves
  EXPECT_EQ(Record.SlotCount, 512u);
  EXPECT_EQ(Dump.waves().size(), 512u);
}

TEST_F(Process, SaysWhenNotASingleSlotFits) {
  DumpFile Dump = run("bigGrid", {"KPROBE_BUFFER=1000"});
  EXPECT_EQ(Dump.summary().DispatchesByStatus[KPROBE_DISPATCH_TOO_LARGE], 1u);
}

TEST_F(Process, KeepsAgentsApart) { // B43
  DumpFile Dump = run("agents");
  expectWhole(Dump, 6, 6);
  EXPECT_EQ(Dump.of(KPROBE_CHUNK_AGENT).size(), 3u);
  EXPECT_EQ(Dump.of(KPROBE_CHUNK_SITE_TABLE).size(), 2u);
  std::map<uint32_t, unsigned> ByAgent;
  for (auto &Dispatch : Dump.dispatches())
    ++ByAgent[Dispatch.Record.Agent];
  EXPECT_EQ(ByAgent, (std::map<uint32_t, unsigned>{{0, 2}, {1, 2}, {2, 2}}));
}

TEST_F(Process, TakesNamesFromSymbols) { // B48, B51
  DumpFile Dump = run("names");
  expectWhole(Dump, 5, 2);
  std::map<uint64_t, std::string> Names;
  for (auto &Dispatch : Dump.dispatches())
    Names[Dispatch.Record.KernelObject] = Dispatch.Name;
  EXPECT_EQ(Names[1], "k");
  EXPECT_EQ(Names[2], "k2");
  EXPECT_EQ(Names[3], "prefix.kd.middle");
  EXPECT_EQ(Names[4], "");
  EXPECT_EQ(Names[0xdead], "");
}

TEST_F(Process, KeepsCodeObjectsApart) { // A16, A17
  DumpFile Dump = run("executables");
  expectWhole(Dump, 4, 3);
  std::map<uint64_t, KprobeDispatchRecord> Records;
  std::set<uint64_t> Hashes;
  for (auto &Dispatch : Dump.dispatches()) {
    if (Dispatch.Record.Status == KPROBE_DISPATCH_TRACED)
      Hashes.insert(Dispatch.Record.TableHash);
    if (Dispatch.Record.Dispatch == 4) {
      EXPECT_EQ(Dispatch.Name, "other");
    }
  }
  EXPECT_EQ(Hashes.size(), 3u);
}

TEST_F(Process, LeavesFilteredKernelsAlone) {
  DumpFile Dump = run("names", {"KPROBE_KERNELS=k*,!k2"});
  EXPECT_EQ(Dump.summary().DispatchesTraced, 1u);
  EXPECT_EQ(Dump.summary().DispatchesByStatus[KPROBE_DISPATCH_FILTERED], 1u);
}

TEST_F(Process, SixteenWithOneOutputName) { // B53
  std::vector<pid_t> Children;
  for (int I = 0; I < 16; ++I)
    Children.push_back(launch("unloadFirst"));
  for (pid_t Child : Children)
    EXPECT_EQ(WEXITSTATUS(finish(Child)), 7) << Errors;
  unsigned Dumps = 0;
  for (const std::string &File : files()) {
    if (File == "stderr")
      continue;
    ++Dumps;
    expectWhole(DumpFile::read(Folder + "/" + File), 11, 10);
  }
  EXPECT_EQ(Dumps, 16u);
}

TEST_F(Process, RefusesOddTables) { // B57
  const std::pair<const char *, const char *> Cases[] = {
      {"major", "version 2"},
      {"coremajor", "unknown version"},
      {"short", "has no hsa_amd_"},
      {"shortroot", "lacks the core"},
      {"null", "no hsa_amd_queue_intercept_create"},
      {"none", "no HSA API table"}};
  for (auto &Case : Cases) {
    unlink((Folder + "/stderr").c_str());
    DumpFile Dump =
        run("oddTable", {std::string("SCENARIO_TABLE=") + Case.first});
    EXPECT_EQ(Dump.Error, "cannot open");
    EXPECT_EQ(count(Errors, "kprobe: error:"), 1u) << Errors;
    EXPECT_NE(Errors.find(Case.second), std::string::npos) << Errors;
  }
}

TEST_F(Process, SaysThatNothingWasSeen) { // B57
  DumpFile Dump = run("nothing");
  expectWhole(Dump, 0, 0);
  EXPECT_NE(Errors.find("kprobe: 0 dispatches seen"), std::string::npos);
}

TEST_F(Process, LoadsAgainAfterUnload) { // B59
  DumpFile Dump = run("reload");
  expectWhole(Dump, 8, 8);
  EXPECT_EQ(Dump.of(KPROBE_CHUNK_SUMMARY).size(), 2u);
}

TEST_F(Process, ChainsWithOtherTools) { // B56
  expectWhole(run("otherTool"), 2, 2);
}

TEST_F(Process, SecondCopyStandsBack) { // B56
  std::string Copy = Folder + "/libkprobe-runtime.so";
  std::ofstream(Copy, std::ios::binary)
      << std::ifstream(KPROBE_LIBRARY, std::ios::binary).rdbuf();
  DumpFile Dump =
      run("twoCopies", {std::string("SCENARIO_COPY1=") + KPROBE_LIBRARY,
                        "SCENARIO_COPY2=" + Copy});
  expectWhole(Dump, 3, 3);
  EXPECT_EQ(count(Errors, "kprobe: warning: another copy"), 1u) << Errors;
}

TEST_F(Process, LibraryKeepsToItself) { // A19: no HIP, nothing but the table
  std::string Symbols;
  FILE *Nm = popen("nm -D " KPROBE_LIBRARY, "r");
  ASSERT_NE(Nm, nullptr);
  char Line[4096];
  unsigned Defined = 0;
  while (fgets(Line, sizeof(Line), Nm)) {
    std::string Text = Line;
    EXPECT_EQ(Text.find(" U hip"), std::string::npos) << Text;
    EXPECT_EQ(Text.find(" U hsa"), std::string::npos) << Text;
    Defined += Text.find(" T ") != std::string::npos;
    Symbols += Text;
  }
  EXPECT_EQ(pclose(Nm), 0);
  EXPECT_EQ(Defined, 2u) << Symbols;
  EXPECT_NE(Symbols.find(" T OnLoad\n"), std::string::npos);
  EXPECT_NE(Symbols.find(" T OnUnload\n"), std::string::npos);
  EXPECT_EQ(Symbols.find(" D "), std::string::npos);
  EXPECT_EQ(Symbols.find(" B "), std::string::npos);
}

TEST_F(Process, NamesABadSetting) {
  for (const char *Setting : {"KPROBE_RING=100", "KPROBE_BUFFER=lots",
                              "KPROBE_KERNELS=a,,b", "KPROBE_POOL=moon"}) {
    unlink((Folder + "/stderr").c_str());
    DumpFile Dump = run("unloadFirst", {Setting});
    EXPECT_EQ(Dump.Error, "cannot open");
    std::string Name(Setting, std::strchr(Setting, '='));
    EXPECT_EQ(Errors.rfind("kprobe: error: " + Name + ":", 0), 0u) << Errors;
    EXPECT_EQ(count(Errors, "\n"), 1u);
  }
}

TEST_F(Process, DoesNothingWhenDisabled) {
  DumpFile Dump = run("unloadFirst", {"KPROBE_DISABLE=1"});
  EXPECT_EQ(Dump.Error, "cannot open");
  EXPECT_EQ(Errors, "");
}

} // namespace
