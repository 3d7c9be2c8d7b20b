// What the user asked for, read once from the environment.
//
//   KPROBE_OUTPUT   dump file; %p pid, %h host, %t seconds since the epoch
//   KPROBE_BUFFER   bytes of ring memory on each agent       (default 256M)
//   KPROBE_SAMPLE   [waves:|groups:]1/N: trace one of N waves or workgroups
//   KPROBE_MODE     ring | drop | counters | exact           (default ring)
//   KPROBE_SNAPSHOT most bytes of memory saved for a dispatch, mode exact
//                   (default 256M)
//   KPROBE_EXACT_WAIT  most seconds that its first run may take (default 10)
//   KPROBE_RING     most bytes of ring for one wave          (default 64K)
//   KPROBE_KERNELS  comma-separated globs; a leading ! excludes
//   KPROBE_EVERY    of each kernel's dispatches trace the first of every N
//   KPROBE_FIRST    of those, trace the first N
//   KPROBE_POOL     device | host: where rings live          (default device)
//   KPROBE_DISABLE  set and not 0: load, touch nothing
//   KPROBE_VERBOSE  set and not 0: say at the end what was seen
//   KPROBE_API      record calls of these: hip, hsa; comma-separated
//   KPROBE_API_FILTER  of these, calls whose name matches; globs as above
//   KPROBE_LTTNG    set and not 0: the same events to LTTng-UST, too
//   KPROBE_SCHED    set and not 0: what Linux does to the program's threads
//   KPROBE_METRICS  milliseconds between readings of the devices' sensors
//   KPROBE_API_BUFFER  bytes of such records kept for a thread (default 8M)
//   KPROBE_PROFILE  sample threads: cycles:N, instructions:N, cpu-clock:TIME;
//                   "on" takes cycles:2000000
//   KPROBE_PROFILE_WAITS  shortest wait that is recorded  (default 100us; 0: none)
#ifndef KPROBE_RUNTIME_CONFIG_H
#define KPROBE_RUNTIME_CONFIG_H

#include <chrono>
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

namespace kprobe {

// Chooses kernels or functions by name. A glob is held against the mangled name, the
// demangled one, and the demangled one without its parameter list.
class KernelFilter {
public:
  // False when Text has an empty pattern ("a,,b").
  bool parse(const std::string &Text);
  bool matches(const std::string &MangledName) const;

private:
  std::vector<std::string> Include;
  std::vector<std::string> Exclude;
};

// What makes a sample: every Period of these.
struct ProfileWish {
  enum Kind { Off, Cycles, Instructions, CpuClock };
  static constexpr uint64_t DefaultCycles = 2000000;
  static constexpr uint64_t DefaultClockNs = 1000000;
  static constexpr uint64_t DefaultWaitNs = 100000;
  Kind What = Off;
  uint64_t Period = 0; // of CpuClock: nanoseconds
  uint64_t LeastWaitNs = DefaultWaitNs; // 0: waits are not recorded
};

// Chooses among the dispatches of one kernel by their number, from 0.
struct DispatchChoice {
  uint64_t Every = 1;
  uint64_t First = UINT64_MAX;

  bool isBetween(uint64_t Number) const { return Number % Every != 0; }
  bool isAfterFirst(uint64_t Number) const { return Number / Every >= First; }
};

// Which waves of a dispatch are traced; see KprobeDispatchContext.
struct SampleChoice {
  static constexpr uint8_t MostShift = 20;
  uint8_t Shift = 0;   // one of 2^Shift
  bool Groups = false; // workgroups, not waves

  // False on anything but [waves:|groups:]1/N, N a power of two.
  bool parse(const std::string &Text);
};

struct Config {
  static constexpr uint64_t DefaultBufferBytes = 256ull << 20;
  static constexpr uint32_t DefaultRingBytes = 64u << 10;
  // Smallest ring a user may ask for, and smallest that shrinking may reach.
  static constexpr uint32_t LeastRingBytes = 64;
  static constexpr uint32_t LeastShrunkRingBytes = 1024;
  static constexpr uint32_t MostRingBytes = 1u << 30;
  static constexpr uint64_t DefaultApiRingBytes = 8u << 20;
  static constexpr uint64_t LeastApiRingBytes = 64u << 10;

  std::string Output = "kprobe-%p.kpd";
  uint64_t BufferBytes = DefaultBufferBytes;
  uint32_t RingBytes = DefaultRingBytes;
  KernelFilter Kernels;
  DispatchChoice Dispatches;
  SampleChoice Sample;
  uint32_t Mode = 0; // KPROBE_MODE_*
  uint64_t SnapshotBytes = 256ull << 20;
  std::chrono::milliseconds ExactPatience{10000};
  // Kernels may use any address of the process (HSA_XNACK).
  bool AllMemoryReachable = false;
  bool ApiHip = false;
  bool ApiHsa = false;
  KernelFilter ApiFunctions;
  uint64_t ApiRingBytes = DefaultApiRingBytes;
  bool Lttng = false;
  bool Sched = false;
  uint32_t MetricsMs = 0; // 0: none
  ProfileWish Profile;
  bool HostPool = false;
  bool Disabled = false;
  bool Verbose = false;
};

using EnvironmentReader = std::function<const char *(const char *)>;

// False, with one line in Why, when a variable cannot be understood.
bool readConfig(const EnvironmentReader &Get, Config &Out, std::string &Why);

// A decimal number of 1 and more. False on anything else.
bool parseCount(const std::string &Text, uint64_t &Count);

// "65536", "64K", "256M", "1G" (powers of 1024). False on anything else.
bool parseSize(const std::string &Text, uint64_t &Bytes);

// "100us", "1ms", "2s", "500ns". False on anything else.
bool parseDuration(const std::string &Text, uint64_t &Ns);

} // namespace kprobe

#endif
