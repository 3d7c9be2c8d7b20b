//===- Events.cpp - Driver events -------------------------------------------===//
//
// See Events.h. One lock for all events: a wait touches several at once, and
// nothing is done under it but bookkeeping.
//
//===----------------------------------------------------------------------===//
#include "thunk/Events.h"

#include <algorithm>
#include <chrono>
#include <cstring>
#include <new>
#include <sys/mman.h>

using namespace vgpu;

/// A thread in wait(). Activated[i] says that its i-th event has come.
struct EventTable::Waiter {
  std::condition_variable Wake;
  std::vector<Object *> Targets; ///< Null once destroyed.
  std::vector<bool> Activated;
  uint32_t Count = 0; ///< Of Activated.
};

struct EventTable::Object {
  HsaEvent Public; ///< First: the program's handle is its address.
  bool ManualReset = false;
  bool Signaled = false;
  HsaMemoryAccessFault Fault = {};
  std::vector<std::pair<Waiter *, uint32_t>> Waiters;
};

EventTable::EventTable() : Objects(1, nullptr) {
  void *Map = mmap(nullptr, mailboxBytes(), PROT_READ | PROT_WRITE,
                   MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (Map == MAP_FAILED)
    throw std::bad_alloc();
  Mailboxes = static_cast<uint64_t *>(Map);
}

EventTable::~EventTable() {
  for (Object *Each : Objects)
    delete Each;
  munmap(Mailboxes, mailboxBytes());
}

HSAKMT_STATUS EventTable::create(const HsaEventDescriptor &Descriptor, bool ManualReset,
                                 bool IsSignaled, HsaEvent **Event) {
  if (!Event || Descriptor.EventType >= HSA_EVENTTYPE_MAXID)
    return HSAKMT_STATUS_INVALID_PARAMETER;
  std::lock_guard<std::mutex> Guard(Lock);
  uint32_t Id;
  if (!FreeIds.empty()) {
    Id = FreeIds.back();
    FreeIds.pop_back();
  } else if (Objects.size() < MaxEvents) {
    Id = uint32_t(Objects.size());
    Objects.push_back(nullptr);
  } else {
    return HSAKMT_STATUS_OUT_OF_RESOURCES;
  }
  auto *New = new Object;
  std::memset(&New->Public, 0, sizeof(New->Public));
  New->Public.EventId = Id;
  New->Public.EventData.EventType = Descriptor.EventType;
  New->Public.EventData.EventData.SyncVar = Descriptor.SyncVar;
  New->Public.EventData.HWData1 = Id;
  New->Public.EventData.HWData2 = reinterpret_cast<uint64_t>(&Mailboxes[Id]);
  New->Public.EventData.HWData3 = Id;
  New->ManualReset = ManualReset;
  New->Signaled = IsSignaled;
  clearMail(Id);
  Objects[Id] = New;
  Handles[&New->Public] = New;
  *Event = &New->Public;
  return HSAKMT_STATUS_SUCCESS;
}

HSAKMT_STATUS EventTable::destroy(HsaEvent *Event) {
  std::lock_guard<std::mutex> Guard(Lock);
  Object *Old = lookup(Event);
  if (!Old)
    return HSAKMT_STATUS_INVALID_HANDLE;
  // Who still waits for it would wait for ever.
  signal(*Old);
  const uint32_t Id = Old->Public.EventId;
  for (auto &[Thread, Index] : Old->Waiters)
    Thread->Targets[Index] = nullptr;
  Objects[Id] = nullptr;
  Handles.erase(Event);
  FreeIds.push_back(Id);
  delete Old;
  return HSAKMT_STATUS_SUCCESS;
}

EventTable::Object *EventTable::lookup(HsaEvent *Event) {
  auto It = Handles.find(Event);
  return It == Handles.end() ? nullptr : It->second;
}

bool EventTable::hasMail(uint32_t EventId) const {
  return __atomic_load_n(&Mailboxes[EventId], __ATOMIC_ACQUIRE) != EmptyMailbox;
}

void EventTable::clearMail(uint32_t EventId) {
  __atomic_store_n(&Mailboxes[EventId], EmptyMailbox, __ATOMIC_RELAXED);
}

void EventTable::signal(Object &Target) {
  clearMail(Target.Public.EventId);
  Target.Signaled = Target.ManualReset || Target.Waiters.empty();
  for (auto &[Thread, Index] : Target.Waiters)
    if (!Thread->Activated[Index]) {
      Thread->Activated[Index] = true;
      ++Thread->Count;
      Thread->Wake.notify_one();
    }
}

HSAKMT_STATUS EventTable::set(HsaEvent *Event) {
  std::lock_guard<std::mutex> Guard(Lock);
  Object *Target = lookup(Event);
  if (!Target)
    return HSAKMT_STATUS_INVALID_HANDLE;
  signal(*Target);
  return HSAKMT_STATUS_SUCCESS;
}

HSAKMT_STATUS EventTable::reset(HsaEvent *Event) {
  std::lock_guard<std::mutex> Guard(Lock);
  Object *Target = lookup(Event);
  if (!Target)
    return HSAKMT_STATUS_INVALID_HANDLE;
  Target->Signaled = false;
  return HSAKMT_STATUS_SUCCESS;
}

HSAKMT_STATUS EventTable::query(HsaEvent *Event) {
  std::lock_guard<std::mutex> Guard(Lock);
  Object *Target = lookup(Event);
  if (!Target)
    return HSAKMT_STATUS_INVALID_HANDLE;
  return Target->Signaled ? HSAKMT_STATUS_SUCCESS : HSAKMT_STATUS_WAIT_TIMEOUT;
}

HSAKMT_STATUS EventTable::wait(HsaEvent *Events[], uint32_t Count, bool All,
                               uint32_t Milliseconds) {
  if (!Events || Count == 0)
    return HSAKMT_STATUS_INVALID_HANDLE;
  const auto Deadline = std::chrono::steady_clock::now() + std::chrono::milliseconds(Milliseconds);
  std::unique_lock<std::mutex> Guard(Lock);
  Waiter Self;
  Self.Activated.resize(Count);
  for (uint32_t I = 0; I != Count; ++I) {
    Self.Targets.push_back(lookup(Events[I]));
    if (!Self.Targets.back())
      return HSAKMT_STATUS_INVALID_HANDLE;
  }
  for (uint32_t I = 0; I != Count; ++I) {
    Object *Target = Self.Targets[I];
    if (Target->Signaled) {
      Self.Activated[I] = true;
      ++Self.Count;
      Target->Signaled = Target->ManualReset;
    }
    Target->Waiters.emplace_back(&Self, I);
  }
  auto Satisfied = [&] { return Self.Count >= (All ? Count : 1); };
  bool Met = Satisfied();
  if (!Met && Milliseconds == HSA_EVENTTIMEOUT_INFINITE) {
    Self.Wake.wait(Guard, Satisfied);
    Met = true;
  } else if (!Met && Milliseconds != HSA_EVENTTIMEOUT_IMMEDIATE) {
    Met = Self.Wake.wait_until(Guard, Deadline, Satisfied);
  }
  for (uint32_t I = 0; I != Count; ++I) {
    Object *Target = Self.Targets[I];
    if (!Target)
      continue;
    auto &Waiters = Target->Waiters;
    Waiters.erase(std::remove(Waiters.begin(), Waiters.end(), std::make_pair(&Self, I)),
                  Waiters.end());
    if (Self.Activated[I] && Target->Public.EventData.EventType == HSA_EVENTTYPE_MEMORY)
      Target->Public.EventData.EventData.MemoryAccessFault = Target->Fault;
  }
  return Met ? HSAKMT_STATUS_SUCCESS : HSAKMT_STATUS_WAIT_TIMEOUT;
}

void EventTable::setById(uint32_t EventId) {
  std::lock_guard<std::mutex> Guard(Lock);
  if (EventId < Objects.size() && Objects[EventId])
    signal(*Objects[EventId]);
}

void EventTable::interrupt(uint32_t PartialId) {
  std::lock_guard<std::mutex> Guard(Lock);
  const uint32_t Low = PartialId & 0xff;
  bool Found = false;
  for (uint32_t Id = Low; Id < Objects.size(); Id += 256)
    if (Objects[Id] && hasMail(Id)) {
      signal(*Objects[Id]);
      Found = true;
    }
  if (Found)
    return;
  for (uint32_t Id = 1; Id < Objects.size(); ++Id)
    if (Objects[Id] && hasMail(Id))
      signal(*Objects[Id]);
}

void EventTable::raiseMemoryFault(const HsaMemoryAccessFault &Fault) {
  std::lock_guard<std::mutex> Guard(Lock);
  for (Object *Target : Objects)
    if (Target && Target->Public.EventData.EventType == HSA_EVENTTYPE_MEMORY) {
      Target->Fault = Fault;
      signal(*Target);
    }
}

void EventTable::resetAfterFork() {
  new (&Lock) std::mutex;
  for (Object *Target : Objects)
    if (Target)
      Target->Waiters.clear();
}
