// What a dump says about a process, with references resolved.
//
// DumpVerifier fills a Trace record by record and calls a TraceSink, so that a
// sink sees a dispatch with its agent, table and kernel rather than numbers.
#ifndef KPROBE_DECODE_TRACE_H
#define KPROBE_DECODE_TRACE_H

#include "DumpReader.h"
#include "HostEvents.h"
#include "SiteTable.h"

#include <map>
#include <memory>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

namespace kprobe {

struct Process {
  KprobeProcessRecord Record = {};
  std::string Executable;
  std::string Command; ///< arguments joined by spaces
  std::string Version;
};

struct Machine {
  KprobeMachineRecord Record = {};
  std::string HostName;
  std::string System;
};

struct Counter {
  std::string Name;
  std::string Unit;
};

struct Agent {
  KprobeAgentRecord Record = {};
  std::string Target;
  std::string Name;
  std::vector<KprobeClockRecord> Clocks;
  bool isVirtual() const { return Record.Flags & KPROBE_AGENT_VIRTUAL; }
};

struct Dispatch {
  KprobeDispatchRecord Record = {};
  std::string Name;                 ///< mangled; "" when nobody knows it
  const Agent *Where = nullptr;     ///< never null in a sink
  const SiteTable *Table = nullptr; ///< null: not instrumented
  const KprobeKernelRecord *Kernel = nullptr; ///< null: not instrumented
  uint64_t WavesSeen = 0;
};

/// A file that was mapped into the process.
struct Module {
  KprobeModuleRecord Record = {};
  std::string Path;
  std::string BuildId; ///< raw bytes
};

/// The call that a dispatch was submitted in.
struct Cause {
  uint64_t Call;   ///< 0: none was recorded
  uint32_t Thread; ///< number of the HostThread
};

struct Trace {
  std::optional<Process> Owner;
  std::optional<Machine> Where;
  std::map<uint32_t, Agent> Agents;
  std::map<uint64_t, std::unique_ptr<SiteTable>> Tables; ///< by content hash
  std::vector<const SiteTable *> TablesInOrder;          ///< of the file
  std::unordered_map<uint64_t, Dispatch> Dispatches;     ///< by number
  std::map<uint32_t, ApiTable> Apis;                     ///< by domain
  std::map<uint32_t, HostThread> Threads;                ///< by number
  std::map<uint32_t, Counter> Counters;                  ///< by number
  std::vector<Module> Modules;                           ///< in order of time
  /// By content hash of the table and index of the kernel.
  std::map<std::pair<uint64_t, uint32_t>, KprobeResourcesRecord> Resources;
  std::unordered_map<uint64_t, Cause> Causes;            ///< by dispatch
  std::optional<KprobeSummaryRecord> Summary;
  std::vector<std::string> Messages;
  uint64_t UnknownChunks = 0;

  /// The recorded call that submitted a dispatch, or null.
  const Cause *causeOf(uint64_t Dispatch) const {
    auto Found = Causes.find(Dispatch);
    return Found != Causes.end() && Found->second.Call != 0 ? &Found->second
                                                            : nullptr;
  }

  /// The function that a call names, with its table. Never null for a call
  /// that a sink sees.
  const ApiTable *tableOf(const KprobeHostEvent &Head) const {
    auto Found = Apis.find(Head.Function >> 16);
    return Found == Apis.end() ? nullptr : &Found->second;
  }
  const ApiFunction *functionOf(const KprobeHostEvent &Head) const {
    const ApiTable *Table = tableOf(Head);
    uint32_t Index = Head.Function & 0xffff;
    return Table && Index < Table->functions().size()
               ? &Table->functions()[Index]
               : nullptr;
  }
};

/// Receives a legal sequence of records. References live until the Trace goes,
/// but for the events of a wave, which live for the call.
class TraceSink {
public:
  virtual ~TraceSink() = default;
  virtual Error process(const Process &) { return Error::success(); }
  virtual Error agent(const Agent &) { return Error::success(); }
  virtual Error table(const SiteTable &) { return Error::success(); }
  virtual Error dispatch(const Dispatch &) { return Error::success(); }
  virtual Error wave(const Dispatch &, const WaveView &) {
    return Error::success();
  }
  /// A piece of a thread's stream that HostEventReader reads without a fault.
  virtual Error hostEvents(const HostThread &, const ByteReader &) {
    return Error::success();
  }
};

} // namespace kprobe

#endif
