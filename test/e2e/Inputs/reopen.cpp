// Opens ROCr three times in one process, and each time loads the same code object,
// runs its kernel and closes everything again; then it works on without ROCr.
//   reopen FILE.co
#include "hsa_check.h"

#include <hsa/hsa.h>
#include <hsa/hsa_ext_amd.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <fcntl.h>
#include <unistd.h>

static hsa_agent_t Gpu, Cpu;

static void findAgents() {
  HSA(hsa_iterate_agents(
      [](hsa_agent_t Agent, void *) {
        hsa_device_type_t Type;
        HSA(hsa_agent_get_info(Agent, HSA_AGENT_INFO_DEVICE, &Type));
        (Type == HSA_DEVICE_TYPE_GPU ? Gpu : Cpu) = Agent;
        return HSA_STATUS_SUCCESS;
      },
      nullptr));
}

/// Memory of the host that the device sees.
static void *shared(size_t Bytes) {
  hsa_amd_memory_pool_t Pool = {};
  hsa_amd_agent_iterate_memory_pools(
      Cpu,
      [](hsa_amd_memory_pool_t Found, void *To) {
        uint32_t Flags = 0;
        hsa_amd_memory_pool_get_info(
            Found, HSA_AMD_MEMORY_POOL_INFO_GLOBAL_FLAGS, &Flags);
        if (Flags & HSA_AMD_MEMORY_POOL_GLOBAL_FLAG_KERNARG_INIT)
          *static_cast<hsa_amd_memory_pool_t *>(To) = Found;
        return HSA_STATUS_SUCCESS;
      },
      &Pool);
  void *Memory = nullptr;
  HSA(hsa_amd_memory_pool_allocate(Pool, Bytes, 0, &Memory));
  HSA(hsa_amd_agents_allow_access(1, &Gpu, nullptr, Memory));
  return Memory;
}

static void runOnce(const char *File, int Value) {
  HSA(hsa_init());
  findAgents();
  const int Fd = open(File, O_RDONLY);
  hsa_code_object_reader_t Reader;
  HSA(hsa_code_object_reader_create_from_file(Fd, &Reader));
  hsa_executable_t Program;
  HSA(hsa_executable_create_alt(HSA_PROFILE_FULL,
                                HSA_DEFAULT_FLOAT_ROUNDING_MODE_DEFAULT,
                                nullptr, &Program));
  HSA(hsa_executable_load_agent_code_object(Program, Gpu, Reader, nullptr,
                                            nullptr));
  HSA(hsa_executable_freeze(Program, nullptr));
  hsa_executable_symbol_t Symbol;
  HSA(hsa_executable_get_symbol_by_name(Program, "count.kd", &Gpu, &Symbol));

  struct Arguments {
    int *Out;
    int Value;
  };
  constexpr unsigned Items = 128;
  auto *Out = static_cast<int *>(shared(Items * sizeof(int)));
  auto *Given = static_cast<Arguments *>(shared(sizeof(Arguments)));
  *Given = {Out, Value};
  hsa_queue_t *Queue;
  HSA(hsa_queue_create(Gpu, 64, HSA_QUEUE_TYPE_MULTI, nullptr, nullptr, 0, 0,
                       &Queue));
  hsa_signal_t Done;
  HSA(hsa_signal_create(1, 0, nullptr, &Done));

  hsa_kernel_dispatch_packet_t Packet = {};
  Packet.setup = 1;
  Packet.workgroup_size_x = 64;
  Packet.workgroup_size_y = Packet.workgroup_size_z = 1;
  Packet.grid_size_x = Items;
  Packet.grid_size_y = Packet.grid_size_z = 1;
  Packet.kernarg_address = Given;
  Packet.completion_signal = Done;
  HSA(hsa_executable_symbol_get_info(
      Symbol, HSA_EXECUTABLE_SYMBOL_INFO_KERNEL_OBJECT, &Packet.kernel_object));
  HSA(hsa_executable_symbol_get_info(
      Symbol, HSA_EXECUTABLE_SYMBOL_INFO_KERNEL_PRIVATE_SEGMENT_SIZE,
      &Packet.private_segment_size));
  const uint64_t Index = hsa_queue_add_write_index_screlease(Queue, 1);
  char *Slot = static_cast<char *>(Queue->base_address) + Index * sizeof(Packet);
  std::memcpy(Slot + 4, reinterpret_cast<char *>(&Packet) + 4,
              sizeof(Packet) - 4);
  // The header last: from then on the packet is the device's.
  const uint32_t First = HSA_PACKET_TYPE_KERNEL_DISPATCH |
                         HSA_FENCE_SCOPE_SYSTEM
                             << HSA_PACKET_HEADER_SCACQUIRE_FENCE_SCOPE |
                         HSA_FENCE_SCOPE_SYSTEM
                             << HSA_PACKET_HEADER_SCRELEASE_FENCE_SCOPE |
                         uint32_t(Packet.setup) << 16;
  __atomic_store_n(reinterpret_cast<uint32_t *>(Slot), First, __ATOMIC_RELEASE);
  hsa_signal_store_screlease(Queue->doorbell_signal, Index);
  hsa_signal_wait_scacquire(Done, HSA_SIGNAL_CONDITION_LT, 1, UINT64_MAX,
                            HSA_WAIT_STATE_BLOCKED);
  unsigned Right = 0;
  for (unsigned I = 0; I < Items; ++I)
    Right += Out[I] == Value + int(I);
  std::printf("round %d: %u of %u right\n", Value, Right, Items);

  HSA(hsa_signal_destroy(Done));
  HSA(hsa_queue_destroy(Queue));
  HSA(hsa_executable_destroy(Program));
  HSA(hsa_code_object_reader_destroy(Reader));
  close(Fd);
  HSA(hsa_amd_memory_pool_free(Given));
  HSA(hsa_amd_memory_pool_free(Out));
  HSA(hsa_shut_down());
}

__attribute__((noinline)) static void workAfterwards() {
  const clock_t End = clock() + CLOCKS_PER_SEC / 5;
  while (clock() < End)
    ;
}

int main(int, char **Arguments) {
  for (int Value = 1; Value <= 3; ++Value)
    runOnce(Arguments[1], Value);
  workAfterwards();
}
