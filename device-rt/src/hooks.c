/* The hooks of a wave: what an instrumented kernel does first.
 *
 * Compiled once, for no processor in particular, to bitcode that the plug-in
 * carries and links into device modules; what differs between processors comes
 * through the primitives of hooks.def. Everything here is uniform over the
 * wave and free of branches: a hook is inlined into kernels whose control
 * flow must stay as it is, and a branch could not skip the loads anyway.
 *
 * Small waves pay for these instructions, so the device computes with 32 bits
 * (scalar instructions all of them; 64-bit comparisons are not) and writes what
 * only it knows. What follows from the slot's number the host fills in.
 *
 * A wave without a slot (not sampled) runs the plain body of its kernel, which
 * has no hooks.
 */
#include "kprobe/wire.h"

typedef uint32_t KprobeContextWords __attribute__((ext_vector_type(16)));
typedef uint64_t KprobeContextPairs __attribute__((ext_vector_type(8)));
_Static_assert(sizeof(KprobeContextWords) == sizeof(KprobeDispatchContext) &&
                   offsetof(KprobeDispatchContext, Slots) == 0,
               "the context as its words");

typedef struct KprobeClaim {
  uint64_t Slots;
  uint32_t Slot, SlotCount, SlotBytes, Mask;
} KprobeClaim;

#define KPROBE_TYPE_VOID void
#define KPROBE_TYPE_I32 uint32_t
#define KPROBE_TYPE_I64 uint64_t
#define KPROBE_TYPE_CONTEXT KprobeContextWords
#define KPROBE_TYPE_CLAIM KprobeClaim
#define KPROBE_HOOK(Name, Result, Arguments) Result __kprobe_##Name Arguments;
#define KPROBE_PRIMITIVE(Name, Result, Arguments)                              \
  Result __kprobe_##Name Arguments;
#include "kprobe/hooks.def"

static uint32_t uniform(uint32_t Value) {
  return (uint32_t)__builtin_amdgcn_readfirstlane((int)Value);
}

/* The lower half's 0 is out of the compiler's sight: where the kernel has a 0 in a
 * vector register, LLVM 15 would take that, and everything computed from it
 * would be in vector registers. */
static uint64_t shifted(uint32_t Number, uint32_t Shift) {
  uint32_t Zero;
  __asm__("s_mov_b32 %0, 0" : "=s"(Zero));
  return ((uint64_t)Number << 32 | Zero) >> (Shift & 63);
}

/* Multiply and add with 24 bits each, which the compiler cannot know to do. */
static uint32_t multiplyAdd(uint32_t A, uint32_t Uniform, uint32_t C) {
  uint32_t Result;
  __asm__("v_mad_u32_u24 %0, %1, %2, %3"
          : "=v"(Result)
          : "v"(A), "s"(Uniform), "v"(C));
  return Result;
}

#define FIELD(Name) Words[offsetof(KprobeDispatchContext, Name) / 4]

static uint32_t groupNumber(KprobeContextWords Words) {
  uint32_t GroupX = __builtin_amdgcn_workgroup_id_x();
  uint32_t GroupY = __builtin_amdgcn_workgroup_id_y();
  uint32_t GroupZ = __builtin_amdgcn_workgroup_id_z();
  return (GroupZ * FIELD(GroupsY) + GroupY) * FIELD(GroupsX) + GroupX;
}

/* The first active lane tells, as if the group were a whole one: in a group that
 * the grid's edge cuts short waves have fewer lanes than that, so their numbers
 * may leave gaps, but no two are the same. */
static uint32_t waveInGroup(KprobeContextWords Words) {
  uint32_t Item = uniform(multiplyAdd(
      multiplyAdd(__builtin_amdgcn_workitem_id_z(), FIELD(GroupSizeY),
                  __builtin_amdgcn_workitem_id_y()),
      FIELD(GroupSizeX), __builtin_amdgcn_workitem_id_x()));
  return Item >> __kprobe_wave_shift();
}

static KprobeClaim claim(KprobeContextWords Words, uint32_t Slot) {
  KprobeClaim Claim;
  Claim.Slots = ((KprobeContextPairs)Words)[0];
  Claim.Slot = Slot;
  Claim.SlotCount = FIELD(SlotCount);
  Claim.SlotBytes = FIELD(SlotBytes);
  Claim.Mask = FIELD(RingMask);
  return Claim;
}

KprobeClaim __kprobe_wave_claim(KprobeContextWords Words) {
  return claim(Words, groupNumber(Words) * FIELD(WavesPerGroup) +
                          waveInGroup(Words));
}

KprobeClaim __kprobe_wave_claim_sampled(KprobeContextWords Words) {
  /* Number / 2^Shift, with the remainder in the highest bits of the lower half:
   * or-ed to a slot it puts what is not sampled above every slot. */
  uint64_t Group = shifted(groupNumber(Words), FIELD(GroupShift));
  uint64_t Wave = shifted((uint32_t)(Group >> 32) * FIELD(WavesPerGroup) +
                              waveInGroup(Words),
                          FIELD(SampleShift));
  return claim(Words,
               (uint32_t)(Wave >> 32) | (uint32_t)Wave | (uint32_t)Group);
}
