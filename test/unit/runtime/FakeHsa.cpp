// The fake program's side and the fake device; see FakeHsa.h.
#include "FakeInternal.h"

#include <cstdlib>
#include <cstring>

namespace fake {

Hsa *Instance = nullptr;
static thread_local hsa_queue_t *Submitting = nullptr;

Hsa::Hsa(unsigned AgentCount) {
  Instance = this;
  CpuAgents = {1};
  Pools[10] = {1, HSA_AMD_MEMORY_POOL_GLOBAL_FLAG_FINE_GRAINED |
                      HSA_AMD_MEMORY_POOL_GLOBAL_FLAG_KERNARG_INIT};
  for (unsigned I = 0; I < AgentCount; ++I) {
    GpuAgents.push_back(2 + I);
    Pools[20 + I] = {2 + I, HSA_AMD_MEMORY_POOL_GLOBAL_FLAG_COARSE_GRAINED};
  }
  fillTable(*this);
  Device = std::thread([this] { deviceThread(); });
  SignalCaller = std::thread([this] { signalThread(); });
}

Hsa::~Hsa() {
  {
    std::lock_guard<std::mutex> Guard(Lock);
    Stop = true;
  }
  Arrival.notify_all();
  Device.join();
  SignalCaller.join();
}

hsa_queue_t *Hsa::createQueue(unsigned Agent, uint32_t Size) {
  hsa_queue_t *Result = nullptr;
  Container.core.hsa_queue_create_fn({GpuAgents[Agent]}, Size,
                                     HSA_QUEUE_TYPE_MULTI, nullptr, nullptr,
                                     UINT32_MAX, UINT32_MAX, &Result);
  return Result;
}

void Hsa::destroyQueue(hsa_queue_t *Q) {
  Container.core.hsa_queue_destroy_fn(Q);
}

hsa_executable_t Hsa::load(const std::vector<uint8_t> &Elf,
                           const std::vector<Symbol> &Symbols,
                           std::vector<unsigned> AgentList) {
  hsa_executable_t Executable;
  {
    std::lock_guard<std::mutex> Guard(Lock);
    Executable.handle = NextHandle++;
    for (unsigned Agent : AgentList)
      Executables[Executable.handle].ByAgent[GpuAgents[Agent]] = Symbols;
  }
  // The program frees its copy at once.
  auto *Copy = new std::vector<uint8_t>(Elf);
  hsa_code_object_reader_t Reader;
  Container.core.hsa_code_object_reader_create_from_memory_fn(
      Copy->data(), Copy->size(), &Reader);
  delete Copy;
  for (unsigned Agent : AgentList)
    Container.core.hsa_executable_load_agent_code_object_fn(
        Executable, {GpuAgents[Agent]}, Reader, nullptr, nullptr);
  Container.core.hsa_code_object_reader_destroy_fn(Reader);
  Container.core.hsa_executable_freeze_fn(Executable, nullptr);
  return Executable;
}

static void writePackets(const void *Packets, uint64_t Count) {
  auto *First = static_cast<const hsa_kernel_dispatch_packet_t *>(Packets);
  std::lock_guard<std::mutex> Guard(Instance->Lock);
  Queue &Q = *Instance->Queues.at(Submitting);
  for (uint64_t I = 0; I < Count; ++I)
    Instance->DeviceWork.push_back({First[I], Q.Agent, Submitting,
                                    nowNs() + Instance->DelayMs * 1000000ull});
  Instance->Arrival.notify_all();
}

void Hsa::submit(hsa_queue_t *Public, const void *Packets, size_t Count) {
  Queue *Q = findQueue(Public);
  std::lock_guard<std::mutex> Guard(Q->Lock);
  Submitting = Public;
  auto *First = static_cast<const hsa_kernel_dispatch_packet_t *>(Packets);
  for (size_t I = 0; I < Count; ++I) {
    uint64_t Index = Q->WriteIndex++;
    if (Q->Handler)
      Q->Handler(First + I, 1, Index, Q->HandlerData, writePackets);
    else
      writePackets(First + I, 1);
  }
}

void Hsa::waitIdle() {
  std::unique_lock<std::mutex> Guard(Lock);
  Idle.wait(Guard, [&] {
    return DeviceWork.empty() && SignalWork.empty() && !InDevice && !InSignals;
  });
}

std::vector<hsa_kernel_dispatch_packet_t> Hsa::seen() {
  std::lock_guard<std::mutex> Guard(Lock);
  return Seen;
}
size_t Hsa::livePools() {
  std::lock_guard<std::mutex> Guard(Lock);
  return Allocations.size();
}
size_t Hsa::liveSignals() {
  std::lock_guard<std::mutex> Guard(Lock);
  return Signals.size();
}

void Hsa::wave(const KprobeDispatchContext &Context, uint64_t Wave) {
  uint64_t Group = Wave / Context.WavesPerGroup;
  uint64_t InSample = (Group >> Context.GroupShift) * Context.WavesPerGroup +
                      Wave % Context.WavesPerGroup;
  if (Group & ((1ull << Context.GroupShift) - 1) ||
      InSample & ((1ull << Context.SampleShift) - 1))
    return;
  uint64_t Slot = InSample >> Context.SampleShift;
  if (Slot >= Context.SlotCount)
    return;
  auto *At = reinterpret_cast<uint8_t *>(
      Context.Slots + Slot * (sizeof(KprobeWaveHeader) + Context.RingBytes));
  auto *Header = reinterpret_cast<KprobeWaveHeader *>(At);
  uint8_t *Ring = At + sizeof(*Header);
  // The contract: slots start zeroed.
  for (uint64_t I = 0; I < sizeof(*Header) + Context.RingBytes; I += 8)
    if (*reinterpret_cast<uint64_t *>(At + I)) {
      std::fprintf(stderr, "fake device: slot %llu is not zero at byte %llu\n",
                   (unsigned long long)Slot, (unsigned long long)I);
      abort();
    }
  Header->BeginTicks = ticksAt(nowNs());
  Header->BeginCycles = Header->BeginTicks * 18;
  uint64_t Events = EventsOfWave(Wave);
  for (uint64_t I = 0; I < Events; ++I) {
    KprobeEvent Event = {
        uint32_t(I), KPROBE_TAG_BASE(KPROBE_EVENT_BLOCK, I % 5) + (64 << 4)};
    std::memcpy(Ring + ((I * 8) & KPROBE_RING_MASK(Context.RingBytes)), &Event,
                8);
  }
  if (WaveDies(Wave))
    return;
  Header->Cursor = uint32_t(Events * 8);
  Header->EndTicks = ticksAt(nowNs());
  Header->EndCycles = Header->EndTicks * 18;
}

void Hsa::execute(const Work &Item) {
  const hsa_kernel_dispatch_packet_t &Packet = Item.Packet;
  uint64_t Begin = nowNs();
  if ((Packet.header & 0xff) == HSA_PACKET_TYPE_KERNEL_DISPATCH &&
      Packet.reserved2 > 4096) {
    KprobeDispatchContext Context;
    std::memcpy(&Context, reinterpret_cast<void *>(Packet.reserved2),
                sizeof(Context));
    if (Context.Magic == KPROBE_CONTEXT_MAGIC) {
      uint64_t Groups = uint64_t(Context.GroupsX) * Context.GroupsY;
      for (uint64_t W = 0; W < Groups * Context.WavesPerGroup; ++W)
        wave(Context, W);
    }
  }
  if (Packet.completion_signal.handle) {
    amd_signal_t *Signal = raw(Packet.completion_signal);
    Signal->start_ts = ticksAt(Begin);
    Signal->end_ts = ticksAt(nowNs()) + 1;
    valueOf(Packet.completion_signal).fetch_sub(1, std::memory_order_acq_rel);
    fallen(Packet.completion_signal);
  }
}

void Hsa::deviceThread() {
  std::unique_lock<std::mutex> Guard(Lock);
  while (true) {
    Arrival.wait_for(Guard, std::chrono::milliseconds(5),
                     [&] { return Stop || (!Paused && !DeviceWork.empty()); });
    if (Stop)
      return;
    if (Paused || DeviceWork.empty() || DeviceWork.front().DueNs > nowNs())
      continue;
    Work Item = DeviceWork.front();
    DeviceWork.pop_front();
    Seen.push_back(Item.Packet);
    ++InDevice;
    Guard.unlock();
    execute(Item);
    Guard.lock();
    --InDevice;
    Idle.notify_all();
  }
}

void Hsa::signalThread() {
  std::unique_lock<std::mutex> Guard(Lock);
  while (true) {
    Arrival.wait_for(Guard, std::chrono::milliseconds(5),
                     [&] { return Stop || !SignalWork.empty(); });
    if (Stop)
      return;
    if (SignalWork.empty())
      continue;
    auto Next = SignalWork.front();
    SignalWork.pop_front();
    ++InSignals;
    Guard.unlock();
    Next.first(0, Next.second);
    Guard.lock();
    --InSignals;
    Idle.notify_all();
  }
}

} // namespace fake
