// A critical path as a table for people and as JSON for programs.
#ifndef KPROBE_DECODE_CRITICALPATHREPORT_H
#define KPROBE_DECODE_CRITICALPATHREPORT_H

#include "Converters.h"
#include "CriticalPath.h"

namespace kprobe {

/// What the report is about; all of it must live on.
struct PathReport {
  const Activity &A;
  const FrameNames &Names;
  uint32_t Thread;
  int64_t BeginNs; ///< of the first trace: times are shown from there on
  std::vector<PathSegment> Segments;
};

std::string criticalPathText(const PathReport &R);
std::string criticalPathJson(const PathReport &R);
PathTrack criticalPathTrack(const PathReport &R);

} // namespace kprobe

#endif
