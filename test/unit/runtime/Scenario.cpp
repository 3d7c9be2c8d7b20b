// A "program" under the runtime, on the fake HSA: one run a process, because
// the runtime's life is the process's. ProcessTest.cpp starts it with a name
// and looks at exit status, stderr and dump.
//
// Exit status: 7 when the scenario went through (so that a lost status shows),
// 99 with a line on stderr when the program saw something it should not.
#include "FakeHsa.h"

#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <dlfcn.h>
#include <functional>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

extern "C" bool OnLoad(HsaApiTable *, uint64_t, uint64_t, const char *const *);
extern "C" void OnUnload();

using namespace fake;

#define CHECK(Condition)                                                       \
  do {                                                                         \
    if (!(Condition)) {                                                        \
      std::fprintf(stderr, "scenario: %s:%d: %s\n", __FILE__, __LINE__,        \
                   #Condition);                                                \
      _exit(99);                                                               \
    }                                                                          \
  } while (0)

static constexpr int Good = 7;
static constexpr uint64_t K = 0xA000, KClone = 0xA100, Plain = 0xB000;

static Hsa &hsa(unsigned Agents = 1) {
  return *new Hsa(Agents); // lives as long as ROCr does: longer than main
}
static void start(Hsa &F) { OnLoad(F.table(), 1, 0, nullptr); }

static const std::vector<Symbol> Symbols = {{"k.kd", K, 100, 16},
                                            {"k.kprobe.kd", KClone, 100, 48},
                                            {"plain.kd", Plain, 0, 0}};

static void loadKernels(Hsa &F, std::vector<unsigned> Agents = {0}) {
  F.load(makeElf({makeTable({{"k", "k.kprobe"}})}), Symbols, Agents);
}
static void dispatch(Hsa &F, hsa_queue_t *Q, unsigned Count,
                     uint64_t Object = K, hsa_signal_t Signal = {}) {
  for (unsigned I = 0; I < Count; ++I) {
    auto Packet = makeDispatch(Object, 256, 128, Signal);
    F.submit(Q, &Packet, 1);
  }
}
static hsa_signal_t makeSignal(Hsa &F, int64_t Value) {
  hsa_signal_t Signal;
  F.Container.core.hsa_signal_create_fn(Value, 0, nullptr, &Signal);
  return Signal;
}
static int64_t valueOf(Hsa &F, hsa_signal_t Signal) {
  return F.Container.core.hsa_signal_load_scacquire_fn(Signal);
}

// The usual program: N traced dispatches, one plain one.
static Hsa &usual(unsigned Count = 10) {
  Hsa &F = hsa();
  start(F);
  loadKernels(F);
  hsa_queue_t *Q = F.createQueue();
  dispatch(F, Q, Count);
  dispatch(F, Q, 1, Plain);
  F.waitIdle();
  return F;
}

static int basic() {
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
  CHECK(Seen[0].group_segment_size == 4100);
  CHECK(Seen[0].private_segment_size == 48);
  CHECK(Seen[0].completion_signal.handle != Signal.handle);
  CHECK(Seen[0].kernarg_address == Packet.kernarg_address);
  // Foreign kernels stay as they are, to the byte.
  auto Foreign = makeDispatch(Plain, 256, 128, Signal);
  CHECK(std::memcmp(&Seen[1], &Foreign, sizeof(Foreign)) == 0);
  OnUnload();
  return Good;
}

static int graph() { // A18: replayed packets, all in one batch
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

// ---- A20: ends of the process

struct UnloadsLate {
  bool Armed = false;
  ~UnloadsLate() {
    if (Armed)
      OnUnload();
  }
};
static UnloadsLate Late;

static int unloadFirst() {
  usual();
  OnUnload();
  return Good;
}
static int unloadInDestructor() {
  usual();
  Late.Armed = true;
  return Good;
}
static int unloadNever() {
  usual();
  return Good;
}
static int unloadTwice() {
  usual();
  OnUnload();
  OnUnload();
  return Good;
}
static int exitOnThread() {
  usual();
  std::thread([] { exit(Good); }).detach();
  pause();
  return 0;
}
static int exitInHandler() {
  std::atexit([] { _Exit(Good); });
  usual();
  return 3;
}
static int dispatchAfterExit() { // from a handler that runs after ours
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
static int killed() {
  return die([] { raise(SIGKILL); });
}
static int terminated() {
  return die([] { raise(SIGTERM); });
}
static int underscoreExit() {
  return die([] { _exit(Good); });
}
static int quickExit() {
  return die([] { quick_exit(Good); });
}
static int aborted() {
  return die([] { abort(); });
}
static int handlesTerm() {
  signal(SIGTERM, [](int) { _exit(Good); });
  return die([] {
    kill(getpid(), SIGTERM);
    pause();
  });
}

// ---- work in flight

static int late() { // A23
  Hsa &F = hsa();
  F.DelayMs = 50;
  start(F);
  loadKernels(F);
  hsa_queue_t *Q = F.createQueue();
  dispatch(F, Q, 40);
  OnUnload();
  return Good;
}
static int hangs() { // A23: never completes
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
static int destroyInFlight() { // B45
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
static int fullQueue() { // B45: never more in flight than the queue holds
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
static int needEachOther() { // B46: A ends only after B was submitted
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
static int threads() { // B44
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
static int memoryFault() {
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
static int queueError() {
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

// ---- fork

static int forks() {
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

// ---- trouble

static int noMemory() { // B41: every allocation fails
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
static int littleMemory() { // B41: less than asked for
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
static int noRings() { // B41: the second allocation and all after it fail
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
static int noSignals() {
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
static int tagInUse() {
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
static int interceptFails() {
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
static int noClock() { // A27
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
static int slowClock() { // A27: 25 MHz where 100 MHz are nominal
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
static int fileLimit() { // EFBIG would raise SIGXFSZ
  struct rlimit Limit = {4096, 4096};
  setrlimit(RLIMIT_FSIZE, &Limit);
  usual(50);
  OnUnload();
  return Good;
}
static int overflow() { // A22: 512 events a ring
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
static int deadWaves() {
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
static int bigGrid() { // more waves than the buffer holds
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
static int agents() { // B43: three agents, one of them late
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
static int names() { // B48
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
static int executables() { // A16, A17: same names in two code objects
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

// ---- B56, B57, B59: the table

static int oddTable() { // B57
  std::string How = getenv("SCENARIO_TABLE");
  Hsa &F = hsa();
  if (How == "major")
    F.Container.root.version.major_id = 2;
  if (How == "coremajor")
    F.Container.core.version.major_id = 9;
  if (How == "short")
    F.Container.amd_ext.version.minor_id = 64;
  if (How == "shortroot")
    F.Container.root.version.minor_id = 16;
  if (How == "null")
    F.Container.amd_ext.hsa_amd_queue_intercept_create_fn = nullptr;
  auto Before = F.Container.core.hsa_queue_create_fn;
  CHECK(OnLoad(How == "none" ? nullptr : F.table(), 1, 0, nullptr));
  CHECK(F.Container.core.hsa_queue_create_fn == Before);
  loadKernels(F);
  hsa_queue_t *Q = F.createQueue();
  dispatch(F, Q, 2);
  F.waitIdle();
  CHECK(F.seen().size() == 2 && F.seen()[0].kernel_object == K);
  OnUnload();
  return Good;
}
static int nothing() { // B57: "0 dispatches seen"
  Hsa &F = hsa();
  start(F);
  OnUnload();
  return Good;
}
static int reload() { // B59
  Hsa &F = hsa();
  CoreApiTable Before = F.Container.core;
  start(F);
  loadKernels(F);
  hsa_queue_t *Q = F.createQueue();
  dispatch(F, Q, 4);
  F.waitIdle();
  OnUnload();
  CHECK(std::memcmp(&Before, &F.Container.core, sizeof(Before)) == 0);
  CHECK(F.livePools() == 0);
  F.Queues.clear();
  start(F);
  F.load(makeElf({makeTable({{"k", "k.kprobe"}})}),
         {{"k.kd", 0xD000}, {"k.kprobe.kd", 0xD100}});
  Q = F.createQueue();
  dispatch(F, Q, 4, 0xD000);
  F.waitIdle();
  CHECK(F.seen().back().kernel_object == 0xD100);
  OnUnload();
  return Good;
}
static hsa_status_t (*WrappedFreeze)(hsa_executable_t, const char *);
static unsigned WrappedCalls = 0;
static int otherTool() { // B56: a tool before us and one after us
  Hsa &F = hsa();
  auto Original = F.Container.core.hsa_executable_freeze_fn;
  WrappedFreeze = Original;
  auto Before = [](hsa_executable_t E, const char *O) {
    ++WrappedCalls;
    return WrappedFreeze(E, O);
  };
  F.Container.core.hsa_executable_freeze_fn = Before;
  start(F);
  static decltype(Original) Ours;
  Ours = F.Container.core.hsa_executable_freeze_fn;
  auto After = [](hsa_executable_t E, const char *O) { return Ours(E, O); };
  F.Container.core.hsa_executable_freeze_fn = After;
  loadKernels(F);
  CHECK(WrappedCalls == 1);
  hsa_queue_t *Q = F.createQueue();
  dispatch(F, Q, 2);
  F.waitIdle();
  OnUnload();
  // The later tool's function is not ours to remove; through it the earlier
  // one is still reached.
  CHECK(F.Container.core.hsa_executable_freeze_fn == After);
  loadKernels(F);
  CHECK(WrappedCalls == 2);
  return Good;
}
static int twoCopies() { // B56
  Hsa &F = hsa();
  using Load = bool (*)(HsaApiTable *, uint64_t, uint64_t, const char *const *);
  using Unload = void (*)();
  std::vector<Unload> Ends;
  for (const char *Variable : {"SCENARIO_COPY1", "SCENARIO_COPY2"}) {
    void *Library = dlopen(getenv(Variable), RTLD_NOW | RTLD_LOCAL);
    CHECK(Library);
    CHECK(reinterpret_cast<Load>(dlsym(Library, "OnLoad"))(F.table(), 1, 0,
                                                           nullptr));
    Ends.push_back(reinterpret_cast<Unload>(dlsym(Library, "OnUnload")));
  }
  loadKernels(F);
  hsa_queue_t *Q = F.createQueue();
  dispatch(F, Q, 3);
  F.waitIdle();
  for (auto It = Ends.rbegin(); It != Ends.rend(); ++It)
    (*It)();
  return Good;
}

int main(int Count, char **Args) {
  static const std::map<std::string, int (*)()> All = {
#define SCENARIO(Name) {#Name, Name},
      SCENARIO(basic) SCENARIO(graph) SCENARIO(unloadFirst) SCENARIO(
          unloadInDestructor) SCENARIO(unloadNever) SCENARIO(unloadTwice)
          SCENARIO(exitOnThread) SCENARIO(exitInHandler) SCENARIO(
              dispatchAfterExit) SCENARIO(killed) SCENARIO(terminated)
              SCENARIO(underscoreExit) SCENARIO(quickExit) SCENARIO(
                  aborted) SCENARIO(handlesTerm) SCENARIO(late) SCENARIO(hangs)
                  SCENARIO(destroyInFlight) SCENARIO(fullQueue) SCENARIO(
                      needEachOther) SCENARIO(threads) SCENARIO(forks)
                      SCENARIO(memoryFault) SCENARIO(queueError) SCENARIO(
                          noMemory) SCENARIO(littleMemory) SCENARIO(noRings)
                          SCENARIO(noSignals) SCENARIO(tagInUse) SCENARIO(
                              interceptFails) SCENARIO(noClock)
                              SCENARIO(slowClock) SCENARIO(fileLimit) SCENARIO(
                                  overflow) SCENARIO(deadWaves)
                                  SCENARIO(bigGrid) SCENARIO(agents)
                                      SCENARIO(names) SCENARIO(executables)
                                          SCENARIO(oddTable) SCENARIO(nothing)
                                              SCENARIO(reload)
                                                  SCENARIO(otherTool)
                                                      SCENARIO(twoCopies)};
  auto Found = All.find(Count > 1 ? Args[1] : "");
  if (Found == All.end()) {
    std::fprintf(stderr, "scenario: error: no such scenario\n");
    return 2;
  }
  return Found->second();
}
