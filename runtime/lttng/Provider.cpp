// libkprobe-lttng.so: host events as events of LTTng-UST.
//
// The only part of kprobe that needs liblttng-ust; the runtime opens it when
// KPROBE_LTTNG is set and hands it each event once it is whole. What becomes of
// it is up to the user's session (lttng enable-event -u 'kprobe:*').
#define LTTNG_UST_TRACEPOINT_CREATE_PROBES
#define LTTNG_UST_TRACEPOINT_DEFINE
#include "lttng/Tracepoints.h"

#include "LttngSink.h"

extern "C" __attribute__((visibility("default"))) void
kprobe_lttng_event(const KprobeHostEvent *Head, const char *Api,
                   const char *Function) {
  auto Behind = [&](size_t Record) {
    return reinterpret_cast<const uint8_t *>(Head) + Record;
  };
#define KPROBE_EMIT(Name, Record)                                              \
  lttng_ust_tracepoint(kprobe, Name, reinterpret_cast<const Record *>(Head));  \
  break
#define KPROBE_EMIT_CALL(Name, Record)                                         \
  lttng_ust_tracepoint(kprobe, Name, reinterpret_cast<const Record *>(Head),   \
                       Api, Function, Behind(sizeof(Record)),                  \
                       Head->Bytes - sizeof(Record));                          \
  break
  switch (Head->Kind) {
  case KPROBE_HOST_CALL_BEGIN:
    KPROBE_EMIT_CALL(call_begin, KprobeCallBegin);
  case KPROBE_HOST_CALL_END:
    KPROBE_EMIT_CALL(call_end, KprobeCallEnd);
  case KPROBE_HOST_SUBMIT:
    KPROBE_EMIT(dispatch, KprobeHostSubmit);
  case KPROBE_HOST_ALLOCATE:
    KPROBE_EMIT(allocate, KprobeHostMemory);
  case KPROBE_HOST_FREE:
    KPROBE_EMIT(free, KprobeHostMemory);
  case KPROBE_HOST_COPY:
    KPROBE_EMIT(copy, KprobeHostCopy);
  case KPROBE_HOST_COPY_DONE:
    KPROBE_EMIT(copy_done, KprobeHostCopyDone);
  case KPROBE_HOST_QUEUE_CREATE:
    KPROBE_EMIT(queue_create, KprobeHostQueue);
  case KPROBE_HOST_QUEUE_DESTROY:
    KPROBE_EMIT(queue_destroy, KprobeHostQueue);
  case KPROBE_HOST_BARRIER:
    KPROBE_EMIT(barrier, KprobeHostBarrier);
  case KPROBE_HOST_CODE_LOAD:
    KPROBE_EMIT(code_load, KprobeHostCode);
  case KPROBE_HOST_CODE_UNLOAD:
    KPROBE_EMIT(code_unload, KprobeHostCode);
  }
}
