// Statistics as text for people and as JSON for programs.
#ifndef KPROBE_DECODE_STATISTICSREPORT_H
#define KPROBE_DECODE_STATISTICSREPORT_H

#include "Statistics.h"

#include <string>
#include <vector>

namespace kprobe {

struct ReportOptions {
  uint64_t Top = 0; ///< blocks a kernel; 0: all
};

/// One reason why something is not in the statistics.
struct Loss {
  std::string Key;  ///< for programs
  std::string Text; ///< for people
  uint64_t Count;
};

/// What is missing, reasons with a count of 0 left out.
std::vector<Loss> lossesOf(const Statistics &S);

/// Sites of \p K that were hit, by falling share of the kernel's cycles.
std::vector<uint32_t> sitesByShare(const KernelStatistics &K);

std::string statisticsText(const Statistics &S, const ReportOptions &Options);
std::string statisticsJson(const Statistics &S, const ReportOptions &Options);

} // namespace kprobe

#endif
