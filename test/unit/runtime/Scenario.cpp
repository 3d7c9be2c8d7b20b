// Ordinary runs, and the many ways in which a process ends.
#include "Scenario.h"

#include <sys/wait.h>

std::map<std::string, ScenarioFunction> &allScenarios() {
  static std::map<std::string, ScenarioFunction> All;
  return All;
}

SCENARIO(basic) {
  Hsa &F = hsa();
  start(F);
  loadKernels(F);
  hsa_queue_t *Q = F.createQueue();
  CHECK(F.Queues.at(Q)->Profiling == 1);
  // The program's switch does not take our time stamps away.
  F.Container.amd_ext.hsa_amd_profiling_set_profiler_enabled_fn(Q, 0);
  CHECK(F.Queues.at(Q)->Profiling == 1);
  hsa_signal_t Signal = makeSignal(F, 2);
  auto Packet = makeDispatch(K, 256, 128, Signal);
  Packet.group_segment_size = 100 + 4000; // 4000 bytes of dynamic LDS
  Packet.private_segment_size = 16;
  const char Arguments[24] = "arguments of a kernel..";
  Packet.kernarg_address = const_cast<char *>(Arguments);
  // Agent scope both ways, and the barrier bit.
  Packet.header |= 1 << 8 | 1 << 9 | 1 << 11;
  F.submit(Q, &Packet, 1);
  dispatch(F, Q, 1, Plain, Signal);
  while (valueOf(F, Signal) != 0)
    usleep(100);
  auto *Raw = reinterpret_cast<amd_signal_t *>(Signal.handle);
  CHECK(Raw->start_ts != 0 && Raw->end_ts > Raw->start_ts);
  F.waitIdle();
  auto Seen = F.seen();
  CHECK(Seen.size() == 2);
  CHECK(Seen[0].kernel_object == KClone && Seen[0].reserved2 != 0);
  // The host's zeros were on their way before the device was.
  CHECK(__atomic_load_n(&F.HdpFlush, __ATOMIC_RELAXED) == 1);
  // System scope both ways; type and barrier bit as they were.
  CHECK(Seen[0].header ==
        (HSA_PACKET_TYPE_KERNEL_DISPATCH | 1 << 8 | 2 << 9 | 2 << 11));
  CHECK(Seen[0].group_segment_size == 4100);
  CHECK(Seen[0].private_segment_size == 48);
  CHECK(Seen[0].completion_signal.handle != Signal.handle);
  // The arguments were copied behind the context.
  CHECK(Seen[0].kernarg_address ==
        reinterpret_cast<KprobeDispatchContext *>(Seen[0].reserved2) + 1);
  CHECK(std::memcmp(Seen[0].kernarg_address, Arguments, sizeof(Arguments)) ==
        0);
  // Foreign kernels stay as they are, to the byte.
  auto Foreign = makeDispatch(Plain, 256, 128, Signal);
  CHECK(std::memcmp(&Seen[1], &Foreign, sizeof(Foreign)) == 0);
  OnUnload();
  return Good;
}

SCENARIO(graph) { // A18: replayed packets, all in one batch
  Hsa &F = hsa();
  start(F);
  F.load(makeElf({makeTable(
             {{"a", "a.kprobe"}, {"b", "b.kprobe"}, {"c", "c.kprobe"}})}),
         {{"a.kd", 0x10},
          {"a.kprobe.kd", 0x11},
          {"b.kd", 0x20},
          {"b.kprobe.kd", 0x21},
          {"c.kd", 0x30},
          {"c.kprobe.kd", 0x31}});
  hsa_queue_t *Q = F.createQueue();
  std::vector<hsa_kernel_dispatch_packet_t> Batch;
  for (int I = 0; I < 100; ++I)
    for (uint64_t Object : {0x10, 0x20, 0x30})
      Batch.push_back(makeDispatch(Object, 64, 64));
  F.submit(Q, Batch.data(), Batch.size());
  F.waitIdle();
  OnUnload();
  return Good;
}

// Two kernels in turn, and the first one's module once more after it was
// unloaded.
SCENARIO(choices) {
  Hsa &F = hsa();
  start(F);
  auto Elf = makeElf({makeTable({{"a", "a.kprobe"}, {"b", "b.kprobe"}})});
  hsa_executable_t First = F.load(Elf, {{"a.kd", 0x10},
                                        {"a.kprobe.kd", 0x11},
                                        {"b.kd", 0x20},
                                        {"b.kprobe.kd", 0x21}});
  hsa_queue_t *Q = F.createQueue();
  for (int I = 0; I < 5; ++I)
    for (uint64_t Object : {0x10, 0x20})
      dispatch(F, Q, 1, Object);
  F.waitIdle();
  F.Container.core.hsa_executable_destroy_fn(First);
  F.load(Elf, {{"a.kd", 0x30}, {"a.kprobe.kd", 0x31}});
  dispatch(F, Q, 5, 0x30);
  F.waitIdle();
  OnUnload();
  return Good;
}

// ---- A20: ends of the process

struct UnloadsLate {
  bool Armed = false;
  ~UnloadsLate() {
    if (Armed)
      OnUnload();
  }
};
static UnloadsLate Late;

SCENARIO(unloadFirst) {
  usual();
  OnUnload();
  return Good;
}
SCENARIO(unloadInDestructor) {
  usual();
  Late.Armed = true;
  return Good;
}
SCENARIO(unloadNever) {
  usual();
  return Good;
}
SCENARIO(unloadTwice) {
  usual();
  OnUnload();
  OnUnload();
  return Good;
}
// ROCr is closed, and opened again.
SCENARIO(reopens) {
  Hsa &F = usual(4);
  OnUnload();
  for (unsigned Round : {1u, 2u}) {
    start(F);
    loadKernels(F);
    hsa_queue_t *Q = F.createQueue();
    dispatch(F, Q, Round);
    F.waitIdle();
    OnUnload();
  }
  return Good;
}
SCENARIO(exitOnThread) {
  usual();
  std::thread([] { exit(Good); }).detach();
  pause();
  return 0;
}
SCENARIO(exitInHandler) {
  std::atexit([] { _Exit(Good); });
  usual();
  return 3;
}
SCENARIO(dispatchAfterExit) { // from a handler that runs after ours
  static Hsa *F;
  std::atexit([] {
    hsa_queue_t *Q = F->createQueue();
    dispatch(*F, Q, 1);
    F->waitIdle();
    CHECK(F->seen().back().kernel_object == K);
  });
  F = &usual();
  return Good;
}

// ---- B55: killed

static int die(const std::function<void()> &How) {
  usual();
  usleep(300000); // the drain has written what there is
  How();
  return 0;
}
SCENARIO(killed) {
  return die([] { raise(SIGKILL); });
}
SCENARIO(terminated) {
  return die([] { raise(SIGTERM); });
}
SCENARIO(underscoreExit) {
  return die([] { _exit(Good); });
}
SCENARIO(quickExit) {
  return die([] { quick_exit(Good); });
}
SCENARIO(aborted) {
  return die([] { abort(); });
}
SCENARIO(handlesTerm) {
  signal(SIGTERM, [](int) { _exit(Good); });
  return die([] {
    kill(getpid(), SIGTERM);
    pause();
  });
}

// ---- fork

SCENARIO(forks) {
  Hsa &F = usual(5);
  pid_t Child = fork();
  if (Child == 0) {
    // Only what a forked child may do; then the ordinary way out.
    exit(3);
  }
  int Status = 0;
  waitpid(Child, &Status, 0);
  CHECK(WIFEXITED(Status) && WEXITSTATUS(Status) == 3);
  hsa_queue_t *Q = F.createQueue();
  dispatch(F, Q, 5);
  F.waitIdle();
  OnUnload();
  return Good;
}

int main(int Count, char **Args) {
  auto Found = allScenarios().find(Count > 1 ? Args[1] : "");
  if (Found == allScenarios().end()) {
    std::fprintf(stderr, "scenario: error: no such scenario\n");
    return 2;
  }
  return Found->second();
}
