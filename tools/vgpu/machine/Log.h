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
#include <map>
#include <string>
#include <unordered_set>
#include <vector>

namespace vgpu {

struct MachineWave;

class ExecutionLog {
public:
  /// Opens KPROBE_VGPU_LOG if that is set; says on stderr what went wrong.
  ExecutionLog();
  ~ExecutionLog();

  bool enabled() const { return File != nullptr; }

  void beginDispatch(uint64_t Dispatch, uint32_t Queue, uint64_t Packet, const std::string &Kernel,
                     uint64_t Entry, CodeCache &Code);
  void endDispatch(uint64_t Cycles, const char *How);
  /// Before an instruction runs; writes a B record if it opens a block.
  void step(MachineWave &W, uint64_t Pc, uint64_t Exec, uint64_t Clock);
  void time(const MachineWave &W, uint64_t Pc, uint64_t Value, bool RealTime);
  void endWave(const MachineWave &W, uint64_t Clock);
  void flush();

private:
  void findLeaders(uint64_t Entry, CodeCache &Code);
  void wave(const MachineWave &W, char Kind);

  std::FILE *File = nullptr;
  std::string Dispatch; ///< QUEUE.INDEX, unique in the process.
  uint64_t Entry = 0;
  bool Given = false; ///< Leaders came from KPROBE_VGPU_LOG_PCS.
  std::map<std::string, std::vector<uint64_t>> GivenPcs;
  std::unordered_set<uint64_t> Leaders;
};

} // namespace vgpu
#endif
