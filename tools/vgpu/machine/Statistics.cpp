//===- Statistics.cpp - Counters of one dispatch ----------------------------===//
//
// Written where KPROBE_VGPU_STATS says: "-" is stderr, anything else a file that
// is appended to. All cycles are modelled; only host-microseconds is real time.
//
//===----------------------------------------------------------------------===//
#include "machine/Machine.h"

#include <cerrno>
#include <cinttypes>
#include <cstdio>
#include <cstdlib>
#include <cstring>

namespace vgpu {

void Machine::writeStatistics(const DispatchResult &Result) {
  const char *Path = std::getenv("KPROBE_VGPU_STATS");
  if (!Path || !*Path)
    return;
  const bool ToStderr = std::strcmp(Path, "-") == 0;
  std::FILE *Out = ToStderr ? stderr : std::fopen(Path, "a");
  if (!Out) {
    std::fprintf(stderr, "kprobe-vgpu: warning: cannot write statistics %s: %s\n", Path,
                 std::strerror(errno));
    return;
  }
  uint64_t Instructions = 0;
  for (uint64_t N : Executed)
    Instructions += N;
  const MemoryCounters &M = Timing.Counters;
  auto Row = [&](const char *Name, uint64_t Value) {
    std::fprintf(Out, "  %-20s %14" PRIu64 "\n", Name, Value);
  };
  std::fprintf(Out, "dispatch %" PRIu64 " of queue %u: %s\n", Args->DispatchId, Args->QueueId,
               kernelName().c_str());
  Row("modelled-cycles", Result.Cycles);
  Row("workgroups", GroupsPlaced);
  Row("waves", WavesStarted);
  Row("instructions", Instructions);
  for (unsigned I = 0; I < unsigned(OpClass::Count); ++I)
    if (Executed[I])
      Row((std::string(" ") + ClassNames[I]).c_str(), Executed[I]);
  Row("vector-lines", M.VectorLines);
  Row("l1-hits", M.L1Hits);
  Row("l1-misses", M.L1Misses);
  Row("scalar-hits", M.ScalarHits);
  Row("scalar-misses", M.ScalarMisses);
  if (Config.ArrayCacheBytes) {
    Row("array-hits", M.ArrayHits);
    Row("array-misses", M.ArrayMisses);
  }
  Row("l2-hits", M.L2Hits);
  Row("l2-misses", M.L2Misses);
  if (Config.LastCacheBytes) {
    Row("last-cache-hits", M.LastHits);
    Row("last-cache-misses", M.LastMisses);
  }
  Row("lds-conflict-cycles", M.LdsConflictCycles);
  // Not modelled: processor time that running it took.
  Row("host-microseconds", uint64_t(HostSeconds * 1e6));
  if (!ToStderr)
    std::fclose(Out);
}

} // namespace vgpu
