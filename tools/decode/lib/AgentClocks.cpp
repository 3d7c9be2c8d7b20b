// Readings of an agent's counters out of its CLOCK records.
#include "AgentClocks.h"

namespace kprobe {

ClockFit deviceClock(const Agent &A) {
  std::vector<ClockReading> Readings;
  for (const KprobeClockRecord &C : A.Clocks)
    if (C.DeviceTicks != 0)
      Readings.push_back({C.DeviceTicks, C.MonotonicNs});
  return ClockFit(std::move(Readings), A.Record.TickHz);
}

ClockFit systemClock(const Agent &A) {
  std::vector<ClockReading> Readings;
  for (const KprobeClockRecord &C : A.Clocks)
    Readings.push_back({C.SystemTicks, C.MonotonicNs});
  return A.Clocks.empty()
             ? ClockFit()
             : ClockFit(std::move(Readings), A.Clocks.front().SystemHz);
}

} // namespace kprobe
