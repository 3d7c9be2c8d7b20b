// What Linux does to the program's threads: when they get and lose a processor,
// who wakes them, their system calls and the interrupts that they pay for.
//
// Recorded by perf_event_open, with as much as it permits:
//
//   switches     a dummy event with context switches; permitted to everyone
//                unless perf_event_paranoid is above 2
//   the others   tracepoints, for which one must be privileged, and tracefs
//                mounted
//
// Each processor has one ring, which all events of all threads of the process
// that run there go to. New threads inherit the events from the one that makes
// them, so that the earlier start() is called, the fewer are found and opened
// one by one. The drain thread reads the rings.
#ifndef KPROBE_RUNTIME_LINUXEVENTS_H
#define KPROBE_RUNTIME_LINUXEVENTS_H

#include "HostRecorder.h"
#include "PerfRecords.h"

#include <memory>

struct perf_event_attr;

namespace kprobe {

class LinuxEvents {
public:
  static LinuxEvents &get();

  // Opens what may be opened, for all threads of the process. Once.
  void start();
  bool recording() const { return !Rings.empty(); }
  // Hands out what the rings have as chunks, and first one line about what is
  // not recorded, and why. One caller at a time.
  void drain(const HostRecorder::ChunkSink &Append);

private:
  struct Ring {
    uint32_t Processor = 0;
    uint32_t Stream = 0; // number of its THREAD record; 0: not announced
    int Fd = -1;         // the event that owns it
    uint8_t *Map = nullptr;
    size_t Bytes = 0; // of the data
    uint64_t Lost = 0, LostTold = 0;
    LinuxEventWriter Writer;
  };
  int open(perf_event_attr &Attributes, int Thread, uint32_t Processor);
  static void inChild();
  bool openThread(int Thread, std::string &Why);
  bool map(Ring &R);
  void drainRing(Ring &R, const HostRecorder::ChunkSink &Append);

  std::vector<std::unique_ptr<Ring>> Rings;
  Tracepoints Points;
  std::vector<int> Others; // descriptors that feed somebody else's ring
  std::string Statement;
  bool Stated = false;
  bool Started = false;
  bool ForkWatched = false;
};

} // namespace kprobe

#endif
