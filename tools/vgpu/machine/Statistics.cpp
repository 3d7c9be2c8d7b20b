//===- Statistics.cpp - Counters of dispatches, as tables and as JSON -------===//
#include "machine/Statistics.h"

#include "machine/Timing.h"

#include <nlohmann/json.hpp>

#include <algorithm>
#include <cerrno>
#include <cinttypes>
#include <cstdlib>
#include <cstring>
#include <fcntl.h>
#include <new>
#include <unistd.h>
#include <vector>

namespace vgpu {

using Json = nlohmann::ordered_json;

void Counters::add(const Counters &Other) {
  Dispatches += Other.Dispatches;
#define VGPU_COUNTER(Field, Name) Field += Other.Field;
#include "machine/Counters.def"
  for (unsigned I = 0; I < unsigned(OpClass::Count); ++I)
    Instructions[I] += Other.Instructions[I];
  HostSeconds += Other.HostSeconds;
}

uint64_t Counters::allInstructions() const {
  uint64_t Sum = 0;
  for (uint64_t N : Instructions)
    Sum += N;
  return Sum;
}

namespace {

/// A part of a whole, for a person and for JSON; undefined for nothing of nothing.
struct Ratio {
  const char *Name;
  uint64_t Part, Whole;
  bool defined() const { return Whole != 0; }
  double value() const { return double(Part) / double(Whole); }
};

std::vector<Ratio> ratios(const Counters &C) {
  return {{"lanes_active", C.ActiveLanes, C.LaneSlots},
          {"occupancy", C.WaveCycles, C.SlotCycles},
          {"l1_hit_rate", C.L1Hits, C.L1Hits + C.L1Misses},
          {"scalar_hit_rate", C.ScalarHits, C.ScalarHits + C.ScalarMisses},
          {"l2_hit_rate", C.L2Hits, C.L2Hits + C.L2Misses}};
}

/// "l1_hits" as tables write it.
std::string tableName(const char *Name) {
  std::string Text = Name;
  std::replace(Text.begin(), Text.end(), '_', '-');
  return Text;
}

std::string percent(const Ratio &R) {
  char Text[16];
  std::snprintf(Text, sizeof Text, "%.1f", 100 * R.value());
  return R.defined() ? Text : "-";
}

Json toJson(const Counters &C) {
  Json Out;
#define VGPU_COUNTER(Field, Name) Out[Name] = C.Field;
#include "machine/Counters.def"
  Out["instructions"] = C.allInstructions();
  Json &Classes = Out["instructions_by_class"] = Json::object();
  for (unsigned I = 0; I < unsigned(OpClass::Count); ++I)
    if (C.Instructions[I])
      Classes[ClassNames[I]] = C.Instructions[I];
  for (const Ratio &R : ratios(C))
    Out[R.Name] = R.defined() ? Json(R.value()) : Json();
  Out["host_microseconds"] = uint64_t(C.HostSeconds * 1e6);
  return Out;
}

Json toJson(const DispatchRecord &R) {
  Json Out = {{"dispatch", std::to_string(R.Queue) + "." + std::to_string(R.Index)},
              {"kernel", R.Kernel},
              {"target", R.Target},
              {"status", R.Status},
              {"grid", R.Grid},
              {"workgroup", R.Group},
              {"vgprs", R.Vgprs},
              {"sgprs", R.Sgprs},
              {"lds_bytes", R.LdsBytes},
              {"scratch_bytes", R.ScratchBytes},
              {"waves_per_simd", R.WavesPerSimd},
              {"waves_limited_by", R.Limit}};
  Out.update(toJson(R.Sums));
  return Out;
}

/// In one line; a kernel's name may be anything.
std::string text(const Json &Value) {
  return Value.dump(-1, ' ', false, Json::error_handler_t::replace);
}

/// %p is the process id.
std::string expand(const char *Path) {
  std::string Text = Path ? Path : "";
  const size_t At = Text.find("%p");
  if (At != std::string::npos)
    Text.replace(At, 2, std::to_string(getpid()));
  return Text;
}

void warn(const std::string &Path) {
  std::fprintf(stderr, "kprobe-vgpu: warning: cannot write statistics %s: %s\n", Path.c_str(),
               std::strerror(errno));
}

} // namespace

Statistics &Statistics::get() {
  // Never destroyed: a queue's thread may outlive static objects.
  static Statistics *Instance = new Statistics(expand(std::getenv("KPROBE_VGPU_STATS")),
                                               expand(std::getenv("KPROBE_VGPU_STATS_JSON")));
  return *Instance;
}

Statistics::Statistics(std::string TextName, std::string JsonName)
    : TextPath(std::move(TextName)), JsonPath(std::move(JsonName)) {
  if (TextPath == "-") {
    Text = stderr;
  } else if (!TextPath.empty()) {
    Text = std::fopen(TextPath.c_str(), "ae");
    if (!Text) {
      warn(TextPath);
      TextPath.clear();
    }
  }
  if (!JsonPath.empty()) {
    JsonFile = open(JsonPath.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
    writeJson(nullptr);
  }
}

Statistics::~Statistics() {
  if (Text && Text != stderr)
    std::fclose(Text);
  if (JsonFile >= 0)
    close(JsonFile);
}

void Statistics::resetLockAfterFork() { new (&Lock) std::mutex; }

void Statistics::add(const DispatchRecord &Record) {
  std::lock_guard<std::mutex> Guard(Lock);
  Kernels[Record.Kernel].add(Record.Sums);
  Total.add(Record.Sums);
  if (!TextPath.empty())
    writeText(Record);
  if (!JsonPath.empty())
    writeJson(&Record);
}

void Statistics::writeText(const DispatchRecord &R) {
  const Counters &C = R.Sums;
  auto Row = [&](const std::string &Name, uint64_t Value) {
    std::fprintf(Text, "  %-20s %14" PRIu64 "\n", Name.c_str(), Value);
  };
  std::fprintf(Text, "dispatch %" PRIu64 " of queue %u: %s\n", R.Index, R.Queue, R.Kernel.c_str());
#define VGPU_COUNTER(Field, Name) Row(tableName(Name), C.Field);
#include "machine/Counters.def"
  Row("instructions", C.allInstructions());
  for (unsigned I = 0; I < unsigned(OpClass::Count); ++I)
    if (C.Instructions[I])
      Row(std::string(" ") + ClassNames[I], C.Instructions[I]);
  for (const Ratio &Part : ratios(C))
    std::fprintf(Text, "  %-20s %14s %%\n", tableName(Part.Name).c_str(), percent(Part).c_str());
  std::fprintf(Text, "  %-20s %14u (limit: %s)\n", "waves-per-simd", R.WavesPerSimd, R.Limit);
  // Not modelled: processor time that running it took.
  Row("host-microseconds", uint64_t(C.HostSeconds * 1e6));
  if (std::fflush(Text) != 0) {
    warn(TextPath);
    TextPath.clear();
  }
}

void Statistics::finish() {
  std::lock_guard<std::mutex> Guard(Lock);
  if (TextPath.empty() || Total.Dispatches == Reported)
    return;
  Reported = Total.Dispatches;
  std::fprintf(Text, "totals (cycles are modelled)\n%10s %14s %10s %14s %7s %7s %7s %7s %10s  %s\n",
               "dispatches", "cycles", "waves", "instructions", "lanes%", "occup%", "l1-hit%",
               "l2-hit%", "conflicts", "kernel");
  auto Row = [&](const Counters &C, const std::string &Name) {
    const std::vector<Ratio> Parts = ratios(C);
    std::fprintf(Text,
                 "%10" PRIu64 " %14" PRIu64 " %10" PRIu64 " %14" PRIu64 " %7s %7s %7s %7s %10" PRIu64
                 "  %s\n",
                 C.Dispatches, C.Cycles, C.Waves, C.allInstructions(), percent(Parts[0]).c_str(),
                 percent(Parts[1]).c_str(), percent(Parts[2]).c_str(), percent(Parts[4]).c_str(),
                 C.LdsConflictCycles, Name.c_str());
  };
  for (const auto &[Name, Sums] : Kernels)
    Row(Sums, Name);
  Row(Total, "(all)");
  std::fflush(Text);
}

/// Puts one more dispatch where the end of the file was, and a new end behind it,
/// in one write: whoever reads the file at any time, or after this process was
/// killed, finds it whole.
void Statistics::writeJson(const DispatchRecord *Record) {
  std::string Row;
  if (!Record)
    Row = "{\"format\": 1, \"cycles\": \"modelled\", \"process\": " + std::to_string(getpid()) +
          ",\n\"dispatches\": [";
  else
    Row = (JsonRows++ ? ",\n" : "\n") + text(toJson(*Record));
  std::string End = "],\n\"kernels\": [";
  for (const auto &[Name, Sums] : Kernels) {
    Json Sum = {{"kernel", Name}, {"dispatches", Sums.Dispatches}};
    Sum.update(toJson(Sums));
    End += (End.back() == '[' ? "\n" : ",\n") + text(Sum);
  }
  Json Sum = {{"dispatches", Total.Dispatches}};
  Sum.update(toJson(Total));
  End += "],\n\"total\": " + text(Sum) + "}\n";

  const std::string All = Row + End;
  size_t Done = 0;
  while (JsonFile >= 0 && Done < All.size()) {
    const ssize_t Part = pwrite(JsonFile, All.data() + Done, All.size() - Done, off_t(JsonEnd + Done));
    if (Part <= 0)
      break;
    Done += size_t(Part);
  }
  if (Done < All.size()) {
    warn(JsonPath);
    JsonPath.clear();
    return;
  }
  JsonEnd += Row.size();
}

} // namespace vgpu
