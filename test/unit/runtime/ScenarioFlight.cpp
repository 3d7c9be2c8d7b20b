// Work in flight: late, lost, crowded, on many threads; and a device that
// fails.
#include "Scenario.h"

SCENARIO(late) { // A23
  Hsa &F = hsa();
  F.DelayMs = 50;
  start(F);
  loadKernels(F);
  hsa_queue_t *Q = F.createQueue();
  dispatch(F, Q, 40);
  OnUnload();
  return Good;
}
SCENARIO(nobodyWaits) { // an interrupt only where the program wants to know
  Hsa &F = hsa();
  start(F);
  loadKernels(F);
  hsa_queue_t *Q = F.createQueue();
  dispatch(F, Q, 40);
  F.waitIdle();
  CHECK(F.HandlersMade == 0 && F.PlainSignalsMade > 0);
  hsa_signal_t Signal = makeSignal(F, 1);
  dispatch(F, Q, 3, K, Signal);
  F.waitIdle();
  CHECK(F.HandlersMade == 3);
  CHECK(valueOf(F, Signal) == -2);
  OnUnload();
  CHECK(F.liveSignals() == 1);
  return Good;
}
SCENARIO(hangs) { // A23: never completes
  Hsa &F = hsa();
  start(F);
  loadKernels(F);
  hsa_queue_t *Q = F.createQueue();
  dispatch(F, Q, 2);
  F.waitIdle();
  F.Paused = true;
  hsa_signal_t Signal = makeSignal(F, 1);
  dispatch(F, Q, 3, K, Signal);
  OnUnload();
  // Completion after the end still reaches the program.
  F.Paused = false;
  F.waitIdle();
  CHECK(valueOf(F, Signal) == -2);
  return Good;
}
SCENARIO(destroyInFlight) { // B45
  Hsa &F = hsa();
  start(F);
  loadKernels(F);
  hsa_queue_t *Q = F.createQueue();
  dispatch(F, Q, 5);
  F.waitIdle();
  F.Paused = true;
  dispatch(F, Q, 4);
  F.destroyQueue(Q);
  F.Paused = false;
  hsa_queue_t *Next = F.createQueue();
  dispatch(F, Next, 3);
  F.waitIdle();
  OnUnload();
  return Good;
}
SCENARIO(fullQueue) { // B45: never more in flight than the queue holds
  Hsa &F = hsa();
  F.Queues.clear();
  start(F);
  loadKernels(F);
  hsa_queue_t *Q = F.createQueue(0, 64);
  std::atomic<bool> Done{false};
  size_t Most = 0;
  std::thread Watcher([&] {
    while (!Done) {
      {
        std::lock_guard<std::mutex> Guard(F.Lock);
        Most = std::max(Most, F.DeviceWork.size());
      }
      usleep(50);
    }
  });
  // An index near the end of its range, and foreign packets in between.
  F.Queues.at(Q)->WriteIndex = UINT64_MAX - 100;
  for (unsigned I = 0; I < 600; ++I) {
    auto Packet = makeDispatch(I % 3 ? K : Plain, 64, 64);
    if (I % 7 == 0) {
      std::memset(&Packet, 0, sizeof(Packet));
      Packet.header = HSA_PACKET_TYPE_BARRIER_AND;
    }
    Packet.reserved0 = uint16_t(I);
    F.submit(Q, &Packet, 1);
  }
  F.waitIdle();
  Done = true;
  Watcher.join();
  CHECK(Most <= 64);
  auto Seen = F.seen();
  CHECK(Seen.size() == 600);
  for (unsigned I = 0; I < 600; ++I)
    CHECK(Seen[I].reserved0 == I);
  OnUnload();
  return Good;
}
SCENARIO(needEachOther) { // B46: A ends only after B was submitted
  Hsa &F = hsa();
  F.Paused = true;
  start(F);
  loadKernels(F);
  hsa_queue_t *Q1 = F.createQueue();
  hsa_queue_t *Q2 = F.createQueue();
  dispatch(F, Q1, 1);
  dispatch(F, Q2, 1);
  F.Paused = false;
  F.waitIdle();
  OnUnload();
  return Good;
}
SCENARIO(threads) { // B44
  Hsa &F = hsa(2);
  start(F);
  loadKernels(F, {0, 1});
  hsa_queue_t *Queues[4];
  for (unsigned I = 0; I < 4; ++I)
    Queues[I] = F.createQueue(I % 2);
  const char *Scale = getenv("SCENARIO_DISPATCHES");
  unsigned Each = Scale ? unsigned(atoi(Scale)) : 50;
  std::vector<std::thread> All;
  for (unsigned T = 0; T < 32; ++T)
    All.emplace_back([&, T] {
      for (unsigned I = 0; I < Each; ++I)
        dispatch(F, Queues[(T + I) % 4], 1, I % 4 ? K : Plain);
    });
  for (auto &Thread : All)
    Thread.join();
  F.waitIdle();
  OnUnload();
  return Good;
}

// ---- the device fails

static void startTwoWaves(Hsa &F, hsa_queue_t *Q) {
  F.Paused = true;
  dispatch(F, Q, 1);
  // The device has begun, but will never complete the packet.
  KprobeDispatchContext Context;
  std::memcpy(&Context,
              reinterpret_cast<void *>(F.DeviceWork.front().Packet.reserved2),
              sizeof(Context));
  F.WaveDies = [](uint64_t Wave) { return Wave == 1; };
  F.wave(Context, 0);
  F.wave(Context, 1);
}
SCENARIO(memoryFault) {
  Hsa &F = hsa();
  start(F);
  loadKernels(F);
  startTwoWaves(F, F.createQueue());
  hsa_amd_event_t Event = {};
  Event.event_type = HSA_AMD_GPU_MEMORY_FAULT_EVENT;
  Event.memory_fault.virtual_address = 0x1234000;
  // Not dealt with: ROCr goes on to end the process.
  CHECK(F.SystemHandler(&Event, nullptr) != HSA_STATUS_SUCCESS);
  _exit(Good);
}
SCENARIO(queueError) {
  Hsa &F = hsa();
  start(F);
  loadKernels(F);
  static int Calls = 0;
  hsa_queue_t *Q = nullptr;
  F.Container.core.hsa_queue_create_fn(
      {F.GpuAgents[0]}, 64, HSA_QUEUE_TYPE_MULTI,
      [](hsa_status_t Status, hsa_queue_t *, void *Data) {
        CHECK(Status == HSA_STATUS_ERROR_EXCEPTION);
        CHECK(Data == &Calls);
        ++Calls;
      },
      &Calls, 0, 0, &Q);
  startTwoWaves(F, Q);
  Queue &Raw = *F.Queues.at(Q);
  Raw.OnError(HSA_STATUS_ERROR_EXCEPTION, Q, Raw.OnErrorData);
  CHECK(Calls == 1);
  return Good;
}
