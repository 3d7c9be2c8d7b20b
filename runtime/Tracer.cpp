// Ties the parts together; life cycle and queues.
#include "Tracer.h"
#include "HostRecorder.h"
#include "Log.h"

#include <cstdio>

namespace kprobe {

// How long the end of the process waits for dispatches that still run.
static constexpr std::chrono::milliseconds EndPatience(2000);
// How long _exit() or exec() may take for it.
static constexpr std::chrono::milliseconds FlushPatience(1000);
// After an error of the device nothing more will complete.
static constexpr std::chrono::milliseconds ErrorPatience(0);

Tracer::Tracer(const HsaApi &Functions, const Config &Wishes,
               ProcessDump &ProcessWide)
    : Api(Functions), Settings(Wishes), Dump(ProcessWide),
      Devices(Api, Settings, Dump.Agents), Code(Settings.Kernels), Signals(Api),
      Board(Signals), Memory(Api),
      Exact(Api, Signals.WithHandler, Board, Memory, Settings),
      Packets(Api, Code, Signals, Board, Settings,
              Settings.Mode == KPROBE_MODE_EXACT ? &Exact : nullptr,
              Dump.DispatchCounter),
      Things(Api, Devices, Signals.WithHandler), Sensors(Devices),
      Writer(Api, Devices, Board, Dump, Sensors) {}

bool Tracer::start() {
  std::string NoSensors;
  if (Settings.MetricsMs != 0) {
    HostRecorder::get().start(Settings);
    NoSensors = Sensors.start(Settings.MetricsMs);
  }
  if (!Writer.start())
    return false;
  report(NoSensors);
  Active.store(true, std::memory_order_release);
  return true;
}

void Tracer::finish(bool Unloading) { end(EndPatience, Unloading); }

void Tracer::deviceFailed(const std::string &What) {
  if (!active())
    return;
  report(What + ": what the waves have written so far is saved");
  end(ErrorPatience, false);
}

void Tracer::relayError(hsa_status_t Status, hsa_queue_t *Source, void *Data) {
  auto *Relay = static_cast<ErrorRelay *>(Data);
  try {
    char Text[32];
    snprintf(Text, sizeof(Text), "0x%x", unsigned(Status));
    Relay->Owner->deviceFailed(std::string("a queue failed with status ") +
                               Text);
  } catch (...) {
  }
  Relay->Callback(Status, Source, Relay->Data);
}

void Tracer::end(std::chrono::milliseconds Patience, bool Unloading) {
  if (Gone.load(std::memory_order_relaxed))
    return;
  // A second caller waits here until the first is through: after OnUnload ROCr
  // takes itself apart.
  std::lock_guard<std::mutex> Guard(FinishLock);
  if (Finished || !Active.exchange(false, std::memory_order_acq_rel))
    return;
  Finished = true;
  Sensors.finish();
  bool AllWritten = Writer.finish(Patience);
  // Otherwise the device may still write there, or the drain thread read.
  if (Unloading && AllWritten) {
    Exact.destroyQueues();
    Devices.freePools();
    Signals.WithHandler.destroyAll();
    Signals.Polled.destroyAll();
  }
  say();
}

void Tracer::flush() {
  if (active())
    Writer.flush(FlushPatience);
}

void Tracer::letGo() {
  // One thread is left in the child: nothing to order.
  Gone.store(true, std::memory_order_relaxed);
  Active.store(false, std::memory_order_release);
}

void Tracer::report(const std::string &Problem) {
  if (!Problem.empty())
    Writer.message(Problem);
}

static std::string plural(uint64_t Count, const char *One, const char *Many) {
  return std::to_string(Count) + " " + (Count == 1 ? One : Many);
}

// One line at the end: always when asked for, else only when something that
// could have been traced was not. A dump that could not be written has had its
// line already.
void Tracer::say() {
  const KprobeSummaryRecord &Sum = Dump.Summary;
  uint64_t Refused = 0;
  std::string Reasons;
  static const char *const Texts[] = {
#define KPROBE_DISPATCH_STATUS(Name, Value, Text) Text,
#include "kprobe/dispatch_status.def"
  };
  for (unsigned I = 0; I < sizeof(Texts) / sizeof(Texts[0]); ++I) {
    uint64_t Count = Sum.DispatchesByStatus[I];
    if (I == KPROBE_DISPATCH_TRACED || Count == 0)
      continue;
    Reasons += ", " + std::to_string(Count) + " not traced (" + Texts[I] + ")";
    bool Wanted = I == KPROBE_DISPATCH_FILTERED ||
                  I == KPROBE_DISPATCH_NOT_EVERY ||
                  I == KPROBE_DISPATCH_NOT_FIRST;
    if (I != KPROBE_DISPATCH_NOT_INSTRUMENTED && !Wanted)
      Refused += Count;
  }
  if (Sum.DispatchesPending)
    Reasons += ", " + std::to_string(Sum.DispatchesPending) + " unfinished";
  if (Sum.ChunksDropped)
    Reasons += ", " + plural(Sum.ChunksDropped, "chunk", "chunks") + " lost";
  bool Lost = Refused || Sum.DispatchesPending;
  if (!Settings.Verbose &&
      (Sum.ChunksDropped || (!Lost && Sum.DispatchesSeen)))
    return;
  logNote(plural(Sum.DispatchesSeen, "dispatch", "dispatches") + " seen, " +
          std::to_string(Sum.DispatchesTraced) + " traced" + Reasons + " → " +
          Dump.Writer.path());
}

static void interceptPackets(const void *Packets, uint64_t Count,
                             uint64_t FirstIndex, void *Data,
                             hsa_amd_queue_intercept_packet_writer Writer) {
  auto *Queue = static_cast<QueueState *>(Data);
  if (!Queue->Ready.load(std::memory_order_acquire))
    return Writer(Packets, Count);
  Queue->Owner->intercept(Queue->shared_from_this(), Packets, Count, FirstIndex,
                          Writer);
}

static void recordQueue(uint16_t Kind, const QueueState &State) {
  recordHostEvent(Kind, KprobeHostQueue{{},
                                        State.Number,
                                        State.Device->Number,
                                        uint32_t(State.Size),
                                        State.Type});
}

hsa_status_t
Tracer::createQueue(hsa_agent_t Handle, uint32_t Size, hsa_queue_type32_t Type,
                    void (*Callback)(hsa_status_t, hsa_queue_t *, void *),
                    void *Data, uint32_t PrivateBytes, uint32_t GroupBytes,
                    hsa_queue_t **Queue) {
  auto Plain = [&] {
    return Api.hsa_queue_create(Handle, Size, Type, Callback, Data,
                                PrivateBytes, GroupBytes, Queue);
  };
  Agent *Device = Devices.find(Handle);
  // A cooperative queue is the agent's only one and shared: wrapping it would
  // give it two owners.
  if (!Device ||
      (Type != HSA_QUEUE_TYPE_MULTI && Type != HSA_QUEUE_TYPE_SINGLE)) {
    report("a queue of type " + std::to_string(Type) +
           " is not watched: its dispatches will be missing");
    return Plain();
  }
  auto *ToCall = Callback;
  void *ToPass = Data;
  if (Callback) {
    auto Relay = std::make_unique<ErrorRelay>(ErrorRelay{this, Callback, Data});
    ToCall = relayError;
    ToPass = Relay.get();
    std::lock_guard<std::mutex> Guard(QueueLock);
    Relays.push_back(std::move(Relay));
  }
  if (Api.hsa_amd_queue_intercept_create(Handle, Size, Type, ToCall, ToPass,
                                         PrivateBytes, GroupBytes,
                                         Queue) != HSA_STATUS_SUCCESS) {
    hsa_status_t Status = Plain();
    if (Status == HSA_STATUS_SUCCESS)
      report("a queue cannot be intercepted: its dispatches will be missing");
    return Status;
  }
  auto State = std::make_shared<QueueState>();
  State->Queue = *Queue;
  State->Device = Device;
  State->Number = Dump.QueueCounter.fetch_add(1, std::memory_order_relaxed);
  State->Size = (*Queue)->size;
  State->Type = Type;
  State->Owner = this;
  State->OnError = ToCall;
  State->OnErrorData = ToPass;
  recordQueue(KPROBE_HOST_QUEUE_CREATE, *State);
  // Time stamps of dispatches need the queue's profiling switch.
  Api.hsa_amd_profiling_set_profiler_enabled(*Queue, 1);
  {
    std::lock_guard<std::mutex> Guard(QueueLock);
    Queues[*Queue] = State;
  }
  State->Ready.store(true, std::memory_order_release);
  if (Api.hsa_amd_queue_intercept_register(*Queue, interceptPackets,
                                           State.get()) != HSA_STATUS_SUCCESS)
    report("a queue cannot be intercepted: its dispatches will be missing");
  return HSA_STATUS_SUCCESS;
}

bool Tracer::ownsQueue(const hsa_queue_t *Queue) {
  std::lock_guard<std::mutex> Guard(QueueLock);
  return Queues.count(const_cast<hsa_queue_t *>(Queue)) != 0;
}

std::shared_ptr<QueueState> Tracer::forgetQueue(hsa_queue_t *Queue) {
  std::lock_guard<std::mutex> Guard(QueueLock);
  auto Found = Queues.find(Queue);
  if (Found == Queues.end())
    return nullptr;
  std::shared_ptr<QueueState> State = Found->second;
  Queues.erase(Found);
  Retired.push_back(State);
  return State;
}

void Tracer::queueDestroyed(const QueueState &Queue) {
  recordQueue(KPROBE_HOST_QUEUE_DESTROY, Queue);
  // One whose signal has fallen already is about to be reported by ROCr.
  Board.orphan(Queue, [&](const Dispatch &Item) {
    return Api.hsa_signal_load_scacquire(Item.Own) >= 1;
  });
}

void Tracer::readerCreated(hsa_code_object_reader_t Reader, const void *Elf,
                           size_t Bytes) {
  report(Code.readerCreated(Reader.handle, Elf, Bytes));
}

void Tracer::readerCreatedFromFile(hsa_code_object_reader_t Reader, int File) {
  report(Code.readerCreatedFromFile(Reader.handle, File));
}

void Tracer::readerDestroyed(hsa_code_object_reader_t Reader) {
  Code.readerDestroyed(Reader.handle);
}

void Tracer::codeObjectLoaded(hsa_executable_t Executable, hsa_agent_t Agent,
                              hsa_code_object_reader_t Reader) {
  Code.codeObjectLoaded(Executable.handle, Agent.handle, Reader.handle);
  recordHostEvent(KPROBE_HOST_CODE_LOAD,
                  KprobeHostCode{{},
                                 Executable.handle,
                                 Code.readerBytes(Reader.handle),
                                 Things.agentNumber(Agent),
                                 0});
}

void Tracer::executableFrozen(hsa_executable_t Executable) {
  for (Agent *Device : Devices.all()) {
    std::vector<KernelSymbol> Symbols =
        listKernels(Api, Executable, Device->Handle);
    if (Symbols.empty())
      continue;
    if (Code.executableFrozen(Executable.handle, Device->Handle.handle,
                              Symbols))
      report(Devices.providePool(*Device));
  }
  Board.nudge(); // to prepare the pool
}

void Tracer::executableDestroyed(hsa_executable_t Executable) {
  Code.executableDestroyed(Executable.handle);
  recordHostEvent(KPROBE_HOST_CODE_UNLOAD,
                  KprobeHostCode{{}, Executable.handle, 0, 0, 0});
}

void Tracer::intercept(const std::shared_ptr<QueueState> &Queue,
                       const void *Incoming, uint64_t Count,
                       uint64_t FirstIndex,
                       hsa_amd_queue_intercept_packet_writer Submit) {
  const auto *First = static_cast<const AqlPacket *>(Incoming);
  // ROCr passes one packet at a time; another tool above may pass several.
  AqlPacket One;
  std::vector<AqlPacket> Several;
  const AqlPacket *Outgoing = First;
  if (active()) {
    if (Writer.failed())
      Packets.stopInstrumenting();
    // Out of memory must not cost the program its packet.
    try {
      AqlPacket *Copy = &One;
      if (Count == 1) {
        One = *First;
      } else {
        Several.assign(First, First + Count);
        Copy = Several.data();
      }
      {
        // Not while waiting for room: that may take another thread's work.
        // The dispatches stand on the board from here on.
        std::unique_lock<std::mutex> Gate(Memory.Gate, std::defer_lock);
        if (Settings.Mode == KPROBE_MODE_EXACT)
          Gate.lock();
        Packets.rewrite(Queue, Copy, Count, FirstIndex);
      }
      Outgoing = Copy;
      Packets.waitForRoom(*Queue, Count);
    } catch (...) {
    }
  }
  // Once only: ROCr 5.2 does not find its way back after a second call.
  Submit(Outgoing, Count);
}

} // namespace kprobe
