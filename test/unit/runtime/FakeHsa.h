// A stand-in for ROCr and a device, behind the same API table.
//
// Memory is malloc, a queue calls its interceptors the way ROCr does (one
// packet at a time, one thread at a time, the writer once), a device thread
// takes packets in order, writes slots as instrumented waves would, and
// completes signals; a second thread calls the signal handlers. One instance
// a process; tests set the public fields before they start.
#ifndef KPROBE_TEST_FAKEHSA_H
#define KPROBE_TEST_FAKEHSA_H

#include "HsaApi.h"

#include "kprobe/wire.h"

#include <hsa/amd_hsa_signal.h>

#include <atomic>
#include <condition_variable>
#include <deque>
#include <functional>
#include <map>
#include <mutex>
#include <set>
#include <string>
#include <thread>
#include <vector>

namespace fake {

struct Symbol {
  std::string Name; // with ".kd"
  uint64_t Object = 0;
  uint32_t GroupBytes = 0;
  uint32_t PrivateBytes = 0;
  uint32_t ArgumentBytes = 0;
};

struct Queue {
  hsa_queue_t Public = {};
  uint64_t Agent = 0;
  std::mutex Lock;
  uint64_t WriteIndex = 0;
  hsa_amd_queue_intercept_handler Handler = nullptr;
  void *HandlerData = nullptr;
  int Profiling = 0;
  void (*OnError)(hsa_status_t, hsa_queue_t *, void *) = nullptr;
  void *OnErrorData = nullptr;
  bool Destroyed = false;
};

class Hsa {
public:
  explicit Hsa(unsigned AgentCount = 1);
  ~Hsa();

  HsaApiTableContainer Container;
  HsaApiTable *table() { return &Container.root; }

  // Behaviour, set by tests.
  std::string Target = "gfx906";
  std::string ProductName = "Virtual GPU gfx906";
  bool HostSeesDeviceMemory = true;
  uint64_t MostPoolBytes = UINT64_MAX; // larger requests fail
  std::atomic<int> AllocationsToFail{0};
  bool ConversionFails = false;
  bool InterceptFails = false;
  bool SignalsFail = false;
  unsigned DelayMs = 0; // from submission to completion
  std::atomic<bool> Paused{false};
  uint32_t HdpFlush = 0; // register: 1 once host writes were flushed
  uint64_t TickHz = 100000000;
  // Events that a wave writes; the slot's cursor is 8 times that.
  std::function<uint64_t(uint64_t Wave)> EventsOfWave = [](uint64_t) {
    return uint64_t(3);
  };
  // A wave that never ends.
  std::function<bool(uint64_t Wave)> WaveDies = [](uint64_t) { return false; };

  // What the program does, through the (hooked) table.
  hsa_queue_t *createQueue(unsigned Agent = 0, uint32_t Size = 4096);
  void destroyQueue(hsa_queue_t *Queue);
  // Loads an "executable" with these kernels on every agent named.
  hsa_executable_t load(const std::vector<uint8_t> &Elf,
                        const std::vector<Symbol> &Symbols,
                        std::vector<unsigned> AgentList = {0});
  void submit(hsa_queue_t *Queue, const void *Packets, size_t Count);
  void waitIdle();

  // What reached the device.
  std::vector<hsa_kernel_dispatch_packet_t> seen();
  size_t livePools();
  size_t liveSignals();

  // Internals, used by the table's functions.
  struct Pool {
    uint64_t Agent;
    uint32_t Flags;
  };
  std::vector<uint64_t> CpuAgents, GpuAgents;
  std::map<uint64_t, Pool> Pools;
  hsa_amd_system_event_callback_t SystemHandler = nullptr;
  std::mutex Lock;
  std::condition_variable Arrival, Idle;
  std::set<void *> Allocations;
  std::set<uint64_t> Signals;
  struct Handler {
    hsa_amd_signal_handler Call;
    void *Data;
    int64_t Below;
  };
  std::map<uint64_t, Handler> Handlers;
  std::atomic<unsigned> HandlersMade{0};
  std::atomic<unsigned> PlainSignalsMade{0}; // without an event of the driver
  std::map<uint64_t, std::vector<uint8_t>> Readers;
  struct Executable {
    std::map<uint64_t, std::vector<Symbol>> ByAgent;
  };
  std::map<uint64_t, Executable> Executables;
  std::map<uint64_t, Symbol> SymbolHandles;
  std::map<hsa_queue_t *, std::unique_ptr<Queue>> Queues;
  struct Work {
    hsa_kernel_dispatch_packet_t Packet;
    uint64_t QueueAgent;
    hsa_queue_t *Queue;
    uint64_t DueNs;
  };
  std::deque<Work> DeviceWork;
  std::deque<std::pair<hsa_amd_signal_handler, void *>> SignalWork;
  std::vector<hsa_kernel_dispatch_packet_t> Seen;
  unsigned InDevice = 0, InSignals = 0;
  uint64_t NextHandle = 0x1000;
  bool Stop = false;

  void wave(const KprobeDispatchContext &Context, uint64_t Wave);

private:
  void deviceThread();
  void signalThread();
  void execute(const Work &Item);
  std::thread Device, SignalCaller;
};

extern Hsa *Instance;

// A site table with these kernels (name, clone name), and an ELF file whose
// section .kprobe.sites holds the tables one after another.
std::vector<uint8_t>
makeTable(const std::vector<std::pair<std::string, std::string>> &Kernels,
          const std::string &Producer = "test");
std::vector<uint8_t> makeElf(const std::vector<std::vector<uint8_t>> &Tables,
                             const std::string &Section = ".kprobe.sites");

hsa_kernel_dispatch_packet_t makeDispatch(uint64_t Object, uint32_t GridX,
                                          uint16_t GroupX,
                                          hsa_signal_t Signal = {});

} // namespace fake

#endif
