// The files that the dynamic loader has mapped, for the decoder to find names.
#ifndef KPROBE_RUNTIME_PROFILE_MODULES_H
#define KPROBE_RUNTIME_PROFILE_MODULES_H

#include "HostRecorder.h"

namespace kprobe {

// Appends MODULE chunks of what was not yet there the last time. Not for signal
// handlers; one caller at a time.
void writeModules(const HostRecorder::ChunkSink &Append);

} // namespace kprobe

#endif
