// Declarations of our CTF trace in libbabeltrace2's trace IR.
//
// One trace a process with one stream an agent, one for submissions and kernels
// (host), one of the critical path if
// that is shown, one for each thread whose calls were recorded and one for each
// processor on which Linux was watched. Sites are
// an enumeration, whose labels carry block and source: an event then costs four
// bytes for its site and a reader still shows names.
#ifndef KPROBE_DECODE_CTFTYPES_H
#define KPROBE_DECODE_CTFTYPES_H

#include "Timeline.h"

#include <babeltrace2/babeltrace.h>

#include <map>

namespace kprobe {

struct CtfTypes {
  bt_trace *Trace = nullptr;
  bt_stream_class *Streams = nullptr;
  const bt_event_class *Submit = nullptr, *KernelBegin = nullptr,
                       *KernelEnd = nullptr, *WaveBegin = nullptr,
                       *Block = nullptr, *WaveEnd = nullptr,
                       *CallBegin = nullptr, *CallEnd = nullptr,
                       *DispatchCounter = nullptr, *PathSegment = nullptr;
  std::map<uint32_t, const bt_event_class *> Host; ///< by KPROBE_HOST_*
  /// Site numbers of the trace: tables one after another.
  std::map<const SiteTable *, uint64_t> FirstSite;

  CtfTypes() = default;
  CtfTypes(const CtfTypes &) = delete;
  CtfTypes &operator=(const CtfTypes &) = delete;
  ~CtfTypes();

  /// False when libbabeltrace2 refused (memory).
  bool create(bt_self_component *Self, const Timeline &Input, bool WithPath);

private:
  const bt_event_class *event(const char *Name, bt_field_class *Payload);
  void createHost();
  void createLinux();
  bt_field_class *site(const Timeline &Input);

  bt_trace_class *Class = nullptr;
  bt_clock_class *Clock = nullptr;
  std::vector<const bt_event_class *> Events;
  bool Failed = false;
};

} // namespace kprobe

#endif
