// Drives an AQL queue by hand, through ROCr but without HIP: the packets that HIP
// does not send, and a queue that is destroyed while it works.
#include "../../Inputs/hsa_check.h"

#include <hsa/hsa.h>
#include <hsa/hsa_ext_amd.h>

#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <initializer_list>

#define EXPECT(Condition)                                                      \
  do {                                                                         \
    if (!(Condition)) {                                                        \
      std::printf("%s:%d: not true: %s\n", __FILE__, __LINE__, #Condition);    \
      std::exit(1);                                                            \
    }                                                                          \
  } while (false)

static hsa_agent_t Gpu;
static std::atomic<int> QueueError{0};

static hsa_signal_t signal(hsa_signal_value_t Value) {
  hsa_signal_t Result;
  HSA(hsa_signal_create(Value, 0, nullptr, &Result));
  return Result;
}

static hsa_queue_t *queue() {
  hsa_queue_t *Result;
  HSA(hsa_queue_create(
      Gpu, 64, HSA_QUEUE_TYPE_MULTI,
      [](hsa_status_t Status, hsa_queue_t *, void *) { QueueError = Status; },
      nullptr, 0, 0, &Result));
  return Result;
}

/// Writes a packet as a producer must: body first, header last, then the bell.
template <typename Packet>
static void submit(hsa_queue_t *Queue, const Packet &Body) {
  static_assert(sizeof(Packet) == 64, "");
  const uint64_t Index = hsa_queue_add_write_index_screlease(Queue, 1);
  while (Index - hsa_queue_load_read_index_scacquire(Queue) >= Queue->size)
    ;
  char *Slot = static_cast<char *>(Queue->base_address) + Index % Queue->size * 64;
  std::memcpy(Slot + 4, reinterpret_cast<const char *>(&Body) + 4, 60);
  uint32_t First;
  std::memcpy(&First, &Body, 4);
  __atomic_store_n(reinterpret_cast<uint32_t *>(Slot), First, __ATOMIC_RELEASE);
  hsa_signal_store_screlease(Queue->doorbell_signal, Index);
}

static hsa_barrier_and_packet_t barrier(uint8_t Type, hsa_signal_t Done) {
  hsa_barrier_and_packet_t Packet;
  std::memset(&Packet, 0, sizeof(Packet));
  Packet.header = uint16_t(Type << HSA_PACKET_HEADER_TYPE);
  Packet.completion_signal = Done;
  return Packet;
}

static bool isZero(hsa_signal_t Signal, uint64_t Nanoseconds = 50000000) {
  return hsa_signal_wait_scacquire(Signal, HSA_SIGNAL_CONDITION_EQ, 0,
                                   Nanoseconds, HSA_WAIT_STATE_BLOCKED) == 0;
}

static bool becomesZero(hsa_signal_t Signal) {
  return isZero(Signal, ~uint64_t(0));
}

static void barriers() {
  hsa_queue_t *Queue = queue();
  hsa_signal_t A = signal(1), B = signal(1), Done = signal(1);

  auto And = barrier(HSA_PACKET_TYPE_BARRIER_AND, Done);
  And.dep_signal[0] = A;
  And.dep_signal[3] = B;
  submit(Queue, And);
  EXPECT(!isZero(Done));
  hsa_signal_store_screlease(A, 0);
  EXPECT(!isZero(Done));
  hsa_signal_subtract_screlease(B, 1);
  EXPECT(becomesZero(Done));

  for (hsa_signal_t Signal : {A, B, Done})
    hsa_signal_store_screlease(Signal, 1);
  auto Or = barrier(HSA_PACKET_TYPE_BARRIER_OR, Done);
  Or.dep_signal[1] = A;
  Or.dep_signal[4] = B;
  submit(Queue, Or);
  EXPECT(!isZero(Done));
  hsa_signal_store_screlease(B, 0);
  EXPECT(becomesZero(Done));

  // A barrier of one queue waits for the completion of one in another.
  hsa_queue_t *Other = queue();
  hsa_signal_t Go = signal(1), First = signal(1), Second = signal(1);
  auto Waits = barrier(HSA_PACKET_TYPE_BARRIER_AND, Second);
  Waits.dep_signal[0] = First;
  submit(Queue, Waits);
  auto Leads = barrier(HSA_PACKET_TYPE_BARRIER_AND, First);
  Leads.dep_signal[0] = Go;
  submit(Other, Leads);
  EXPECT(!isZero(Second));
  hsa_signal_store_screlease(Go, 0);
  EXPECT(becomesZero(Second));

  hsa_amd_barrier_value_packet_t Value;
  std::memset(&Value, 0, sizeof(Value));
  Value.header.header = HSA_PACKET_TYPE_VENDOR_SPECIFIC << HSA_PACKET_HEADER_TYPE;
  Value.header.AmdFormat = HSA_AMD_PACKET_TYPE_BARRIER_VALUE;
  hsa_signal_store_screlease(A, 0x10);
  hsa_signal_store_screlease(Done, 1);
  Value.signal = A;
  Value.mask = 0xff;
  Value.value = 0x42;
  Value.cond = HSA_SIGNAL_CONDITION_GTE;
  Value.completion_signal = Done;
  submit(Queue, Value);
  EXPECT(!isZero(Done));
  hsa_signal_store_screlease(A, 0x1010);
  EXPECT(!isZero(Done));
  hsa_signal_store_screlease(A, 0x43);
  EXPECT(becomesZero(Done));

  // Many times around the ring.
  hsa_signal_t Count = signal(1000);
  for (int I = 0; I < 1000; ++I)
    submit(Queue, barrier(HSA_PACKET_TYPE_BARRIER_AND, Count));
  EXPECT(becomesZero(Count));
  EXPECT(hsa_queue_load_read_index_scacquire(Queue) ==
         hsa_queue_load_write_index_scacquire(Queue));
  HSA(hsa_queue_destroy(Other));
  HSA(hsa_queue_destroy(Queue));
}

static void destroyInFlight() {
  hsa_signal_t Never = signal(1), Done = signal(1);
  hsa_queue_t *Queue = queue();
  auto Packet = barrier(HSA_PACKET_TYPE_BARRIER_AND, Done);
  Packet.dep_signal[0] = Never;
  submit(Queue, Packet);
  EXPECT(!isZero(Done));
  HSA(hsa_queue_destroy(Queue));
  EXPECT(hsa_signal_load_scacquire(Done) == 1);
}

static void badPackets() {
  hsa_queue_t *Queue = queue();
  submit(Queue, barrier(HSA_PACKET_TYPE_AGENT_DISPATCH, {0}));
  while (QueueError == 0)
    ;
  EXPECT(QueueError == HSA_STATUS_ERROR_INVALID_PACKET_FORMAT);
  HSA(hsa_queue_destroy(Queue));
}

int main() {
  HSA(hsa_init());
  hsa_iterate_agents(
      [](hsa_agent_t Agent, void *) {
        hsa_device_type_t Type;
        HSA(hsa_agent_get_info(Agent, HSA_AGENT_INFO_DEVICE, &Type));
        if (Type == HSA_DEVICE_TYPE_GPU)
          Gpu = Agent;
        return HSA_STATUS_SUCCESS;
      },
      nullptr);
  EXPECT(Gpu.handle != 0);
  barriers();
  destroyInFlight();
  badPackets();
  HSA(hsa_shut_down());
  std::puts("passed");
}
