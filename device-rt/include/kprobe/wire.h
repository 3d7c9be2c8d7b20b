/* The contract: every layout that two kprobe programs share.
 *
 * Three parties meet here: device code (hooks and probes write events and wave
 * headers), the host runtime (fills the dispatch context, copies rings into a
 * dump) and the decoder (reads dumps). The file is valid C11, C++17 and HIP
 * device code, knows nobody, and is the only place where a layout is written
 * down. FORMAT.md explains the same things in prose, for whoever writes
 * another reader.
 *
 * Rules: little-endian; explicitly sized integers only; no bit-field, enum,
 * bool, pointer or implicit padding; a static_assert on the size below each
 * record; `Reserved` fields are written as zero and ignored when read.
 *
 * Glossary
 *   site      a place in a kernel where a probe stands: one basic block
 *   event     8 bytes that a wave writes when it has executed a site
 *   ring      the event buffer of one wave; its size is a power of two
 *   slot      wave header + ring of one wave, contiguous in device memory
 *   cursor    bytes of events that a wave has written since it began; never
 *             wraps by itself within 4 GiB, so that `Cursor & Mask` is the
 *             place in the ring and `Cursor / 8` the number of events written
 *   ticks     the agent's real-time counter (its frequency is in AgentRecord)
 *   cycles    the agent's shader clock counter
 */
#ifndef KPROBE_WIRE_H
#define KPROBE_WIRE_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
#define KPROBE_STATIC_ASSERT(Cond, Text) static_assert(Cond, Text)
#else
#define KPROBE_STATIC_ASSERT(Cond, Text) _Static_assert(Cond, Text)
#endif

/* Version of everything in this file. A reader refuses another major version;
 * minor versions only append chunk kinds or use reserved fields. */
#define KPROBE_WIRE_MAJOR 1u
#define KPROBE_WIRE_MINOR 4u

/* ------------------------------------------------------------------ events
 *
 *  bit 63..62   61..42   41..36       35..32   31..0
 *      zero     site     lanes - 1    kind     clock (low 32 bits of cycles)
 *
 * The probe packs the high word with one scalar instruction:
 * s_lshl4_add_u32 high, popcount(EXEC), (site << 10 | kind) - (1 << 4),
 * which is why the lane count starts at bit 4 of the high word.
 *
 * An all-zero high word is no event: kind 0 is never written, rings start
 * zeroed, so a reader can tell an unwritten place from an event. (A probe that
 * ran with EXEC = 0 moves the cursor but stores nothing: such a place is
 * counted as empty, not as an event.)
 */
typedef struct KprobeEvent {
  uint32_t Clock;
  uint32_t Tag;
} KprobeEvent;
KPROBE_STATIC_ASSERT(sizeof(KprobeEvent) == 8, "an event is 8 bytes");

#define KPROBE_TAG_KIND_BITS 4
#define KPROBE_TAG_LANES_SHIFT 4
#define KPROBE_TAG_LANES_BITS 6
#define KPROBE_TAG_SITE_SHIFT 10
#define KPROBE_TAG_SITE_BITS 20
#define KPROBE_MAX_SITES (1u << KPROBE_TAG_SITE_BITS)
KPROBE_STATIC_ASSERT(KPROBE_TAG_LANES_SHIFT >= KPROBE_TAG_KIND_BITS &&
                         KPROBE_TAG_SITE_SHIFT >=
                             KPROBE_TAG_LANES_SHIFT + KPROBE_TAG_LANES_BITS &&
                         KPROBE_TAG_SITE_SHIFT + KPROBE_TAG_SITE_BITS <= 32,
                     "fields of the tag must not overlap");

/* Event kinds; event_kinds.def has the names. A block's may have flags:
 *   UNTIMED    a block too short for a clock: the low word is not the clock but
 *              the cursor, as it was before the event
 *   ALL_LANES  executed by all lanes that the wave began with (BeginExec); the
 *              lane count is not there, its bits are zero
 */
#define KPROBE_EVENT_NONE 0u
#define KPROBE_EVENT_BLOCK 1u
#define KPROBE_EVENT_UNTIMED 2u
#define KPROBE_EVENT_ALL_LANES 4u

/* One site in mode counters, one wave: what each visit adds is 2^35 and the number
 * of active lanes. From 2^29 visits on they cannot be told apart. */
#define KPROBE_COUNTER_VISITS_SHIFT 35
typedef uint64_t KprobeCounter;

/* The constant that a probe adds to popcount(EXEC) << 4. */
#define KPROBE_TAG_BASE(Kind, Site)                                            \
  ((((uint32_t)(Site)) << KPROBE_TAG_SITE_SHIFT | (uint32_t)(Kind)) -          \
   (1u << KPROBE_TAG_LANES_SHIFT))

/* The whole tag where a block is executed by ALL_LANES. */
#define KPROBE_TAG_WHOLE(Kind, Site)                                           \
  ((uint32_t)(Site) << KPROBE_TAG_SITE_SHIFT | (uint32_t)(Kind))

static inline uint32_t kprobe_tag_kind(uint32_t Tag) {
  return Tag & ((1u << KPROBE_TAG_KIND_BITS) - 1u);
}
static inline uint32_t kprobe_tag_lanes(uint32_t Tag) {
  return ((Tag >> KPROBE_TAG_LANES_SHIFT) &
          ((1u << KPROBE_TAG_LANES_BITS) - 1u)) +
         1u;
}
static inline uint32_t kprobe_tag_site(uint32_t Tag) {
  return (Tag >> KPROBE_TAG_SITE_SHIFT) & (KPROBE_MAX_SITES - 1u);
}

/* ------------------------------------------------------------- wave header
 *
 * First 128 bytes of a slot; the ring follows at once. The device writes what
 * only it knows; the fields marked "host" follow from the number of the slot
 * and are filled in when the wave is copied. Life of `State`:
 *
 *   0 (host zeroed) --begin--> BEGUN --end--> ENDED
 *
 * which the host tells from whether the device has written BeginTicks and
 * EndTicks. A wave may end several times (divergent returns); each time
 * overwrites the end fields, the last one stands. A wave that is still BEGUN
 * after its dispatch completed never reached a return (trap, abort): `Cursor`
 * is then not valid and the events are recovered from the ring.
 */
#define KPROBE_WAVE_UNUSED 0u
#define KPROBE_WAVE_BEGUN 0x4e474542u /* "BEGN" */
#define KPROBE_WAVE_ENDED 0x53444e45u /* "ENDS" */

typedef struct KprobeWaveHeader {
  uint32_t State;          /* host */
  uint32_t Cursor;         /* bytes of events written; valid when ENDED */
  uint64_t WaveIndex;      /* host: linear index in the grid, see below */
  uint32_t Workgroup[3];   /* host: x, y, z */
  uint32_t WaveInGroup;    /* host */
  uint64_t BeginCycles;
  uint64_t BeginTicks;
  uint64_t EndCycles;      /* valid when ENDED */
  uint64_t EndTicks;       /* valid when ENDED */
  uint32_t HardwareId[2];  /* raw place registers; meaning depends on target */
  uint64_t BeginExec;      /* lanes that entered the kernel, bit 0 for lane 0 */
  uint32_t RingBytes;      /* host: ring capacity, a power of two */
  uint32_t Reserved[11];
} KprobeWaveHeader;
KPROBE_STATIC_ASSERT(sizeof(KprobeWaveHeader) == 128, "a wave header is 128 B");
KPROBE_STATIC_ASSERT(offsetof(KprobeWaveHeader, BeginTicks) ==
                             offsetof(KprobeWaveHeader, BeginCycles) + 8 &&
                         offsetof(KprobeWaveHeader, EndTicks) ==
                             offsetof(KprobeWaveHeader, EndCycles) + 8 &&
                         offsetof(KprobeWaveHeader, BeginExec) ==
                             offsetof(KprobeWaveHeader, HardwareId) + 8,
                     "device code writes 16 bytes at once");

/* -------------------------------------------------------- dispatch context
 *
 * Lies directly before the kernel arguments of a traced dispatch, aligned to
 * its size: the host copies the arguments behind it and lets the packet point to
 * the copy. So a wave finds it without loading anything first, in one line of
 * the cache. Clones are for kprobe's runtime only; nobody else can launch one.
 *
 *   Group     = (z * GroupsY + y) * GroupsX + x
 *   WaveInGroup = ((z * GroupSizeY + y) * GroupSizeX + x) / wave size
 *   WaveIndex = Group * WavesPerGroup + WaveInGroup
 * with x, y, z of the group and of the wave's first work-item in it (a group that
 * the grid's edge cuts short may have gaps in its numbers),
 * which the device computes with 32 bits: a dispatch with more is not traced.
 * Of the workgroups those are sampled whose number is a multiple of
 * 2^GroupShift, and of their waves, counted without the others', those whose
 * number is a multiple of 2^SampleShift:
 *   Slot = (Group >> GroupShift) * WavesPerGroup + WaveInGroup >> SampleShift
 * A wave that is not sampled, or whose slot would be SlotCount or more, runs
 * the plain body of its kernel and leaves no trace.
 */
#define KPROBE_CONTEXT_MAGIC 0x3243504bu /* "KPC2" */

typedef struct KprobeDispatchContext {
  uint64_t Slots;         /* device address of slot 0 */
  uint32_t SlotBytes;     /* from slot to slot */
  uint32_t SlotCount;
  uint32_t RingMask;      /* of cursors: what remains is a place in the ring, the
                             last one being the mask itself */
  uint32_t SampleShift;
  uint32_t GroupsX;       /* workgroups in x and y; z is not needed */
  uint32_t GroupsY;
  uint32_t WavesPerGroup;
  uint32_t GroupSizeX;    /* work-items of a workgroup that is not cut short */
  uint32_t GroupSizeY;
  uint32_t Reserved[2];
  uint32_t Magic;         /* host only */
  uint32_t RingBytes;     /* power of two, at least 64 */
  uint32_t GroupShift;
} KprobeDispatchContext;
KPROBE_STATIC_ASSERT(sizeof(KprobeDispatchContext) == 64,
                     "a dispatch context is 64 B");

/* What a dispatch is traced in: modes.def has the names. */
#define KPROBE_MODE(Name, Value, Text) KPROBE_MODE_##Name = Value,
#define KPROBE_REFUSAL(Name, Value, Text) KPROBE_REFUSAL_##Name = Value,
enum {
#include "kprobe/modes.def"
};

/* Mask that turns a cursor into a place in the ring. */
#define KPROBE_RING_MASK(RingBytes) ((RingBytes) - 8u)

/* -------------------------------------------------------------- site table
 *
 * One per compiled module, in the non-allocated ELF section ".kprobe.sites"
 * of the code object; linking several modules concatenates tables. All
 * offsets are bytes from the start of the table; strings are offsets into the
 * string area, NUL-terminated UTF-8; string 0 is "". Site ids are indices into
 * the sites of the table, in module order.
 */
#define KPROBE_SITE_SECTION ".kprobe.sites"
#define KPROBE_SITE_MAGIC 0x5449534bu /* "KSIT" */
#define KPROBE_NO_INDEX 0xffffffffu
#define KPROBE_CLONE_SUFFIX ".kprobe"
/* Behind the original's name, the kernel that is run where not all waves are to
 * be traced. Without one (a large kernel) the clone is for both. */
#define KPROBE_SAMPLED_SUFFIX ".sampled" KPROBE_CLONE_SUFFIX

typedef struct KprobeSiteTableHeader {
  uint32_t Magic;
  uint32_t Version;       /* KPROBE_WIRE_MAJOR << 16 | KPROBE_WIRE_MINOR */
  uint64_t TotalBytes;    /* whole table, a multiple of 8 */
  uint64_t ContentHash;   /* FNV-1a 64 of the table with this field zero */
  uint32_t KernelCount;
  uint32_t KernelOffset;
  uint32_t FunctionCount;
  uint32_t FunctionOffset;
  uint32_t SiteCount;
  uint32_t SiteOffset;
  uint32_t FrameCount;    /* inlined-at frames */
  uint32_t FrameOffset;
  uint32_t EdgeCount;     /* successor lists: u32 site ids */
  uint32_t EdgeOffset;
  uint32_t StringBytes;
  uint32_t StringOffset;
  uint32_t Producer;      /* string: plug-in version and build id */
  uint32_t Target;        /* string: "gfx906" */
  uint32_t WaveSize;
  uint32_t EventClock;    /* KPROBE_EVENT_CLOCK_*: what "cycles" are here */
  uint32_t OmissionCount; /* sites without an event of their own */
  uint32_t OmissionOffset;
} KprobeSiteTableHeader;
KPROBE_STATIC_ASSERT(sizeof(KprobeSiteTableHeader) == 96, "");

#define KPROBE_EVENT_CLOCK_CYCLES 0u /* the shader clock */
#define KPROBE_EVENT_CLOCK_TICKS 1u  /* the real-time counter, where the target
                                        has no whole shader clock */

typedef struct KprobeKernelRecord {
  uint32_t Name;          /* string: symbol of the original, mangled */
  uint32_t CloneName;     /* string: symbol of the instrumented clone */
  uint32_t FirstFunction; /* functions of this kernel, the kernel itself first */
  uint32_t FunctionCount;
  uint32_t FirstSite;     /* sites of the kernel and of its cloned callees */
  uint32_t SiteCount;
  uint32_t CloneMode;     /* KPROBE_MODE_* RING, DROP or COUNTERS: what the clone's
                             probes do */
  uint32_t Flags;         /* KPROBE_KERNEL_* */
} KprobeKernelRecord;
KPROBE_STATIC_ASSERT(sizeof(KprobeKernelRecord) == 32, "");

/* KprobeKernelRecord.Flags, all of them for the host runtime alone.
 *   PLACES   each event has a place of its own in the ring, in the order in which a
 *            wave comes to them; places that stay zero were passed by. The device
 *            writes neither a cursor nor, in events without a clock, a low word:
 *            the host closes the gaps and fills them in
 *   BOUNDED  no wave comes to a site twice; so where there is PLACES
 */
#define KPROBE_KERNEL_PLACES 0x1u
#define KPROBE_KERNEL_BOUNDED 0x2u

typedef struct KprobeFunctionRecord {
  uint32_t Name;          /* string, mangled */
  uint32_t File;          /* string; "" without debug information */
  uint32_t Line;
  uint32_t Kernel;        /* index of the kernel whose clone it belongs to */
  uint32_t FirstSite;
  uint32_t SiteCount;
} KprobeFunctionRecord;
KPROBE_STATIC_ASSERT(sizeof(KprobeFunctionRecord) == 24, "");

/* KprobeSiteRecord.Flags. */
#define KPROBE_SITE_ENTRY 0x1u       /* entry block of its function */
#define KPROBE_SITE_LOOP_HEADER 0x2u
#define KPROBE_SITE_RETURNS 0x4u     /* ends in a return */
#define KPROBE_SITE_UNREACHABLE 0x8u /* ends in unreachable or a trap */
#define KPROBE_SITE_CALLS 0x10u      /* calls a function that is not inlined */
#define KPROBE_SITE_IMPLIED 0x20u    /* entry of a kernel, without an event: it
                                        begins with the wave, with BeginExec */
#define KPROBE_SITE_OMITTED 0x40u    /* without an event: another site tells */
#define KPROBE_SITE_UNTIMED 0x80u    /* events without a clock, because the block
                                        is too short: its time is part of that
                                        of a neighbour (FORMAT.md, section 4) */
#define KPROBE_SITE_LEFT_OUT 0x100u  /* without an event: the user's level or
                                        filter leaves the block out */
#define KPROBE_SITE_MARK 0x200u      /* begins with a mark (mark.h), whose name
                                        is the block's */

typedef struct KprobeSiteRecord {
  uint32_t Function;      /* index */
  uint32_t Block;         /* string: name of the IR block, or "" */
  uint32_t File;          /* string; "" without debug information */
  uint32_t Line;          /* 0: unknown */
  uint32_t Column;
  uint32_t FirstFrame;    /* inline stack, innermost call site first */
  uint32_t FrameCount;
  uint32_t Flags;         /* KPROBE_SITE_* */
  uint32_t LoopDepth;     /* 0: not in a loop */
  uint32_t LoopHeader;    /* site id of the innermost loop's header or NO_INDEX */
  uint32_t FirstEdge;     /* successors */
  uint32_t EdgeCount;
  uint16_t Valu;          /* IR instructions by class, saturating */
  uint16_t Salu;
  uint16_t Vmem;
  uint16_t Lds;
  uint16_t Flops32;       /* floating-point operations per lane */
  uint16_t Flops64;
  uint16_t BytesRead;     /* from memory, per lane */
  uint16_t BytesWritten;
} KprobeSiteRecord;
KPROBE_STATIC_ASSERT(sizeof(KprobeSiteRecord) == 64, "");

/* A site without an event of its own. It is executed exactly once after each
 * execution of its anchor, a site of the same function, by the same lanes:
 * behind all that the anchor reaches (by edges) without passing it. No site is
 * the anchor of two, following anchors ends at a site with an event, and at
 * most KPROBE_MAX_BETWEEN sites lie between a site and its anchor. */
#define KPROBE_MAX_BETWEEN 1000u
typedef struct KprobeOmissionRecord {
  uint32_t Site;
  uint32_t Anchor;
} KprobeOmissionRecord;
KPROBE_STATIC_ASSERT(sizeof(KprobeOmissionRecord) == 8, "");

typedef struct KprobeFrameRecord {
  uint32_t Function;      /* string: name of the caller */
  uint32_t File;          /* string: where it calls */
  uint32_t Line;
  uint32_t Column;
} KprobeFrameRecord;
KPROBE_STATIC_ASSERT(sizeof(KprobeFrameRecord) == 16, "");

/* --------------------------------------------------------------------- dump
 *
 * A file header, then chunks, append only. Every chunk is a 40-byte header and
 * a payload, padded with zeros to 8 bytes. Checksum = XXH3_64bits of the
 * payload with the seed XXH3_64bits(first 32 bytes of the chunk header). A
 * reader shows everything before the first chunk that is cut or damaged.
 * Chunk kinds it does not know are skipped.
 */
#define KPROBE_FILE_MAGIC 0x504d55444250524bull /* "KRPBDUMP" */
#define KPROBE_BYTE_ORDER 0x01020304u

typedef struct KprobeFileHeader {
  uint64_t Magic;
  uint32_t ByteOrder;     /* KPROBE_BYTE_ORDER as the writer stores it */
  uint16_t Major;
  uint16_t Minor;
  uint32_t HeaderBytes;   /* sizeof(KprobeFileHeader) */
  uint32_t Features;      /* bits a reader must know to go on; none yet */
  uint64_t Reserved;
} KprobeFileHeader;
KPROBE_STATIC_ASSERT(sizeof(KprobeFileHeader) == 32, "");

#define KPROBE_CHUNK_MAGIC 0x4843504bu /* "KPCH" */

typedef struct KprobeChunkHeader {
  uint32_t Magic;
  uint32_t Kind;          /* KPROBE_CHUNK_*, chunk_kinds.def */
  uint64_t PayloadBytes;  /* without padding */
  uint64_t Sequence;      /* 0, 1, 2, … in file order */
  uint64_t Reserved;
  uint64_t Checksum;
} KprobeChunkHeader;
KPROBE_STATIC_ASSERT(sizeof(KprobeChunkHeader) == 40, "");

#define KPROBE_CHUNK(Name, Value, Text) KPROBE_CHUNK_##Name = Value,
enum {
#include "kprobe/chunk_kinds.def"
};

/* Strings inside payloads: a fixed record first, then its strings one after
 * another without terminators; the record has their byte lengths in order. */

/* PROCESS payload: record, executable, command line (arguments joined by NUL),
 * runtime version. */
typedef struct KprobeProcessRecord {
  uint64_t Pid;
  uint64_t ParentPid;
  uint64_t StartRealtimeNs;  /* CLOCK_REALTIME and CLOCK_MONOTONIC taken */
  uint64_t StartMonotonicNs; /* together when tracing began */
  uint32_t ExecutableBytes;
  uint32_t CommandBytes;
  uint32_t VersionBytes;
  uint32_t Reserved;
} KprobeProcessRecord;
KPROBE_STATIC_ASSERT(sizeof(KprobeProcessRecord) == 48, "");

/* AGENT payload: record, target name ("gfx906"), marketing name. */
typedef struct KprobeAgentRecord {
  uint32_t Agent;         /* number used by other records */
  uint32_t Flags;         /* KPROBE_AGENT_* */
  uint64_t TickHz;        /* real-time counter; 0 is an error for a reader */
  uint64_t CycleHz;       /* nominal shader clock; 0: unknown */
  uint32_t ComputeUnits;
  uint32_t SimdsPerUnit;
  uint32_t ShaderEngines;
  uint32_t WaveSize;
  uint32_t TargetBytes;
  uint32_t NameBytes;
} KprobeAgentRecord;
KPROBE_STATIC_ASSERT(sizeof(KprobeAgentRecord) == 48, "");
#define KPROBE_AGENT_VIRTUAL 0x1u /* cycles and ticks are modelled */

/* SITE_TABLE payload: the bytes of one site table, verbatim; a table is
 * referred to by its ContentHash. */

/* RESOURCES payload, since 1.3: what a kernel and its clone need, as their code
 * object says; after its SITE_TABLE. */
typedef struct KprobeKernelNeeds {
  uint32_t Vgprs;         /* accumulation registers included */
  uint32_t Sgprs;
  uint32_t LdsBytes;      /* of a workgroup, without dynamic LDS */
  uint32_t ScratchBytes;  /* of a work-item */
  uint64_t CodeBytes;     /* without functions that it calls; 0: unknown */
} KprobeKernelNeeds;
KPROBE_STATIC_ASSERT(sizeof(KprobeKernelNeeds) == 24, "");

typedef struct KprobeResourcesRecord {
  uint64_t TableHash;
  uint32_t Kernel;        /* index in that table */
  uint32_t Reserved;
  KprobeKernelNeeds Original;
  KprobeKernelNeeds Clone;
} KprobeResourcesRecord;
KPROBE_STATIC_ASSERT(sizeof(KprobeResourcesRecord) == 64, "");

/* CLOCK payload: readings taken together. */
typedef struct KprobeClockRecord {
  uint32_t Agent;
  uint32_t Reserved;
  uint64_t MonotonicNs;   /* CLOCK_MONOTONIC */
  uint64_t SystemTicks;   /* HSA system time stamp (hsa_system_get_info) */
  uint64_t SystemHz;      /* its frequency */
  uint64_t DeviceTicks;   /* the agent's real-time counter; 0: not readable */
} KprobeClockRecord;
KPROBE_STATIC_ASSERT(sizeof(KprobeClockRecord) == 40, "");

/* DISPATCH payload: record, kernel name (mangled, "" when unknown). Every
 * dispatch that was seen gets one, traced or not. */
typedef struct KprobeDispatchRecord {
  uint64_t Dispatch;      /* 1, 2, 3, … in submission order per process */
  uint32_t Agent;
  uint32_t Queue;         /* number of the queue within the process */
  uint64_t QueueIndex;    /* packet index in that queue */
  uint64_t KernelObject;
  uint64_t TableHash;     /* 0: not instrumented */
  uint32_t Kernel;        /* index in that table, or NO_INDEX */
  uint32_t Status;        /* KPROBE_DISPATCH_*, dispatch_status.def */
  uint32_t Grid[3];       /* work-items */
  uint32_t Group[3];
  uint64_t SubmitNs;      /* CLOCK_MONOTONIC at submission */
  uint64_t BeginSystem;   /* kernel begin and end in HSA system ticks; */
  uint64_t EndSystem;     /* 0 when not known */
  uint64_t WaveCount;     /* waves of the grid */
  uint64_t SlotCount;     /* waves that had a slot */
  uint32_t RingBytes;
  uint8_t SampleShift;    /* as in the context */
  uint8_t GroupShift;
  uint8_t Mode;           /* KPROBE_MODE_*: what the waves were traced in */
  uint8_t Refusal;        /* KPROBE_REFUSAL_*: why not in the one asked for */
  uint32_t LdsBytes;      /* group segment, static + dynamic */
  uint32_t ScratchBytes;  /* private segment per work-item */
  uint32_t ThreadId;      /* host thread that submitted; 0: unknown */
  uint32_t NameBytes;
} KprobeDispatchRecord;
KPROBE_STATIC_ASSERT(sizeof(KprobeDispatchRecord) == 136, "");

#define KPROBE_DISPATCH_STATUS(Name, Value, Text)                              \
  KPROBE_DISPATCH_##Name = Value,
enum {
#include "kprobe/dispatch_status.def"
};

/* WAVES payload: record, then `WaveCount` entries of
 *   KprobeWaveHeader   as the device left it, the host's fields filled in
 *   KprobeWaveExtent   what the host copied
 *   events             EventBytes bytes
 * For an ENDED wave the events are the newest min(Cursor, RingBytes) bytes,
 * oldest first; in mode drop the first min(Cursor, RingBytes - 8) (Flags has
 * FIRST). For a BEGUN wave they are the whole ring, place 0 first, up to the last
 * place that is not zero (Flags has RAW): the reader finds where it begins. In mode
 * counters they are no events but one KprobeCounter for each site of the kernel
 * (Flags has COUNTERS), for BEGUN waves too. A dispatch may have several WAVES
 * chunks, all after its DISPATCH. */
typedef struct KprobeWavesRecord {
  uint64_t Dispatch;
  uint64_t WaveCount;
} KprobeWavesRecord;
KPROBE_STATIC_ASSERT(sizeof(KprobeWavesRecord) == 16, "");

typedef struct KprobeWaveExtent {
  uint64_t EventBytes;
  uint32_t Flags;         /* KPROBE_EXTENT_* */
  uint32_t Reserved;
} KprobeWaveExtent;
KPROBE_STATIC_ASSERT(sizeof(KprobeWaveExtent) == 16, "");
#define KPROBE_EXTENT_RAW 0x1u
#define KPROBE_EXTENT_FIRST 0x2u
#define KPROBE_EXTENT_COUNTERS 0x4u

/* SUMMARY payload: written when tracing ends in order; the last one stands. A
 * dump without one was cut short (killed process). */
typedef struct KprobeSummaryRecord {
  uint64_t DispatchesSeen;
  uint64_t DispatchesTraced;
  uint64_t DispatchesByStatus[16]; /* index: KPROBE_DISPATCH_* */
  uint64_t ChunksDropped;          /* not written because of an error */
  uint64_t DispatchesPending;      /* never completed before tracing ended */
} KprobeSummaryRecord;
KPROBE_STATIC_ASSERT(sizeof(KprobeSummaryRecord) == 160, "");

/* MESSAGE payload: UTF-8 text, one line, of the runtime to the user. */

/* ------------------------------------------------------------- host events
 *
 * What the program's threads did, since version 1.1 and only when asked for.
 * Each thread has a stream of its own, in order of time; HOST_EVENTS chunks
 * carry pieces of one stream each.
 *
 * API_TABLE payload: record, FunctionCount x KprobeApiFunction,
 * FieldCount x KprobeApiField, EnumeratorCount x KprobeApiEnumerator, then
 * StringBytes of NUL-terminated strings that other members are offsets into.
 * One a domain (HIP, HSA), before the first event that names it. */
typedef struct KprobeApiTable {
  uint32_t Domain;        /* number used by calls */
  uint32_t Name;          /* string: "hip", "hsa" */
  uint32_t FunctionCount;
  uint32_t FieldCount;
  uint32_t EnumeratorCount;
  uint32_t StringBytes;
} KprobeApiTable;
KPROBE_STATIC_ASSERT(sizeof(KprobeApiTable) == 24, "");

typedef struct KprobeApiFunction {
  uint32_t Name;          /* string */
  uint32_t FirstField;    /* InFields recorded at begin, then OutFields that */
  uint16_t InFields;      /* are recorded at the end of a call that succeeded */
  uint16_t OutFields;
  uint32_t ResultType;    /* KPROBE_FIELD_* */
  uint32_t ResultEnum;    /* number of an enumeration, or NO_INDEX */
} KprobeApiFunction;
KPROBE_STATIC_ASSERT(sizeof(KprobeApiFunction) == 20, "");

typedef struct KprobeApiField {
  uint32_t Name;          /* string: "gridDim.x"; of what a pointer points to
                             at the end: "*ptr" */
  uint32_t Type;          /* KPROBE_FIELD_* */
  uint32_t Enum;          /* number of an enumeration, or NO_INDEX */
} KprobeApiField;
KPROBE_STATIC_ASSERT(sizeof(KprobeApiField) == 12, "");

typedef struct KprobeApiEnumerator {
  int64_t Value;
  uint32_t Enum;          /* number of the enumeration it belongs to */
  uint32_t Name;          /* string */
} KprobeApiEnumerator;
KPROBE_STATIC_ASSERT(sizeof(KprobeApiEnumerator) == 16, "");

#define KPROBE_FIELD(Name, Value, Bytes) KPROBE_FIELD_##Name = Value,
enum {
#include "kprobe/field_types.def"
};
/* Length of a KPROBE_FIELD_STRING that was a null pointer. */
#define KPROBE_NULL_STRING 0xffffu

/* THREAD payload: record, name. May be repeated for a thread; the last one
 * stands. Before the thread's first HOST_EVENTS. */
typedef struct KprobeThreadRecord {
  uint32_t Thread;        /* number used by HOST_EVENTS: 1, 2, 3, ... */
  uint32_t ThreadId;      /* Linux's; may come again in another thread */
  uint32_t NameBytes;
  uint32_t Flags;         /* KPROBE_THREAD_* */
} KprobeThreadRecord;
#define KPROBE_THREAD_PROCESSOR 0x1u /* no thread: the stream is what Linux did
                                        on the processor of number ThreadId */
KPROBE_STATIC_ASSERT(sizeof(KprobeThreadRecord) == 16, "");

/* HOST_EVENTS payload: record, then events to the end of the payload. */
typedef struct KprobeHostEventsRecord {
  uint32_t Thread;
  uint32_t Reserved;
  uint64_t Lost;          /* events of this thread lost so far: no room */
} KprobeHostEventsRecord;
KPROBE_STATIC_ASSERT(sizeof(KprobeHostEventsRecord) == 16, "");

/* Every event begins with this. Bytes is the whole event's, a multiple of 8;
 * a reader skips kinds it does not know, kind 0 is padding. */
typedef struct KprobeHostEvent {
  uint16_t Bytes;
  uint16_t Kind;          /* KPROBE_HOST_*, host_event_kinds.def */
  uint32_t Function;      /* of calls: domain << 16 | index in its table; of
                             COPY: KPROBE_ENGINE_* */
  uint64_t Call;          /* of calls their number, of others the innermost
                             call that they happened in; 0: none */
  uint64_t Ns;            /* CLOCK_MONOTONIC */
} KprobeHostEvent;
KPROBE_STATIC_ASSERT(sizeof(KprobeHostEvent) == 24, "");
#define KPROBE_HOST_PADDING 0u
#define KPROBE_FUNCTION(Domain, Index) ((uint32_t)(Domain) << 16 | (Index))

/* The number of a call is the thread's number << 40 | a count from 1. */
#define KPROBE_CALL_THREAD_SHIFT 40

/* Followed by the values of the function's InFields. */
typedef struct KprobeCallBegin {
  KprobeHostEvent Head;
  uint64_t Parent;        /* call that this one is nested in; 0: none */
} KprobeCallBegin;
KPROBE_STATIC_ASSERT(sizeof(KprobeCallBegin) == 32, "");

/* Followed by the values of the OutFields if there are further bytes. */
typedef struct KprobeCallEnd {
  KprobeHostEvent Head;
  uint64_t Result;        /* sign-extended integer, or the bits of the value */
} KprobeCallEnd;
KPROBE_STATIC_ASSERT(sizeof(KprobeCallEnd) == 32, "");

typedef struct KprobeHostSubmit {
  KprobeHostEvent Head;
  uint64_t Dispatch;
} KprobeHostSubmit;
KPROBE_STATIC_ASSERT(sizeof(KprobeHostSubmit) == 32, "");

/* Agent is KPROBE_NO_INDEX for the host, or where it is not known. */
typedef struct KprobeHostMemory {
  KprobeHostEvent Head;
  uint64_t Address;
  uint64_t Bytes;         /* of FREE: 0 when the allocation was not seen */
  uint32_t Agent;
  uint32_t Reserved;
} KprobeHostMemory;
KPROBE_STATIC_ASSERT(sizeof(KprobeHostMemory) == 48, "");

/* Since 1.4: what makes a copy. */
#define KPROBE_ENGINE_UNKNOWN 0u /* ROCr chose, and does not tell */
#define KPROBE_ENGINE_SHADER 1u  /* a kernel of ROCr's */
#define KPROBE_ENGINE_SDMA(Number) (2u | (uint32_t)(Number) << 8)

typedef struct KprobeHostCopy {
  KprobeHostEvent Head;
  uint64_t Copy;          /* 1, 2, 3, ... */
  uint64_t Target;
  uint64_t Source;
  uint64_t Bytes;
  uint32_t TargetAgent;   /* KPROBE_NO_INDEX: the host */
  uint32_t SourceAgent;
} KprobeHostCopy;
KPROBE_STATIC_ASSERT(sizeof(KprobeHostCopy) == 64, "");

typedef struct KprobeHostCopyDone {
  KprobeHostEvent Head;
  uint64_t Copy;
  uint64_t BeginSystem;   /* HSA system ticks; 0 when not known */
  uint64_t EndSystem;
  uint32_t Agent;         /* whose clock it was; KPROBE_NO_INDEX: unknown */
  uint32_t Failed;        /* 1: the copy ended with an error */
} KprobeHostCopyDone;
KPROBE_STATIC_ASSERT(sizeof(KprobeHostCopyDone) == 56, "");

typedef struct KprobeHostQueue {
  KprobeHostEvent Head;
  uint32_t Queue;         /* number as in KprobeDispatchRecord */
  uint32_t Agent;
  uint32_t Size;          /* packets */
  uint32_t Type;          /* hsa_queue_type_t */
} KprobeHostQueue;
KPROBE_STATIC_ASSERT(sizeof(KprobeHostQueue) == 40, "");

/* Since 1.3: a packet that holds up those behind it in its queue. */
typedef struct KprobeHostBarrier {
  KprobeHostEvent Head;
  uint64_t QueueIndex;    /* packet index in that queue */
  uint32_t Queue;
  uint16_t Type;          /* hsa_packet_type_t: barrier-AND, barrier-OR */
  uint16_t Signals;       /* that it waits for */
} KprobeHostBarrier;
KPROBE_STATIC_ASSERT(sizeof(KprobeHostBarrier) == 40, "");

/* CODE_UNLOAD: all code objects of the executable; Agent and Bytes are 0. */
typedef struct KprobeHostCode {
  KprobeHostEvent Head;
  uint64_t Executable;
  uint64_t Bytes;         /* of the ELF file */
  uint32_t Agent;
  uint32_t Reserved;
} KprobeHostCode;
KPROBE_STATIC_ASSERT(sizeof(KprobeHostCode) == 48, "");

/* What Linux did to the program's threads, since 1.2 and only when asked for
 * (--sched): events of streams with KPROBE_THREAD_PROCESSOR. ThreadId and
 * ProcessId are of the thread that ran on that processor at the time. */

/* SWITCH_IN: the thread got the processor; SWITCH_OUT: it lost it. A thread
 * that is not on a processor waits, for one if it was preempted. */
typedef struct KprobeHostSwitch {
  KprobeHostEvent Head;
  uint32_t ThreadId;
  uint32_t ProcessId;
  uint32_t Preempted;     /* of SWITCH_OUT: 1: it could have gone on */
  uint32_t Reserved;
} KprobeHostSwitch;
KPROBE_STATIC_ASSERT(sizeof(KprobeHostSwitch) == 40, "");

/* ThreadId made Woken ready to run. */
typedef struct KprobeHostWakeup {
  KprobeHostEvent Head;
  uint32_t ThreadId;      /* 0: none ran, or not one of the program */
  uint32_t ProcessId;
  uint32_t Woken;         /* thread id */
  uint32_t Processor;     /* that it is to run on */
} KprobeHostWakeup;
KPROBE_STATIC_ASSERT(sizeof(KprobeHostWakeup) == 40, "");

/* The thread entered or left Linux. A thread may leave on another processor
 * than it entered on. */
typedef struct KprobeHostSyscall {
  KprobeHostEvent Head;
  uint32_t ThreadId;
  uint32_t ProcessId;
  int64_t Number;         /* of the system call, on the machine that wrote it */
  int64_t Result;         /* of SYSCALL_END */
} KprobeHostSyscall;
KPROBE_STATIC_ASSERT(sizeof(KprobeHostSyscall) == 48, "");

/* Linux served an interrupt while the thread had the processor. */
typedef struct KprobeHostInterrupt {
  KprobeHostEvent Head;
  uint32_t ThreadId;
  uint32_t ProcessId;
  uint32_t Number;        /* of the interrupt, or of the softirq */
  uint32_t Soft;          /* 1: a softirq */
} KprobeHostInterrupt;
KPROBE_STATIC_ASSERT(sizeof(KprobeHostInterrupt) == 40, "");

/* MACHINE payload, since 1.2: record, host name, system ("Linux 6.1.0 x86_64").
 * CLOCK_MONOTONIC of two dumps is the same clock when BootId is the same. */
typedef struct KprobeMachineRecord {
  uint8_t BootId[16];     /* zeros: not known */
  uint32_t HostNameBytes;
  uint32_t SystemBytes;
} KprobeMachineRecord;
KPROBE_STATIC_ASSERT(sizeof(KprobeMachineRecord) == 24, "");

/* COUNTER payload, since 1.2: record, name ("power"), unit ("W"). Before the
 * first sample that names it. */
typedef struct KprobeCounterRecord {
  uint32_t Counter;       /* number used by samples */
  uint32_t NameBytes;
  uint32_t UnitBytes;
  uint32_t Reserved;
} KprobeCounterRecord;
KPROBE_STATIC_ASSERT(sizeof(KprobeCounterRecord) == 16, "");

/* A reading of a device's counter, valid from now on. */
typedef struct KprobeHostSample {
  KprobeHostEvent Head;
  uint32_t Counter;
  uint32_t Agent;         /* KPROBE_NO_INDEX: of the whole machine */
  uint64_t Value;         /* bits of an IEEE double */
} KprobeHostSample;
KPROBE_STATIC_ASSERT(sizeof(KprobeHostSample) == 40, "");

/* ------------------------------------------------------------------- stacks
 *
 * Since 1.2 and only when asked for (--profile): where a thread was, in its own
 * stream. Addresses are the process's; MODULE chunks say what lies there. */

/* MODULE payload: record, path, build id (raw bytes). A file that the dynamic
 * loader has mapped. Later records take the place of earlier ones where their
 * addresses overlap. */
typedef struct KprobeModuleRecord {
  uint64_t Begin;         /* addresses [Begin, End) */
  uint64_t End;
  uint64_t Bias;          /* address in the process - address in the file */
  uint64_t Ns;            /* CLOCK_MONOTONIC when it was first seen */
  uint32_t PathBytes;
  uint32_t BuildIdBytes;
} KprobeModuleRecord;
KPROBE_STATIC_ASSERT(sizeof(KprobeModuleRecord) == 40, "");

/* STACK_SAMPLE: the thread ran here. STACK_WAIT: it waited here until now.
 * STACK_SUBMIT: it submitted a dispatch here, whose number is in Weight.
 * Followed by Native addresses (8 bytes each, innermost first: the first is the
 * interrupted instruction, the others return addresses), then Python x
 * KprobePythonFrame, innermost first. */
typedef struct KprobeHostStack {
  KprobeHostEvent Head;
  uint64_t Weight;        /* what it stands for, in units of Unit */
  uint16_t Native;
  uint16_t Python;
  uint16_t Flags;         /* KPROBE_STACK_* */
  uint16_t Unit;          /* KPROBE_UNIT_* */
} KprobeHostStack;
KPROBE_STATIC_ASSERT(sizeof(KprobeHostStack) == 40, "");
#define KPROBE_STACK_NATIVE_BROKEN 0x1u /* outer frames are missing: they could */
#define KPROBE_STACK_PYTHON_BROKEN 0x2u /* not be trusted */
#define KPROBE_STACK_NATIVE_CUT 0x4u    /* outer frames are missing: too many */
#define KPROBE_STACK_PYTHON_CUT 0x8u
#define KPROBE_STACK_PREEMPTED 0x10u    /* of a wait: for a processor */
#define KPROBE_UNIT_NS 0u               /* of processor time, or of waiting */
#define KPROBE_UNIT_CYCLES 1u
#define KPROBE_UNIT_INSTRUCTIONS 2u

typedef struct KprobePythonFrame {
  uint64_t Code;          /* number of a PYTHON_CODE of the same stream */
  int32_t Offset;         /* bytes from the begin of its code; < 0: not begun */
  uint32_t Entry;         /* 1: the interpreter was called from C for it */
} KprobePythonFrame;
KPROBE_STATIC_ASSERT(sizeof(KprobePythonFrame) == 16, "");

/* PYTHON_CODE: followed by qualified name, file, line table (co_linetable; cut
 * off where it is too long for an event). */
typedef struct KprobePythonCode {
  KprobeHostEvent Head;
  uint64_t Code;          /* 1, 2, 3, … in each stream */
  uint32_t FirstLine;
  uint32_t Version;       /* of CPython, as in PY_VERSION_HEX */
  uint16_t NameBytes;
  uint16_t FileBytes;
  uint32_t LineTableBytes;
} KprobePythonCode;
KPROBE_STATIC_ASSERT(sizeof(KprobePythonCode) == 48, "");

#define KPROBE_HOST_EVENT(Name, Value, Record, Text) KPROBE_HOST_##Name = Value,
enum {
#include "kprobe/host_event_kinds.def"
};

#endif
