// Sink that writes a readable line for each dispatch, wave and event.
#ifndef KPROBE_DECODE_LISTING_H
#define KPROBE_DECODE_LISTING_H

#include "Trace.h"
#include "WaveEvents.h"

#include <functional>
#include <optional>
#include <ostream>
#include <string>

namespace kprobe {

struct ListingFilter {
  std::optional<uint64_t> Dispatch;
  std::optional<uint64_t> Wave; ///< linear index in the grid
  std::string Kernel;           ///< part of the demangled name; "": all
};

class Listing final : public TraceSink {
public:
  Listing(std::ostream &Out, ListingFilter Filter)
      : Out(Out), Filter(std::move(Filter)) {}

  Error process(const Process &) override;
  Error agent(const Agent &) override;
  Error dispatch(const Dispatch &) override;
  Error wave(const Dispatch &, const WaveView &) override;

  uint64_t damagedEvents() const { return Damaged; }

private:
  bool shows(const Dispatch &D) const;

  std::ostream &Out;
  ListingFilter Filter;
  uint64_t Damaged = 0;
};

} // namespace kprobe

#endif
