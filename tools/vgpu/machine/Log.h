//===- Log.h - The execution log, for tests that need the truth -------------===//
//
// Text, one record a line; the format is documented in tools/vgpu/README.md,
// "Execution log". Which addresses are block entries is either given in a file
// (KPROBE_VGPU_LOG_PCS) or found by following the kernel's branches.
//
//===----------------------------------------------------------------------===//
#ifndef VGPU_MACHINE_LOG_H
#define VGPU_MACHINE_LOG_H

#include "core/CodeCache.h"

#include <cstdint>
#include <cstdio>
#include <list>
#include <map>
#include <memory>
#include <string>
#include <unordered_set>
#include <vector>

namespace vgpu {

struct Dispatch;
struct MachineWave;

/// The records of one dispatch. They stay together in the file: of dispatches
/// that run at the same time one is written as it goes, the others wait here.
struct LogSection {
  std::string Name; ///< QUEUE.INDEX, unique in the process.
  uint64_t Entry = 0;
  std::unordered_set<uint64_t> Leaders;
  std::string Text; ///< Not yet written.
  bool Ended = false;
};

class ExecutionLog {
public:
  /// Opens KPROBE_VGPU_LOG if that is set; says on stderr what went wrong.
  ExecutionLog();
  ~ExecutionLog();

  bool enabled() const { return File != nullptr; }

  void beginDispatch(Dispatch &D, CodeCache &Code);
  void endDispatch(Dispatch &D, const char *How);
  /// Before an instruction runs; writes a B record if it opens a block.
  void step(MachineWave &W, uint64_t Pc, uint64_t Exec, uint64_t Clock);
  void time(const MachineWave &W, uint64_t Pc, uint64_t Value, bool RealTime);
  void endWave(const MachineWave &W, uint64_t Clock);
  void flush();

private:
  void findLeaders(LogSection &Section, CodeCache &Code);
  void add(LogSection &Section, const char *Format, ...) __attribute__((format(printf, 3, 4)));
  void wave(const MachineWave &W, char Kind);
  void write(LogSection &Section);

  std::FILE *File = nullptr;
  bool Given = false; ///< Leaders came from KPROBE_VGPU_LOG_PCS.
  std::map<std::string, std::vector<uint64_t>> GivenPcs;
  /// By the begin of their dispatch; the first one is the one that is written.
  std::list<std::shared_ptr<LogSection>> Open;
};

} // namespace vgpu
#endif
