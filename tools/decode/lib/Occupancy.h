// How many waves of a kernel a SIMD can hold, by what the kernel takes.
#ifndef KPROBE_DECODE_OCCUPANCY_H
#define KPROBE_DECODE_OCCUPANCY_H

#include "kprobe/wire.h"

#include <optional>
#include <string_view>

namespace kprobe {

/// Waves a SIMD, by registers and, where \p GroupWaves (waves of a workgroup) is
/// not 0, by \p LdsBytes of a workgroup. None for a target that is not known.
std::optional<uint32_t> wavesPerSimd(std::string_view Target, uint32_t WaveSize,
                                     const KprobeKernelNeeds &Needs,
                                     uint64_t LdsBytes, uint64_t GroupWaves);

} // namespace kprobe

#endif
