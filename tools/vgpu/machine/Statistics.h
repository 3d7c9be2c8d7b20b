//===- Statistics.h - Counters of dispatches, as tables and as JSON ---------===//
//
// KPROBE_VGPU_STATS names a text file (or "-", stderr) that each dispatch's
// counters are appended to, and at the end sums by kernel. KPROBE_VGPU_STATS_JSON
// names a JSON file that is whole after every dispatch, however the process ends.
// One writer for a process: its devices share the files.
//
// All cycles are modelled; only host-microseconds is real time.
//
//===----------------------------------------------------------------------===//
#ifndef VGPU_MACHINE_STATISTICS_H
#define VGPU_MACHINE_STATISTICS_H

#include "core/Inst.h"

#include <cstdint>
#include <cstdio>
#include <map>
#include <memory>
#include <mutex>
#include <string>

namespace vgpu {

/// Of one dispatch, or summed over several.
struct Counters {
  uint64_t Dispatches = 0;
#define VGPU_COUNTER(Field, Name) uint64_t Field = 0;
#include "machine/Counters.def"
  uint64_t Instructions[unsigned(OpClass::Count)] = {}; ///< Wave instructions by class.
  double HostSeconds = 0; ///< Processor time that running it took.

  void add(const Counters &Other);
  uint64_t allInstructions() const;
};

/// True for instructions that each active lane has its own part in.
constexpr bool isVectorClass(OpClass C) {
  return C >= OpClass::Valu && (C < OpClass::SmemLoad || C > OpClass::SmemOther);
}

/// One dispatch, with what it was launched as.
struct DispatchRecord {
  uint64_t Index = 0; ///< Of its packet in the queue.
  uint32_t Queue = 0;
  std::string Kernel, Target;
  const char *Status = "completed";
  uint32_t Grid[3] = {}, Group[3] = {};
  uint32_t Vgprs = 0, Sgprs = 0, LdsBytes = 0, ScratchBytes = 0;
  /// Waves of this kernel that a SIMD can hold, and what keeps it from more.
  unsigned WavesPerSimd = 0;
  const char *Limit = "";
  Counters Sums;
};

class Statistics {
public:
  /// Of this process; reads the environment once.
  static Statistics &get();
  /// Empty paths: that output is not wanted.
  Statistics(std::string TextPath, std::string JsonPath);
  ~Statistics();

  bool enabled() const { return !TextPath.empty() || !JsonPath.empty(); }
  void add(const DispatchRecord &Record);
  /// Writes the sums to the text output. To be called when nothing more may come,
  /// and again if it did.
  void finish();
  void resetLockAfterFork();

private:
  void writeText(const DispatchRecord &Record);
  void writeJson(const DispatchRecord *Record);

  std::mutex Lock;
  std::string TextPath, JsonPath;
  std::FILE *Text = nullptr;
  int JsonFile = -1;
  uint64_t JsonRows = 0, JsonEnd = 0; ///< JsonEnd: where the next row goes.
  std::map<std::string, Counters> Kernels;
  Counters Total;
  uint64_t Reported = 0; ///< Dispatches that finish() has summed.
};

} // namespace vgpu
#endif
