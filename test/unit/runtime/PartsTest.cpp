// Pure logic of the runtime: configuration, memory planning, copying of
// slots, clock arithmetic, grid shapes.
#include "Clocks.h"
#include "Config.h"
#include "LargePages.h"
#include "Rewriter.h"
#include "RingPool.h"
#include "ThreadId.h"
#include "Waves.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <map>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <thread>
#include <unistd.h>

using namespace kprobe;

// ------------------------------------------------------------------- Config

static Config configOf(const std::map<std::string, std::string> &Variables,
                       std::string &Why) {
  Config Settings;
  readConfig(
      [&](const char *Name) -> const char * {
        auto Found = Variables.find(Name);
        return Found == Variables.end() ? nullptr : Found->second.c_str();
      },
      Settings, Why);
  return Settings;
}

TEST(Config, HasDefaults) {
  std::string Why;
  Config Settings = configOf({}, Why);
  EXPECT_EQ(Why, "");
  EXPECT_EQ(Settings.Output, "kprobe-%p.kpd");
  EXPECT_EQ(Settings.BufferBytes, 256u << 20);
  EXPECT_EQ(Settings.RingBytes, 65536u);
  EXPECT_FALSE(Settings.Disabled);
}

TEST(Config, ReadsSizes) {
  uint64_t Bytes = 0;
  EXPECT_TRUE(parseSize("64", Bytes));
  EXPECT_EQ(Bytes, 64u);
  EXPECT_TRUE(parseSize("64k", Bytes));
  EXPECT_EQ(Bytes, 65536u);
  EXPECT_TRUE(parseSize("3M", Bytes));
  EXPECT_EQ(Bytes, 3u << 20);
  EXPECT_TRUE(parseSize("2G", Bytes));
  EXPECT_EQ(Bytes, 2ull << 30);
  for (const char *Text : {"", "k", "-1", "1.5M", "64KB", " 64", "64 ",
                           "99999999999999999999", "99999999999999999G"})
    EXPECT_FALSE(parseSize(Text, Bytes)) << Text;
}

TEST(Config, ReadsCounts) {
  uint64_t Count = 0;
  EXPECT_TRUE(parseCount("1", Count));
  EXPECT_EQ(Count, 1u);
  EXPECT_TRUE(parseCount("18446744073709551615", Count));
  EXPECT_EQ(Count, UINT64_MAX);
  for (const char *Text :
       {"", "0", "-1", "1k", " 1", "1 ", "0x1", "18446744073709551616"})
    EXPECT_FALSE(parseCount(Text, Count)) << Text;
  std::string Why;
  configOf({{"KPROBE_EVERY", "0"}}, Why);
  EXPECT_EQ(Why, "KPROBE_EVERY: \"0\" is not a whole number of 1 and more");
}

TEST(Config, ReadsSamples) {
  SampleChoice Sample;
  EXPECT_TRUE(Sample.parse("1/64"));
  EXPECT_EQ(Sample.Shift, 6);
  EXPECT_FALSE(Sample.Groups);
  EXPECT_TRUE(Sample.parse("waves:1/1048576"));
  EXPECT_EQ(Sample.Shift, 20);
  EXPECT_TRUE(Sample.parse("groups:1/1"));
  EXPECT_EQ(Sample.Shift, 0);
  EXPECT_TRUE(Sample.Groups);
  for (const char *Text : {"", "64", "1/", "1/0", "1/3", "2/4", "1/-2", "1/64 ",
                           "1/2097152", "groups:", "groups:64", "lanes:1/2"})
    EXPECT_FALSE(Sample.parse(Text)) << Text;
}

TEST(Config, ChoosesDispatches) {
  std::string Why;
  auto Chosen = [&](const DispatchChoice &Choice) {
    std::string Text;
    for (uint64_t Number = 0; Number < 10; ++Number)
      Text += Choice.isBetween(Number)      ? '-'
              : Choice.isAfterFirst(Number) ? '.'
                                            : 'x';
    return Text;
  };
  EXPECT_EQ(Chosen(configOf({}, Why).Dispatches), "xxxxxxxxxx");
  EXPECT_EQ(Chosen(configOf({{"KPROBE_EVERY", "3"}}, Why).Dispatches),
            "x--x--x--x");
  EXPECT_EQ(Chosen(configOf({{"KPROBE_FIRST", "2"}}, Why).Dispatches),
            "xx........");
  EXPECT_EQ(Chosen(configOf({{"KPROBE_EVERY", "4"}, {"KPROBE_FIRST", "2"}}, Why)
                       .Dispatches),
            "x---x---.-");
  EXPECT_EQ(Why, "");
}

TEST(Config, FilterKnowsDemangledNames) {
  KernelFilter Filter;
  ASSERT_TRUE(Filter.parse("vectorAdd"));
  EXPECT_TRUE(Filter.matches("_Z9vectorAddPKfS0_Pfi"));
  EXPECT_FALSE(Filter.matches("_Z10vectorAdd2Pf"));
  KernelFilter Template;
  ASSERT_TRUE(Template.parse("scale<*>"));
  EXPECT_TRUE(Template.matches("_Z5scaleIfEvPT_S0_"));
  KernelFilter Mixed;
  ASSERT_TRUE(Mixed.parse("k*,!k2"));
  EXPECT_TRUE(Mixed.matches("k1"));
  EXPECT_FALSE(Mixed.matches("k2"));
  EXPECT_FALSE(Mixed.matches("other"));
  KernelFilter OnlyExclude;
  ASSERT_TRUE(OnlyExclude.parse("!k2"));
  EXPECT_TRUE(OnlyExclude.matches("k1"));
  EXPECT_FALSE(OnlyExclude.matches("k2"));
  EXPECT_TRUE(KernelFilter().matches("anything"));
}

// ----------------------------------------------------------------- RingPool

TEST(RingPool, PlansWithin64Bits) { // B40
  // 2^50 waves of 64 KiB: no product may wrap.
  RegionPlan Plan = planRegion({1ull << 50}, 1u << 20, 8u << 20, 65536, 1024);
  EXPECT_GT(Plan.SlotCount, 0u);
  EXPECT_LE(Plan.bytes(), 8u << 20);
  EXPECT_EQ(Plan.SlotCount, (((1ull << 50) - 1) >> Plan.SampleShift) + 1);
  // Beyond any sensible sample nothing is given.
  EXPECT_EQ(planRegion({UINT64_MAX}, 1u << 20, 8u << 20, 65536, 1024).SlotCount,
            0u);
  EXPECT_EQ(planRegion({0}, 1u << 20, 1u << 20, 65536, 1024).SlotCount, 0u);
}

TEST(RingPool, PrefersLargeRingsThenTheShare) {
  const uint64_t MiB = 1u << 20;
  EXPECT_EQ(planRegion({4}, MiB, 8 * MiB, 65536, 1024).RingBytes, 65536u);
  // 64 waves in 1 MiB: 8 KiB rings; the other 7 MiB are left alone.
  EXPECT_EQ(planRegion({64}, MiB, 8 * MiB, 65536, 1024).RingBytes, 8192u);
  // 2000 waves do not fit the share even with 1 KiB, but the whole.
  RegionPlan Plan = planRegion({2000}, MiB, 8 * MiB, 65536, 1024);
  EXPECT_EQ(Plan.SampleShift, 0u);
  EXPECT_EQ(Plan.RingBytes, 2048u);
}

TEST(RingPool, SamplesAsAskedAndMoreWhereItMust) {
  const uint64_t MiB = 1u << 20;
  auto Plan = [&](const char *Sample, uint64_t Groups, uint64_t Bytes) {
    RegionDemand Demand{Groups, 3};
    EXPECT_TRUE(Demand.Sample.parse(Sample)) << Sample;
    return planRegion(Demand, Bytes, Bytes, 1024, 1024);
  };
  // 1000 groups of 3 waves.
  RegionPlan Waves = Plan("1/64", 1000, MiB);
  EXPECT_EQ(Waves.SampleShift, 6u);
  EXPECT_EQ(Waves.GroupShift, 0u);
  EXPECT_EQ(Waves.SlotCount, 47u); // 46.9 of 3000
  RegionPlan Groups = Plan("groups:1/64", 1000, MiB);
  EXPECT_EQ(Groups.SampleShift, 0u);
  EXPECT_EQ(Groups.GroupShift, 6u);
  EXPECT_EQ(Groups.SlotCount, 16u * 3); // 15.6 of 1000
  // 56 slots of 1152 bytes in 64 KiB.
  EXPECT_EQ(Plan("waves:1/2", 1000, MiB / 16).SampleShift, 6u);
  Groups = Plan("groups:1/2", 1000, MiB / 16);
  EXPECT_EQ(Groups.GroupShift, 6u);
  EXPECT_EQ(Groups.SampleShift, 0u);
  // The one group that is left has 3 waves.
  EXPECT_EQ(Plan("groups:1/2", 1000, 2 * 1152).SlotCount, 0u);
  EXPECT_EQ(Plan("1/2", 1000, 2 * 1152).SlotCount, 2u);
}

TEST(RingPool, ReusesAndJoinsRegions) {
  std::vector<uint8_t> Memory(1u << 20, 0xa5);
  RingPool Pool(Memory.data(), Memory.size(), 1024, 1024);
  bool TooLarge = false;
  std::vector<RingRegion> Regions;
  while (RingRegion Region = Pool.acquire({100}, TooLarge)) {
    // Zeroed, and apart from all others.
    for (uint64_t I = 0; I < Region.Bytes; ++I)
      ASSERT_EQ(Pool.address(Region)[I], 0);
    std::memset(Pool.address(Region), 1, 8);
    for (const RingRegion &Other : Regions)
      EXPECT_TRUE(Region.Offset >= Other.Offset + Other.Bytes ||
                  Other.Offset >= Region.Offset + Region.Bytes);
    Regions.push_back(Region);
  }
  EXPECT_FALSE(TooLarge);
  EXPECT_GE(Regions.size(), 9u);
  uint64_t Left = Pool.freeBytes();
  // In an order that needs joining to both sides.
  for (size_t I : {1u, 3u, 2u, 0u})
    Pool.release(Regions[I]);
  for (size_t I = 4; I < Regions.size(); ++I)
    Pool.release(Regions[I]);
  EXPECT_GT(Pool.freeBytes(), Left);
  EXPECT_EQ(Pool.freeBytes(), Memory.size());
  for (const RingRegion &Region : Regions)
    std::memset(Pool.address(Region), 0, 8);
  RingRegion All = Pool.acquire({900}, TooLarge);
  EXPECT_EQ(All.Offset, 0u);
  EXPECT_EQ(All.Plan.SlotCount, 900u);
}

TEST(RingPool, PreparesWhatIsNotInUse) {
  constexpr uint64_t MiB = 1u << 20;
  std::vector<uint8_t> Memory(32 * MiB, 0xa5);
  unsigned Flushes = 0;
  RingPool Pool(Memory.data(), Memory.size(), 1024, 1024, [&] { ++Flushes; });
  auto ZeroBytes = [&] {
    return uint64_t(std::find(Memory.begin(), Memory.end(), 0xa5) -
                    Memory.begin());
  };
  auto PrepareAll = [&] {
    while (Pool.prepare())
      ;
  };
  PrepareAll();
  EXPECT_EQ(ZeroBytes(), 8 * MiB);
  EXPECT_GT(Flushes, 0u);
  EXPECT_EQ(Pool.freeBytes(), Memory.size());
  bool TooLarge = false;
  RingRegion Region = Pool.acquire({3000}, TooLarge);
  // What the device writes stays, and there is as much ahead of it as before.
  std::memset(Pool.address(Region), 1, Region.Bytes);
  const unsigned Before = Flushes;
  PrepareAll();
  EXPECT_EQ(ZeroBytes(), Region.Bytes + 8 * MiB);
  EXPECT_EQ(Pool.address(Region)[Region.Bytes - 1], 1);
  EXPECT_GT(Flushes, Before);
  RingRegion All = Pool.acquire({1, 1}, TooLarge);
  EXPECT_EQ(All.Offset, Region.Bytes);
  // Not beyond the end.
  std::memset(Pool.address(Region), 0, Region.Bytes);
  Pool.release(Region);
  Pool.release(All);
  RingRegion Most = Pool.acquire({29000}, TooLarge);
  ASSERT_TRUE(Most);
  PrepareAll();
  EXPECT_EQ(ZeroBytes(), Memory.size());
}

TEST(ThreadId, IsTheCallersAlsoAfterFork) {
  const auto Asked = [] { return uint32_t(syscall(SYS_gettid)); };
  EXPECT_EQ(threadId(), Asked());
  std::thread([&] { EXPECT_EQ(threadId(), Asked()); }).join();
  const pid_t Child = fork();
  if (Child == 0)
    _exit(threadId() == Asked() && threadId() == uint32_t(getpid()) ? 0 : 1);
  int Status = -1;
  waitpid(Child, &Status, 0);
  EXPECT_EQ(Status, 0);
}

// Who writes little gets small pages; places keep their distance to large ones.
TEST(TouchedInOrder, BeginsBeforeALargePage) {
  constexpr size_t Large = 2u << 20;
  for (size_t Bytes : {size_t(64) << 10, 4 * Large}) {
    TouchedInOrder Memory(Bytes);
    ASSERT_NE(Memory.Begin, nullptr);
    std::memset(Memory.Begin, 1, Bytes);
    if (Bytes >= Large) {
      EXPECT_EQ((reinterpret_cast<uintptr_t>(Memory.Begin) +
                 TouchedInOrder::LittleBytes) %
                    Large,
                0u);
    }
    Memory.unmap();
  }
  EXPECT_EQ(TouchedInOrder(size_t(1) << 60).Begin, nullptr);
}

TEST(RingPool, TellsTooLargeFromBusy) {
  std::vector<uint8_t> Memory(2000);
  RingPool Pool(Memory.data(), Memory.size(), 1024, 1024);
  bool TooLarge = false;
  RingRegion First = Pool.acquire({1}, TooLarge);
  EXPECT_TRUE(First);
  EXPECT_FALSE(Pool.acquire({1}, TooLarge));
  EXPECT_FALSE(TooLarge);
  RingPool Tiny(Memory.data(), 1000, 1024, 1024);
  EXPECT_FALSE(Tiny.acquire({1}, TooLarge));
  EXPECT_TRUE(TooLarge);
}

// -------------------------------------------------------------------- Waves

namespace {
struct SlotMemory {
  RegionPlan Plan;
  std::vector<uint8_t> Bytes;
  SlotMemory(uint64_t Slots, uint32_t Ring) {
    Plan.SlotCount = Slots;
    Plan.RingBytes = Ring;
    Bytes.resize(Plan.bytes());
  }
  uint8_t *slot(uint64_t I) {
    return &Bytes[I * (sizeof(KprobeWaveHeader) + Plan.RingBytes)];
  }
  void write(uint64_t I, uint32_t State, uint32_t Cursor) {
    KprobeWaveHeader Header = {};
    // As the device does: the state itself is the host's.
    Header.BeginTicks = State != KPROBE_WAVE_UNUSED;
    Header.EndTicks = State == KPROBE_WAVE_ENDED ? 2 : 0;
    Header.Cursor = Cursor;
    std::memcpy(slot(I), &Header, sizeof(Header));
    for (uint32_t At = 0; At < Cursor; At += 8) {
      uint64_t Event = 0x100000000ull | At / 8;
      std::memcpy(slot(I) + sizeof(Header) +
                      (At & KPROBE_RING_MASK(Plan.RingBytes)),
                  &Event, 8);
    }
  }
};
} // namespace

TEST(Waves, ClearsExactlyWhatWasWritten) {
  SlotMemory Slots(4, 64);
  Slots.write(0, KPROBE_WAVE_ENDED, 24);
  Slots.write(2, KPROBE_WAVE_BEGUN, 200);
  Slots.write(3, KPROBE_WAVE_ENDED, 1000);
  uint64_t Events = 0;
  WavesResult Result = drainWaves(
      9, Slots.Bytes.data(), Slots.Plan, {}, true, 1 << 20,
      [&](const std::vector<uint8_t> &Payload) {
        KprobeWavesRecord Record;
        std::memcpy(&Record, Payload.data(), sizeof(Record));
        EXPECT_EQ(Record.Dispatch, 9u);
        EXPECT_EQ(Record.WaveCount, 3u);
        Events = (Payload.size() - sizeof(Record) -
                  3 * (sizeof(KprobeWaveHeader) + sizeof(KprobeWaveExtent))) /
                 8;
      });
  EXPECT_EQ(Result.Waves, 3u);
  EXPECT_EQ(Events, 3u + 8u + 8u);
  EXPECT_EQ(Slots.Bytes, std::vector<uint8_t>(Slots.Bytes.size(), 0));
}

// Every wave of a grid of 3 x 2 x 4 groups of 5 waves, counted as a GPU counts
// them; all are sampled, or every fourth, or those of every fourth group.
TEST(Waves, FillsInWhatFollowsFromTheSlot) {
  using Shifts = std::pair<uint32_t, uint32_t>;
  for (auto [Shift, GroupShift] : {Shifts(0, 0), Shifts(2, 0), Shifts(0, 2)}) {
    SlotMemory Slots(3 * 2 * 4 * 5 >> Shift >> GroupShift, 64);
    Slots.Plan.SampleShift = Shift;
    Slots.Plan.GroupShift = GroupShift;
    uint64_t Index = 0, Slot = 0;
    std::vector<KprobeWaveHeader> Expected;
    for (uint32_t Z = 0; Z < 4; ++Z)
      for (uint32_t Y = 0; Y < 2; ++Y)
        for (uint32_t X = 0; X < 3; ++X)
          for (uint32_t Wave = 0; Wave < 5; ++Wave, ++Index) {
            if (Index % (1u << Shift) || Index / 5 % (1u << GroupShift))
              continue;
            Slots.write(Slot++, KPROBE_WAVE_ENDED, 0);
            KprobeWaveHeader Header = {};
            Header.State = KPROBE_WAVE_ENDED;
            Header.BeginTicks = 1;
            Header.EndTicks = 2;
            Header.WaveIndex = Index;
            Header.Workgroup[0] = X;
            Header.Workgroup[1] = Y;
            Header.Workgroup[2] = Z;
            Header.WaveInGroup = Wave;
            Header.RingBytes = 64;
            Expected.push_back(Header);
          }
    std::vector<KprobeWaveHeader> Got;
    drainWaves(1, Slots.Bytes.data(), Slots.Plan, {3, 2, 5}, true, 1 << 20,
               [&](const std::vector<uint8_t> &Payload) {
                 size_t At = sizeof(KprobeWavesRecord);
                 for (; At < Payload.size();
                      At += sizeof(KprobeWaveHeader) + sizeof(KprobeWaveExtent))
                   std::memcpy(&Got.emplace_back(), &Payload[At],
                               sizeof(KprobeWaveHeader));
               });
    ASSERT_EQ(Got.size(), Expected.size());
    for (size_t I = 0; I < Got.size(); ++I)
      EXPECT_EQ(std::memcmp(&Got[I], &Expected[I], sizeof(Got[I])), 0)
          << "slot " << I << ", shifts " << Shift << " " << GroupShift;
  }
}

// Places that a wave passed by are gone, untimed events have the cursor that they
// would have had, also in a wave that did not end.
TEST(Waves, ClosesGapsBetweenPlaces) {
  const uint32_t Timed = KPROBE_TAG_WHOLE(KPROBE_EVENT_BLOCK, 3);
  const uint32_t Untimed =
      KPROBE_TAG_WHOLE(KPROBE_EVENT_BLOCK | KPROBE_EVENT_UNTIMED, 4);
  for (uint32_t State : {KPROBE_WAVE_ENDED, KPROBE_WAVE_BEGUN}) {
    SlotMemory Slots(1, 64);
    Slots.write(0, State, 0);
    const KprobeEvent Ring[8] = {{}, {111, Timed}, {}, {222, Untimed},
                                 {}, {333, Timed}, {}, {}};
    std::memcpy(&Slots.Bytes[sizeof(KprobeWaveHeader)], Ring, sizeof(Ring));
    WaveGrid Grid;
    Grid.HasPlaces = true;
    std::vector<uint8_t> Got;
    drainWaves(1, Slots.Bytes.data(), Slots.Plan, Grid, true, 1 << 20,
               [&](const std::vector<uint8_t> &Payload) { Got = Payload; });
    const KprobeEvent Expected[] = {{111, Timed}, {8, Untimed}, {333, Timed}};
    const size_t At = sizeof(KprobeWavesRecord);
    const size_t Events =
        At + sizeof(KprobeWaveHeader) + sizeof(KprobeWaveExtent);
    ASSERT_EQ(Got.size(), Events + sizeof(Expected));
    EXPECT_EQ(std::memcmp(&Got[Events], Expected, sizeof(Expected)), 0);
    KprobeWaveHeader Header;
    KprobeWaveExtent Extent;
    std::memcpy(&Header, &Got[At], sizeof(Header));
    std::memcpy(&Extent, &Got[At + sizeof(Header)], sizeof(Extent));
    bool HasEnded = State == KPROBE_WAVE_ENDED;
    EXPECT_EQ(Header.Cursor, HasEnded ? sizeof(Expected) : 0u);
    EXPECT_EQ(Extent.EventBytes, sizeof(Expected));
    EXPECT_EQ(Extent.Flags, HasEnded ? 0u : KPROBE_EXTENT_RAW);
    EXPECT_EQ(Slots.Bytes, std::vector<uint8_t>(Slots.Bytes.size(), 0));
  }
}

TEST(Waves, LeavesRunningWavesAlone) {
  SlotMemory Slots(1, 64);
  Slots.write(0, KPROBE_WAVE_BEGUN, 16);
  std::vector<uint8_t> Before = Slots.Bytes;
  drainWaves(1, Slots.Bytes.data(), Slots.Plan, {}, false, 1 << 20,
             [](const std::vector<uint8_t> &) {});
  EXPECT_EQ(Slots.Bytes, Before);
}

TEST(Waves, SplitsAtTheChunkSize) {
  SlotMemory Slots(100, 64);
  for (uint64_t I = 0; I < 100; ++I)
    Slots.write(I, KPROBE_WAVE_ENDED, 64);
  uint64_t Waves = 0;
  unsigned Chunks = 0;
  drainWaves(1, Slots.Bytes.data(), Slots.Plan, {}, true, 1000,
             [&](const std::vector<uint8_t> &Payload) {
               KprobeWavesRecord Record;
               std::memcpy(&Record, Payload.data(), sizeof(Record));
               EXPECT_LE(Payload.size(), 1000u);
               Waves += Record.WaveCount;
               ++Chunks;
             });
  EXPECT_EQ(Waves, 100u);
  EXPECT_EQ(Chunks, 25u); // four waves of 208 bytes, and 16 for the record
}

// ------------------------------------------------------------------- Clocks

namespace {
// A device at 100 MHz that began at system time 1 s; system = monotonic + 7 s.
struct ScriptedClocks {
  uint64_t Now = 2000000000ull;
  uint64_t Step = 100;
  bool SystemFails = false;
  ClockSources sources() {
    ClockSources Sources;
    Sources.SystemHz = 1000000000ull;
    Sources.MonotonicNs = [this] { return Now += Step; };
    Sources.SystemTicks = [this](uint64_t &Value) {
      Value = Now + 7000000000ull + Step / 2;
      return !SystemFails;
    };
    Sources.Convert = [](uint64_t Tick, uint64_t &System) {
      System = Tick * 10 + 1000000000ull;
      return true;
    };
    return Sources;
  }
};
} // namespace

TEST(Clocks, PairIsConsistent) {
  ScriptedClocks Clocks;
  KprobeClockRecord Record =
      sampleClock(Clocks.sources(), 3, 500000000, 100000000);
  EXPECT_EQ(Record.Agent, 3u);
  EXPECT_EQ(Record.SystemTicks, Record.DeviceTicks * 10 + 1000000000ull);
  EXPECT_EQ(Record.SystemTicks - Record.MonotonicNs, 7000000000ull);
  EXPECT_NEAR(double(Record.MonotonicNs), 2e9, 1000);
}

TEST(Clocks, WithoutATickThereIsNoPair) {
  ScriptedClocks Clocks;
  EXPECT_EQ(sampleClock(Clocks.sources(), 0, 0, 100000000).DeviceTicks, 0u);
  EXPECT_EQ(sampleClock(Clocks.sources(), 0, 5, 0).DeviceTicks, 0u);
}

TEST(Clocks, SurvivesAFailingOrJumpingClock) { // B61
  ScriptedClocks Clocks;
  Clocks.SystemFails = true;
  KprobeClockRecord Record =
      sampleClock(Clocks.sources(), 0, 500000000, 100000000);
  EXPECT_EQ(Record.SystemTicks, 0u);
  EXPECT_EQ(Record.DeviceTicks, 0u);
  // The system clock fell behind a tick already seen: the tick stays.
  ScriptedClocks Jumped;
  Jumped.Now = 1000;
  Record = sampleClock(Jumped.sources(), 0, 800000000, 100000000);
  EXPECT_EQ(Record.DeviceTicks, 800000000u);
  EXPECT_EQ(Record.SystemTicks, 9000000000ull);
}

TEST(Clocks, ChoosesTheBestSource) { // A27
  std::string Text;
  EXPECT_EQ(chooseTickHz(25000000, 0, 100000000, Text), 25000000u);
  EXPECT_EQ(Text, "");
  EXPECT_EQ(chooseTickHz(0, 100000321, 100000000, Text), 100000000u);
  EXPECT_EQ(Text, "");
  EXPECT_EQ(chooseTickHz(0, 25000000, 100000000, Text), 25000000u);
  EXPECT_NE(Text, "");
  EXPECT_EQ(chooseTickHz(0, 48000000, 0, Text), 48000000u);
  EXPECT_EQ(chooseTickHz(0, 0, 100000000, Text), 100000000u);
  EXPECT_NE(Text.find("nominal"), std::string::npos);
  EXPECT_EQ(chooseTickHz(0, 0, 0, Text), 0u);
  ScriptedClocks Clocks;
  EXPECT_EQ(measureTickHz(Clocks.sources(), 500000000), 100000000u);
}

// ---------------------------------------------------------------- GridShape

static GridShape shape(std::vector<uint32_t> Grid, std::vector<uint16_t> Group,
                       uint32_t WaveSize = 64) {
  hsa_kernel_dispatch_packet_t Packet = {};
  Packet.setup = uint16_t(Grid.size());
  Grid.resize(3, 77); // what is not used may be anything
  Group.resize(3, 77);
  Packet.grid_size_x = Grid[0];
  Packet.grid_size_y = Grid[1];
  Packet.grid_size_z = Grid[2];
  Packet.workgroup_size_x = Group[0];
  Packet.workgroup_size_y = Group[1];
  Packet.workgroup_size_z = Group[2];
  return gridShape(Packet, WaveSize);
}

TEST(GridShape, CountsWavesOfOddBlocks) { // B39
  const std::pair<unsigned, unsigned> Waves64[] = {
      {1, 1}, {31, 1}, {33, 1}, {65, 2}, {96, 2}, {1000, 16}};
  for (auto &Case : Waves64)
    EXPECT_EQ(shape({Case.first}, {uint16_t(Case.first)}).Waves, Case.second);
  EXPECT_EQ(shape({65}, {65}, 32).Waves, 3u);
}

TEST(GridShape, CountsPartialGroups) {
  // 100 items in groups of 64: one whole group, one of 36.
  GridShape Shape = shape({100}, {64});
  EXPECT_EQ(Shape.GroupsX, 2u);
  EXPECT_EQ(Shape.Waves, 2u);
  // 20 x 20 in groups of 16 x 16: 4 + 1 + 1 + 1 waves.
  Shape = shape({20, 20}, {16, 16});
  EXPECT_EQ(Shape.GroupsX * Shape.GroupsY, 4u);
  EXPECT_EQ(Shape.WavesPerGroup, 4u);
  EXPECT_EQ(Shape.Waves, 7u);
  EXPECT_EQ(Shape.WaveIndices, 16u);
}

TEST(GridShape, ReachesBeyond32Bits) { // B40
  GridShape Shape = shape({16777216u * 16u, 65535, 65535}, {256, 1, 1});
  EXPECT_EQ(Shape.Waves, 1048576ull * 65535 * 65535 * 4);
  Shape = shape({UINT32_MAX, UINT32_MAX, UINT32_MAX}, {1, 1, 1});
  EXPECT_EQ(Shape.Waves, UINT64_MAX); // saturates
  EXPECT_EQ(shape({0}, {64}).Waves, 0u);
  EXPECT_EQ(shape({64}, {0}).Waves, 64u);
}
