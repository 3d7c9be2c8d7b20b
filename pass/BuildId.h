// Who made a site table: version, LLVM, and the build id of the plug-in, so
// that a stale object from a compiler cache can be told from a fresh one.
#ifndef KPROBE_PASS_BUILDID_H
#define KPROBE_PASS_BUILDID_H

#include <string>

namespace kprobe {

std::string producer();

} // namespace kprobe

#endif
