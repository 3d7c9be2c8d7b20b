// What a program may meet: no memory, no signals, odd clocks, full rings, many
// agents and code objects.
#include "Scenario.h"

#include <sys/resource.h>

SCENARIO(noMemory) { // B41: every allocation fails
  Hsa &F = hsa();
  F.AllocationsToFail = 1000;
  start(F);
  loadKernels(F);
  hsa_queue_t *Q = F.createQueue();
  dispatch(F, Q, 3);
  F.waitIdle();
  for (auto &Packet : F.seen())
    CHECK(Packet.kernel_object == K && Packet.reserved2 == 0);
  OnUnload();
  return Good;
}
SCENARIO(littleMemory) { // B41: less than asked for
  Hsa &F = hsa();
  F.MostPoolBytes = 5u << 20;
  start(F);
  loadKernels(F);
  hsa_queue_t *Q = F.createQueue();
  dispatch(F, Q, 3);
  F.waitIdle();
  OnUnload();
  return Good;
}
SCENARIO(noRings) { // B41: the second allocation and all after it fail
  Hsa &F = hsa();
  F.MostPoolBytes = 1u << 18;
  start(F);
  loadKernels(F);
  hsa_queue_t *Q = F.createQueue();
  dispatch(F, Q, 3);
  F.waitIdle();
  OnUnload();
  CHECK(F.livePools() == 0);
  return Good;
}
SCENARIO(noSignals) {
  Hsa &F = hsa();
  F.SignalsFail = true;
  start(F);
  loadKernels(F);
  hsa_queue_t *Q = F.createQueue();
  dispatch(F, Q, 3);
  F.waitIdle();
  for (auto &Packet : F.seen())
    CHECK(Packet.kernel_object == K && Packet.reserved2 == 0 &&
          Packet.group_segment_size == 0);
  OnUnload();
  return Good;
}
SCENARIO(tagInUse) {
  Hsa &F = hsa();
  start(F);
  loadKernels(F);
  hsa_queue_t *Q = F.createQueue();
  auto Packet = makeDispatch(K, 256, 128);
  Packet.reserved2 = 77;
  F.submit(Q, &Packet, 1);
  F.waitIdle();
  CHECK(F.seen()[0].reserved2 == 77 && F.seen()[0].kernel_object == K);
  OnUnload();
  return Good;
}
SCENARIO(interceptFails) {
  Hsa &F = hsa();
  F.InterceptFails = true;
  start(F);
  loadKernels(F);
  hsa_queue_t *Q = F.createQueue();
  CHECK(Q);
  dispatch(F, Q, 3);
  F.waitIdle();
  CHECK(F.seen().size() == 3);
  OnUnload();
  return Good;
}
SCENARIO(noClock) { // A27
  Hsa &F = hsa();
  F.ConversionFails = true;
  F.Target = getenv("SCENARIO_TARGET");
  start(F);
  loadKernels(F);
  hsa_queue_t *Q = F.createQueue();
  dispatch(F, Q, 1);
  F.waitIdle();
  OnUnload();
  return Good;
}
SCENARIO(slowClock) { // A27: 25 MHz where 100 MHz are nominal
  Hsa &F = hsa();
  F.TickHz = 25000000;
  start(F);
  loadKernels(F);
  hsa_queue_t *Q = F.createQueue();
  dispatch(F, Q, 1);
  F.waitIdle();
  OnUnload();
  return Good;
}
SCENARIO(fileLimit) { // EFBIG would raise SIGXFSZ
  struct rlimit Limit = {4096, 4096};
  setrlimit(RLIMIT_FSIZE, &Limit);
  Hsa &F = usual(50);
  usleep(100000);
  // Once nothing can be written, kernels run without probes.
  hsa_queue_t *Q = F.createQueue();
  dispatch(F, Q, 1);
  F.waitIdle();
  CHECK(F.seen().back().kernel_object == K);
  CHECK(F.seen().back().reserved2 == 0);
  OnUnload();
  return Good;
}
SCENARIO(overflow) { // A22: 512 events a ring
  Hsa &F = hsa();
  F.EventsOfWave = [](uint64_t Wave) {
    const uint64_t Counts[] = {0, 511, 512, 513, 1024, 1025};
    return Counts[Wave % 6];
  };
  start(F);
  loadKernels(F);
  hsa_queue_t *Q = F.createQueue();
  auto Packet = makeDispatch(K, 6 * 64, 64);
  F.submit(Q, &Packet, 1);
  F.waitIdle();
  // The same memory again: the fake device insists on zeros.
  F.submit(Q, &Packet, 1);
  F.waitIdle();
  usleep(100000);
  F.submit(Q, &Packet, 1);
  F.waitIdle();
  OnUnload();
  return Good;
}
SCENARIO(deadWaves) {
  Hsa &F = hsa();
  F.WaveDies = [](uint64_t Wave) { return Wave == 1; };
  F.EventsOfWave = [](uint64_t) { return uint64_t(600); };
  start(F);
  loadKernels(F);
  hsa_queue_t *Q = F.createQueue();
  auto Packet = makeDispatch(K, 3 * 64, 64);
  F.submit(Q, &Packet, 1);
  F.waitIdle();
  usleep(100000);
  F.submit(Q, &Packet, 1);
  F.waitIdle();
  OnUnload();
  return Good;
}
SCENARIO(bigGrid) { // more waves than the buffer holds
  Hsa &F = hsa();
  start(F);
  loadKernels(F);
  hsa_queue_t *Q = F.createQueue();
  auto Packet = makeDispatch(K, 64 * 4096, 64);
  F.submit(Q, &Packet, 1);
  F.waitIdle();
  OnUnload();
  return Good;
}
SCENARIO(agents) { // B43: three agents, one of them late
  Hsa &F = hsa(3);
  start(F);
  loadKernels(F, {0, 1});
  hsa_queue_t *Q0 = F.createQueue(0);
  hsa_queue_t *Q1 = F.createQueue(1);
  dispatch(F, Q0, 2);
  dispatch(F, Q1, 2);
  F.waitIdle();
  F.load(makeElf({makeTable({{"k", "k.kprobe"}}, "late")}),
         {{"k.kd", 0xC000}, {"k.kprobe.kd", 0xC100}}, {2});
  hsa_queue_t *Q2 = F.createQueue(2);
  dispatch(F, Q2, 2, 0xC000);
  F.waitIdle();
  // Each agent had a buffer of its own in time.
  for (auto &Packet : F.seen())
    CHECK(Packet.reserved2 != 0);
  OnUnload();
  return Good;
}
SCENARIO(names) { // B48
  Hsa &F = hsa();
  start(F);
  F.load(makeElf({makeTable({{"k", "k.kprobe"}, {"k2", "k2.kprobe"}})}),
         {{"k.kd", 0x1},
          {"k2.kd", 0x2},
          {"prefix.kd.middle.kd", 0x3},
          {"", 0x4},
          {"k.kprobe.kd", 0x5},
          {"k2.kprobe.kd", 0x6}});
  hsa_queue_t *Q = F.createQueue();
  for (uint64_t Object : {0x1, 0x2, 0x3, 0x4, 0xdead})
    dispatch(F, Q, 1, Object);
  F.waitIdle();
  OnUnload();
  return Good;
}
SCENARIO(executables) { // A16, A17: same names in two code objects
  Hsa &F = hsa();
  start(F);
  hsa_executable_t First =
      F.load(makeElf({makeTable({{"k", "k.kprobe"}}, "one")}),
             {{"k.kd", 0x10}, {"k.kprobe.kd", 0x11}});
  F.load(makeElf({makeTable({{"j", "j.kprobe"}}, "two"),
                  makeTable({{"k", "k.kprobe"}}, "three")}),
         {{"k.kd", 0x20},
          {"k.kprobe.kd", 0x21},
          {"j.kd", 0x30},
          {"j.kprobe.kd", 0x31}});
  hsa_queue_t *Q = F.createQueue();
  for (uint64_t Object : {0x10, 0x20, 0x30})
    dispatch(F, Q, 1, Object);
  F.waitIdle();
  // An address that is used again after its executable is gone.
  F.Container.core.hsa_executable_destroy_fn(First);
  F.load(makeElf({}), {{"other.kd", 0x10}});
  dispatch(F, Q, 1, 0x10);
  F.waitIdle();
  OnUnload();
  return Good;
}
