// Trace IR of what threads and Linux did: event classes, and their payloads.
#include "CtfFields.h"
#include "Names.h"

namespace kprobe {

/// What threads did. The function's name rather than a class for each function:
/// a reader that pairs begins with ends need not know the functions.
void CtfTypes::createHost() {
  auto n = [&](unsigned Bits) { return number(Class, Bits); };
  auto hex = [&] { return number(Class, 64, true); };
  auto text = [&] { return bt_field_class_string_create(Class); };
  CallBegin =
      event("kprobe:call_begin", structure(Class, {{"thread", n(32)},
                                                   {"call", n(64)},
                                                   {"parent", n(64)},
                                                   {"api", text()},
                                                   {"function", text()},
                                                   {"arguments", text()}}));
  CallEnd = event("kprobe:call_end", structure(Class, {{"thread", n(32)},
                                                       {"call", n(64)},
                                                       {"api", text()},
                                                       {"function", text()},
                                                       {"result", text()},
                                                       {"returned", text()}}));
  auto memory = [&](const char *Name) {
    return event(Name, structure(Class, {{"thread", n(32)},
                                         {"call", n(64)},
                                         {"address", hex()},
                                         {"bytes", n(64)},
                                         {"agent", n(32)}}));
  };
  Host[KPROBE_HOST_ALLOCATE] = memory("kprobe:allocate");
  Host[KPROBE_HOST_FREE] = memory("kprobe:free");
  Host[KPROBE_HOST_COPY] =
      event("kprobe:copy", structure(Class, {{"thread", n(32)},
                                             {"call", n(64)},
                                             {"copy", n(64)},
                                             {"target", hex()},
                                             {"source", hex()},
                                             {"bytes", n(64)},
                                             {"target_agent", n(32)},
                                             {"source_agent", n(32)},
                                             {"engine", text()}}));
  Host[KPROBE_HOST_COPY_DONE] =
      event("kprobe:copy_done", structure(Class, {{"thread", n(32)},
                                                  {"call", n(64)},
                                                  {"copy", n(64)},
                                                  {"begin_system", n(64)},
                                                  {"end_system", n(64)},
                                                  {"agent", n(32)},
                                                  {"failed", n(8)}}));
  auto queue = [&](const char *Name) {
    return event(Name, structure(Class, {{"thread", n(32)},
                                         {"call", n(64)},
                                         {"queue", n(32)},
                                         {"agent", n(32)},
                                         {"size", n(32)},
                                         {"type", n(32)}}));
  };
  Host[KPROBE_HOST_QUEUE_CREATE] = queue("kprobe:queue_create");
  Host[KPROBE_HOST_QUEUE_DESTROY] = queue("kprobe:queue_destroy");
  Host[KPROBE_HOST_BARRIER] =
      event("kprobe:barrier", structure(Class, {{"thread", n(32)},
                                                {"call", n(64)},
                                                {"queue_index", n(64)},
                                                {"queue", n(32)},
                                                {"type", text()},
                                                {"signals", n(32)}}));
  auto code = [&](const char *Name) {
    return event(Name, structure(Class, {{"thread", n(32)},
                                         {"call", n(64)},
                                         {"executable", hex()},
                                         {"bytes", n(64)},
                                         {"agent", n(32)}}));
  };
  Host[KPROBE_HOST_CODE_LOAD] = code("kprobe:code_load");
  Host[KPROBE_HOST_CODE_UNLOAD] = code("kprobe:code_unload");
  Host[KPROBE_HOST_SAMPLE] = event(
      "kprobe:counter",
      structure(Class, {{"thread", n(32)},
                        {"call", n(64)},
                        {"agent", n(32)},
                        {"counter", text()},
                        {"unit", text()},
                        {"value",
                         bt_field_class_real_double_precision_create(Class)}}));
}

/// What Linux did. `thread` is the one that had the processor.
void CtfTypes::createLinux() {
  auto n = [&](unsigned Bits) { return number(Class, Bits); };
  auto add =
      [&](uint32_t Kind, const char *Name,
          std::initializer_list<std::pair<const char *, bt_field_class *>>
              More) {
        std::vector<std::pair<const char *, bt_field_class *>> Members = {
            {"processor", n(32)}, {"thread", n(32)}, {"process", n(32)}};
        Members.insert(Members.end(), More);
        Host[Kind] = event(Name, structure(Class, Members));
      };
  add(KPROBE_HOST_SWITCH_IN, "kprobe:thread_in", {});
  add(KPROBE_HOST_SWITCH_OUT, "kprobe:thread_out", {{"preempted", n(8)}});
  add(KPROBE_HOST_WAKEUP, "kprobe:wakeup",
      {{"woken", n(32)}, {"target_processor", n(32)}});
  add(KPROBE_HOST_SYSCALL_BEGIN, "kprobe:syscall_begin",
      {{"name", bt_field_class_string_create(Class)}});
  add(KPROBE_HOST_SYSCALL_END, "kprobe:syscall_end",
      {{"name", bt_field_class_string_create(Class)},
       {"result", bt_field_class_integer_signed_create(Class)}});
  add(KPROBE_HOST_INTERRUPT_BEGIN, "kprobe:interrupt_begin",
      {{"number", n(32)}, {"soft", n(8)}});
  add(KPROBE_HOST_INTERRUPT_END, "kprobe:interrupt_end",
      {{"number", n(32)}, {"soft", n(8)}});
}

void fillHost(const Trace &T, const HostItem &Item, Payload &Out) {
  const HostEvent &E = Item.Event;
  // Head of every event: the thread and its call, or the processor.
  Out << Item.Thread->Record.ThreadId;
  if (!Item.Thread->isProcessor())
    Out << E.Head.Call;
  switch (E.Head.Kind) {
  case KPROBE_HOST_CALL_BEGIN: {
    const ApiTable &Table = *T.tableOf(E.Head);
    const ApiFunction &F = *T.functionOf(E.Head);
    Out << E.as<KprobeCallBegin>().Parent << Table.name() << F.Name
        << valuesText(Table, F.In, E.values());
    break;
  }
  case KPROBE_HOST_CALL_END: {
    const ApiTable &Table = *T.tableOf(E.Head);
    const ApiFunction &F = *T.functionOf(E.Head);
    Out << Table.name() << F.Name
        << (Item.Left ? std::string()
                      : resultText(Table, F, E.as<KprobeCallEnd>().Result))
        << (Item.Left ? std::string() : valuesText(Table, F.Out, E.values()));
    break;
  }
  case KPROBE_HOST_ALLOCATE:
  case KPROBE_HOST_FREE: {
    auto R = E.as<KprobeHostMemory>();
    Out << R.Address << R.Bytes << R.Agent;
    break;
  }
  case KPROBE_HOST_COPY: {
    auto R = E.as<KprobeHostCopy>();
    Out << R.Copy << R.Target << R.Source << R.Bytes << R.TargetAgent
        << R.SourceAgent << engineText(R.Head.Function);
    break;
  }
  case KPROBE_HOST_COPY_DONE: {
    auto R = E.as<KprobeHostCopyDone>();
    Out << R.Copy << R.BeginSystem << R.EndSystem << R.Agent
        << uint64_t(R.Failed != 0);
    break;
  }
  case KPROBE_HOST_QUEUE_CREATE:
  case KPROBE_HOST_QUEUE_DESTROY: {
    auto R = E.as<KprobeHostQueue>();
    Out << R.Queue << R.Agent << R.Size << R.Type;
    break;
  }
  case KPROBE_HOST_BARRIER: {
    auto R = E.as<KprobeHostBarrier>();
    Out << R.QueueIndex << R.Queue << barrierText(R.Type) << uint64_t(R.Signals);
    break;
  }
  case KPROBE_HOST_SWITCH_IN:
  case KPROBE_HOST_SWITCH_OUT: {
    auto R = E.as<KprobeHostSwitch>();
    Out << R.ThreadId << R.ProcessId;
    if (E.Head.Kind == KPROBE_HOST_SWITCH_OUT)
      Out << uint64_t(R.Preempted != 0);
    break;
  }
  case KPROBE_HOST_WAKEUP: {
    auto R = E.as<KprobeHostWakeup>();
    Out << R.ThreadId << R.ProcessId << R.Woken << R.Processor;
    break;
  }
  case KPROBE_HOST_SYSCALL_BEGIN:
  case KPROBE_HOST_SYSCALL_END: {
    auto R = E.as<KprobeHostSyscall>();
    Out << R.ThreadId << R.ProcessId << syscallName(T, R.Number);
    if (E.Head.Kind == KPROBE_HOST_SYSCALL_END)
      Out << R.Result;
    break;
  }
  case KPROBE_HOST_INTERRUPT_BEGIN:
  case KPROBE_HOST_INTERRUPT_END: {
    auto R = E.as<KprobeHostInterrupt>();
    Out << R.ThreadId << R.ProcessId << R.Number << uint64_t(R.Soft != 0);
    break;
  }
  case KPROBE_HOST_SAMPLE: {
    auto R = E.as<KprobeHostSample>();
    const Counter &C = T.Counters.at(R.Counter);
    Out << R.Agent << C.Name << C.Unit << sampleValue(R);
    break;
  }
  default: {
    auto R = E.as<KprobeHostCode>();
    Out << R.Executable << R.Bytes << R.Agent;
  }
  }
}

} // namespace kprobe
