// Readings of the devices' sensors, by rocm_smi: clocks, load, memory, power,
// temperature.
//
// librocm_smi64 is opened at run time; where it is missing, or sees no device,
// there are no readings and one line says why. A thread of our own reads them
// in a fixed period and records them as host events.
#ifndef KPROBE_RUNTIME_METRICS_H
#define KPROBE_RUNTIME_METRICS_H

#include "Agents.h"
#include "HostRecorder.h"

#include <condition_variable>
#include <memory>
#include <mutex>
#include <pthread.h>

namespace kprobe {

// The functions of rocm_smi that are used, and one reading of each kind.
class SmiLibrary {
public:
  // False, with the reason, when there is nothing to read.
  bool open(std::string &Why);
  uint32_t devices() const { return Count; }
  // As rocm_smi and HSA number PCI functions; 0: not known.
  uint64_t pciId(uint32_t Device) const;

  struct Kind {
    const char *Name;
    const char *Unit;
    bool (SmiLibrary::*Read)(uint32_t Device, double &Value) const;
  };
  static const std::vector<Kind> &kinds();

private:
  template <typename Function> bool find(Function *&To, const char *Name);
  bool clock(uint32_t Device, int Which, double &Value) const;
  bool systemClock(uint32_t Device, double &Value) const;
  bool memoryClock(uint32_t Device, double &Value) const;
  bool load(uint32_t Device, double &Value) const;
  bool memoryLoad(uint32_t Device, double &Value) const;
  bool memoryUsed(uint32_t Device, double &Value) const;
  bool power(uint32_t Device, double &Value) const;
  bool temperature(uint32_t Device, double &Value) const;

  void *Library = nullptr;
  uint32_t Count = 0;
  // Result 0 is success; arguments as rocm_smi.h declares them.
  int (*PciId)(uint32_t, uint64_t *) = nullptr;
  int (*Clock)(uint32_t, int, void *) = nullptr;
  int (*Busy)(uint32_t, uint32_t *) = nullptr;
  int (*MemoryBusy)(uint32_t, uint32_t *) = nullptr;
  int (*MemoryUsed)(uint32_t, int, uint64_t *) = nullptr;
  int (*Power)(uint32_t, uint32_t, uint64_t *) = nullptr;
  int (*Temperature)(uint32_t, uint32_t, int, int64_t *) = nullptr;
};

class Metrics {
public:
  explicit Metrics(Agents &Devices) : Devices(Devices) {}

  // Reads every PeriodMs; a problem to tell the user, or "".
  std::string start(uint32_t PeriodMs);
  // The last reading has been made when this returns.
  void finish();
  // COUNTER chunks, if there is anything to read.
  bool describe(const HostRecorder::ChunkSink &Append);

private:
  static void *threadMain(void *Self);
  void run();
  uint32_t agentOf(uint32_t Device);

  Agents &Devices;
  SmiLibrary Smi;
  uint32_t PeriodMs = 0;
  pthread_t Thread = {};
  bool Running = false;
  std::mutex Lock; // of Stop
  std::condition_variable Wake;
  bool Stop = false;
};

} // namespace kprobe

#endif
