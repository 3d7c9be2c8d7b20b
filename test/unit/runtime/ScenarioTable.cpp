// The API table: odd ones, other tools in it, loading twice.
#include "Scenario.h"

#include <dlfcn.h>

SCENARIO(oddTable) { // B57
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
SCENARIO(nothing) { // B57: "0 dispatches seen"
  Hsa &F = hsa();
  start(F);
  OnUnload();
  return Good;
}
SCENARIO(reload) { // B59
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
SCENARIO(otherTool) { // B56: a tool before us and one after us
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
SCENARIO(twoCopies) { // B56
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
