// Names and numbers as people read them: demangled kernels, source places,
// durations. Shared by all sinks so that they agree.
#ifndef KPROBE_DECODE_NAMES_H
#define KPROBE_DECODE_NAMES_H

#include "SiteTable.h"
#include "Trace.h"

#include <cstdint>
#include <string>
#include <string_view>

namespace kprobe {

/// Demangled, without the clone suffix; as it is when it does not demangle.
std::string demangle(std::string_view Symbol);

/// The demangled name of the kernel of \p D; "(unknown kernel)" without one.
std::string kernelName(const Dispatch &D);

/// "file.cpp:12" and, for inlined code, " < caller.cpp:40 < …"; the last path
/// component only unless \p FullPath. "" without debug information.
std::string sourceText(const SiteTable &Table, const KprobeSiteRecord &Site,
                       bool FullPath = false);

/// Name of the block, or "site N" when it has none.
std::string blockName(const SiteTable &Table, uint32_t Site);

/// In place of a site: events are missing, so nobody knows which blocks ran.
constexpr uint32_t UnknownSite = UINT32_MAX;

/// Name of the block and, where it is known, its place in the source; for
/// UnknownSite, that events are lost.
std::string blockLabel(const SiteTable &Table, uint32_t Site);

/// "1.234 us": four significant digits, unit by size.
std::string durationText(uint64_t Ns);

/// "100 MHz"
std::string frequencyText(uint64_t Hz);

/// UTC, "2026-11-29T14:00:00Z", from nanoseconds since the epoch.
std::string dateText(uint64_t RealtimeNs);

/// Text of a KPROBE_DISPATCH_* value.
std::string statusText(uint32_t Status);

/// Name of a KPROBE_MODE_* value, text of a KPROBE_REFUSAL_* value.
std::string modeText(uint32_t Mode);
std::string refusalText(uint32_t Refusal);
/// The same with what was done instead of what was asked for.
std::string refusedModeText(uint32_t Refusal);

/// Name of a system call of the machine that was traced ("read"), its number
/// where that is not known.
std::string syscallName(const Trace &T, int64_t Number);
/// Its number on x86-64, or -1.
int64_t syscallNumber(std::string_view Name);

/// The longest prefix of at most \p Bytes bytes that does not cut a UTF-8
/// sequence, with "..." when something was cut.
std::string shorten(const std::string &Text, size_t Bytes);

} // namespace kprobe

#endif
