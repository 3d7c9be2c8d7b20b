// Functions and numbers as in rocm_smi.h of ROCm 5.2; what later versions have
// changed is said where it matters.
#include "Metrics.h"
#include "ThreadId.h"

#include <csignal>
#include <cstring>
#include <dlfcn.h>

namespace kprobe {

static constexpr int JoinSeconds = 1;
static constexpr int ClockSystem = 0; // RSMI_CLK_TYPE_SYS
static constexpr int ClockMemory = 4; // RSMI_CLK_TYPE_MEM
static constexpr int MemoryVram = 0;  // RSMI_MEM_TYPE_VRAM
static constexpr int TemperatureEdge = 0, TemperatureCurrent = 0;

template <typename Function>
bool SmiLibrary::find(Function *&To, const char *Name) {
  To = reinterpret_cast<Function *>(dlsym(Library, Name));
  return To != nullptr;
}

bool SmiLibrary::open(std::string &Why) {
  // Debian's name, then upstream's.
  for (const char *Name :
       {"librocm_smi64.so.1", "librocm_smi64.so", "librocm_smi64.so.5",
        "librocm_smi64.so.6", "librocm_smi64.so.7"})
    if (!Library)
      Library = dlopen(Name, RTLD_NOW | RTLD_LOCAL);
  if (!Library) {
    Why = "there is no librocm_smi64";
    return false;
  }
  int (*Initialize)(uint64_t) = nullptr;
  int (*Devices)(uint32_t *) = nullptr;
  if (!find(Initialize, "rsmi_init") ||
      !find(Devices, "rsmi_num_monitor_devices")) {
    Why = "librocm_smi64 lacks functions";
    return false;
  }
  int Status = Initialize(0);
  if (Status == 0)
    Status = Devices(&Count);
  if (Status != 0 || Count == 0) {
    Why = "rocm_smi sees no device";
    if (Status != 0)
      Why += " (status " + std::to_string(Status) + ")";
    Count = 0;
    return false;
  }
  // What a version lacks is not read.
  find(PciId, "rsmi_dev_pci_id_get");
  find(Clock, "rsmi_dev_gpu_clk_freq_get");
  find(Busy, "rsmi_dev_busy_percent_get");
  find(MemoryBusy, "rsmi_dev_memory_busy_percent_get");
  find(MemoryUsed, "rsmi_dev_memory_usage_get");
  find(Power, "rsmi_dev_power_ave_get");
  find(Temperature, "rsmi_dev_temp_metric_get");
  return true;
}

uint64_t SmiLibrary::pciId(uint32_t Device) const {
  uint64_t Id = 0;
  return PciId && PciId(Device, &Id) == 0 ? Id : 0;
}

bool SmiLibrary::clock(uint32_t Device, int Which, double &Value) const {
  // rsmi_frequencies_t is {count, current, frequencies[]}. Since ROCm 6 a bool
  // comes first: the word that was the count is then 0, or 1 with a "current"
  // that is no index.
  struct Older {
    uint32_t Count, Current;
    uint64_t Hz[32];
  };
  struct Newer {
    uint32_t DeepSleep, Count, Current, Padding;
    uint64_t Hz[33];
  };
  union {
    Older Old;
    Newer New;
    uint8_t Room[512];
  } Read;
  std::memset(&Read, 0, sizeof(Read));
  if (!Clock || Clock(Device, Which, &Read) != 0)
    return false;
  uint64_t Hz = 0;
  if (Read.Old.Count > Read.Old.Current && Read.Old.Count <= 32)
    Hz = Read.Old.Hz[Read.Old.Current];
  else if (Read.New.Count > Read.New.Current && Read.New.Count <= 33)
    Hz = Read.New.Hz[Read.New.Current];
  Value = double(Hz) / 1e6;
  return Hz != 0;
}

bool SmiLibrary::systemClock(uint32_t Device, double &Value) const {
  return clock(Device, ClockSystem, Value);
}
bool SmiLibrary::memoryClock(uint32_t Device, double &Value) const {
  return clock(Device, ClockMemory, Value);
}

bool SmiLibrary::load(uint32_t Device, double &Value) const {
  uint32_t Percent = 0;
  bool Good = Busy && Busy(Device, &Percent) == 0;
  Value = Percent;
  return Good;
}

bool SmiLibrary::memoryLoad(uint32_t Device, double &Value) const {
  uint32_t Percent = 0;
  bool Good = MemoryBusy && MemoryBusy(Device, &Percent) == 0;
  Value = Percent;
  return Good;
}

bool SmiLibrary::memoryUsed(uint32_t Device, double &Value) const {
  uint64_t Bytes = 0;
  bool Good = MemoryUsed && MemoryUsed(Device, MemoryVram, &Bytes) == 0;
  Value = double(Bytes);
  return Good;
}

bool SmiLibrary::power(uint32_t Device, double &Value) const {
  uint64_t Microwatts = 0;
  bool Good = Power && Power(Device, 0, &Microwatts) == 0;
  Value = double(Microwatts) / 1e6;
  return Good;
}

bool SmiLibrary::temperature(uint32_t Device, double &Value) const {
  int64_t Thousandths = 0;
  bool Good = Temperature && Temperature(Device, TemperatureEdge,
                                         TemperatureCurrent, &Thousandths) == 0;
  Value = double(Thousandths) / 1e3;
  return Good;
}

const std::vector<SmiLibrary::Kind> &SmiLibrary::kinds() {
  static const std::vector<Kind> *const All = new std::vector<Kind>{
      {"shader clock", "MHz", &SmiLibrary::systemClock},
      {"memory clock", "MHz", &SmiLibrary::memoryClock},
      {"load", "%", &SmiLibrary::load},
      {"memory load", "%", &SmiLibrary::memoryLoad},
      {"memory used", "B", &SmiLibrary::memoryUsed},
      {"power", "W", &SmiLibrary::power},
      {"temperature", "degrees C", &SmiLibrary::temperature}};
  return *All;
}

std::string Metrics::start(uint32_t Period) {
  std::string Why;
  if (!Smi.open(Why))
    return "no readings of the devices' sensors: " + Why;
  PeriodMs = Period;
  sigset_t All, Old;
  sigfillset(&All);
  pthread_sigmask(SIG_SETMASK, &All, &Old);
  Running = pthread_create(&Thread, nullptr, threadMain, this) == 0;
  pthread_sigmask(SIG_SETMASK, &Old, nullptr);
  if (!Running)
    return "no readings of the devices' sensors: cannot start a thread";
  pthread_setname_np(Thread, "kprobe-metrics");
  return "";
}

void Metrics::finish() {
  if (!Running)
    return;
  Running = false;
  {
    std::lock_guard<std::mutex> Guard(Lock);
    Stop = true;
  }
  Wake.notify_all();
  // A driver that hangs must not keep the program from ending.
  struct timespec Limit;
  clock_gettime(CLOCK_REALTIME, &Limit);
  Limit.tv_sec += JoinSeconds;
  if (pthread_timedjoin_np(Thread, nullptr, &Limit) != 0)
    pthread_detach(Thread);
}

bool Metrics::describe(const HostRecorder::ChunkSink &Append) {
  if (Smi.devices() == 0)
    return false;
  uint32_t Number = 0;
  for (const SmiLibrary::Kind &K : SmiLibrary::kinds()) {
    KprobeCounterRecord Record = {++Number, uint32_t(std::strlen(K.Name)),
                                  uint32_t(std::strlen(K.Unit)), 0};
    Append(KPROBE_CHUNK_COUNTER, &Record, sizeof(Record),
           std::string(K.Name) + K.Unit);
  }
  return true;
}

void *Metrics::threadMain(void *Self) {
  isOurs();
  try {
    static_cast<Metrics *>(Self)->run();
  } catch (...) {
  }
  return nullptr;
}

uint32_t Metrics::agentOf(uint32_t Device) {
  uint64_t Id = Smi.pciId(Device);
  for (const Agent *A : Devices.all())
    if (Id != 0 && A->PciId == Id)
      return A->Number;
  return KPROBE_NO_INDEX;
}

void Metrics::run() {
  const auto Period = std::chrono::milliseconds(PeriodMs);
  auto Next = std::chrono::steady_clock::now();
  std::vector<uint32_t> Agents(Smi.devices(), KPROBE_NO_INDEX);
  std::unique_lock<std::mutex> Guard(Lock);
  for (bool Last = false; !Last;) {
    // Once more at the end: the last stretch has a value at both its ends.
    Last = Stop;
    Guard.unlock();
    for (uint32_t D = 0; D < Smi.devices(); ++D) {
      // Agents become known as the program asks for them.
      if (Agents[D] == KPROBE_NO_INDEX)
        Agents[D] = agentOf(D);
      for (uint32_t K = 0; K < SmiLibrary::kinds().size(); ++K) {
        double Value = 0;
        if (!(Smi.*SmiLibrary::kinds()[K].Read)(D, Value))
          continue;
        KprobeHostSample Sample = {{}, K + 1, Agents[D], 0};
        std::memcpy(&Sample.Value, &Value, sizeof(Value));
        recordHostEvent(KPROBE_HOST_SAMPLE, Sample);
      }
    }
    Guard.lock();
    Next += Period;
    if (!Last)
      Wake.wait_until(Guard, Next, [this] { return Stop; });
  }
}

} // namespace kprobe
