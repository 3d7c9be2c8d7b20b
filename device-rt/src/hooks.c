/* The hooks of a wave: what an instrumented kernel does first and last.
 *
 * Compiled once, for no processor in particular, to bitcode that the plug-in
 * carries and links into device modules; what differs between processors comes
 * through the primitives of hooks.def. Everything here is uniform over the
 * wave and free of branches: the hooks are inlined into kernels whose control
 * flow must stay as it is, and a branch could not skip the loads anyway.
 *
 * Small waves pay for these instructions, so the device computes with 32 bits
 * (scalar instructions all of them; 64-bit comparisons are not) and writes what
 * only it knows. What follows from the slot's number the host fills in.
 *
 * A wave without a slot (no context, wrong magic, not sampled) runs the plain
 * body of its kernel, which has no hooks.
 */
#include "kprobe/wire.h"

#define GLOBAL __attribute__((address_space(1)))
#define CONSTANT __attribute__((address_space(4)))

typedef struct KprobeClaim {
  uint64_t Slots;
  uint32_t Slot, SlotCount, RingBytes;
} KprobeClaim;

#define KPROBE_TYPE_VOID void
#define KPROBE_TYPE_I32 uint32_t
#define KPROBE_TYPE_I64 uint64_t
#define KPROBE_TYPE_CLAIM KprobeClaim
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

static uint32_t uniform(uint32_t Value) {
  return (uint32_t)__builtin_amdgcn_readfirstlane((int)Value);
}

/* Work-items of the workgroup in one direction; the last group of a grid may
 * be cut short. */
static uint32_t groupExtent(const CONSTANT DispatchPacket *Packet, int Axis,
                            uint32_t Group) {
  uint32_t Size = Packet->GroupSize[Axis];
  uint32_t Rest = Packet->GridSize[Axis] - Group * Size;
  return Rest < Size ? Rest : Size;
}

/* The lower half's 0 is out of the compiler's sight: where the kernel has a 0 in a
 * vector register, LLVM 15 would take that, and everything computed from it
 * would be in vector registers. */
static uint64_t shifted(uint32_t Number, uint32_t Shift) {
  uint32_t Zero;
  __asm__("s_mov_b32 %0, 0" : "=s"(Zero));
  return ((uint64_t)Number << 32 | Zero) >> (Shift & 63);
}

KprobeClaim __kprobe_wave_claim(void) {
  const CONSTANT DispatchPacket *Packet =
      (const CONSTANT DispatchPacket *)__builtin_amdgcn_dispatch_ptr();
  /* Without a context the packet stands in for it: its magic is wrong. (LLVM 15
   * would choose between 64-bit values in vector registers.) */
  uint64_t Address;
  __asm__("s_cmp_eq_u64 %1, 0\n\ts_cselect_b64 %0, %2, %1"
          : "=s"(Address)
          : "s"(Packet->Context), "s"((uint64_t)Packet)
          : "scc");
  const CONSTANT KprobeDispatchContext *Context =
      (const CONSTANT KprobeDispatchContext *)Address;
  uint32_t GroupX = __builtin_amdgcn_workgroup_id_x();
  uint32_t GroupY = __builtin_amdgcn_workgroup_id_y();
  uint32_t GroupZ = __builtin_amdgcn_workgroup_id_z();
  /* Lanes are numbered along x, then y, then z; the first active one tells. */
  uint32_t Item = (uniform(__builtin_amdgcn_workitem_id_z()) *
                       groupExtent(Packet, 1, GroupY) +
                   uniform(__builtin_amdgcn_workitem_id_y())) *
                      groupExtent(Packet, 0, GroupX) +
                  uniform(__builtin_amdgcn_workitem_id_x());
  uint32_t WaveInGroup = Item >> __kprobe_wave_shift();
  /* Number / 2^Shift, with the remainder in the highest bits of the lower half:
   * or-ed to a slot it puts what is not sampled above every slot. */
  uint64_t Group = shifted((GroupZ * Context->GroupsY + GroupY) *
                                   Context->GroupsX +
                               GroupX,
                           Context->GroupShift);
  uint64_t Wave =
      shifted((uint32_t)(Group >> 32) * Context->WavesPerGroup + WaveInGroup,
              Context->SampleShift);
  uint32_t Slot = (uint32_t)(Wave >> 32) | (uint32_t)Wave | (uint32_t)Group;
  /* Read whatever the magic says, or there would be a branch. */
  uint32_t SlotCount = (uint32_t)Context->SlotCount;
  KprobeClaim Claim;
  Claim.Slots = Context->Slots;
  Claim.Slot = Slot;
  Claim.SlotCount = Context->Magic == KPROBE_CONTEXT_MAGIC ? SlotCount : 0;
  Claim.RingBytes = Context->RingBytes;
  return Claim;
}

static GLOBAL KprobeWaveHeader *headerOf(uint64_t Ring) {
  return (GLOBAL KprobeWaveHeader *)(Ring - sizeof(KprobeWaveHeader));
}

void __kprobe_wave_begun(uint64_t Ring, uint64_t Cycles, uint64_t Ticks) {
  GLOBAL KprobeWaveHeader *Header = headerOf(Ring);
  Header->State = KPROBE_WAVE_BEGUN;
  Header->BeginCycles = Cycles;
  Header->BeginTicks = Ticks;
  Header->HardwareId[0] = __kprobe_place0();
  Header->HardwareId[1] = __kprobe_place1();
  Header->BeginExec = __kprobe_exec();
}

void __kprobe_wave_ended(uint64_t Ring, uint32_t Cursor, uint64_t Cycles,
                         uint64_t Ticks) {
  GLOBAL KprobeWaveHeader *Header = headerOf(Ring);
  Header->EndCycles = Cycles;
  Header->EndTicks = Ticks;
  Header->Cursor = Cursor;
  Header->State = KPROBE_WAVE_ENDED;
}
