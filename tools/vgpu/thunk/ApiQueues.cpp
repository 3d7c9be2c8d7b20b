//===- ApiQueues.cpp - hsaKmt*: events and queues ---------------------------===//
//
// Thin entry points over EventTable and the driver's queues; <hsakmt.h> says
// what each does.
//
//===----------------------------------------------------------------------===//
#include "thunk/Api.h"

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <thread>

using namespace vgpu;

namespace {

/// The child of a fork waits for a device that only its parent has. ROCr would
/// call again and again, so an error status would be a hang.
HSAKMT_STATUS waitInChild(HSAuint32 Milliseconds) {
  // ROCr passes one less than infinite for its own infinite.
  if (Milliseconds >= HSA_EVENTTIMEOUT_INFINITE - 1) {
    std::fputs("kprobe-vgpu: error: the child of a fork cannot use the device "
               "of its parent\n",
               stderr);
    std::abort();
  }
  std::this_thread::sleep_for(std::chrono::milliseconds(std::min(Milliseconds, 10u)));
  return HSAKMT_STATUS_WAIT_TIMEOUT;
}

} // namespace

VGPU_API hsaKmtCreateEvent(HsaEventDescriptor *Descriptor, bool ManualReset, bool IsSignaled,
                           HsaEvent **Event) {
  VGPU_CHECK_OPEN();
  if (!Descriptor)
    return HSAKMT_STATUS_INVALID_PARAMETER;
  return Driver::get().Events.create(*Descriptor, ManualReset, IsSignaled, Event);
}

VGPU_API hsaKmtDestroyEvent(HsaEvent *Event) {
  VGPU_CHECK_RELEASE();
  return Driver::get().Events.destroy(Event);
}

VGPU_API hsaKmtSetEvent(HsaEvent *Event) {
  VGPU_CHECK_RELEASE();
  // The host changed a signal: that may be what a barrier packet waits for.
  Driver::get().kickWaiters();
  return Driver::get().Events.set(Event);
}

VGPU_API hsaKmtResetEvent(HsaEvent *Event) {
  VGPU_CHECK_RELEASE();
  return Driver::get().Events.reset(Event);
}

VGPU_API hsaKmtQueryEventState(HsaEvent *Event) {
  VGPU_CHECK_OPEN();
  return Driver::get().Events.query(Event);
}

VGPU_API hsaKmtWaitOnMultipleEvents(HsaEvent *Events[], HSAuint32 Count, bool WaitOnAll,
                                    HSAuint32 Milliseconds) {
  if (Driver::get().isForkedChild())
    return waitInChild(Milliseconds);
  VGPU_CHECK_OPEN();
  Driver::get().kickQueues();
  return Driver::get().Events.wait(Events, Count, WaitOnAll, Milliseconds);
}

VGPU_API hsaKmtWaitOnEvent(HsaEvent *Event, HSAuint32 Milliseconds) {
  return hsaKmtWaitOnMultipleEvents(&Event, 1, true, Milliseconds);
}

VGPU_API hsaKmtCreateQueue(HSAuint32 Node, HSA_QUEUE_TYPE Type, HSAuint32, HSA_QUEUE_PRIORITY,
                           void *Ring, HSAuint64 Bytes, HsaEvent *, HsaQueueResource *Resource) {
  VGPU_CHECK_OPEN();
  if (!Resource)
    return HSAKMT_STATUS_INVALID_PARAMETER;
  return Driver::get().createQueue(Node, Type, Ring, Bytes, *Resource);
}

VGPU_API hsaKmtUpdateQueue(HSA_QUEUEID Id, HSAuint32 Percentage, HSA_QUEUE_PRIORITY, void *,
                           HSAuint64, HsaEvent *) {
  VGPU_CHECK_RELEASE();
  return Driver::get().suspendQueue(Id, Percentage == 0);
}

VGPU_API hsaKmtDestroyQueue(HSA_QUEUEID Id) {
  VGPU_CHECK_RELEASE();
  return Driver::get().destroyQueue(Id);
}

// Which compute units a queue may use changes no result, and the model spreads
// workgroups over all of them.
VGPU_API hsaKmtSetQueueCUMask(HSA_QUEUEID Id, HSAuint32, HSAuint32 *) {
  VGPU_CHECK_OPEN();
  return Driver::get().hasQueue(Id) ? HSAKMT_STATUS_SUCCESS : HSAKMT_STATUS_INVALID_HANDLE;
}

VGPU_API hsaKmtAllocQueueGWS(HSA_QUEUEID Id, HSAuint32 Count, HSAuint32 *First) {
  VGPU_CHECK_OPEN();
  return Driver::get().grantGlobalSync(Id, Count, First);
}
