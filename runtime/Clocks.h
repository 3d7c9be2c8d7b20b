// Ties the host's clock, ROCr's system time and an agent's counter together.
//
// HSA has no call that reads an agent's counter. It has one that converts a
// counter value to system time, so a pair is made the other way round: take a
// counter value known to be recent (a time stamp the hardware wrote into a
// completion signal), move it on to about now, and convert that.
#ifndef KPROBE_RUNTIME_CLOCKS_H
#define KPROBE_RUNTIME_CLOCKS_H

#include "kprobe/wire.h"

#include <cstdint>
#include <functional>
#include <string>

namespace kprobe {

struct ClockSources {
  std::function<uint64_t()> MonotonicNs;       // CLOCK_MONOTONIC
  std::function<bool(uint64_t &)> SystemTicks; // HSA system time stamp
  uint64_t SystemHz = 0;                       // its frequency
  // Counter value of the agent → system time stamp.
  std::function<bool(uint64_t, uint64_t &)> Convert;
};

// A CLOCK record for now. KnownTick is a recent counter value, 0 when none has
// been seen: DeviceTicks is 0 then.
KprobeClockRecord sampleClock(const ClockSources &Sources, uint32_t Agent,
                              uint64_t KnownTick, uint64_t TickHz);

// The counter's rate as ROCr's conversion has it; 0 when it cannot be told.
uint64_t measureTickHz(const ClockSources &Sources, uint64_t KnownTick);

// Rate of s_memrealtime that the manuals give for a target ("gfx906"); 0 for
// one that is not in the table.
uint64_t nominalTickHz(const std::string &Target);

// Decides what the dump says, best source first: the agent's own statement,
// the nominal rate confirmed by measurement, the measurement, the nominal rate
// alone. Message is set whenever a reader should know how it was chosen.
uint64_t chooseTickHz(uint64_t Stated, uint64_t Measured, uint64_t Nominal,
                      std::string &Message);

} // namespace kprobe

#endif
