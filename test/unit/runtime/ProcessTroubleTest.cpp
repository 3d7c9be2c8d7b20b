// Missing memory, bad files, full rings, several agents, other tools.
#include "ProcessTest.h"

namespace {

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
    // What libkprobe-hip.so shares with this library is ours by its name.
    Defined += Text.find(" T ") != std::string::npos &&
               Text.find(" T _ZN6kprobe") == std::string::npos;
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
                              "KPROBE_KERNELS=a,,b", "KPROBE_POOL=moon",
                              "KPROBE_API=cuda", "KPROBE_API_FILTER=a,,b",
                              "KPROBE_API_BUFFER=100"}) {
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
