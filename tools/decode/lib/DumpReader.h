// Producer of decoding: bytes in, one visitor call a record out.
//
// Knows the framing (file header, chunks, checksums) and the layout of each
// payload, but not which order is legal: that is DumpVerifier's. Memory is
// bounded by the largest chunk.
#ifndef KPROBE_DECODE_DUMPREADER_H
#define KPROBE_DECODE_DUMPREADER_H

#include "ByteReader.h"
#include "ByteSource.h"
#include "Error.h"
#include "kprobe/wire.h"

#include <string_view>

namespace kprobe {

/// One wave as a dump has it. Pointers live for the call only.
struct WaveView {
  KprobeWaveHeader Header;
  KprobeWaveExtent Extent;
  const KprobeEvent *Events = nullptr;
  uint64_t EventCount = 0;
  uint64_t CounterCount = 0; ///< in mode counters; then they are at Events
  uint64_t EventsOffset = 0; ///< of the events, in the file
};

/// Records in file order. `Offset` is where the record's chunk payload begins.
class DumpVisitor {
public:
  virtual ~DumpVisitor() = default;
  virtual Error process(const KprobeProcessRecord &,
                        std::string_view Executable, std::string_view Command,
                        std::string_view Version, uint64_t Offset) = 0;
  virtual Error agent(const KprobeAgentRecord &, std::string_view Target,
                      std::string_view Name, uint64_t Offset) = 0;
  virtual Error siteTable(const ByteReader &Bytes) = 0;
  virtual Error clock(const KprobeClockRecord &, uint64_t Offset) = 0;
  virtual Error dispatch(const KprobeDispatchRecord &, std::string_view Name,
                         uint64_t Offset) = 0;
  virtual Error waves(const KprobeWavesRecord &, uint64_t Offset) = 0;
  virtual Error wave(const WaveView &, uint64_t Offset) = 0;
  virtual Error summary(const KprobeSummaryRecord &, uint64_t Offset) = 0;
  virtual Error message(std::string_view Text, uint64_t Offset) = 0;
  virtual Error apiTable(const ByteReader &Bytes) = 0;
  virtual Error thread(const KprobeThreadRecord &, std::string_view Name,
                       uint64_t Offset) = 0;
  virtual Error hostEvents(const KprobeHostEventsRecord &,
                           const ByteReader &Events, uint64_t Offset) = 0;
  virtual Error machine(const KprobeMachineRecord &, std::string_view HostName,
                        std::string_view System, uint64_t Offset) = 0;
  virtual Error counter(const KprobeCounterRecord &, std::string_view Name,
                        std::string_view Unit, uint64_t Offset) = 0;
  virtual Error module(const KprobeModuleRecord &, std::string_view Path,
                       std::string_view BuildId, uint64_t Offset) = 0;
  virtual Error resources(const KprobeResourcesRecord &, uint64_t Offset) = 0;
  virtual Error unknownChunk(uint32_t Kind, uint64_t Offset) = 0;
  /// The file ended at a chunk's end.
  virtual Error end(uint64_t Offset) = 0;
};

/// Reads \p Source to its end or to the first fault. Everything before the
/// fault has been given to \p Visitor.
Error readDump(ByteSource &Source, DumpVisitor &Visitor);

} // namespace kprobe

#endif
