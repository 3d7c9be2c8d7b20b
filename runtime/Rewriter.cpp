// The dispatch swap; see Rewriter.h. Packet layout: HSA runtime specification,
// "AQL kernel dispatch packet".
#include "Rewriter.h"
#include "HostRecorder.h"
#include "ThreadId.h"
#include "Waves.h"
#include "profile/Profile.h"

#include <algorithm>
#include <chrono>
#include <cstring>
#include <hsa/amd_hsa_signal.h>
#include <thread>

namespace kprobe {

static uint64_t saturate(unsigned __int128 Value) {
  return Value > UINT64_MAX ? UINT64_MAX : uint64_t(Value);
}

GridShape gridShape(const hsa_kernel_dispatch_packet_t &Packet,
                    uint32_t WaveSize) {
  // Sizes in dimensions that the packet does not use are one.
  unsigned Dimensions = Packet.setup & 3;
  auto Used = [&](unsigned Dimension, uint64_t Size) {
    return Dimension < Dimensions ? Size : 1;
  };
  const uint64_t Grid[3] = {Used(0, Packet.grid_size_x),
                            Used(1, Packet.grid_size_y),
                            Used(2, Packet.grid_size_z)};
  const uint64_t Group[3] = {
      std::max<uint64_t>(1, Used(0, Packet.workgroup_size_x)),
      std::max<uint64_t>(1, Used(1, Packet.workgroup_size_y)),
      std::max<uint64_t>(1, Used(2, Packet.workgroup_size_z))};
  auto WavesOf = [&](uint64_t Items) {
    return (Items + WaveSize - 1) / WaveSize;
  };

  // In each dimension there are whole groups and perhaps one partial group.
  uint64_t Whole[3], Rest[3];
  for (unsigned D = 0; D < 3; ++D) {
    Whole[D] = Grid[D] / Group[D];
    Rest[D] = Grid[D] % Group[D];
  }
  GridShape Shape;
  Shape.GroupsX = Whole[0] + (Rest[0] != 0);
  Shape.GroupsY = Whole[1] + (Rest[1] != 0);
  Shape.GroupsZ = Whole[2] + (Rest[2] != 0);
  Shape.WavesPerGroup = WavesOf(Group[0] * Group[1] * Group[2]);
  Shape.WaveIndices = saturate((unsigned __int128)Shape.GroupsX *
                               Shape.GroupsY * Shape.GroupsZ);
  Shape.WaveIndices =
      saturate((unsigned __int128)Shape.WaveIndices * Shape.WavesPerGroup);
  // Eight kinds of groups in all; most grids have one.
  unsigned __int128 Waves = 0;
  for (unsigned Kind = 0; Kind < 8; ++Kind) {
    unsigned __int128 Groups = 1;
    uint64_t Items = 1;
    for (unsigned D = 0; D < 3; ++D) {
      bool Partial = Kind >> D & 1;
      Groups *= Partial ? (Rest[D] != 0) : Whole[D];
      Items *= Partial ? Rest[D] : Group[D];
    }
    if (Groups == 0)
      continue;
    // At most 2^96 groups of at most 2^42 waves; the first saturates already.
    Waves += (unsigned __int128)saturate(Groups) * WavesOf(Items);
  }
  Shape.Waves = saturate(Waves);
  return Shape;
}

static void recordBarrier(const QueueState &Queue, const AqlPacket &Packet,
                          uint64_t Index) {
  hsa_barrier_and_packet_t Barrier; // of one layout with barrier-OR
  static_assert(sizeof(Barrier) == sizeof(Packet), "packets are of one size");
  std::memcpy(&Barrier, &Packet, sizeof(Barrier));
  uint16_t Signals = 0;
  for (hsa_signal_t Signal : Barrier.dep_signal)
    Signals += Signal.handle != 0;
  recordHostEvent(KPROBE_HOST_BARRIER,
                  KprobeHostBarrier{{},
                                    Index,
                                    Queue.Number,
                                    uint16_t(Packet.Header & 0xff),
                                    Signals});
}

void Rewriter::rewrite(const std::shared_ptr<QueueState> &Queue,
                       AqlPacket *Packets, size_t Count, uint64_t FirstIndex) {
  for (size_t I = 0; I < Count; ++I) {
    if (Exact)
      Exact->sawPacket(*Queue, Packets[I]);
    switch (Packets[I].Header & 0xff) {
    case HSA_PACKET_TYPE_KERNEL_DISPATCH:
      rewriteDispatch(
          Queue, reinterpret_cast<hsa_kernel_dispatch_packet_t &>(Packets[I]),
          FirstIndex + I, Queue->Submitted + I);
      break;
    case HSA_PACKET_TYPE_BARRIER_AND:
    case HSA_PACKET_TYPE_BARRIER_OR:
      recordBarrier(*Queue, Packets[I], FirstIndex + I);
      break;
    }
  }
  std::lock_guard<std::mutex> Guard(Queue->Lock);
  Queue->Submitted += Count;
}

void Rewriter::rewriteDispatch(const std::shared_ptr<QueueState> &Queue,
                               hsa_kernel_dispatch_packet_t &Packet,
                               uint64_t Index, uint64_t Position) {
  DispatchRef Item = makeDispatch();
  Item->Kernel = Code.find(Packet.kernel_object);
  Item->Device = Queue->Device;
  Item->Queue = Queue;
  Item->Position = Position;
  KprobeDispatchRecord &Record = Item->Record;
  // A plain count; what orders the records is the board's lock.
  Record.Dispatch = DispatchCounter.fetch_add(1, std::memory_order_relaxed) + 1;
  Record.Agent = Queue->Device->Number;
  Record.Queue = Queue->Number;
  Record.QueueIndex = Index;
  Record.KernelObject = Packet.kernel_object;
  Record.Kernel = KPROBE_NO_INDEX;
  Record.SubmitNs = hostNowNs();
  recordHostEvent(KPROBE_HOST_SUBMIT, KprobeHostSubmit{{}, Record.Dispatch});
  profileSubmit(Record.Dispatch);
  Record.ThreadId = threadId();
  unsigned Dimensions = Packet.setup & 3;
  const uint32_t Grid[3] = {Packet.grid_size_x, Packet.grid_size_y,
                            Packet.grid_size_z};
  const uint32_t Group[3] = {Packet.workgroup_size_x, Packet.workgroup_size_y,
                             Packet.workgroup_size_z};
  for (unsigned D = 0; D < 3; ++D) {
    Record.Grid[D] = D < Dimensions ? Grid[D] : 1;
    Record.Group[D] = D < Dimensions ? Group[D] : 1;
  }
  uint32_t WaveSize = Queue->Device->WaveSize;
  if (Item->Kernel && Item->Kernel->Table)
    WaveSize = reinterpret_cast<const KprobeSiteTableHeader *>(
                   Item->Kernel->Table->Bytes.data())
                   ->WaveSize;
  if (WaveSize == 0)
    WaveSize = Queue->Device->WaveSize;
  GridShape Shape = gridShape(Packet, WaveSize);
  Record.WaveCount = Shape.Waves;

  hsa_kernel_dispatch_packet_t Original = Packet;
  Record.Status = instrument(*Item, Packet, Shape);
  // The dispatch's end is watched through a signal of ours. In place of the
  // program's it would delay the program, so that is only done where events
  // are to be had.
  bool Traced = Record.Status == KPROBE_DISPATCH_TRACED;
  Record.LdsBytes = Packet.group_segment_size;
  Record.ScratchBytes = Packet.private_segment_size;
  bool HasRun =
      Traced && Exact && !Item->Record.Refusal && Exact->run(*Item, Packet);
  bool Watch = Traced || Exact || Packet.completion_signal.handle == 0;
  if (Watch && !watch(Item, Packet)) {
    // Nobody will learn when it has ended.
    if (Exact && !HasRun)
      Exact->neverQuiet();
    if (Traced && !HasRun) {
      undo(*Item);
      Packet = Original;
      Record.LdsBytes = Packet.group_segment_size;
      Record.ScratchBytes = Packet.private_segment_size;
      Record.Status = KPROBE_DISPATCH_NO_SIGNAL;
    }
  }
  if (!Item->Own.handle)
    Board.completed(Item);
}

// The least ring with room for so many events or counters, which are as long.
static uint32_t ringFor(uint64_t Count) {
  uint64_t Bytes = Config::LeastRingBytes;
  while (Bytes < Count * sizeof(KprobeEvent))
    Bytes *= 2;
  return uint32_t(std::min<uint64_t>(Bytes, Config::MostRingBytes));
}

static RegionDemand demandOf(const SiteTable::Kernel &Clone,
                             const GridShape &Grid, SampleChoice Sample) {
  RegionDemand Demand;
  Demand.Groups = Grid.WaveIndices / Grid.WavesPerGroup;
  Demand.WavesPerGroup = Grid.WavesPerGroup;
  Demand.Sample = Sample;
  // Where each site has its place, there is nothing to choose. Mode drop has use
  // for one place more.
  if (Clone.CloneMode == KPROBE_MODE_COUNTERS)
    Demand.RingBytes = ringFor(Clone.SiteCount);
  else if (Clone.HasPlaces)
    Demand.RingBytes = ringFor(uint64_t(Clone.SiteCount) + 1);
  else if (Clone.Bounded)
    Demand.MostRingBytes = ringFor(uint64_t(Clone.SiteCount) + 1);
  return Demand;
}

// Returns the dispatch's status; changes the packet only for TRACED.
uint32_t Rewriter::instrument(Dispatch &Item,
                              hsa_kernel_dispatch_packet_t &Packet,
                              const GridShape &Grid) {
  const KernelInfo *Kernel = Item.Kernel.get();
  if (!Kernel || !Kernel->Table)
    return KPROBE_DISPATCH_NOT_INSTRUMENTED;
  KprobeDispatchRecord &Record = Item.Record;
  Record.TableHash = Kernel->Table->ContentHash;
  Record.Kernel = Kernel->TableIndex;
  if (Kernel->Filtered)
    return KPROBE_DISPATCH_FILTERED;
  uint64_t Number = Kernel->Dispatches->fetch_add(1, std::memory_order_relaxed);
  if (Settings.Dispatches.isBetween(Number))
    return KPROBE_DISPATCH_NOT_EVERY;
  if (Settings.Dispatches.isAfterFirst(Number))
    return KPROBE_DISPATCH_NOT_FIRST;
  if (Packet.reserved2 != 0)
    return KPROBE_DISPATCH_TAG_IN_USE;
  if (!Instrumenting.load(std::memory_order_relaxed))
    return KPROBE_DISPATCH_TRACING_OFF;
  RingPool *Pool = Item.Device->pool();
  if (!Pool)
    return KPROBE_DISPATCH_NO_BUFFER;
  // The device computes indices of waves with 32 bits.
  if (Grid.WaveIndices > UINT32_MAX)
    return KPROBE_DISPATCH_TOO_LARGE;

  const SiteTable::Kernel &Clone = Kernel->Table->Kernels[Record.Kernel];
  bool TooLarge = false;
  Item.Region =
      Pool->acquire(demandOf(Clone, Grid, Settings.Sample), TooLarge);
  if (!Item.Region)
    return TooLarge ? KPROBE_DISPATCH_TOO_LARGE : KPROBE_DISPATCH_NO_BUFFER;
  Item.Context = Item.Device->acquireContext(Kernel->Symbol.KernargBytes);
  if (!Item.Context) {
    undo(Item);
    return KPROBE_DISPATCH_NO_BUFFER;
  }
  const RegionPlan &Plan = Item.Region.Plan;
  // The device puts what is not sampled at 2^(32 - GroupShift) and above.
  if (Plan.SlotCount > UINT32_MAX >> Plan.GroupShift) {
    undo(Item);
    return KPROBE_DISPATCH_TOO_LARGE;
  }
  KprobeDispatchContext Context = {};
  Context.Magic = KPROBE_CONTEXT_MAGIC;
  Record.Mode = uint8_t(Clone.CloneMode);
  if (Settings.Mode != KPROBE_MODE_RING && Settings.Mode != Clone.CloneMode &&
      !(Settings.Mode == KPROBE_MODE_EXACT &&
        Clone.CloneMode == KPROBE_MODE_RING))
    Record.Refusal = KPROBE_REFUSAL_BUILT_OTHERWISE;
  setRing(Context, Plan.RingBytes);
  Context.Slots = reinterpret_cast<uint64_t>(Pool->address(Item.Region));
  Context.SlotCount = uint32_t(Plan.SlotCount);
  Context.GroupsX = uint32_t(Grid.GroupsX);
  Context.GroupsY = uint32_t(Grid.GroupsY);
  Context.WavesPerGroup = uint32_t(Grid.WavesPerGroup);
  Context.GroupSizeX = Record.Group[0];
  Context.GroupSizeY = Record.Group[1];
  Context.SampleShift = Plan.SampleShift;
  Context.GroupShift = Plan.GroupShift;
  *Item.Context = Context;
  if (Packet.kernarg_address)
    std::memcpy(Item.Context + 1, Packet.kernarg_address,
                Kernel->Symbol.KernargBytes);
  Record.SlotCount = Plan.SlotCount;
  Record.RingBytes = Plan.RingBytes;
  Record.SampleShift = uint8_t(Plan.SampleShift);
  Record.GroupShift = uint8_t(Plan.GroupShift);

  const KernelSymbol &Run =
      Plan.SampleShift || Plan.GroupShift ? Kernel->Sampled : Kernel->Clone;
  Packet.kernel_object = Run.Object;
  Packet.kernarg_address = Item.Context + 1;
  // Not for the device: so that other tools see that somebody was here.
  Packet.reserved2 = reinterpret_cast<uint64_t>(Item.Context);
  // The program may have added dynamic LDS, or stack for a kernel that calls
  // through pointers: keep what it added to the original's own size.
  auto Added = [](uint32_t Asked, uint32_t Original, uint32_t Clone) {
    return Asked > Original ? Clone + (Asked - Original) : Clone;
  };
  Packet.group_segment_size =
      Added(Packet.group_segment_size, Kernel->Symbol.GroupBytes,
            Run.GroupBytes);
  Packet.private_segment_size =
      std::max(Packet.private_segment_size,
               Added(Packet.private_segment_size, Kernel->Symbol.PrivateBytes,
                     Run.PrivateBytes));
  // The context is read through caches that must not hold an older one, and
  // what the waves wrote must be in memory when the signal says so.
  auto SetScope = [&](unsigned Shift, unsigned Width) {
    const unsigned Mask = ((1u << Width) - 1) << Shift;
    Packet.header = uint16_t((Packet.header & ~Mask) |
                             unsigned(HSA_FENCE_SCOPE_SYSTEM) << Shift);
  };
  SetScope(HSA_PACKET_HEADER_SCACQUIRE_FENCE_SCOPE,
           HSA_PACKET_HEADER_WIDTH_SCACQUIRE_FENCE_SCOPE);
  SetScope(HSA_PACKET_HEADER_SCRELEASE_FENCE_SCOPE,
           HSA_PACKET_HEADER_WIDTH_SCRELEASE_FENCE_SCOPE);
  return KPROBE_DISPATCH_TRACED;
}

void Rewriter::undo(Dispatch &Item) {
  if (Item.Region)
    Item.Device->pool()->release(Item.Region);
  Item.Region = RingRegion();
  Item.Device->releaseContext(Item.Context);
  Item.Context = nullptr;
  Item.Record.SlotCount = 0;
  Item.Record.RingBytes = 0;
  Item.Record.SampleShift = 0;
  Item.Record.GroupShift = 0;
  Item.Record.Mode = KPROBE_MODE_RING;
  Item.Record.Refusal = KPROBE_REFUSAL_NONE;
}

namespace {
// What ROCr's signal thread gets; lives from registration to the one call.
struct Completion {
  const HsaApi *Api;
  DispatchBoard *Board;
  DispatchRef Item;
};
} // namespace

// On ROCr's signal thread. The program's signal first; then the hand-over,
// which is one short lock. Runs to its end even when tracing has stopped
// meanwhile, because the program waits for its signal.
static bool onCompletion(hsa_signal_value_t, void *Data) {
  std::unique_ptr<Completion> Done(static_cast<Completion *>(Data));
  Dispatch &Item = *Done->Item;
  Item.readTicks();
  if (Item.App.handle) {
    auto *App = reinterpret_cast<amd_signal_t *>(Item.App.handle);
    App->start_ts = Item.BeginTick;
    App->end_ts = Item.EndTick;
    // Releases the time stamps to whoever acquires the signal's value.
    Done->Api->hsa_signal_subtract_screlease(Item.App, 1);
  }
  Done->Board->completed(Done->Item);
  return false;
}

bool Rewriter::callAtEnd(const DispatchRef &Item) {
  auto Argument =
      std::unique_ptr<Completion>(new Completion{&Api, &Board, Item});
  if (Api.hsa_amd_signal_async_handler(Item->Own, HSA_SIGNAL_CONDITION_LT, 1,
                                       onCompletion,
                                       Argument.get()) != HSA_STATUS_SUCCESS)
    return false;
  Argument.release();
  return true;
}

// Where the program waits for a signal of its own, ROCr's thread is to pass the
// end on at once. Else nobody is in a hurry, and the drain thread looks from
// time to time: a handler costs the submitter and ROCr's thread a wake-up each.
bool Rewriter::watch(const DispatchRef &Item,
                     hsa_kernel_dispatch_packet_t &Packet) {
  Item->App = Packet.completion_signal;
  Item->Polled = Item->App.handle == 0;
  SignalPool &Pool = Item->Polled ? Signals.Polled : Signals.WithHandler;
  Item->Own = Pool.acquire();
  if (!Item->Own.handle) {
    Item->App = {};
    return false;
  }
  Board.submitted(Item);
  if (!Item->Polled && !callAtEnd(Item)) {
    Board.withdraw(Item);
    Pool.release(Item->Own);
    Item->Own = {};
    Item->App = {};
    return false;
  }
  Packet.completion_signal = Item->Own;
  std::lock_guard<std::mutex> Guard(Item->Queue->Lock);
  Item->Queue->Watched.push_back(Item);
  return true;
}

void Rewriter::waitForRoom(QueueState &Queue, size_t Count) {
  std::unique_lock<std::mutex> Guard(Queue.Lock);
  auto IsDone = [&](const Dispatch &Item) {
    // Completed is looked at first: the signal is used again only after it.
    return Item.Completed.load(std::memory_order_acquire) ||
           Api.hsa_signal_load_scacquire(Item.Own) < 1;
  };
  auto Passed = [&](const Dispatch &Item) {
    Queue.Consumed = std::max(Queue.Consumed, Item.Position + 1);
  };
  while (!Queue.Watched.empty() &&
         Queue.Watched.front()->Completed.load(std::memory_order_acquire)) {
    Passed(*Queue.Watched.front());
    Queue.Watched.pop_front();
  }
  // ROCr wants one slot more than it fills, and one for its own barrier.
  constexpr uint64_t Spare = 4;
  // A queue deeper than our signals would lose dispatches to no purpose: the
  // program is thousands ahead of the device already.
  constexpr uint64_t Deepest = 3072;
  const uint64_t Depth = std::min(Queue.Size, Deepest);
  if (Count + Spare >= Depth)
    return;
  // Submitted counts the packets at hand already.
  auto HasRoom = [&] {
    return Queue.Submitted - Queue.Consumed + Spare <= Depth;
  };
  while (!HasRoom()) {
    bool AnyRunning = false;
    for (const DispatchRef &Item : Queue.Watched)
      if (Item->Position + Count >= Queue.Submitted)
        continue; // among the packets at hand: the device has not seen it
      else if (IsDone(*Item))
        Passed(*Item);
      else
        AnyRunning = true;
    // Nothing left to learn from: ROCr's own way must do.
    if (HasRoom() || !AnyRunning)
      return;
    Guard.unlock();
    std::this_thread::sleep_for(std::chrono::microseconds(20));
    Guard.lock();
  }
}

} // namespace kprobe
