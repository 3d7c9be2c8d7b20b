// The headers that declare libamdhip64's functions.
#ifndef KPROBE_RUNTIME_API_HIPHEADERS_H
#define KPROBE_RUNTIME_API_HIPHEADERS_H

#include <hip/hip_runtime_api.h>

// An inline template of hip_ext.h calls this, which HIP declares for its own
// compiler only. Nothing of ours instantiates it.
template <int> void pArgs(...);

#include <hip/hip_ext.h>
#include <hip/hiprtc.h>

#endif
