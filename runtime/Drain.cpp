// Writes the dump; see kprobe/wire.h for the order that chunks have.
#include "Drain.h"
#include "HostRecorder.h"
#include "LinuxEvents.h"
#include "Log.h"
#include "QuietWrite.h"
#include "ThreadId.h"
#include "Waves.h"

#include <csignal>
#include <cstring>
#include <fcntl.h>
#include <sys/utsname.h>
#include <unistd.h>

namespace kprobe {

static constexpr size_t ChunkBytes = 4u << 20;
static constexpr size_t MostHeldBack = 64;
static constexpr size_t HostEventsEvery = 32; // dispatches
static constexpr std::chrono::milliseconds NoPatience(0);
static constexpr std::chrono::milliseconds IdlePatience(1000);
// From look to look at dispatches that run, and when memory is short.
static constexpr std::chrono::microseconds Pause(1000);
static constexpr std::chrono::microseconds ShortPause(50);
// While host events are recorded: what a killed process loses at most.
static constexpr std::chrono::milliseconds HostEventPatience(50);
// For a thread that hangs in a write to a pipe.
static constexpr int JoinSeconds = 10;

static uint64_t clockNs(clockid_t Clock) {
  struct timespec Now;
  clock_gettime(Clock, &Now);
  return uint64_t(Now.tv_sec) * 1000000000ull + uint64_t(Now.tv_nsec);
}

Drain::Drain(const HsaApi &Api, Agents &Devices, DispatchBoard &Board,
             ProcessDump &Dump, Metrics &Sensors)
    : Api(Api), Devices(Devices), Board(Board), Dump(Dump),
      Summary(Dump.Summary), Sensors(Sensors) {
  if (Api.hsa_system_get_info(HSA_SYSTEM_INFO_TIMESTAMP_FREQUENCY, &SystemHz) !=
      HSA_STATUS_SUCCESS)
    SystemHz = 0;
}

bool Drain::start() {
  sigset_t All;
  sigset_t Old;
  sigfillset(&All);
  pthread_sigmask(SIG_SETMASK, &All, &Old);
  Running = pthread_create(&Thread, nullptr, threadMain, this) == 0;
  pthread_sigmask(SIG_SETMASK, &Old, nullptr);
  if (Running)
    pthread_setname_np(Thread, "kprobe-drain");
  return Running;
}

bool Drain::finish(std::chrono::milliseconds Patience) {
  if (!Running)
    return false;
  Running = false;
  // Read by the drain thread after it has seen the stop under the board's
  // lock, which orders the two.
  PatienceMs.store(Patience.count(), std::memory_order_relaxed);
  Board.stop();
  struct timespec Limit;
  clock_gettime(CLOCK_REALTIME, &Limit);
  Limit.tv_sec += JoinSeconds;
  if (pthread_timedjoin_np(Thread, nullptr, &Limit) != 0) {
    pthread_detach(Thread);
    return false;
  }
  Ended = true;
  return !LeftRunning;
}

void Drain::flush(std::chrono::milliseconds Patience) {
  uint64_t Mine = FlushesAsked.fetch_add(1, std::memory_order_acq_rel) + 1;
  Board.tryNudge();
  for (int64_t Left = Patience.count();
       Left > 0 && FlushesDone.load(std::memory_order_acquire) < Mine; --Left)
    usleep(1000);
}

void Drain::message(const std::string &Text) {
  logWarning(Text);
  std::lock_guard<std::mutex> Guard(MessageLock);
  Messages.push_back(Text);
}

void *Drain::threadMain(void *Self) {
  blocksAllSignals();
  isOurs();
  // Nothing may escape into the program: out of memory ends the trace.
  try {
    static_cast<Drain *>(Self)->run();
  } catch (...) {
    logError("tracing ends: out of memory");
  }
  return nullptr;
}

// What is appended while it lives is written together.
struct Drain::WriteBatch {
  explicit WriteBatch(Drain &Self) : Self(Self) {
    Self.Dump.Writer.beginBatch();
  }
  ~WriteBatch() {
    std::string Why;
    if (!Self.Dump.Writer.endBatch(&Why))
      Self.writeFailed(Why);
  }
  WriteBatch(const WriteBatch &) = delete;
  Drain &Self;
};

void Drain::run() {
  HostRecorder &Host = HostRecorder::get();
  Host.setWaker([this] { Board.nudge(); });
  LinuxEvents &Linux = LinuxEvents::get();
  while (!Board.stopped()) {
    std::vector<DispatchRef> Batch =
        Board.take(preparePools()                            ? NoPatience
                   : Host.recording() || Linux.recording() ? HostEventPatience
                                                           : IdlePatience,
                   poolsRunLow() ? ShortPause : Pause);
    // What was recorded before the question is seen below.
    uint64_t Asked = FlushesAsked.load(std::memory_order_acquire);
    {
      WriteBatch Together(*this);
      writeMessages();
      writeHostEvents();
      if (!Batch.empty()) {
        writeBatch(Batch);
        writeClocks(true);
      }
    }
    FlushesDone.store(Asked, std::memory_order_release);
  }
  Board.waitAllCompleted(
      std::chrono::milliseconds(PatienceMs.load(std::memory_order_relaxed)));
  writeBatch(Board.take(NoPatience, Pause));
  writeHeldBack();
  // Still running: what their waves have written so far is worth having.
  for (const DispatchRef &Item : Board.takeUnfinished()) {
    LeftRunning = true;
    writeDispatch(*Item, false);
  }
  writeMessages();
  writeHostEvents();
  writeClocks(false);
  Summary.ChunksDropped = Dump.Writer.chunksDropped();
  append(KPROBE_CHUNK_SUMMARY, &Summary, sizeof(Summary));
}

void Drain::append(uint32_t Kind, const void *Record, size_t RecordBytes,
                   std::string_view Strings) {
  DumpWriter::Part Parts[2] = {{Record, RecordBytes},
                               {Strings.data(), Strings.size()}};
  std::string Why;
  if (!Dump.Writer.append(Kind, Parts, 2, &Why))
    writeFailed(Why);
}

void Drain::writeFailed(const std::string &Why) {
  if (failed())
    return;
  Failed.store(true, std::memory_order_relaxed);
  logError(Why + "; tracing ends");
}

ClockSources Drain::clockSources(const Agent &Device) const {
  ClockSources Sources;
  Sources.MonotonicNs = [] { return clockNs(CLOCK_MONOTONIC); };
  Sources.SystemHz = SystemHz;
  const HsaApi *Functions = &Api;
  Sources.SystemTicks = [Functions](uint64_t &Value) {
    return Functions->hsa_system_get_info(HSA_SYSTEM_INFO_TIMESTAMP, &Value) ==
           HSA_STATUS_SUCCESS;
  };
  hsa_agent_t Handle = Device.Handle;
  Sources.Convert = [Functions, Handle](uint64_t Tick, uint64_t &System) {
    return Functions->hsa_amd_profiling_convert_tick_to_system_domain(
               Handle, Tick, &System) == HSA_STATUS_SUCCESS;
  };
  return Sources;
}

// Waits for the agent's first time stamp, because only with one can the rate
// of its counter be checked.
void Drain::announceAgent(Agent &Device) {
  if (Device.Announced)
    return;
  Device.Announced = true;
  if (!Dump.Agents.described(Device.Number, Device.TickHz))
    describeAgent(Device);
  // A first pair at once: with the one at the end they give the drift.
  KprobeClockRecord Clock = sampleClock(clockSources(Device), Device.Number,
                                        Device.KnownTick, Device.TickHz);
  append(KPROBE_CHUNK_CLOCK, &Clock, sizeof(Clock));
}

void Drain::describeAgent(Agent &Device) {
  std::string Text;
  Device.TickHz =
      chooseTickHz(Device.StatedTickHz,
                   Device.StatedTickHz
                       ? 0
                       : measureTickHz(clockSources(Device), Device.KnownTick),
                   nominalTickHz(Device.Target), Text);
  if (!Text.empty())
    append(KPROBE_CHUNK_MESSAGE, nullptr, 0, Device.Target + ": " + Text);
  if (Device.TickHz == 0)
    logWarning(Device.Target + ": " + Text);
  KprobeAgentRecord Record = {};
  Record.Agent = Device.Number;
  Record.Flags = Device.Flags;
  Record.TickHz = Device.TickHz;
  Record.CycleHz = Device.CycleHz;
  Record.ComputeUnits = Device.ComputeUnits;
  Record.SimdsPerUnit = Device.SimdsPerUnit;
  Record.ShaderEngines = Device.ShaderEngines;
  Record.WaveSize = Device.WaveSize;
  Record.TargetBytes = uint32_t(Device.Target.size());
  Record.NameBytes = uint32_t(Device.Name.size());
  append(KPROBE_CHUNK_AGENT, &Record, sizeof(Record),
         Device.Target + Device.Name);
  Dump.Agents.describe(Device.Number, Device.TickHz);
}

void Drain::announceTable(const SiteTable &Table) {
  if (!TablesWritten.insert(Table.ContentHash).second)
    return;
  append(KPROBE_CHUNK_SITE_TABLE, Table.Bytes.data(), Table.Bytes.size());
  for (uint32_t I = 0; I < Table.Kernels.size(); ++I) {
    const SiteTable::Kernel &Kernel = Table.Kernels[I];
    if (!Kernel.NeedsKnown)
      continue;
    KprobeResourcesRecord Record = {Table.ContentHash, I, 0, Kernel.Original,
                                    Kernel.Clone};
    append(KPROBE_CHUNK_RESOURCES, &Record, sizeof(Record));
  }
}

void Drain::writeClocks(bool OnlyNew) {
  for (Agent *Device : Devices.all()) {
    if (!Device->Announced || (OnlyNew && !Device->ClockDue))
      continue;
    Device->ClockDue = false;
    KprobeClockRecord Record =
        sampleClock(clockSources(*Device), Device->Number, Device->KnownTick,
                    Device->TickHz);
    append(KPROBE_CHUNK_CLOCK, &Record, sizeof(Record));
  }
}

void Drain::writeHostEvents() {
  auto Append = [this](uint32_t Kind, const void *Record, size_t Bytes,
                       std::string_view Rest) {
    append(Kind, Record, Bytes, Rest);
  };
  // Before the samples that name them.
  if (!Dump.CountersDescribed)
    Dump.CountersDescribed = Sensors.describe(Append);
  HostRecorder::get().drain(Append);
  LinuxEvents::get().drain(Append);
}

bool Drain::poolsRunLow() {
  for (Agent *Device : Devices.all())
    if (RingPool *Pool = Device->pool())
      if (Pool->freeBytes() < Pool->totalBytes() / 2)
        return true;
  return false;
}

// True while there is more to prepare.
bool Drain::preparePools() {
  bool More = false;
  for (Agent *Device : Devices.all())
    if (RingPool *Pool = Device->pool())
      More |= Pool->prepare();
  return More;
}

void Drain::writeMessages() {
  std::vector<std::string> Pending;
  {
    std::lock_guard<std::mutex> Guard(MessageLock);
    Pending.swap(Messages);
  }
  for (const std::string &Text : Pending)
    append(KPROBE_CHUNK_MESSAGE, nullptr, 0, Text);
}

void Drain::writeBatch(const std::vector<DispatchRef> &Batch) {
  size_t Written = 0;
  for (const DispatchRef &Item : Batch) {
    if (!Item->Device->Announced && !Item->Own.handle &&
        HeldBack.size() < MostHeldBack) {
      HeldBack.push_back(Item);
      continue;
    }
    writeDispatch(*Item, true);
    // A long batch must not let the threads' rings run full.
    if (++Written % HostEventsEvery == 0)
      writeHostEvents();
    if (!HeldBack.empty() && HeldBack.front()->Device == Item->Device)
      writeHeldBack();
  }
}

void Drain::writeHeldBack() {
  for (const DispatchRef &Item : HeldBack)
    writeDispatch(*Item, true);
  HeldBack.clear();
}

// Final: the device is done with the dispatch's memory.
void Drain::writeDispatch(Dispatch &Item, bool Final) {
  Agent &Device = *Item.Device;
  KprobeDispatchRecord &Record = Item.Record;
  bool Completed = Item.Completed.load(std::memory_order_acquire);
  // At an early end ROCr may not have come round to its handler yet.
  bool Fallen = !Completed && Item.Own.handle && Item.hasFallen();
  if (Fallen)
    Item.readTicks();
  if ((Completed || Fallen) && Item.EndTick != 0) {
    Device.KnownTick = Item.EndTick;
    // The later one first: ROCr may bring its clocks in line for it.
    uint64_t Begin = 0, End = 0;
    const ClockSources Sources = clockSources(Device);
    if (Sources.Convert(Item.EndTick, End) &&
        Sources.Convert(Item.BeginTick, Begin)) {
      Record.BeginSystem = Begin;
      Record.EndSystem = End;
    }
  }
  bool Traced = Record.Status == KPROBE_DISPATCH_TRACED;
  // The first dispatch of all did not complete: its waves know the counter.
  if (Traced && Device.KnownTick == 0)
    Device.KnownTick =
        anyWaveTick(Device.pool()->address(Item.Region), Item.Region.Plan);
  announceAgent(Device);
  if (Completed || Fallen)
    Device.ClockDue = true;
  if (Item.Kernel && Item.Kernel->Table)
    announceTable(*Item.Kernel->Table);

  ++Summary.DispatchesSeen;
  // Its queue was destroyed, or tracing ended before it did.
  if (Item.Own.handle && !Completed && !Fallen)
    ++Summary.DispatchesPending;
  ++Summary.DispatchesByStatus[Record.Status & 15];
  if (Traced)
    ++Summary.DispatchesTraced;
  std::string Name = Item.Kernel ? Item.Kernel->Symbol.Name : std::string();
  Record.NameBytes = uint32_t(Name.size());
  append(KPROBE_CHUNK_DISPATCH, &Record, sizeof(Record), Name);
  if (Traced) {
    RingPool &Pool = *Device.pool();
    const KprobeDispatchContext &Context = *Item.Context;
    const SiteTable::Kernel &Clone =
        Item.Kernel->Table->Kernels[Record.Kernel];
    drainWaves(Record.Dispatch, Pool.address(Item.Region), Item.Region.Plan,
               {Context.GroupsX, Context.GroupsY, Context.WavesPerGroup,
                Record.Mode == KPROBE_MODE_DROP,
                Record.Mode == KPROBE_MODE_COUNTERS ? Clone.SiteCount : 0,
                Clone.HasPlaces},
               Final,
               ChunkBytes, [&](const std::vector<uint8_t> &Payload) {
                 append(KPROBE_CHUNK_WAVES, Payload.data(), Payload.size());
               });
    if (Final) {
      Device.flushHostWrites();
      Pool.release(Item.Region);
      Device.releaseContext(Item.Context);
    }
  }
}

} // namespace kprobe
