// Through a libbabeltrace2 graph:
//
//   source.ctf.fs  -->  filter.utils.muxer  -->  a sink of ours
//
// Names of events and fields are lttng-modules' (include/instrumentation/events
// there); "tid" and "pid" of a context tell what a record alone does not.
#include "KernelTrace.h"

#include "Names.h"

#include <babeltrace2/babeltrace.h>

#include <cstring>
#include <filesystem>
#include <set>

namespace kprobe {
namespace {

namespace fs = std::filesystem;

/// A number by name in a structure, however it is wrapped.
bool numberIn(const bt_field *Structure, const char *Name, int64_t &Out);

bool numberOf(const bt_field *Field, int64_t &Out) {
  bt_field_class_type Type = bt_field_get_class_type(Field);
  if (bt_field_class_type_is(Type, BT_FIELD_CLASS_TYPE_UNSIGNED_INTEGER)) {
    Out = int64_t(bt_field_integer_unsigned_get_value(Field));
    return true;
  }
  if (bt_field_class_type_is(Type, BT_FIELD_CLASS_TYPE_SIGNED_INTEGER)) {
    Out = bt_field_integer_signed_get_value(Field);
    return true;
  }
  // A state of a thread is one of several forms, by LTTng's version.
  if (bt_field_class_type_is(Type, BT_FIELD_CLASS_TYPE_VARIANT))
    return numberOf(bt_field_variant_borrow_selected_option_field_const(Field),
                    Out);
  if (Type == BT_FIELD_CLASS_TYPE_STRUCTURE)
    return numberIn(Field, "state", Out);
  return false;
}

bool numberIn(const bt_field *Structure, const char *Name, int64_t &Out) {
  const bt_field *Member =
      Structure ? bt_field_structure_borrow_member_field_by_name_const(Structure,
                                                                       Name)
                : nullptr;
  return Member && numberOf(Member, Out);
}

bool endsWith(std::string_view Text, std::string_view End) {
  return Text.size() > End.size() &&
         Text.substr(Text.size() - End.size()) == End;
}

bool isInterrupt(std::string_view Name) {
  for (std::string_view Part : {"irq_handler_", "irq_softirq_",
                                "x86_irq_vectors_", "timer_hrtimer_expire_"})
    if (Name.substr(0, Part.size()) == Part)
      return true;
  return false;
}

class Reader {
public:
  Reader(const KernelTraceWish &Wish, std::vector<KernelRecord> &Out)
      : Wish(Wish), Processes(Wish.Processes), Out(Out) {
    for (const auto &[Thread, Process] : Processes)
      OwnProcesses.insert(Process);
  }

  void event(const bt_message *Message);
  std::string Fault;
  bool Switches = false;

private:
  bool time(const bt_message *Message, const bt_event *Event, int64_t &Ns);
  void belongs(int64_t Thread, int64_t Process) {
    if (OwnProcesses.count(uint32_t(Process)))
      Processes.emplace(uint32_t(Thread), uint32_t(Process));
  }
  void switched(KernelRecord R, const bt_field *Payload);

  const KernelTraceWish &Wish;
  std::map<uint32_t, uint32_t> Processes; ///< by thread, of the dumps
  std::set<uint32_t> OwnProcesses;
  std::map<uint32_t, uint32_t> Running; ///< thread by processor
  std::vector<KernelRecord> &Out;
};

/// LTTng's clock is CLOCK_MONOTONIC unless a plug-in replaces it.
bool Reader::time(const bt_message *Message, const bt_event *Event,
                  int64_t &Ns) {
  const bt_clock_class *Clock =
      bt_stream_class_borrow_default_clock_class_const(
          bt_stream_borrow_class_const(bt_event_borrow_stream_const(Event)));
  if (!Clock)
    return false;
  const bt_clock_snapshot *Now =
      bt_message_event_borrow_default_clock_snapshot_const(Message);
  const char *Name = bt_clock_class_get_name(Clock);
  if (!Name || std::strcmp(Name, "monotonic") != 0 ||
      bt_clock_class_get_frequency(Clock) != 1000000000) {
    if (bt_clock_snapshot_get_ns_from_origin(Now, &Ns) !=
        BT_CLOCK_SNAPSHOT_GET_NS_FROM_ORIGIN_STATUS_OK)
      return false;
    Ns -= Wish.RealtimeOffsetNs;
    return true;
  }
  static constexpr uint8_t Unknown[16] = {};
  bt_uuid Boot = bt_clock_class_get_uuid(Clock);
  if (Boot && Wish.Where &&
      std::memcmp(Wish.Where->Record.BootId, Unknown, sizeof(Unknown)) != 0 &&
      std::memcmp(Wish.Where->Record.BootId, Boot, sizeof(Unknown)) != 0) {
    Fault = "is of another machine or boot than the dump";
    return false;
  }
  Ns = int64_t(bt_clock_snapshot_get_value(Now));
  return true;
}

void Reader::switched(KernelRecord R, const bt_field *Payload) {
  int64_t Previous = 0, Next = 0, State = 0;
  if (!numberIn(Payload, "prev_tid", Previous) ||
      !numberIn(Payload, "next_tid", Next))
    return;
  Switches = true;
  numberIn(Payload, "prev_state", State);
  auto add = [&](KernelRecord::Kind What, int64_t Thread) {
    R.What = What;
    R.Thread = uint32_t(Thread);
    auto Own = Processes.find(R.Thread);
    R.Own = Own != Processes.end();
    R.Process = R.Own ? Own->second : 0;
    Out.push_back(R);
  };
  // Runnable: 0, or a bit above all reasons to wait, by LTTng's version.
  R.Preempted = (State & 0xff) == 0;
  add(KernelRecord::Kind::SwitchOut, Previous);
  R.Preempted = false;
  add(KernelRecord::Kind::SwitchIn, Next);
  Running[R.Processor] = uint32_t(Next);
}

void Reader::event(const bt_message *Message) {
  const bt_event *Event = bt_message_event_borrow_event_const(Message);
  const char *Text = bt_event_class_get_name(bt_event_borrow_class_const(Event));
  std::string_view Name = Text ? Text : "";
  const bt_field *Payload = bt_event_borrow_payload_field_const(Event);
  KernelRecord R;
  int64_t Processor = 0;
  if (!time(Message, Event, R.Ns))
    return;
  const bt_stream_class *Class =
      bt_stream_borrow_class_const(bt_event_borrow_stream_const(Event));
  if (bt_stream_class_supports_packets(Class))
    numberIn(bt_packet_borrow_context_field_const(
                 bt_event_borrow_packet_const(Event)),
             "cpu_id", Processor);
  R.Processor = uint32_t(Processor);
  // Who ran: a context says it, or the last switch.
  int64_t Thread = -1, Process = -1;
  for (const bt_field *Context :
       {bt_event_borrow_common_context_field_const(Event),
        bt_event_borrow_specific_context_field_const(Event)}) {
    numberIn(Context, "tid", Thread);
    numberIn(Context, "pid", Process);
  }
  if (Thread >= 0) {
    Running[R.Processor] = uint32_t(Thread);
    if (Process >= 0)
      belongs(Thread, Process);
  }
  R.Thread = Running[R.Processor];

  int64_t Woken = 0;
  constexpr std::string_view Entry = "syscall_entry_", Exit = "syscall_exit_";
  if (Name == "sched_switch")
    return switched(R, Payload);
  if (Name == "sched_process_fork" || Name == "lttng_statedump_process_state") {
    bool Fork = Name == "sched_process_fork";
    if (numberIn(Payload, Fork ? "child_tid" : "tid", Thread) &&
        numberIn(Payload, Fork ? "child_pid" : "pid", Process))
      belongs(Thread, Process);
    return;
  }
  if (Name == "sched_waking" || Name == "sched_wakeup" ||
      Name == "sched_wakeup_new") {
    if (!numberIn(Payload, "tid", Woken))
      return;
    R.What = KernelRecord::Kind::Wakeup;
    R.Woken = uint32_t(Woken);
  } else if (Name.substr(0, Entry.size()) == Entry) {
    R.What = KernelRecord::Kind::SyscallBegin;
    R.Number = syscallNumber(Name.substr(Entry.size()));
  } else if (Name.substr(0, Exit.size()) == Exit) {
    R.What = KernelRecord::Kind::SyscallEnd;
  } else if (isInterrupt(Name) && endsWith(Name, "_entry")) {
    R.What = KernelRecord::Kind::InterruptBegin;
  } else if (isInterrupt(Name) && endsWith(Name, "_exit")) {
    R.What = KernelRecord::Kind::InterruptEnd;
  } else {
    return;
  }
  Out.push_back(R);
}

bt_graph_simple_sink_component_consume_func_status
consume(bt_message_iterator *Iterator, void *Data) {
  auto &R = *static_cast<Reader *>(Data);
  bt_message_array_const Messages;
  uint64_t Count = 0;
  bt_message_iterator_next_status Status =
      bt_message_iterator_next(Iterator, &Messages, &Count);
  if (Status == BT_MESSAGE_ITERATOR_NEXT_STATUS_END ||
      Status == BT_MESSAGE_ITERATOR_NEXT_STATUS_AGAIN) {
    return Status == BT_MESSAGE_ITERATOR_NEXT_STATUS_END
               ? BT_GRAPH_SIMPLE_SINK_COMPONENT_CONSUME_FUNC_STATUS_END
               : BT_GRAPH_SIMPLE_SINK_COMPONENT_CONSUME_FUNC_STATUS_AGAIN;
  }
  if (Status != BT_MESSAGE_ITERATOR_NEXT_STATUS_OK)
    return BT_GRAPH_SIMPLE_SINK_COMPONENT_CONSUME_FUNC_STATUS_ERROR;
  for (uint64_t I = 0; I < Count; ++I) {
    if (bt_message_get_type(Messages[I]) == BT_MESSAGE_TYPE_EVENT)
      R.event(Messages[I]);
    bt_message_put_ref(Messages[I]);
  }
  return R.Fault.empty()
             ? BT_GRAPH_SIMPLE_SINK_COMPONENT_CONSUME_FUNC_STATUS_OK
             : BT_GRAPH_SIMPLE_SINK_COMPONENT_CONSUME_FUNC_STATUS_ERROR;
}

/// Directories that are traces: a session has one for each domain.
std::vector<std::string> tracesBelow(const std::string &Path) {
  std::vector<std::string> Found;
  std::error_code Ignored;
  if (fs::exists(fs::path(Path) / "metadata", Ignored))
    return {Path};
  for (auto Place = fs::recursive_directory_iterator(Path, Ignored);
       !Ignored && Place != fs::end(Place); Place.increment(Ignored))
    if (Place->path().filename() == "metadata")
      Found.push_back(Place->path().parent_path().string());
  return Found;
}

struct Parts {
  const bt_plugin *Ctf = nullptr, *Utils = nullptr;
  bt_graph *Graph = nullptr;
  ~Parts() {
    bt_graph_put_ref(Graph);
    bt_plugin_put_ref(Utils);
    bt_plugin_put_ref(Ctf);
  }
};

/// False on any fault; libbabeltrace2 has recorded it.
bool run(const std::vector<std::string> &Traces, Reader &R, Parts &P) {
  auto find = [](const char *Name, const bt_plugin **Out) {
    return bt_plugin_find(Name, BT_TRUE, BT_TRUE, BT_TRUE, BT_FALSE, BT_FALSE,
                          Out) == BT_PLUGIN_FIND_STATUS_OK;
  };
  if (!find("ctf", &P.Ctf) || !find("utils", &P.Utils))
    return false;
  const bt_component_class_source *Source =
      bt_plugin_borrow_source_component_class_by_name_const(P.Ctf, "fs");
  const bt_component_class_filter *Muxer =
      bt_plugin_borrow_filter_component_class_by_name_const(P.Utils, "muxer");
  P.Graph = bt_graph_create(0);
  const bt_component_filter *Merged = nullptr;
  const bt_component_sink *Sink = nullptr;
  if (!Source || !Muxer || !P.Graph ||
      bt_graph_add_filter_component(P.Graph, Muxer, "muxer", nullptr,
                                    BT_LOGGING_LEVEL_NONE, &Merged) !=
          BT_GRAPH_ADD_COMPONENT_STATUS_OK ||
      bt_graph_add_simple_sink_component(P.Graph, "records", nullptr, consume,
                                         nullptr, &R, &Sink) !=
          BT_GRAPH_ADD_COMPONENT_STATUS_OK)
    return false;
  uint64_t Input = 0;
  for (const std::string &Trace : Traces) {
    bt_value *Parameters = bt_value_map_create();
    bt_value *Paths = nullptr;
    const bt_component_source *From = nullptr;
    bool Good =
        bt_value_map_insert_empty_array_entry(Parameters, "inputs", &Paths) ==
            BT_VALUE_MAP_INSERT_ENTRY_STATUS_OK &&
        bt_value_array_append_string_element(Paths, Trace.c_str()) ==
            BT_VALUE_ARRAY_APPEND_ELEMENT_STATUS_OK &&
        bt_graph_add_source_component(P.Graph, Source, Trace.c_str(), Parameters,
                                      BT_LOGGING_LEVEL_NONE, &From) ==
            BT_GRAPH_ADD_COMPONENT_STATUS_OK;
    bt_value_put_ref(Parameters);
    for (uint64_t I = 0;
         Good && I < bt_component_source_get_output_port_count(From); ++I)
      Good = bt_graph_connect_ports(
                 P.Graph,
                 bt_component_source_borrow_output_port_by_index_const(From, I),
                 bt_component_filter_borrow_input_port_by_index_const(Merged,
                                                                      Input++),
                 nullptr) == BT_GRAPH_CONNECT_PORTS_STATUS_OK;
    if (!Good)
      return false;
  }
  return bt_graph_connect_ports(
             P.Graph,
             bt_component_filter_borrow_output_port_by_index_const(Merged, 0),
             bt_component_sink_borrow_input_port_by_index_const(Sink, 0),
             nullptr) == BT_GRAPH_CONNECT_PORTS_STATUS_OK &&
         bt_graph_run(P.Graph) == BT_GRAPH_RUN_STATUS_OK;
}

} // namespace

Error readKernelTrace(const std::string &Path, const KernelTraceWish &Wish,
                      std::vector<KernelRecord> &Out) {
  std::vector<std::string> Traces = tracesBelow(Path);
  if (Traces.empty())
    return Error::plain("no trace is there");
  Reader R(Wish, Out);
  Parts P;
  if (!run(Traces, R, P)) {
    std::string Text = R.Fault;
    if (const bt_error *Cause = bt_current_thread_take_error()) {
      if (Text.empty() && bt_error_get_cause_count(Cause) != 0)
        Text = bt_error_cause_get_message(
            bt_error_borrow_cause_by_index(Cause, 0));
      bt_error_release(Cause);
    }
    return Error::plain(Text.empty() ? "cannot be read" : Text);
  }
  return R.Switches ? Error::success()
                    : Error::plain("has no sched_switch: not a trace of a kernel");
}

} // namespace kprobe
