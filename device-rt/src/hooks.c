/* The hooks of a wave: what an instrumented kernel does first and last.
 *
 * Compiled once, for no processor in particular, to bitcode that the plug-in
 * carries and links into device modules; what differs between processors comes
 * through the primitives of hooks.def. Everything here is uniform over the
 * wave and free of branches: the hooks are inlined into kernels whose control
 * flow must stay as it is, and a branch could not skip the loads anyway.
 *
 * A wave without a slot (no context, wrong magic, not sampled) uses the sink
 * with a mask of 0, so that probes need no test.
 */
#include "kprobe/wire.h"

#define GLOBAL __attribute__((address_space(1)))
#define CONSTANT __attribute__((address_space(4)))

typedef struct KprobeWaveState {
  uint64_t Ring;
  uint32_t Mask;
} KprobeWaveState;

#define KPROBE_TYPE_VOID void
#define KPROBE_TYPE_I32 uint32_t
#define KPROBE_TYPE_I64 uint64_t
#define KPROBE_TYPE_STATE KprobeWaveState
#define KPROBE_HOOK(Name, Result, Arguments) Result __kprobe_##Name Arguments;
#define KPROBE_PRIMITIVE(Name, Result, Arguments)                              \
  Result __kprobe_##Name Arguments;
#include "kprobe/hooks.def"

/* A packet in the AQL kernel dispatch layout (HSA System Architecture, "AQL
 * kernel dispatch packet"), as far as the hooks read it. */
typedef struct DispatchPacket {
  uint16_t Header, Setup;
  uint16_t GroupSize[3];
  uint16_t Reserved0;
  uint32_t GridSize[3];
  uint32_t PrivateBytes, GroupBytes;
  uint64_t KernelObject, Kernarg;
  uint64_t Context; /* reserved2: KprobeDispatchContext * */
} DispatchPacket;
_Static_assert(offsetof(DispatchPacket, GroupSize) == 4 &&
                   offsetof(DispatchPacket, GridSize) == 12 &&
                   offsetof(DispatchPacket, Context) == 48,
               "the layout is not ours to choose");

static GLOBAL struct {
  KprobeWaveHeader Header;
  KprobeEvent Event;
} __kprobe_sink __attribute__((aligned(128)));

/* Stands in for a missing context; its magic is wrong. */
static const CONSTANT KprobeDispatchContext __kprobe_no_context;

static uint32_t uniform(uint32_t Value) {
  return (uint32_t)__builtin_amdgcn_readfirstlane((int)Value);
}

static uint64_t uniform64(uint64_t Value) {
  return (uint64_t)uniform((uint32_t)(Value >> 32)) << 32 |
         uniform((uint32_t)Value);
}

/* Work-items of the workgroup in one direction; the last group of a grid may
 * be cut short. */
static uint32_t groupExtent(const CONSTANT DispatchPacket *Packet, int Axis,
                            uint32_t Group) {
  uint32_t Size = Packet->GroupSize[Axis];
  uint32_t Rest = Packet->GridSize[Axis] - Group * Size;
  return Rest < Size ? Rest : Size;
}

KprobeWaveState __kprobe_wave_begin(void) {
  const CONSTANT DispatchPacket *Packet =
      (const CONSTANT DispatchPacket *)__builtin_amdgcn_dispatch_ptr();
  uint32_t GroupX = __builtin_amdgcn_workgroup_id_x();
  uint32_t GroupY = __builtin_amdgcn_workgroup_id_y();
  uint32_t GroupZ = __builtin_amdgcn_workgroup_id_z();
  uint32_t ExtentX = groupExtent(Packet, 0, GroupX);
  uint32_t ExtentY = groupExtent(Packet, 1, GroupY);
  /* Lanes are numbered along x, then y, then z; the first active one tells. */
  uint32_t Item = (__builtin_amdgcn_workitem_id_z() * ExtentY +
                   __builtin_amdgcn_workitem_id_y()) *
                      ExtentX +
                  __builtin_amdgcn_workitem_id_x();
  uint32_t WaveInGroup = uniform(Item) >> __kprobe_wave_shift();

  uint64_t Address = Packet->Context;
  const CONSTANT KprobeDispatchContext *Context =
      Address ? (const CONSTANT KprobeDispatchContext *)Address
              : &__kprobe_no_context;
  uint64_t Index =
      (((uint64_t)GroupZ * Context->GroupsY + GroupY) * Context->GroupsX +
       GroupX) *
          Context->WavesPerGroup +
      WaveInGroup;
  uint32_t Shift = Context->SampleShift & 63;
  uint64_t Slot = Index >> Shift;
  int Sampled = (Context->Magic == KPROBE_CONTEXT_MAGIC) &
                (Slot << Shift == Index) & (Slot < Context->SlotCount);
  uint32_t RingBytes = Context->RingBytes;
  uint64_t SlotAddress =
      Context->Slots + Slot * (sizeof(KprobeWaveHeader) + RingBytes);
  RingBytes = uniform(Sampled ? RingBytes : (uint32_t)sizeof(KprobeEvent));
  SlotAddress = uniform64(Sampled ? SlotAddress : (uint64_t)&__kprobe_sink);

  GLOBAL KprobeWaveHeader *Header = (GLOBAL KprobeWaveHeader *)SlotAddress;
  Header->State = KPROBE_WAVE_BEGUN;
  Header->Cursor = 0;
  Header->WaveIndex = Index;
  Header->Workgroup[0] = GroupX;
  Header->Workgroup[1] = GroupY;
  Header->Workgroup[2] = GroupZ;
  Header->WaveInGroup = WaveInGroup;
  Header->HardwareId[0] = __kprobe_place0();
  Header->HardwareId[1] = __kprobe_place1();
  Header->BeginExec = __kprobe_exec();
  Header->RingBytes = RingBytes;
  /* Clocks last, together: the decoder takes them for one instant. */
  uint64_t Ticks = __kprobe_ticks();
  uint64_t Cycles = __kprobe_cycles();
  Header->BeginTicks = Ticks;
  Header->BeginCycles = Cycles;
  return (KprobeWaveState){SlotAddress + sizeof(KprobeWaveHeader),
                           KPROBE_RING_MASK(RingBytes)};
}

void __kprobe_wave_end(uint64_t Ring, uint32_t Cursor) {
  GLOBAL KprobeWaveHeader *Header =
      (GLOBAL KprobeWaveHeader *)(Ring - sizeof(KprobeWaveHeader));
  uint64_t Cycles = __kprobe_cycles();
  uint64_t Ticks = __kprobe_ticks();
  Header->EndCycles = Cycles;
  Header->EndTicks = Ticks;
  Header->Cursor = Cursor;
  Header->State = KPROBE_WAVE_ENDED;
}
