// Which counters a viewer draws, and what they are called.
#ifndef KPROBE_DECODE_COUNTERTRACKS_H
#define KPROBE_DECODE_COUNTERTRACKS_H

#include "Timeline.h"

#include <string>

namespace kprobe {

/// "power, agent 0" of a reading.
inline std::string counterLabel(const Trace &T, const KprobeHostSample &R) {
  return T.Counters.at(R.Counter).Name +
         (R.Agent == KPROBE_NO_INDEX ? ""
                                     : ", agent " + std::to_string(R.Agent));
}

/// Calls \p Each with what is known of the kernel that \p Item begins, and with
/// zeros when it ends.
template <typename Visitor>
void visitCounters(const Timeline &T, const TimelineItem &Item, Visitor Each) {
  const DispatchCounters &All = T.counters();
  bool Begin = Item.What == TimelineItem::Kind::KernelBegin;
  if (const auto *Known = All.of(Item.Owner->Record.Dispatch))
    for (const DispatchCounters::Value &V : *Known)
      Each(All.names()[V.Name] + ", agent " +
               std::to_string(Item.Owner->Record.Agent),
           Begin ? V.Number : 0.0);
}

} // namespace kprobe

#endif
