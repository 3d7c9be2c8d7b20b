// perf's records as host events: formats of tracepoints, and the translation.
//
// Apart from LinuxEvents, which needs the system, so that a test can hand in
// bytes of its own.
#ifndef KPROBE_RUNTIME_PERFRECORDS_H
#define KPROBE_RUNTIME_PERFRECORDS_H

#include "kprobe/wire.h"

#include <cstddef>
#include <string>
#include <vector>

namespace kprobe {

// One tracepoint: what its raw data means. Offsets are from the data's start;
// a field that the format does not have is at NoField.
struct Tracepoint {
  static constexpr size_t NoField = ~size_t(0);
  uint16_t Kind = 0;      // KPROBE_HOST_*
  bool Soft = false;      // of interrupts
  uint32_t Id = 0;        // type in the raw data, and perf's config
  size_t First = NoField; // pid, id, irq or vec
  size_t FirstBytes = 0;
  size_t Second = NoField; // target_cpu or ret
  size_t SecondBytes = 0;
};

// Reads the text of a format file of tracefs. False when the id or a field that
// is asked for is not there.
bool parseFormat(const std::string &Text, const char *First, const char *Second,
                 Tracepoint &Point);

struct Tracepoints {
  std::vector<Tracepoint> Known;
  // Reads the formats of what we record below Root ("/sys/kernel/tracing").
  // False, with the reason, when there is none.
  bool load(const std::string &Root, std::string &Why);
  const Tracepoint *find(uint32_t Id) const;
};

// sample_type of every event that is opened; records have their identity in
// this order.
uint64_t perfSampleType();

// Translates one perf record into a host event, appended to Events.
class LinuxEventWriter {
public:
  // Record is whole, as its header says. Lost grows by what the record says was
  // lost.
  void record(const uint8_t *Record, size_t Bytes, const Tracepoints &Points,
              std::vector<uint8_t> &Events, uint64_t &Lost);

private:
  template <typename T>
  void add(uint16_t Kind, uint64_t Ns, T Event, std::vector<uint8_t> &Events);
  void sample(const uint8_t *Data, size_t Bytes, const Tracepoints &Points,
              std::vector<uint8_t> &Events);
  uint64_t LastNs = 0; // time never runs back in a stream
  // Delivered twice: to the thread that wakes, and to the one that is woken.
  KprobeHostWakeup LastWakeup = {};
};

} // namespace kprobe

#endif
