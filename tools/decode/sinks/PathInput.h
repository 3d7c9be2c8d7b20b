// Dumps from opening them to their critical path; for kprobe-decode and for the
// plug-in of babeltrace2.
#ifndef KPROBE_DECODE_PATHINPUT_H
#define KPROBE_DECODE_PATHINPUT_H

#include "CriticalPathReport.h"

#include <memory>

namespace kprobe {

/// Where a path begins or ends, as a user says it.
struct PathEnd {
  bool Given = false;
  int64_t AfterNs = 0;  ///< since the begin of the first dump, if no Call
  std::string Call;     ///< function of the API
  uint64_t Number = 0;  ///< which of its calls, from 1 on; 0: the first one
                        ///< for a begin, the last one for an end
};

/// "1.5ms", "hipMemcpy", "hipMemcpy#3". Why it is none of them, or "".
std::string parsePathEnd(const std::string &Text, PathEnd &Out);

struct PathWish {
  std::string Thread; ///< id or name; "": see PathInput::open
  PathEnd From, To;
  std::string KernelTrace; ///< a directory; "": the dumps' own records count
};

class PathInput {
public:
  /// A dump that could not be read, or only in part.
  struct Fault {
    std::string File, Text;
  };

  /// Without a thread: the one that made the call at the path's end, else the
  /// main thread of the first dump, else the one that lived longest there.
  Error open(const std::vector<std::string> &Files, const PathWish &Wish);

  PathReport report() const;
  const std::vector<Fault> &faults() const { return Faults; }
  /// Files without names of their code.
  std::set<std::string> problems() const;

private:
  struct Dump {
    std::string File;
    FileSource Source;
    Timeline Input;
    std::unique_ptr<StackReader> Reader;
  };
  Error read(const std::vector<std::string> &Files,
             const std::string &KernelTrace);
  const ThreadActivity *choose(const std::string &Wish) const;
  /// Call is set to the one that is meant.
  Error find(const PathEnd &End, bool IsTo, const std::string &Thread,
             const ApiCallSpan *&Call) const;

  FrameNames Names;
  std::vector<std::unique_ptr<Dump>> Dumps;
  std::vector<Fault> Faults;
  Activity A;
  uint32_t Thread = 0;
  int64_t BeginNs = 0, FromNs = 0, ToNs = 0;
};

/// A critical path as a track.
Error readCriticalPath(const std::vector<std::string> &Files,
                       const PathWish &Wish, PathTrack &Out);

} // namespace kprobe

#endif
