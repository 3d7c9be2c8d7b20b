// The dump of this process: one file, one numbering, one summary, whoever
// writes it. Two may, one after the other: HostDump from the process's start,
// the tracer's drain thread once ROCr has loaded us.
#ifndef KPROBE_RUNTIME_PROCESSDUMP_H
#define KPROBE_RUNTIME_PROCESSDUMP_H

#include "Config.h"
#include "DumpWriter.h"
#include "KnownAgents.h"
#include "kprobe/wire.h"

namespace kprobe {

// Outlives each loading of the tool (hsa_shut_down followed by hsa_init).
struct ProcessDump {
  DumpWriter Writer;
  KprobeSummaryRecord Summary = {};
  std::atomic<uint64_t> DispatchCounter{0};
  std::atomic<uint32_t> QueueCounter{0};
  KnownAgents Agents;
  bool CountersDescribed = false; // only the thread that writes

  // Null until it is opened. Never destroyed: no destructor of ours may run
  // while ROCr's threads live.
  static ProcessDump *get();
  // The one that is open, or a new file; null with the reason in Why. Only one
  // caller at a time.
  static ProcessDump *open(const Config &Settings, std::string &Why);

private:
  // The PROCESS chunk, which comes before all others, and the machine's.
  bool writeProcess(std::string &Why);
  bool writeMachine(std::string &Why);
};

} // namespace kprobe

#endif
