// Saving, running, comparing, putting back; see Replay.h.
#include "Replay.h"
#include "Waves.h"

#include "kprobe/wire.h"

#include <algorithm>
#include <chrono>
#include <cstring>
#include <thread>

namespace kprobe {

// How long other work may go on before the dispatch is run as it is.
static constexpr std::chrono::milliseconds QuietPatience(1000);
static constexpr std::chrono::microseconds Pause(20);
static constexpr uint32_t QueuePackets = 64;
// What is compared and written at a time.
static constexpr size_t BlockBytes = 4096;

template <typename Condition>
static bool waitFor(std::chrono::milliseconds Patience, Condition &&Met) {
  auto End = std::chrono::steady_clock::now() + Patience;
  while (!Met()) {
    if (std::chrono::steady_clock::now() > End)
      return false;
    std::this_thread::sleep_for(Pause);
  }
  return true;
}

bool Replay::waitUntilQuiet(const Dispatch &Item) {
  return waitFor(QuietPatience, [&] {
    return Memory.isQuiet(Item.Queue->Queue) &&
           Board.allAre([&](const Dispatch &Other) {
             // Completed is looked at first: the signal is used again only
             // after it.
             return Other.Completed.load(std::memory_order_acquire) ||
                    Api.hsa_signal_load_scacquire(Other.Own) < 1;
           });
  });
}

uint32_t Replay::save(const Dispatch &Item,
                      const hsa_kernel_dispatch_packet_t &Packet,
                      std::vector<Saved> &Into) {
  if (Settings.AllMemoryReachable)
    return KPROBE_REFUSAL_UNKNOWN_MEMORY;
  std::unordered_set<uint64_t> Seen;
  uint64_t Total = 0;
  uint32_t Why = KPROBE_REFUSAL_NONE;
  auto Reach = [&](const MemoryRange &Range) {
    if (Range.Bytes == 0 || Why || !Seen.insert(Range.Begin).second)
      return;
    Total += Range.Bytes;
    if (Range.Agent != Item.Device->Handle.handle)
      Why = KPROBE_REFUSAL_HOST_MEMORY;
    else if (Total > Settings.SnapshotBytes)
      Why = KPROBE_REFUSAL_TOO_MUCH_MEMORY;
    if (Why)
      return;
    Into.push_back({Range, std::vector<uint8_t>(Range.Bytes)});
    if (Api.hsa_memory_copy(Into.back().Bytes.data(),
                            reinterpret_cast<const void *>(Range.Begin),
                            Range.Bytes) != HSA_STATUS_SUCCESS)
      Why = KPROBE_REFUSAL_FAILED;
  };

  const KernelSymbol &Kernel = Item.Kernel->Symbol;
  MemoryRange Module = Memory.ask(reinterpret_cast<void *>(Kernel.Object));
  if (Module.Bytes == 0)
    return KPROBE_REFUSAL_UNKNOWN_MEMORY;
  Reach(Module);
  // Pointers may lie in packed structures, but not at odd places.
  auto ForWords = [&](const uint8_t *Bytes, size_t Count, auto &&Visit) {
    for (size_t At = 0; At + 8 <= Count && !Why; At += 4) {
      uint64_t Word;
      std::memcpy(&Word, Bytes + At, 8);
      Visit(Word);
    }
  };
  // Arguments are few: for them ROCr is asked, whose knowledge is whole.
  ForWords(static_cast<const uint8_t *>(Packet.kernarg_address),
           Packet.kernarg_address ? Kernel.KernargBytes : 0,
           [&](uint64_t Word) {
             if (Word >= BlockBytes && Word < uint64_t(1) << 48)
               Reach(Memory.ask(reinterpret_cast<void *>(Word)));
           });
  const std::vector<MemoryRange> Known = Memory.all();
  auto FindKnown = [&](uint64_t Word) {
    auto After = std::upper_bound(
        Known.begin(), Known.end(), Word,
        [](uint64_t W, const MemoryRange &Range) { return W < Range.Begin; });
    if (After == Known.begin())
      return MemoryRange();
    const MemoryRange &Range = *std::prev(After);
    return Word - Range.Begin < Range.Bytes ? Range : MemoryRange();
  };
  // Into grows while it is gone through.
  for (size_t I = 0; I < Into.size() && !Why; ++I) {
    const std::vector<uint8_t> Bytes = Into[I].Bytes;
    ForWords(Bytes.data(), Bytes.size(),
             [&](uint64_t Word) { Reach(FindKnown(Word)); });
  }
  return Why;
}

// Writes the blocks that have changed; if one cannot be written, all are what
// they were after the run, and the answer is false.
bool Replay::restore(const std::vector<Saved> &From) {
  struct Change {
    uint8_t *Device;
    const uint8_t *Before;
    std::vector<uint8_t> After;
  };
  std::vector<Change> Changes;
  for (const Saved &Part : From) {
    auto *Device = reinterpret_cast<uint8_t *>(Part.Range.Begin);
    const std::vector<uint8_t> &Before = Part.Bytes;
    std::vector<uint8_t> Now(Before.size());
    if (Api.hsa_memory_copy(Now.data(), Device, Now.size()) !=
        HSA_STATUS_SUCCESS)
      return false;
    auto IsSame = [&](size_t At) {
      size_t Bytes = std::min(BlockBytes, Now.size() - At);
      return std::memcmp(&Now[At], &Before[At], Bytes) == 0;
    };
    for (size_t At = 0; At < Now.size();) {
      size_t Begin = At;
      while (At < Now.size() && !IsSame(At))
        At = std::min(At + BlockBytes, Now.size());
      if (At > Begin)
        Changes.push_back({Device + Begin, &Before[Begin],
                           std::vector<uint8_t>(Now.begin() + ptrdiff_t(Begin),
                                                Now.begin() + ptrdiff_t(At))});
      else
        At += BlockBytes;
    }
  }
  for (const Change &C : Changes)
    if (Api.hsa_memory_copy(C.Device, C.Before, C.After.size()) !=
        HSA_STATUS_SUCCESS) {
      for (const Change &Undo : Changes)
        Api.hsa_memory_copy(Undo.Device, Undo.After.data(), Undo.After.size());
      return false;
    }
  return true;
}

void Replay::onError(hsa_status_t Status, hsa_queue_t *, void *Data) {
  QueueState *Of = static_cast<Replay *>(Data)->Running.load();
  if (Of && Of->OnError)
    Of->OnError(Status, Of->Queue, Of->OnErrorData);
}

hsa_queue_t *Replay::queueOf(Agent &Device) {
  hsa_queue_t *&Queue = Queues[Device.Handle.handle];
  if (Queue)
    return Queue;
  if (Api.hsa_queue_create(Device.Handle, QueuePackets, HSA_QUEUE_TYPE_MULTI,
                           onError, this, UINT32_MAX, UINT32_MAX,
                           &Queue) != HSA_STATUS_SUCCESS)
    return Queue = nullptr;
  Api.hsa_amd_profiling_set_profiler_enabled(Queue, 1);
  return Queue;
}

void Replay::destroyQueues() {
  std::lock_guard<std::mutex> Guard(Memory.Gate);
  for (auto &[Handle, Queue] : Queues)
    if (Queue)
      Api.hsa_queue_destroy(Queue);
  Queues.clear();
}

bool Replay::execute(Dispatch &Item, hsa_kernel_dispatch_packet_t Packet) {
  hsa_queue_t *Queue = Queues[Item.Device->Handle.handle];
  Running.store(Item.Queue.get());
  Packet.completion_signal = Item.Run;
  Packet.header |= 1 << HSA_PACKET_HEADER_BARRIER;
  uint64_t Index = Api.hsa_queue_add_write_index_screlease(Queue, 1);
  auto *Place = static_cast<hsa_kernel_dispatch_packet_t *>(
                    Queue->base_address) +
                Index % Queue->size;
  // All but the first word, whose release hands the packet over.
  std::memcpy(reinterpret_cast<char *>(Place) + 4,
              reinterpret_cast<char *>(&Packet) + 4, sizeof(Packet) - 4);
  uint32_t First;
  std::memcpy(&First, &Packet, sizeof(First));
  __atomic_store_n(reinterpret_cast<uint32_t *>(Place), First,
                   __ATOMIC_RELEASE);
  Api.hsa_signal_store_screlease(Queue->doorbell_signal,
                                 hsa_signal_value_t(Index));
  bool Ended = waitFor(Settings.ExactPatience, [&] {
    return Api.hsa_signal_load_scacquire(Item.Run) < 1;
  });
  if (Ended)
    Running.store(nullptr);
  else // Later ones would wait behind it.
    Queues.erase(Item.Device->Handle.handle);
  return Ended;
}

// In the program's queue: waits for the run, completes for the dispatch.
static void makeBarrier(hsa_kernel_dispatch_packet_t &Packet,
                        hsa_signal_t Run) {
  hsa_barrier_and_packet_t Barrier = {};
  unsigned Keep = 1u << HSA_PACKET_HEADER_BARRIER;
  Barrier.header = uint16_t(
      (Packet.header & Keep) | HSA_PACKET_TYPE_BARRIER_AND |
      HSA_FENCE_SCOPE_SYSTEM << HSA_PACKET_HEADER_SCACQUIRE_FENCE_SCOPE |
      HSA_FENCE_SCOPE_SYSTEM << HSA_PACKET_HEADER_SCRELEASE_FENCE_SCOPE);
  Barrier.dep_signal[0] = Run;
  Barrier.completion_signal = Packet.completion_signal;
  static_assert(sizeof(Barrier) == sizeof(Packet), "packets are of one size");
  std::memcpy(&Packet, &Barrier, sizeof(Packet));
}

void Replay::sawPacket(const QueueState &Queue, const AqlPacket &Packet) {
  // Vendor's packets begin with a format; the one that waits for a value is
  // more than is looked at here (hsa_amd_barrier_value_packet_t).
  constexpr uint8_t BarrierValueFormat = 2;
  switch (Packet.Header & 0xff) {
  case HSA_PACKET_TYPE_BARRIER_AND:
  case HSA_PACKET_TYPE_BARRIER_OR: {
    hsa_barrier_and_packet_t Barrier;
    std::memcpy(&Barrier, &Packet, sizeof(Barrier));
    for (hsa_signal_t Signal : Barrier.dep_signal)
      if (Signal.handle)
        Memory.barrierSubmitted(Queue.Queue, Signal);
    break;
  }
  case HSA_PACKET_TYPE_VENDOR_SPECIFIC:
    if (Packet.Rest[0] == BarrierValueFormat)
      Memory.barrierSubmitted(Queue.Queue, {});
    break;
  }
}

// Of the waves that have ended.
static uint64_t mostWritten(const uint8_t *Slots, const RegionPlan &Plan) {
  uint64_t Most = 0;
  for (uint64_t Slot = 0; Slot < Plan.SlotCount; ++Slot) {
    KprobeWaveHeader Header;
    std::memcpy(&Header, Slots + Slot * (sizeof(Header) + Plan.RingBytes),
                sizeof(Header));
    if (waveState(Header) == KPROBE_WAVE_ENDED)
      Most = std::max<uint64_t>(Most, Header.Cursor);
  }
  return Most;
}

bool Replay::run(Dispatch &Item, hsa_kernel_dispatch_packet_t &Packet) {
  KprobeDispatchRecord &Record = Item.Record;
  std::vector<Saved> Before;
  Record.Refusal = KPROBE_REFUSAL_OTHER_WORK;
  if (!waitUntilQuiet(Item))
    return false;
  Record.Refusal = KPROBE_REFUSAL_FAILED;
  // Out of memory: no harm is done yet.
  try {
    Record.Refusal = uint8_t(save(Item, Packet, Before));
    if (!Record.Refusal && !queueOf(*Item.Device))
      Record.Refusal = KPROBE_REFUSAL_FAILED;
  } catch (...) {
  }
  if (Record.Refusal)
    return false;
  Item.Run = Signals.acquire();
  if (!Item.Run.handle) {
    Record.Refusal = KPROBE_REFUSAL_FAILED;
    return false;
  }
  const hsa_kernel_dispatch_packet_t Original = Packet;
  bool Ended = execute(Item, Original);
  // From here on it has run: whatever goes wrong, it must not run again.
  makeBarrier(Packet, Item.Run);
  if (!Ended) {
    Record.Refusal = KPROBE_REFUSAL_OTHER_WORK;
    return true;
  }
  Record.Mode = KPROBE_MODE_EXACT;
  RingPool &Pool = *Item.Device->pool();
  RegionPlan Plan = Item.Region.Plan;
  uint64_t Need = mostWritten(Pool.address(Item.Region), Plan);
  if (Need <= Plan.RingBytes)
    return true;

  auto Stands = [&](uint32_t Why) {
    Record.Mode = KPROBE_MODE_RING;
    Record.Refusal = uint8_t(Why);
    return true;
  };
  while (Plan.RingBytes < Need && Plan.RingBytes < Config::MostRingBytes)
    Plan.RingBytes *= 2;
  RingRegion Larger =
      Need > Plan.RingBytes ? RingRegion() : Pool.acquireExactly(Plan);
  if (!Larger)
    return Stands(KPROBE_REFUSAL_TOO_MANY_EVENTS);
  bool Restored = false;
  try {
    Restored = restore(Before);
  } catch (...) {
  }
  if (!Restored) {
    Pool.release(Larger);
    return Stands(KPROBE_REFUSAL_FAILED);
  }
  const KprobeDispatchContext &Context = *Item.Context;
  drainWaves(Record.Dispatch, Pool.address(Item.Region), Item.Region.Plan,
             {Context.GroupsX, Context.GroupsY, Context.WavesPerGroup}, true,
             SIZE_MAX, [](const std::vector<uint8_t> &) {});
  Item.Device->flushHostWrites();
  Pool.release(Item.Region);
  Item.Region = Larger;
  Item.Context->Slots = reinterpret_cast<uint64_t>(Pool.address(Larger));
  setRing(*Item.Context, Plan.RingBytes);
  Record.RingBytes = Plan.RingBytes;
  Api.hsa_signal_store_screlease(Item.Run, 1);
  execute(Item, Original);
  return true;
}

} // namespace kprobe
