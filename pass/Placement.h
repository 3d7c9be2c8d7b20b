// Which blocks do without an event, because others tell of them.
//
// Block J is left out when another block A of its function is executed exactly
// as often and with the same lanes: A dominates J, J postdominates A, and both
// are in the same loop. The decoder puts J back behind A, where the first event
// comes that A cannot reach without passing J (wire.h, KprobeOmissionRecord).
//
// Left out are only blocks that are too short to hide the clock's latency: a
// probe there would stall, and the time that goes to another block is small.
// Other short blocks have an event without a clock; their time, too, is part of
// that of a neighbour. Before and behind a loop that has no clock at its head
// there is one in any case: its time is not mixed with that of any but the block
// before it.
#ifndef KPROBE_PASS_PLACEMENT_H
#define KPROBE_PASS_PLACEMENT_H

#include "Options.h"
#include "Probe.h"
#include "SiteFacts.h"
#include <vector>

namespace kprobe {

struct BlockPlacement {
  // The block that tells of this one, or BlockFacts::None for a block with an
  // event of its own. No block is told of by itself, and two are never told of
  // by the same.
  unsigned ToldBy = BlockFacts::None;
  bool Timed = true; // the event has a clock
  // Only executed by all lanes that the wave began with, so that nobody needs
  // to count them; kernels only.
  bool AllLanes = false;
  // The user's level or filter leaves the block out: no event, and nobody tells.
  bool LeftOut = false;
  // The entry block of a kernel, of which the wave's header tells.
  bool Implied = false;
  // Of its event in the ring, or where the cursor is (assignPlaces).
  unsigned Place = ProbeEvent::AtCursor;

  bool hasEvent() const {
    return !Implied && !LeftOut && ToldBy == BlockFacts::None;
  }
};

// By block number, as in FunctionFacts.
std::vector<BlockPlacement> placeEvents(llvm::Function &F,
                                        const FunctionFacts &Facts,
                                        llvm::FunctionAnalysisManager &Analyses,
                                        const Options &Wanted);

// Whether no wave can come to a block twice.
bool isBounded(llvm::Function &Kernel, llvm::FunctionAnalysisManager &Analyses);

// Gives each event of such a kernel, which calls no function with probes, a place of
// its own, in the order in which a wave comes to them, so that probes need no
// cursor. False where there is no such order.
bool assignPlaces(llvm::Function &Kernel,
                  llvm::FunctionAnalysisManager &Analyses,
                  llvm::MutableArrayRef<BlockPlacement> Placements);

} // namespace kprobe

#endif
