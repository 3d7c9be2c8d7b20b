// Writes host events while no tracer does: before ROCr has loaded the tool, after
// the program has closed it, and in programs that never load it. A tracer that
// begins takes over.
//
// The file is made when there is something to write: of the many small
// processes that a script starts, most leave no trace.
#ifndef KPROBE_RUNTIME_HOSTDUMP_H
#define KPROBE_RUNTIME_HOSTDUMP_H

#include "Config.h"

namespace kprobe {

// When recording begins before the tool is loaded, or goes on after it.
void startHostDump(const Config &Settings);
// Before a tracer writes: afterwards nothing more comes from here.
void handOverHostDump();
// Everything recorded so far goes into the file; signal handlers may call it.
void flushHostDump();

} // namespace kprobe

#endif
