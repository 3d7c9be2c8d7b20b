// Which blocks do without an event, because others tell of them.
//
// Block J is left out when another block A of its function is executed exactly
// as often and with the same lanes: A dominates J, J postdominates A, and both
// are in the same loop. The decoder puts J back behind A, where the first event
// comes that A cannot reach without passing J (wire.h, KprobeOmissionRecord).
//
// Left out are only blocks that are too short to hide the clock's latency: a
// probe there would stall, and the time that goes to the block before is small.
#ifndef KPROBE_PASS_PLACEMENT_H
#define KPROBE_PASS_PLACEMENT_H

#include "SiteFacts.h"
#include <vector>

namespace kprobe {

// By block number, as in FunctionFacts: the block that tells of this one, or
// BlockFacts::None for a block with an event of its own. No block is told of by
// itself, and two are never told of by the same.
std::vector<unsigned> placeEvents(llvm::Function &F, const FunctionFacts &Facts,
                                  llvm::FunctionAnalysisManager &Analyses);

} // namespace kprobe

#endif
