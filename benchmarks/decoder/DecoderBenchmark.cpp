// Events a second on one core, from the bytes of a dump to finished statistics.
//
// The dump is synthetic: 16 Mi events in waves of 4096, 24 sites visited as
// loops do, block times spread over three decades. Checksums are verified, as
// in kprobe-decode. Run: BUILD/benchmarks/decoder-benchmark
#include "DumpBuilder.h"
#include "DumpVerifier.h"
#include "Statistics.h"
#include "StatisticsReport.h"
#include "Timeline.h"

#include <benchmark/benchmark.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <unistd.h>

using namespace kprobe;

namespace {

constexpr uint32_t Sites = 24;
constexpr uint64_t WaveEvents = 4096, Waves = 4096, WavesInChunk = 128;
constexpr uint64_t Events = WaveEvents * Waves;

void addWave(Bytes &Payload, uint64_t Index, uint32_t &Random) {
  KprobeWaveHeader H = {};
  H.State = KPROBE_WAVE_ENDED;
  H.WaveIndex = Index;
  H.RingBytes = WaveEvents * 8;
  H.Cursor = H.RingBytes;
  // About 240 waves run at a time.
  H.BeginCycles = 0xfff00000 + Index * 35000;
  H.BeginTicks = 100000 + Index * 35000 / 15;
  std::vector<KprobeEvent> Ring;
  uint64_t Clock = H.BeginCycles;
  for (uint64_t I = 0; I < WaveEvents; ++I) {
    // An inner loop of four blocks, entered from others now and then.
    uint32_t Site =
        I % 32 < 28 ? 8 + I % 4 : static_cast<uint32_t>(I / 32) % Sites;
    Random = Random * 1664525 + 1013904223;
    uint32_t Lanes = Random >> 29 ? 64 : 1 + (Random >> 20) % 64;
    Clock += 20 + ((Random >> 8) & ((Random >> 30) == 3 ? 0x3fff : 0x7f));
    Ring.push_back(makeEvent(Site, Lanes, static_cast<uint32_t>(Clock)));
  }
  H.EndCycles = Clock + 100;
  H.EndTicks = H.BeginTicks + (H.EndCycles - H.BeginCycles) / 15;
  Payload.record(H);
  Payload.record(KprobeWaveExtent{H.RingBytes, 0, 0});
  Payload.raw(Ring.data(), Ring.size() * 8);
}

std::vector<uint8_t> makeBenchmarkDump() {
  DumpBuilder Dump;
  KprobeProcessRecord P = {};
  P.StartMonotonicNs = 1000000;
  Dump.process(P, "benchmark", "benchmark", "synthetic");
  KprobeAgentRecord A = {};
  A.TickHz = 100000000;
  A.CycleHz = 1500000000;
  Dump.agent(A, "gfx906", "");
  TableBuilder Table;
  Table.Kernels = {{"_Z1kv", "_Z1kv.kprobe", {{"_Z1kv", "k.cpp", 1, {}}}}};
  for (uint32_t I = 0; I < Sites; ++I) {
    TableBuilder::Site S;
    S.Block = "block" + std::to_string(I);
    S.File = "k.cpp";
    S.Record.Line = I + 1;
    S.Record.LoopHeader = KPROBE_NO_INDEX;
    Table.Kernels[0].Functions[0].Sites.push_back(S);
  }
  std::vector<uint8_t> TableBytes = Table.build();
  Dump.chunk(KPROBE_CHUNK_SITE_TABLE, TableBytes);
  Dump.plain(KPROBE_CHUNK_CLOCK,
             KprobeClockRecord{0, 0, 2000000, 2000000, 1000000000, 100000});
  KprobeDispatchRecord D = {};
  D.Dispatch = 1;
  D.TableHash = tableHash(TableBytes);
  D.WaveCount = D.SlotCount = Waves;
  Dump.dispatch(D, "");
  uint32_t Random = 1;
  for (uint64_t First = 0; First < Waves; First += WavesInChunk) {
    Bytes Payload;
    Payload.record(KprobeWavesRecord{1, WavesInChunk});
    for (uint64_t I = 0; I < WavesInChunk; ++I)
      addWave(Payload, First + I, Random);
    Dump.chunk(KPROBE_CHUNK_WAVES, Payload.Data);
  }
  Dump.plain(KPROBE_CHUNK_SUMMARY, KprobeSummaryRecord{1, 1, {1}, 0, 0});
  return Dump.data();
}

const std::vector<uint8_t> &dump() {
  static const std::vector<uint8_t> Bytes = makeBenchmarkDump();
  return Bytes;
}

void report(benchmark::State &State) {
  State.SetItemsProcessed(State.iterations() * static_cast<int64_t>(Events));
}

void statisticsFrom(ByteSource &Source, benchmark::State &State) {
  Statistics S;
  if (Error E = readTrace(Source, S.open(), S))
    State.SkipWithError(E.text().c_str());
  S.finish();
  if (S.eventTotals().Kept != Events)
    State.SkipWithError("events are missing");
  benchmark::DoNotOptimize(statisticsText(S, {}));
}

void statisticsFromMemory(benchmark::State &State) {
  for (auto Unused : State) {
    (void)Unused;
    MemorySource Source(dump().data(), dump().size());
    statisticsFrom(Source, State);
  }
  report(State);
}
BENCHMARK(statisticsFromMemory)->Unit(benchmark::kMillisecond);

/// A file that exists while this object does.
struct TemporaryFile {
  char Path[40] = "/tmp/kprobe-benchmark-XXXXXX";
  TemporaryFile() {
    int File = mkstemp(Path);
    std::FILE *Out = File < 0 ? nullptr : fdopen(File, "wb");
    if (!Out ||
        std::fwrite(dump().data(), 1, dump().size(), Out) != dump().size() ||
        std::fclose(Out) != 0) {
      std::fprintf(stderr, "decoder-benchmark: error: %s: cannot be written\n",
                   Path);
      std::exit(1);
    }
  }
  ~TemporaryFile() { unlink(Path); }
};

/// As `kprobe-decode stats` does it; the file is in the page cache.
void statisticsFromFile(benchmark::State &State) {
  TemporaryFile File;
  for (auto Unused : State) {
    (void)Unused;
    FileSource Source;
    if (Error E = Source.open(File.Path))
      State.SkipWithError(E.text().c_str());
    statisticsFrom(Source, State);
  }
  report(State);
}
BENCHMARK(statisticsFromFile)->Unit(benchmark::kMillisecond);

/// All events in the order of real time, as the converters take them.
void timelineFromMemory(benchmark::State &State) {
  for (auto Unused : State) {
    (void)Unused;
    MemorySource Source(dump().data(), dump().size());
    Timeline T;
    if (Error E = T.open(Source))
      State.SkipWithError(E.text().c_str());
    TimelineItem Item;
    bool Done = false;
    uint64_t Blocks = 0;
    while (!T.next(Item, Done) && !Done)
      Blocks += Item.What == TimelineItem::Kind::Block;
    if (Blocks != Events)
      State.SkipWithError("events are missing");
  }
  report(State);
}
BENCHMARK(timelineFromMemory)->Unit(benchmark::kMillisecond);

} // namespace

int main(int Count, char **Arguments) {
  dump(); // outside of what is measured
  benchmark::Initialize(&Count, Arguments);
  benchmark::RunSpecifiedBenchmarks();
  return 0;
}
