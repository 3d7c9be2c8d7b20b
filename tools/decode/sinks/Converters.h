// Writers of traces for other programs, all fed by a Timeline.
#ifndef KPROBE_DECODE_CONVERTERS_H
#define KPROBE_DECODE_CONVERTERS_H

#include "Error.h"
#include "Timeline.h"

#include <memory>
#include <string>
#include <vector>

namespace kprobe {

/// One row an event, for spreadsheets and scripts; RFC 4180 quoting. Writes
/// all of \p Inputs one after another.
Error writeCsv(const std::vector<std::unique_ptr<Timeline>> &Inputs,
               const std::string &Path);

/// A track that a trace gets besides: one of its critical path.
struct PathTrack {
  struct Slice {
    int64_t BeginNs, EndNs;
    std::string Kind, Text;
    std::string Place; ///< in a source; "": not known
  };
  std::string Name; ///< "": there is none
  std::vector<Slice> Slices;

  /// Keeps what lies between these times.
  void cut(int64_t FromNs, int64_t ToNs);
};

/// Chrome's JSON trace format, "X" slices that nest on their track: a process
/// for each compute unit, a thread for each wave slot.
Error writeChrome(const std::vector<std::unique_ptr<Timeline>> &Inputs,
                  const std::vector<PathTrack> &Paths, const std::string &Path);

/// Perfetto's protobuf format: tracks for threads, queues and wave slots, the
/// latter below their compute unit, engine and agent; flows from calls to
/// kernels.
Error writePerfetto(const std::vector<std::unique_ptr<Timeline>> &Inputs,
                    const std::vector<PathTrack> &Paths,
                    const std::string &Path);

/// One row a call, in the order in which they end; open ones last.
Error writeCallsCsv(const std::vector<std::unique_ptr<Timeline>> &Inputs,
                    const std::string &Path);

/// A CTF 1.8 trace in directory \p Path, through libbabeltrace2's writer.
Error writeCtf(Timeline &Input, const PathTrack &Track,
               const std::string &Path);

} // namespace kprobe

#endif
