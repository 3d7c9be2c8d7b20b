//===- Queue.cpp - The packet processor of one queue ------------------------===//
//
// See Queue.h. The protocol with ROCr, in the order it has to keep: the packet
// stays in its slot while it runs (kernels read it through their dispatch
// pointer); then the header becomes INVALID, then the read index moves, then the
// completion signal changes. After that last step the program may free the
// signal, so nothing of it is read any more.
//
//===----------------------------------------------------------------------===//
#include "thunk/Queue.h"

#include "thunk/Packets.h"

#include <algorithm>
#include <cstdio>
#include <cstring>
#include <hsa/amd_hsa_signal.h>
#include <linux/futex.h>
#include <pthread.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

using namespace vgpu;
using Clock = std::chrono::steady_clock;

namespace {

// Sleep times by how long the queue has had nothing to do.
constexpr auto SpinTime = std::chrono::microseconds(20);
struct Backoff {
  Clock::duration IdleFor, Sleep;
};
constexpr Backoff Backoffs[] = {
    {std::chrono::milliseconds(2), std::chrono::microseconds(20)},
    {std::chrono::milliseconds(50), std::chrono::microseconds(100)},
    {std::chrono::milliseconds(500), std::chrono::milliseconds(1)},
    {std::chrono::seconds(2), std::chrono::milliseconds(5)},
};
constexpr auto IdlePeriod = std::chrono::milliseconds(20);

Clock::duration backoff(Clock::duration IdleFor) {
  for (const Backoff &Step : Backoffs)
    if (IdleFor < Step.IdleFor)
      return Step.Sleep;
  return IdlePeriod;
}

void futexWait(std::atomic<uint32_t> &Word, uint32_t Seen, std::chrono::nanoseconds Time) {
  struct timespec Limit;
  Limit.tv_sec = Time.count() / 1000000000;
  Limit.tv_nsec = Time.count() % 1000000000;
  syscall(SYS_futex, &Word, FUTEX_WAIT_PRIVATE, Seen, &Limit, nullptr, 0);
}

void futexWake(std::atomic<uint32_t> &Word) {
  syscall(SYS_futex, &Word, FUTEX_WAKE_PRIVATE, INT32_MAX, nullptr, nullptr, 0);
}

amd_signal_t *toSignal(hsa_signal_t Handle) {
  return reinterpret_cast<amd_signal_t *>(Handle.handle);
}

int64_t loadValue(hsa_signal_t Handle) {
  return __atomic_load_n(&toSignal(Handle)->value, __ATOMIC_ACQUIRE);
}

/// When the device completed the signal last; another queue may be doing so.
uint64_t loadEnd(hsa_signal_t Handle) {
  return __atomic_load_n(&toSignal(Handle)->end_ts, __ATOMIC_ACQUIRE);
}

bool compare(int64_t Value, uint32_t Condition, int64_t Reference) {
  switch (Condition) {
  case HSA_SIGNAL_CONDITION_EQ:
    return Value == Reference;
  case HSA_SIGNAL_CONDITION_NE:
    return Value != Reference;
  case HSA_SIGNAL_CONDITION_LT:
    return Value < Reference;
  case HSA_SIGNAL_CONDITION_GTE:
    return Value >= Reference;
  default:
    return false;
  }
}

} // namespace

Queue::Queue(const Config &Setup, PacketExecutor &Executor) : Setup(Setup), Executor(Executor) {
  // Signals are for the program's own threads.
  sigset_t All, Old;
  sigfillset(&All);
  pthread_sigmask(SIG_SETMASK, &All, &Old);
  Thread = std::thread([this] { work(); });
  pthread_sigmask(SIG_SETMASK, &Old, nullptr);
}

Queue::~Queue() {
  cancel();
  if (Thread.joinable())
    Thread.join();
}

void Queue::cancel() {
  Stop.store(true, std::memory_order_release);
  wake();
}

bool Queue::joinFor(std::chrono::milliseconds Limit) {
  const auto Deadline = Clock::now() + Limit;
  while (!Ended.load(std::memory_order_acquire)) {
    if (Clock::now() > Deadline) {
      Thread.detach();
      return false;
    }
    std::this_thread::sleep_for(std::chrono::microseconds(200));
  }
  Thread.join();
  return true;
}

void Queue::abandon() {
  // The thread object refers to a thread of the parent.
  new (&Thread) std::thread;
}

void Queue::suspend(bool Value) {
  Suspended.store(Value, std::memory_order_release);
  wake();
}

void Queue::wake() {
  WakeWord.fetch_add(1, std::memory_order_seq_cst);
  futexWake(WakeWord);
}

void Queue::kick() {
  if (look() && Asleep.load(std::memory_order_seq_cst))
    wake();
}

void Queue::kickWaiter() {
  if (!WaitsForSignal.load(std::memory_order_seq_cst))
    return;
  // Whether it may go on is for its own thread to say.
  if (!Held.exchange(true))
    Executor.hold();
  wake();
  if (Ended.load())
    settle();
}

/// Nothing more for the device at the moment.
void Queue::settle() {
  if (Held.exchange(false))
    Executor.release();
}

void Queue::sleepFor(std::chrono::nanoseconds Time) {
  const uint32_t Word = WakeWord.load(std::memory_order_seq_cst);
  Asleep.store(true, std::memory_order_seq_cst);
  // Once more after saying so: who sees a packet or stops from here on wakes us.
  if (!Stop.load(std::memory_order_seq_cst) && !ready())
    futexWait(WakeWord, Word, Time);
  Asleep.store(false, std::memory_order_seq_cst);
}

void Queue::work() {
  char Name[16];
  std::snprintf(Name, sizeof(Name), "vgpu queue %u", Setup.Id);
  prctl(PR_SET_NAME, Name);
  prctl(PR_SET_TIMERSLACK, 1000); // ns; the default 50 us would double sleeps.
  while (waitForPacket())
    if (process(ReadIndex) == Outcome::Stop)
      break;
  Ended.store(true);
  settle();
}

bool Queue::look() {
  const uint64_t Bell = __atomic_load_n(Setup.Doorbell, __ATOMIC_ACQUIRE);
  const bool Rung = Bell != LastBell.load(std::memory_order_relaxed);
  if (!Rung && !Incomplete.load(std::memory_order_relaxed))
    return false;
  std::lock_guard<std::mutex> Guard(LookLock);
  if (Rung) {
    // Producers may ring out of order, and a lower index written last hides a
    // higher one; so a ring stands for everything reserved until now.
    LastBell.store(Bell, std::memory_order_relaxed);
    Limit =
        std::max(Limit, __atomic_load_n(&Setup.Descriptor->write_dispatch_id, __ATOMIC_ACQUIRE));
  }
  const uint64_t Before = Seen.load(std::memory_order_relaxed);
  // What is reserved beyond the ring's size has no slot yet.
  const uint64_t Slots = Setup.RingBytes / PacketBytes;
  const uint64_t End = std::min(
      Limit, __atomic_load_n(&Setup.Descriptor->read_dispatch_id, __ATOMIC_ACQUIRE) + Slots);
  uint64_t Index = Before;
  while (Index < End && packetType(loadHeader(slot(Index))) != HSA_PACKET_TYPE_INVALID)
    ++Index;
  Incomplete.store(Index < Limit, std::memory_order_relaxed);
  if (Index == Before)
    return false;
  // Rounded up: a host's time stamp from before is never later.
  Arrivals.push_back({Index, Executor.now() + 1});
  Seen.store(Index, std::memory_order_seq_cst);
  return true;
}

/// When the packet at \p Index was first seen in the queue.
uint64_t Queue::seenAt(uint64_t Index) {
  std::lock_guard<std::mutex> Guard(LookLock);
  while (Arrivals.front().Before <= Index)
    Arrivals.pop_front();
  return Arrivals.front().Tick;
}

bool Queue::ready() {
  look();
  return ReadIndex < Seen.load(std::memory_order_seq_cst);
}

bool Queue::waitForPacket() {
  const auto Start = Clock::now();
  for (;;) {
    if (Stop.load(std::memory_order_acquire))
      return false;
    if (!Suspended.load(std::memory_order_acquire) && ready())
      return true;
    settle();
    const auto IdleFor = Clock::now() - Start;
    if (IdleFor < SpinTime)
      __builtin_ia32_pause();
    else
      sleepFor(backoff(IdleFor));
  }
}

/// Waits for a change of signals in memory, which nobody may announce. False:
/// the queue is to stop.
template <typename Condition> bool Queue::waitUntil(Condition Met) {
  if (Met())
    return true;
  const auto Start = Clock::now();
  WaitsForSignal.store(true, std::memory_order_seq_cst);
  bool Result = false;
  for (;;) {
    look();
    const uint32_t Word = WakeWord.load(std::memory_order_seq_cst);
    if ((Result = Met()) || Stop.load(std::memory_order_acquire))
      break;
    settle();
    const auto WaitedFor = Clock::now() - Start;
    if (WaitedFor < SpinTime)
      __builtin_ia32_pause();
    else
      futexWait(WakeWord, Word, backoff(WaitedFor));
  }
  WaitsForSignal.store(false, std::memory_order_relaxed);
  return Result;
}

/// Waits until \p Met and moves \p Time to when that was, if later: the last
/// (\p All) or the first of \p Signals. Those that the device completed carry their
/// time; one that the host completed while we waited did so about now.
template <typename Condition>
bool Queue::passSignals(const hsa_signal_t *Signals, unsigned Count, bool All, Condition Met,
                        uint64_t &Time) {
  constexpr unsigned Most = 5;
  uint64_t StampBefore[Most];
  bool Open[Most];
  for (unsigned I = 0; I != Count; ++I) {
    // In this order: the stamp changes before the value, so one that is open has
    // an old stamp.
    StampBefore[I] = Signals[I].handle ? loadEnd(Signals[I]) : 0;
    Open[I] = Signals[I].handle && loadValue(Signals[I]) != 0;
  }
  if (!waitUntil(Met))
    return false;
  uint64_t First = ~uint64_t(0), Last = 0;
  for (unsigned I = 0; I != Count; ++I) {
    if (!Signals[I].handle || (!All && loadValue(Signals[I]) != 0))
      continue;
    uint64_t Stamp = loadEnd(Signals[I]);
    if (Open[I] && Stamp == StampBefore[I])
      Stamp = Executor.now();
    First = std::min(First, Stamp);
    Last = std::max(Last, Stamp);
  }
  if (All || First != ~uint64_t(0))
    Time = std::max(Time, All ? Last : First);
  return true;
}

Queue::Outcome Queue::process(uint64_t Index) {
  uint64_t Time = arrival(Index);
  char *Slot = slot(Index);
  const uint8_t Type = packetType(loadHeader(Slot));
  hsa_signal_t Completion;
  std::memcpy(&Completion, Slot + offsetof(hsa_barrier_and_packet_t, completion_signal),
              sizeof(Completion));
  switch (Type) {
  case HSA_PACKET_TYPE_KERNEL_DISPATCH:
    return dispatch(Index, *reinterpret_cast<hsa_kernel_dispatch_packet_t *>(Slot));
  case HSA_PACKET_TYPE_BARRIER_AND:
  case HSA_PACKET_TYPE_BARRIER_OR: {
    // Both packets have the same layout.
    const auto &Packet = *reinterpret_cast<hsa_barrier_and_packet_t *>(Slot);
    auto AllMet = [&] {
      for (hsa_signal_t Signal : Packet.dep_signal)
        if (Signal.handle && loadValue(Signal) != 0)
          return false;
      return true;
    };
    auto AnyMet = [&] {
      bool Empty = true;
      for (hsa_signal_t Signal : Packet.dep_signal)
        if (Signal.handle) {
          if (loadValue(Signal) == 0)
            return true;
          Empty = false;
        }
      return Empty;
    };
    if (Type == HSA_PACKET_TYPE_BARRIER_AND
            ? !passSignals(Packet.dep_signal, 5, true, AllMet, Time)
            : !passSignals(Packet.dep_signal, 5, false, AnyMet, Time))
      return Outcome::Stop;
    break;
  }
  case HSA_PACKET_TYPE_VENDOR_SPECIFIC:
    switch (uint8_t(Slot[2])) {
    case AmdFormatPm4Buffer: // Invalidates caches; each dispatch begins with that.
      break;
    case AmdFormatBarrierValue: {
      const auto &Packet = *reinterpret_cast<hsa_amd_barrier_value_packet_t *>(Slot);
      auto Met = [&] {
        return !Packet.signal.handle ||
               compare(loadValue(Packet.signal) & Packet.mask, Packet.cond, Packet.value);
      };
      if (!passSignals(&Packet.signal, 1, true, Met, Time))
        return Outcome::Stop;
      break;
    }
    default:
      return queueError(QueueBadVendorPacket, "vendor-specific packet of an unknown format");
    }
    break;
  default:
    return queueError(QueueBadPacket, "packet of a type that this queue does not take");
  }
  LastTick = Time;
  retire(Index, Slot);
  complete(Completion, Time, Time);
  return Outcome::Next;
}

Queue::Outcome Queue::dispatch(uint64_t Index, hsa_kernel_dispatch_packet_t &Packet) {
  DispatchArgs Args;
  Args.Packet = &Packet;
  Args.Queue = Setup.Descriptor;
  Args.DispatchId = Index;
  Args.QueueId = Setup.Id;
  Args.Cancel = &Stop;
  Args.ReadyTick = arrival(Index);
  Args.Held = &Held;
  Args.GlobalResources = GlobalResources;
  DispatchResult Result = Executor.run(Args);
  while (Result.Status == DispatchStatus::NeedsScratch) {
    if (!requestScratch(Result.ScratchWave32))
      return Outcome::Stop;
    Result = Executor.run(Args);
  }
  if (Result.Status == DispatchStatus::Faulted)
    return fail(Result.Fault);
  const hsa_signal_t Completion = Packet.completion_signal;
  if (!returnScratch())
    return Outcome::Stop;
  LastTick = Result.EndTick;
  retire(Index, &Packet);
  complete(Completion, Result.StartTick, Result.EndTick);
  return Outcome::Next;
}

/// ROCr gives the queue more scratch and answers with 0, or ends its handler
/// with -1 (no scratch to be had, or the queue goes away). Other negative values
/// pass: bit 63 is ROCr's note to itself to try again.
bool Queue::requestScratch(bool Wave32) {
  storeInactive(Wave32 ? QueueNeedsScratch32 : QueueNeedsScratch);
  const hsa_signal_t Inactive = Setup.Descriptor->queue_inactive_signal;
  int64_t Value = 0;
  return waitUntil([&] {
           Value = loadValue(Inactive);
           return Value == 0 || Value == -1;
         }) &&
         Value == 0;
}

/// Scratch that was given for one dispatch goes back right after it.
bool Queue::returnScratch() {
  auto Once = [&] {
    return (__atomic_load_n(&Setup.Descriptor->queue_properties, __ATOMIC_ACQUIRE) &
            AMD_QUEUE_PROPERTIES_USE_SCRATCH_ONCE) != 0;
  };
  if (!Once())
    return true;
  storeInactive(QueueReturnsScratch);
  return waitUntil([&] { return !Once(); });
}

void Queue::retire(uint64_t Index, void *Packet) {
  __atomic_store_n(static_cast<uint16_t *>(Packet),
                   uint16_t(HSA_PACKET_TYPE_INVALID << HSA_PACKET_HEADER_TYPE), __ATOMIC_RELEASE);
  ReadIndex = Index + 1;
  __atomic_store_n(&Setup.Descriptor->read_dispatch_id, ReadIndex, __ATOMIC_RELEASE);
}

void Queue::complete(hsa_signal_t Handle, uint64_t Start, uint64_t End) {
  amd_signal_t *Signal = toSignal(Handle);
  if (!Signal)
    return;
  auto *Mailbox = reinterpret_cast<uint64_t *>(Signal->event_mailbox_ptr);
  const uint32_t EventId = Signal->event_id;
  __atomic_store_n(&Signal->start_ts, Start, __ATOMIC_RELAXED);
  __atomic_store_n(&Signal->end_ts, End, __ATOMIC_RELEASE);
  __atomic_fetch_sub(&Signal->value, 1, __ATOMIC_SEQ_CST);
  if (Mailbox)
    __atomic_store_n(Mailbox, EventId, __ATOMIC_RELEASE);
  Executor.signalChanged(Mailbox ? EventId : 0);
}

void Queue::storeInactive(int64_t Value) {
  amd_signal_t *Signal = toSignal(Setup.Descriptor->queue_inactive_signal);
  if (!Signal)
    return;
  auto *Mailbox = reinterpret_cast<uint64_t *>(Signal->event_mailbox_ptr);
  const uint32_t EventId = Signal->event_id;
  __atomic_store_n(&Signal->value, Value, __ATOMIC_SEQ_CST);
  if (Mailbox)
    __atomic_store_n(Mailbox, EventId, __ATOMIC_RELEASE);
  Executor.signalChanged(Mailbox ? EventId : 0);
}

Queue::Outcome Queue::fail(const Fault &Problem) {
  if (Problem.Cause == FaultCause::Cancelled)
    return Outcome::Stop;
  Executor.report(Problem);
  // ROCr learns of memory faults by their event, of everything else by the
  // queue's signal. The packet stays where it is: the queue is stuck.
  if (Problem.Cause != FaultCause::Memory)
    storeInactive(Problem.QueueError ? Problem.QueueError : QueueTrap);
  return Outcome::Stop;
}

Queue::Outcome Queue::queueError(uint64_t Code, const char *What) {
  Fault Problem;
  Problem.Cause = FaultCause::InvalidPacket;
  Problem.QueueError = Code;
  Problem.Lines = {"invalid packet: " + std::string(What) + " (queue " + std::to_string(Setup.Id) +
                   ", packet " + std::to_string(ReadIndex) + ")"};
  return fail(Problem);
}
