// Driver events: who is woken, what stays set, and what an interrupt with a
// truncated event id means.
#include "thunk/Events.h"

#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <thread>

using namespace vgpu;
using namespace std::chrono_literals;

namespace {

HsaEvent *create(EventTable &Table, bool Manual = false,
                 HSA_EVENTTYPE Type = HSA_EVENTTYPE_SIGNAL) {
  HsaEventDescriptor Descriptor = {};
  Descriptor.EventType = Type;
  HsaEvent *Event = nullptr;
  EXPECT_EQ(HSAKMT_STATUS_SUCCESS,
            Table.create(Descriptor, Manual, false, &Event));
  return Event;
}

HSAKMT_STATUS look(EventTable &Table, HsaEvent *Event) {
  return Table.wait(&Event, 1, true, 0);
}

void writeMail(HsaEvent *Event) {
  *reinterpret_cast<volatile uint64_t *>(Event->EventData.HWData2) =
      Event->EventId;
}

TEST(Events, AutoResetIsConsumedByOneLook) {
  EventTable Table;
  HsaEvent *Event = create(Table);
  EXPECT_NE(0u, Event->EventId);
  EXPECT_EQ(HSAKMT_STATUS_WAIT_TIMEOUT, look(Table, Event));
  EXPECT_EQ(HSAKMT_STATUS_SUCCESS, Table.set(Event));
  EXPECT_EQ(HSAKMT_STATUS_SUCCESS, Table.query(Event));
  EXPECT_EQ(HSAKMT_STATUS_SUCCESS, look(Table, Event));
  EXPECT_EQ(HSAKMT_STATUS_WAIT_TIMEOUT, look(Table, Event));
}

TEST(Events, ManualResetStaysSet) {
  EventTable Table;
  HsaEvent *Event = create(Table, true);
  Table.set(Event);
  EXPECT_EQ(HSAKMT_STATUS_SUCCESS, look(Table, Event));
  EXPECT_EQ(HSAKMT_STATUS_SUCCESS, look(Table, Event));
  Table.reset(Event);
  EXPECT_EQ(HSAKMT_STATUS_WAIT_TIMEOUT, look(Table, Event));
}

TEST(Events, SetWakesEveryoneWhoWaits) {
  EventTable Table;
  HsaEvent *Event = create(Table);
  std::atomic<int> Woken{0};
  std::thread Threads[3];
  for (std::thread &Thread : Threads)
    Thread = std::thread([&] {
      HsaEvent *Mine = Event;
      EXPECT_EQ(HSAKMT_STATUS_SUCCESS, Table.wait(&Mine, 1, true, ~0u));
      ++Woken;
    });
  std::this_thread::sleep_for(50ms); // All are waiting by now.
  Table.setById(Event->EventId);
  for (std::thread &Thread : Threads)
    Thread.join();
  EXPECT_EQ(3, Woken);
  EXPECT_EQ(HSAKMT_STATUS_WAIT_TIMEOUT, look(Table, Event));
}

TEST(Events, AnyAndAll) {
  EventTable Table;
  HsaEvent *Events[3] = {create(Table, true), create(Table, true),
                         create(Table, true)};
  Table.set(Events[1]);
  EXPECT_EQ(HSAKMT_STATUS_SUCCESS, Table.wait(Events, 3, false, ~0u));
  EXPECT_EQ(HSAKMT_STATUS_WAIT_TIMEOUT, Table.wait(Events, 3, true, 1));
  std::thread Later([&] {
    Table.set(Events[0]);
    std::this_thread::sleep_for(10ms);
    Table.set(Events[2]);
  });
  EXPECT_EQ(HSAKMT_STATUS_SUCCESS, Table.wait(Events, 3, true, ~0u));
  Later.join();
}

TEST(Events, TimeoutTakesItsTime) {
  EventTable Table;
  HsaEvent *Event = create(Table);
  const auto Start = std::chrono::steady_clock::now();
  EXPECT_EQ(HSAKMT_STATUS_WAIT_TIMEOUT, Table.wait(&Event, 1, true, 30));
  EXPECT_GE(std::chrono::steady_clock::now() - Start, 30ms);
}

TEST(Events, DestroyReleasesWaiters) {
  EventTable Table;
  HsaEvent *Event = create(Table);
  std::thread Waiter([&] {
    HsaEvent *Mine = Event;
    Table.wait(&Mine, 1, true, ~0u);
  });
  std::this_thread::sleep_for(20ms);
  EXPECT_EQ(HSAKMT_STATUS_SUCCESS, Table.destroy(Event));
  Waiter.join();
  HsaEvent *Next = create(Table);
  EXPECT_EQ(HSAKMT_STATUS_WAIT_TIMEOUT, look(Table, Next));
}

TEST(Events, UnknownHandleIsRefused) {
  EventTable Table;
  HsaEvent Fake = {};
  Fake.EventId = 5;
  HsaEvent *Handle = &Fake;
  EXPECT_EQ(HSAKMT_STATUS_INVALID_HANDLE, Table.set(Handle));
  EXPECT_EQ(HSAKMT_STATUS_INVALID_HANDLE, Table.wait(&Handle, 1, true, 0));
  EXPECT_EQ(HSAKMT_STATUS_INVALID_HANDLE, Table.destroy(nullptr));
}

TEST(Events, InterruptFindsTheMailThatWasWritten) {
  EventTable Table;
  HsaEvent *Events[600];
  for (HsaEvent *&Event : Events)
    Event = create(Table);
  // Ids 40, 296 and 552 agree in their low eight bits.
  HsaEvent *Low = Events[39], *Middle = Events[295], *High = Events[551];
  ASSERT_EQ(40u, Low->EventId);
  ASSERT_EQ(296u, Middle->EventId);
  writeMail(Middle);
  Table.interrupt(40);
  EXPECT_EQ(HSAKMT_STATUS_WAIT_TIMEOUT, look(Table, Low));
  EXPECT_EQ(HSAKMT_STATUS_SUCCESS, look(Table, Middle));
  EXPECT_EQ(HSAKMT_STATUS_WAIT_TIMEOUT, look(Table, High));
  // The mail was taken: the same interrupt again means nothing.
  Table.interrupt(40);
  EXPECT_EQ(HSAKMT_STATUS_WAIT_TIMEOUT, look(Table, Middle));
  // Nothing written under those bits: whoever has mail is meant.
  writeMail(High);
  Table.interrupt(7);
  EXPECT_EQ(HSAKMT_STATUS_SUCCESS, look(Table, High));
}

TEST(Events, MemoryFaultCarriesItsData) {
  EventTable Table;
  HsaEvent *Other = create(Table);
  HsaEvent *Event = create(Table, false, HSA_EVENTTYPE_MEMORY);
  HsaMemoryAccessFault Fault = {};
  Fault.NodeId = 1;
  Fault.VirtualAddress = 0x1000;
  Fault.Failure.NotPresent = 1;
  Fault.Flags = HSA_EVENTID_MEMORY_FATAL_PROCESS;
  Table.raiseMemoryFault(Fault);
  EXPECT_EQ(HSAKMT_STATUS_WAIT_TIMEOUT, look(Table, Other));
  EXPECT_EQ(HSAKMT_STATUS_SUCCESS, look(Table, Event));
  const HsaMemoryAccessFault &Seen =
      Event->EventData.EventData.MemoryAccessFault;
  EXPECT_EQ(0x1000u, +Seen.VirtualAddress); // A copy: it is not aligned there.
  EXPECT_EQ(1u, Seen.Failure.NotPresent);
  EXPECT_EQ(HSA_EVENTID_MEMORY_FATAL_PROCESS, Seen.Flags);
}

TEST(Events, IdsRunOut) {
  EventTable Table;
  HsaEventDescriptor Descriptor = {};
  HsaEvent *Event = nullptr, *Last = nullptr;
  uint32_t Count = 0;
  while (Table.create(Descriptor, false, false, &Event) ==
         HSAKMT_STATUS_SUCCESS) {
    Last = Event;
    ++Count;
  }
  EXPECT_EQ(EventTable::MaxEvents - 1, Count);
  Table.destroy(Last);
  EXPECT_EQ(HSAKMT_STATUS_SUCCESS,
            Table.create(Descriptor, false, false, &Event));
}

} // namespace
