// Flame graphs as other programs read them.
#ifndef KPROBE_DECODE_FLAMEFORMATS_H
#define KPROBE_DECODE_FLAMEFORMATS_H

#include "Flame.h"

namespace kprobe {

/// A line for each stack: frames joined by semicolons, a blank, nanoseconds.
std::string foldedStacks(const Flame &F);

/// JSON of speedscope.app (file-format-schema.json there), type "sampled".
std::string speedscope(const Flame &F, const std::string &Name);

} // namespace kprobe

#endif
