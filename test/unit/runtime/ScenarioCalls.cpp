// Programs whose HSA calls are recorded.
#include "Scenario.h"

#include <sys/wait.h>
#include <thread>

namespace {

void askTimes(Hsa &F, unsigned Count) {
  for (unsigned I = 0; I < Count; ++I) {
    uint64_t Value = 0;
    CHECK(F.Container.core.hsa_system_get_info_fn(
              HSA_SYSTEM_INFO_TIMESTAMP, &Value) == HSA_STATUS_SUCCESS);
  }
}

void *allocate(Hsa &F, uint64_t Bytes) {
  // The last pool that an agent shows.
  hsa_amd_memory_pool_t Pool = {};
  F.Container.amd_ext.hsa_amd_agent_iterate_memory_pools_fn(
      {F.GpuAgents[0]},
      [](hsa_amd_memory_pool_t Found, void *Data) {
        *static_cast<hsa_amd_memory_pool_t *>(Data) = Found;
        return HSA_STATUS_SUCCESS;
      },
      &Pool);
  void *Memory = nullptr;
  CHECK(F.Container.amd_ext.hsa_amd_memory_pool_allocate_fn(
            Pool, Bytes, 0, &Memory) == HSA_STATUS_SUCCESS);
  return Memory;
}

} // namespace

SCENARIO(calls) { // two threads beside main, memory, a queue, dispatches
  Hsa &F = hsa();
  start(F);
  loadKernels(F);
  void *Memory = allocate(F, 4096);
  hsa_queue_t *Q = F.createQueue();
  dispatch(F, Q, 3);
  std::thread First([&] {
    pthread_setname_np(pthread_self(), "first");
    askTimes(F, 100);
  });
  std::thread Second([&] { askTimes(F, 200); });
  First.join();
  Second.join();
  F.waitIdle();
  F.destroyQueue(Q);
  F.Container.amd_ext.hsa_amd_memory_pool_free_fn(Memory);
  // A call that fails has no out parameters.
  uint64_t Value = 0;
  CHECK(F.Container.core.hsa_agent_get_info_fn({F.GpuAgents[0]},
                                               hsa_agent_info_t(0x7777),
                                               &Value) != HSA_STATUS_SUCCESS);
  OnUnload();
  // Taken out of the table again: nothing records from here on.
  askTimes(F, 5);
  return Good;
}

SCENARIO(callsThenKilled) {
  Hsa &F = hsa();
  start(F);
  loadKernels(F);
  hsa_queue_t *Q = F.createQueue();
  dispatch(F, Q, 1);
  F.waitIdle();
  askTimes(F, 1000);
  usleep(400000); // the drain comes round every 50 ms
  raise(SIGKILL);
  return 0;
}

SCENARIO(callsInChild) { // nothing of the child's reaches the parent's dump
  Hsa &F = hsa();
  start(F);
  loadKernels(F);
  hsa_queue_t *Q = F.createQueue();
  dispatch(F, Q, 1);
  F.waitIdle();
  askTimes(F, 10);
  pid_t Child = fork();
  if (Child == 0) {
    askTimes(F, 1000);
    exit(3);
  }
  int Status = 0;
  waitpid(Child, &Status, 0);
  CHECK(WIFEXITED(Status) && WEXITSTATUS(Status) == 3);
  askTimes(F, 10);
  OnUnload();
  return Good;
}
