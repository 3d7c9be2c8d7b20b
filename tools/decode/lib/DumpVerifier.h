// State machine over the legal order of records.
//
//   start --PROCESS--> open --any chunk--> open --SUMMARY--> closed
//                       ^                                      |
//                       '------------- any chunk --------------'
//
// and within `open`: an AGENT before what names it, a SITE_TABLE before the
// DISPATCH that refers to it, a DISPATCH before its WAVES; API_TABLE,
// THREAD and COUNTER before the HOST_EVENTS that name them. A dump must end in
// `closed`. What follows the rules reaches the sink; what breaks them is an
// error with its offset, since later records could not be understood.
// What only devices write (wave headers, events) is not judged here: faults
// there are counted by WaveEvents and do not stop the reading.
#ifndef KPROBE_DECODE_DUMPVERIFIER_H
#define KPROBE_DECODE_DUMPVERIFIER_H

#include "Trace.h"

namespace kprobe {

class DumpVerifier final : public DumpVisitor {
public:
  DumpVerifier(Trace &Out, TraceSink &Sink) : Out(Out), Sink(Sink) {}

  Error process(const KprobeProcessRecord &, std::string_view Executable,
                std::string_view Command, std::string_view Version,
                uint64_t Offset) override;
  Error agent(const KprobeAgentRecord &, std::string_view Target,
              std::string_view Name, uint64_t Offset) override;
  Error siteTable(const ByteReader &Bytes) override;
  Error clock(const KprobeClockRecord &, uint64_t Offset) override;
  Error dispatch(const KprobeDispatchRecord &, std::string_view Name,
                 uint64_t Offset) override;
  Error waves(const KprobeWavesRecord &, uint64_t Offset) override;
  Error wave(const WaveView &, uint64_t Offset) override;
  Error summary(const KprobeSummaryRecord &, uint64_t Offset) override;
  Error message(std::string_view Text, uint64_t Offset) override;
  Error apiTable(const ByteReader &Bytes) override;
  Error thread(const KprobeThreadRecord &, std::string_view Name,
               uint64_t Offset) override;
  Error hostEvents(const KprobeHostEventsRecord &, const ByteReader &Events,
                   uint64_t Offset) override;
  Error machine(const KprobeMachineRecord &, std::string_view HostName,
                std::string_view System, uint64_t Offset) override;
  Error counter(const KprobeCounterRecord &, std::string_view Name,
                std::string_view Unit, uint64_t Offset) override;
  Error module(const KprobeModuleRecord &, std::string_view Path,
               std::string_view BuildId, uint64_t Offset) override;
  Error resources(const KprobeResourcesRecord &, uint64_t Offset) override;
  Error unknownChunk(uint32_t Kind, uint64_t Offset) override;
  Error end(uint64_t Offset) override;

private:
  enum class State { Start, Open, Closed };
  /// Every chunk but PROCESS passes here first.
  Error enter(uint64_t Offset, const char *What);
  Error hostEvent(const HostThread &Thread, const HostEvent &Event);
  Error stackEvent(const HostEvent &Event);

  Trace &Out;
  TraceSink &Sink;
  State Now = State::Start;
  Dispatch *Current = nullptr; ///< owner of the waves being read
};

/// Reads all of \p Source through a verifier.
Error readTrace(ByteSource &Source, Trace &Out, TraceSink &Sink);

/// Frequencies outside are damage: nothing real ticks so slowly or so fast.
constexpr uint64_t MinFrequencyHz = 1000;
constexpr uint64_t MaxFrequencyHz = 100000000000;

} // namespace kprobe

#endif
