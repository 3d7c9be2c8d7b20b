// Adds up calls: how often, how long, by function.
//
// Kept apart from Statistics because it works on threads, not on kernels. Calls
// that never ended (a killed process, a thread that was stopped) are counted
// as open and have no time.
#ifndef KPROBE_DECODE_APISTATISTICS_H
#define KPROBE_DECODE_APISTATISTICS_H

#include "Histogram.h"
#include "Trace.h"

#include <map>
#include <memory>
#include <string>
#include <unordered_map>
#include <vector>

namespace kprobe {

struct FunctionStatistics {
  std::string Api, Name;
  uint64_t Calls = 0; ///< begun
  uint64_t Ended = 0;
  uint64_t Failed = 0; ///< ended with a status that is not 0
  uint64_t TotalNs = 0, MinNs = UINT64_MAX, MaxNs = 0;
  std::unique_ptr<Histogram> Times;

  uint64_t medianNs() const;
};

class ApiStatistics {
public:
  void hostEvents(const Trace &T, const HostThread &Thread,
                  const ByteReader &Events);
  /// After a dump: calls of its threads that are still open stay so.
  void closeTrace() { Open.clear(); }

  /// By falling total time.
  std::vector<const FunctionStatistics *> functions() const;

private:
  struct OpenCall {
    uint64_t Number, Ns;
  };
  std::map<std::pair<std::string, std::string>, FunctionStatistics> Functions;
  std::map<std::pair<const ApiTable *, uint32_t>, FunctionStatistics *> Known;
  std::unordered_map<const HostThread *, std::vector<OpenCall>> Open;
};

} // namespace kprobe

#endif
