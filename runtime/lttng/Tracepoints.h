// Tracepoints of LTTng-UST with what HOST_EVENTS records say (kprobe/wire.h).
//
// lttng-ust reads this file several times over, hence the guard's shape. Names
// and members are those of the CTF trace that kprobe-decode writes; values of
// arguments and results are bytes as the dump has them.
#undef LTTNG_UST_TRACEPOINT_PROVIDER
#define LTTNG_UST_TRACEPOINT_PROVIDER kprobe
#undef LTTNG_UST_TRACEPOINT_INCLUDE
#define LTTNG_UST_TRACEPOINT_INCLUDE "lttng/Tracepoints.h"

#if !defined(KPROBE_RUNTIME_LTTNG_TRACEPOINTS_H) ||                            \
    defined(LTTNG_UST_TRACEPOINT_HEADER_MULTI_READ)
#define KPROBE_RUNTIME_LTTNG_TRACEPOINTS_H

#include "kprobe/wire.h"

#include <lttng/tracepoint.h>

// Of every event: the call, and the time stamp that the dump has. LTTng's own
// is taken a little later.
#define KPROBE_TP_HEAD(Event)                                                  \
  lttng_ust_field_integer(uint64_t, call, (Event)->Head.Call)                  \
      lttng_ust_field_integer(uint64_t, ns, (Event)->Head.Ns)

LTTNG_UST_TRACEPOINT_EVENT(
    kprobe, call_begin,
    LTTNG_UST_TP_ARGS(const KprobeCallBegin *, event, const char *, api,
                      const char *, function, const uint8_t *, values, size_t,
                      bytes),
    LTTNG_UST_TP_FIELDS(
        KPROBE_TP_HEAD(event)
            lttng_ust_field_integer(uint64_t, parent, event->Parent)
                lttng_ust_field_string(api, api)
                    lttng_ust_field_string(function, function)
                        lttng_ust_field_sequence_hex(uint8_t, arguments, values,
                                                     size_t, bytes)))

LTTNG_UST_TRACEPOINT_EVENT(
    kprobe, call_end,
    LTTNG_UST_TP_ARGS(const KprobeCallEnd *, event, const char *, api,
                      const char *, function, const uint8_t *, values, size_t,
                      bytes),
    LTTNG_UST_TP_FIELDS(
        KPROBE_TP_HEAD(event) lttng_ust_field_string(api, api)
            lttng_ust_field_string(function, function)
                lttng_ust_field_integer(int64_t, result, (int64_t)event->Result)
                    lttng_ust_field_sequence_hex(uint8_t, returned, values,
                                                 size_t, bytes)))

LTTNG_UST_TRACEPOINT_EVENT(
    kprobe, dispatch, LTTNG_UST_TP_ARGS(const KprobeHostSubmit *, event),
    LTTNG_UST_TP_FIELDS(KPROBE_TP_HEAD(event) lttng_ust_field_integer(
        uint64_t, dispatch, event->Dispatch)))

LTTNG_UST_TRACEPOINT_EVENT_CLASS(
    kprobe, memory, LTTNG_UST_TP_ARGS(const KprobeHostMemory *, event),
    LTTNG_UST_TP_FIELDS(
        KPROBE_TP_HEAD(event)
            lttng_ust_field_integer_hex(uint64_t, address, event->Address)
                lttng_ust_field_integer(uint64_t, bytes, event->Bytes)
                    lttng_ust_field_integer(uint32_t, agent, event->Agent)))
LTTNG_UST_TRACEPOINT_EVENT_INSTANCE(
    kprobe, memory, kprobe, allocate,
    LTTNG_UST_TP_ARGS(const KprobeHostMemory *, event))
LTTNG_UST_TRACEPOINT_EVENT_INSTANCE(
    kprobe, memory, kprobe, free,
    LTTNG_UST_TP_ARGS(const KprobeHostMemory *, event))

LTTNG_UST_TRACEPOINT_EVENT(
    kprobe, copy, LTTNG_UST_TP_ARGS(const KprobeHostCopy *, event),
    LTTNG_UST_TP_FIELDS(
        KPROBE_TP_HEAD(event) lttng_ust_field_integer(uint64_t, copy,
                                                      event->Copy)
            lttng_ust_field_integer_hex(uint64_t, target, event->Target)
                lttng_ust_field_integer_hex(uint64_t, source, event->Source)
                    lttng_ust_field_integer(uint64_t, bytes, event->Bytes)
                        lttng_ust_field_integer(uint32_t, target_agent,
                                                event->TargetAgent)
                            lttng_ust_field_integer(uint32_t, source_agent,
                                                    event->SourceAgent)
                                lttng_ust_field_integer_hex(
                                    uint32_t, engine, event->Head.Function)))

LTTNG_UST_TRACEPOINT_EVENT(
    kprobe, copy_done, LTTNG_UST_TP_ARGS(const KprobeHostCopyDone *, event),
    LTTNG_UST_TP_FIELDS(
        KPROBE_TP_HEAD(event) lttng_ust_field_integer(uint64_t, copy,
                                                      event->Copy)
            lttng_ust_field_integer(uint64_t, begin_system, event->BeginSystem)
                lttng_ust_field_integer(uint64_t, end_system, event->EndSystem)
                    lttng_ust_field_integer(uint32_t, agent, event->Agent)
                        lttng_ust_field_integer(uint32_t, failed,
                                                event->Failed)))

LTTNG_UST_TRACEPOINT_EVENT_CLASS(
    kprobe, queue, LTTNG_UST_TP_ARGS(const KprobeHostQueue *, event),
    LTTNG_UST_TP_FIELDS(
        KPROBE_TP_HEAD(event) lttng_ust_field_integer(uint32_t, queue,
                                                      event->Queue)
            lttng_ust_field_integer(uint32_t, agent, event->Agent)
                lttng_ust_field_integer(uint32_t, size, event->Size)
                    lttng_ust_field_integer(uint32_t, type, event->Type)))
LTTNG_UST_TRACEPOINT_EVENT_INSTANCE(
    kprobe, queue, kprobe, queue_create,
    LTTNG_UST_TP_ARGS(const KprobeHostQueue *, event))
LTTNG_UST_TRACEPOINT_EVENT_INSTANCE(
    kprobe, queue, kprobe, queue_destroy,
    LTTNG_UST_TP_ARGS(const KprobeHostQueue *, event))

LTTNG_UST_TRACEPOINT_EVENT(
    kprobe, barrier, LTTNG_UST_TP_ARGS(const KprobeHostBarrier *, event),
    LTTNG_UST_TP_FIELDS(
        KPROBE_TP_HEAD(event) lttng_ust_field_integer(uint64_t, queue_index,
                                                      event->QueueIndex)
            lttng_ust_field_integer(uint32_t, queue, event->Queue)
                lttng_ust_field_integer(uint16_t, type, event->Type)
                    lttng_ust_field_integer(uint16_t, signals,
                                            event->Signals)))

LTTNG_UST_TRACEPOINT_EVENT_CLASS(
    kprobe, code, LTTNG_UST_TP_ARGS(const KprobeHostCode *, event),
    LTTNG_UST_TP_FIELDS(
        KPROBE_TP_HEAD(event)
            lttng_ust_field_integer_hex(uint64_t, executable, event->Executable)
                lttng_ust_field_integer(uint64_t, bytes, event->Bytes)
                    lttng_ust_field_integer(uint32_t, agent, event->Agent)))
LTTNG_UST_TRACEPOINT_EVENT_INSTANCE(
    kprobe, code, kprobe, code_load,
    LTTNG_UST_TP_ARGS(const KprobeHostCode *, event))
LTTNG_UST_TRACEPOINT_EVENT_INSTANCE(
    kprobe, code, kprobe, code_unload,
    LTTNG_UST_TP_ARGS(const KprobeHostCode *, event))

#endif

#include <lttng/tracepoint-event.h>
