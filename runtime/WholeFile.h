// Files of /proc and tracefs, which state no size.
#ifndef KPROBE_RUNTIME_WHOLEFILE_H
#define KPROBE_RUNTIME_WHOLEFILE_H

#include <string>

namespace kprobe {

// Appends all of the file to Text. False when it cannot be opened (errno says
// why) or read to its end; what was read until then is in Text.
bool readWholeFile(const std::string &Path, std::string &Text);

} // namespace kprobe

#endif
