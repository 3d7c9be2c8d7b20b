// The two counters of an agent, fitted to CLOCK_MONOTONIC by its CLOCK records.
#ifndef KPROBE_DECODE_AGENTCLOCKS_H
#define KPROBE_DECODE_AGENTCLOCKS_H

#include "ClockFit.h"
#include "Trace.h"

namespace kprobe {

/// The agent's real-time counter (wave headers); no readings when the runtime
/// could not read it.
ClockFit deviceClock(const Agent &A);

/// HSA system time (kernel begin and end).
ClockFit systemClock(const Agent &A);

} // namespace kprobe

#endif
