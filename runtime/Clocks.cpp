// Arithmetic on clocks; the readings themselves come in as functions, so that
// a test can script jumps and failures.
#include "Clocks.h"

namespace kprobe {

static constexpr uint64_t NsPerSecond = 1000000000ull;

// Value * To / From without overflow.
static int64_t scale(int64_t Value, uint64_t To, uint64_t From) {
  return From ? int64_t(__int128(Value) * __int128(To) / __int128(From)) : 0;
}

KprobeClockRecord sampleClock(const ClockSources &Sources, uint32_t Agent,
                              uint64_t KnownTick, uint64_t TickHz) {
  KprobeClockRecord Record = {};
  Record.Agent = Agent;
  Record.SystemHz = Sources.SystemHz;
  // The system time stamp is read between two readings of the monotonic clock;
  // of three attempts the one with the least doubt is kept.
  uint64_t BestDoubt = UINT64_MAX;
  for (int Attempt = 0; Attempt < 3; ++Attempt) {
    uint64_t System = 0;
    uint64_t Before = Sources.MonotonicNs();
    bool Read = Sources.SystemTicks(System);
    uint64_t After = Sources.MonotonicNs();
    if (!Read || After < Before || After - Before >= BestDoubt)
      continue;
    BestDoubt = After - Before;
    Record.MonotonicNs = Before + BestDoubt / 2;
    Record.SystemTicks = System;
  }
  uint64_t KnownSystem = 0;
  if (BestDoubt == UINT64_MAX || KnownTick == 0 || TickHz == 0 ||
      !Sources.Convert(KnownTick, KnownSystem))
    return Record;
  int64_t Elapsed =
      scale(int64_t(Record.SystemTicks - KnownSystem), TickHz, Record.SystemHz);
  // Not into the future and not before the known tick: extrapolation there is
  // less certain, and a jump of the clock must not carry us away.
  if (Elapsed < 0)
    Elapsed = 0;
  uint64_t Tick = KnownTick + uint64_t(Elapsed);
  uint64_t System = 0;
  if (!Sources.Convert(Tick, System))
    return Record;
  Record.DeviceTicks = Tick;
  Record.MonotonicNs += uint64_t(scale(int64_t(System - Record.SystemTicks),
                                       NsPerSecond, Record.SystemHz));
  Record.SystemTicks = System;
  return Record;
}

uint64_t measureTickHz(const ClockSources &Sources, uint64_t KnownTick) {
  // Long enough for six digits, short enough that ROCr does not synchronise
  // its clocks between the two conversions. The later tick goes first: it may
  // synchronise, the earlier one then uses the same fit.
  constexpr uint64_t Span = 1000000;
  uint64_t First = 0;
  uint64_t Last = 0;
  if (KnownTick == 0 || Sources.SystemHz == 0 ||
      !Sources.Convert(KnownTick + Span, Last) ||
      !Sources.Convert(KnownTick, First) || Last <= First)
    return 0;
  return uint64_t(scale(Span, Sources.SystemHz, Last - First));
}

uint64_t nominalTickHz(const std::string &Target) {
  // Vega and CDNA reference clock, and Navi's: 100 MHz on every discrete part
  // (s_memrealtime in the ISA manuals counts that clock). APUs differ and are
  // left to measurement.
  for (const char *Known :
       {"gfx900", "gfx906", "gfx908", "gfx90a", "gfx942", "gfx1030", "gfx1031",
        "gfx1032", "gfx1100", "gfx1101", "gfx1102", "gfx1200", "gfx1201"})
    if (Target == Known)
      return 100000000;
  return 0;
}

uint64_t chooseTickHz(uint64_t Stated, uint64_t Measured, uint64_t Nominal,
                      std::string &Message) {
  if (Stated)
    return Stated;
  if (Measured && Nominal) {
    uint64_t Difference =
        Measured > Nominal ? Measured - Nominal : Nominal - Measured;
    // ROCr's own fit over a few milliseconds is good to about 0.1 %.
    if (Difference <= Nominal / 100)
      return Nominal;
    Message = "real-time counter measured at " + std::to_string(Measured) +
              " Hz, nominal are " + std::to_string(Nominal) +
              " Hz: the measured rate is used";
    return Measured;
  }
  if (Measured) {
    Message =
        "rate of the real-time counter measured: " + std::to_string(Measured) +
        " Hz";
    return Measured;
  }
  if (Nominal) {
    Message = "rate of the real-time counter could not be read: nominal " +
              std::to_string(Nominal) + " Hz taken";
    return Nominal;
  }
  Message = "rate of the real-time counter is not known";
  return 0;
}

} // namespace kprobe
