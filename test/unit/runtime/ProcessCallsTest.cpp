// What the dump has of a program's HSA calls.
#include "ProcessTest.h"

namespace {

// The API table of a dump, by name.
struct Names {
  explicit Names(const DumpChunk &Chunk) {
    auto Table = Chunk.record<KprobeApiTable>();
    const uint8_t *Functions = Chunk.Payload.data() + sizeof(Table);
    const char *Strings = reinterpret_cast<const char *>(
        Functions + Table.FunctionCount * sizeof(KprobeApiFunction) +
        Table.FieldCount * sizeof(KprobeApiField) +
        Table.EnumeratorCount * sizeof(KprobeApiEnumerator));
    for (uint32_t I = 0; I < Table.FunctionCount; ++I) {
      KprobeApiFunction F;
      std::memcpy(&F, Functions + I * sizeof(F), sizeof(F));
      ByNumber[KPROBE_FUNCTION(Table.Domain, I)] = Strings + F.Name;
    }
  }
  std::map<uint32_t, std::string> ByNumber;
};

struct Event {
  KprobeHostEvent Head;
  std::vector<uint8_t> Bytes;
  uint32_t Thread;
  std::string Function;
  template <typename T> T as() const {
    T Value = {};
    std::memcpy(&Value, Bytes.data(), std::min(sizeof(T), Bytes.size()));
    return Value;
  }
};

std::vector<Event> eventsOf(const DumpFile &Dump) {
  std::vector<Event> Events;
  auto Tables = Dump.of(KPROBE_CHUNK_API_TABLE);
  EXPECT_EQ(Tables.size(), 1u);
  if (Tables.empty())
    return Events;
  Names Known(Tables[0]);
  for (const DumpChunk &Chunk : Dump.of(KPROBE_CHUNK_HOST_EVENTS)) {
    auto Record = Chunk.record<KprobeHostEventsRecord>();
    EXPECT_EQ(Record.Lost, 0u);
    for (size_t At = sizeof(Record); At < Chunk.Payload.size();) {
      Event E;
      std::memcpy(&E.Head, &Chunk.Payload[At],
                  std::min(sizeof(E.Head), Chunk.Payload.size() - At));
      EXPECT_GE(E.Head.Bytes, 8);
      E.Bytes.assign(Chunk.Payload.begin() + long(At),
                     Chunk.Payload.begin() + long(At + E.Head.Bytes));
      E.Thread = Record.Thread;
      At += E.Head.Bytes;
      if (E.Head.Kind == KPROBE_HOST_PADDING)
        continue;
      E.Function = Known.ByNumber[E.Head.Function];
      Events.push_back(E);
    }
  }
  return Events;
}

std::map<std::string, unsigned> callsOf(const std::vector<Event> &Events) {
  std::map<std::string, unsigned> Calls;
  for (const Event &E : Events)
    if (E.Head.Kind == KPROBE_HOST_CALL_BEGIN)
      ++Calls[E.Function];
  return Calls;
}

TEST_F(Process, RecordsCallsOfEachThread) {
  DumpFile Dump = run("calls", {"KPROBE_API=hsa"});
  EXPECT_EQ(Dump.Error, "");
  EXPECT_TRUE(Dump.hasSummary());
  std::vector<Event> Events = eventsOf(Dump);
  auto Calls = callsOf(Events);
  // The program's own, and none of ours: we allocate and ask a lot.
  EXPECT_EQ(Calls["hsa_system_get_info"], 300u);
  EXPECT_EQ(Calls["hsa_amd_memory_pool_allocate"], 1u);
  EXPECT_EQ(Calls["hsa_amd_memory_pool_free"], 1u);
  EXPECT_EQ(Calls["hsa_queue_create"], 1u);
  EXPECT_EQ(Calls["hsa_agent_get_info"], 1u);
  EXPECT_EQ(Calls["hsa_signal_create"], 0u);

  std::map<uint64_t, Event> Begins;
  std::map<uint32_t, std::vector<uint64_t>> Stacks;
  std::map<uint32_t, uint64_t> Last;
  std::map<uint32_t, unsigned> PerThread;
  std::map<uint16_t, unsigned> Kinds;
  for (const Event &E : Events) {
    EXPECT_LE(Last[E.Thread], E.Head.Ns);
    Last[E.Thread] = E.Head.Ns;
    ++Kinds[E.Head.Kind];
    auto &Stack = Stacks[E.Thread];
    if (E.Head.Kind == KPROBE_HOST_CALL_BEGIN) {
      EXPECT_EQ(E.as<KprobeCallBegin>().Parent,
                Stack.empty() ? 0 : Stack.back());
      EXPECT_TRUE(Begins.emplace(E.Head.Call, E).second);
      Stack.push_back(E.Head.Call);
      PerThread[E.Thread] += E.Function == "hsa_system_get_info";
    } else if (E.Head.Kind == KPROBE_HOST_CALL_END) {
      ASSERT_FALSE(Stack.empty());
      EXPECT_EQ(Stack.back(), E.Head.Call);
      EXPECT_EQ(Begins[E.Head.Call].Head.Function, E.Head.Function);
      Stack.pop_back();
      uint64_t Result = E.as<KprobeCallEnd>().Result;
      EXPECT_EQ(Result == 0, E.Function != "hsa_agent_get_info") << E.Function;
    } else {
      EXPECT_EQ(E.Head.Call, Stack.empty() ? 0 : Stack.back());
    }
    if (E.Head.Kind == KPROBE_HOST_ALLOCATE) {
      auto R = E.as<KprobeHostMemory>();
      EXPECT_EQ(R.Bytes, 4096u);
      EXPECT_EQ(R.Agent, 0u);
      EXPECT_NE(E.Head.Call, 0u);
    }
    if (E.Head.Kind == KPROBE_HOST_FREE) {
      EXPECT_EQ(E.as<KprobeHostMemory>().Bytes, 4096u);
    }
    if (E.Head.Kind == KPROBE_HOST_QUEUE_CREATE) {
      EXPECT_NE(E.Head.Call, 0u);
    }
  }
  for (auto &Entry : Stacks)
    EXPECT_TRUE(Entry.second.empty());
  EXPECT_EQ(Kinds[KPROBE_HOST_SUBMIT], 3u);
  EXPECT_EQ(Kinds[KPROBE_HOST_ALLOCATE], 1u);
  EXPECT_EQ(Kinds[KPROBE_HOST_FREE], 1u);
  EXPECT_EQ(Kinds[KPROBE_HOST_QUEUE_CREATE], 1u);
  EXPECT_EQ(Kinds[KPROBE_HOST_QUEUE_DESTROY], 1u);
  EXPECT_EQ(Kinds[KPROBE_HOST_CODE_LOAD], 1u);
  std::set<unsigned> Counts;
  for (auto &Entry : PerThread)
    Counts.insert(Entry.second);
  EXPECT_EQ(Counts, (std::set<unsigned>{0, 100, 200}));
  std::set<std::string> ThreadNames;
  for (const DumpChunk &Chunk : Dump.of(KPROBE_CHUNK_THREAD))
    ThreadNames.insert(Chunk.text(sizeof(KprobeThreadRecord)));
  EXPECT_TRUE(ThreadNames.count("first"));
}

TEST_F(Process, ShowsWhatACallReturned) {
  DumpFile Dump =
      run("calls", {"KPROBE_API=hsa", "KPROBE_API_FILTER=*pool_allocate"});
  uint64_t Address = 0, Returned = 1;
  for (const Event &E : eventsOf(Dump)) {
    if (E.Head.Kind == KPROBE_HOST_ALLOCATE)
      Address = E.as<KprobeHostMemory>().Address;
    if (E.Head.Kind == KPROBE_HOST_CALL_END) {
      ASSERT_EQ(E.Bytes.size(), sizeof(KprobeCallEnd) + 8);
      std::memcpy(&Returned, &E.Bytes[sizeof(KprobeCallEnd)], 8);
    }
  }
  EXPECT_EQ(Returned, Address);
}

TEST_F(Process, RecordsOnlyCallsThatTheFilterNames) {
  DumpFile Dump = run(
      "calls", {"KPROBE_API=hsa", "KPROBE_API_FILTER=hsa_queue_*,!*destroy"});
  auto Calls = callsOf(eventsOf(Dump));
  EXPECT_EQ(Calls, (std::map<std::string, unsigned>{{"hsa_queue_create", 1}}));
}

TEST_F(Process, RecordsNoCallsUnasked) {
  DumpFile Dump = run("calls");
  EXPECT_TRUE(Dump.hasSummary());
  EXPECT_TRUE(Dump.of(KPROBE_CHUNK_API_TABLE).empty());
  EXPECT_TRUE(Dump.of(KPROBE_CHUNK_HOST_EVENTS).empty());
}

TEST_F(Process, KilledProcessLosesOnlyTheLastMoment) {
  int Raw = finish(launch("callsThenKilled", {"KPROBE_API=hsa"}));
  ASSERT_TRUE(WIFSIGNALED(Raw)) << Errors;
  DumpFile Dump = DumpFile::read(Output);
  EXPECT_EQ(Dump.Error, "");
  EXPECT_EQ(callsOf(eventsOf(Dump))["hsa_system_get_info"], 1000u);
}

TEST_F(Process, CallsOfAForkedChildAreNotTheParents) {
  DumpFile Dump = run("callsInChild", {"KPROBE_API=hsa"});
  EXPECT_EQ(Dump.Error, "");
  EXPECT_EQ(callsOf(eventsOf(Dump))["hsa_system_get_info"], 20u);
  EXPECT_EQ(files().size(), 2u); // dump and stderr
}

} // namespace
