// CTF through a libbabeltrace2 graph of two components:
//
//   our source (a Timeline as messages)  --out--in-->  sink.ctf.fs
//
// The graph pulls: sink.ctf.fs asks our message iterator for messages, which
// asks the Timeline.
#include "Converters.h"

#include "TraceMessages.h"

namespace kprobe {
namespace {

bt_component_class_initialize_method_status
initializeSource(bt_self_component_source *Self,
                 bt_self_component_source_configuration *, const bt_value *,
                 void *Data) {
  auto *Source = static_cast<TraceMessages *>(Data);
  return Source->initialize(Self, "out")
             ? BT_COMPONENT_CLASS_INITIALIZE_METHOD_STATUS_OK
             : BT_COMPONENT_CLASS_INITIALIZE_METHOD_STATUS_ERROR;
}

/// Everything the graph is made of, released in the right order.
struct GraphParts {
  const bt_plugin *Plugin = nullptr;
  bt_message_iterator_class *Iterators = nullptr;
  bt_component_class_source *SourceClass = nullptr;
  bt_value *Parameters = nullptr;
  bt_graph *Graph = nullptr;
  ~GraphParts() {
    bt_graph_put_ref(Graph);
    bt_value_put_ref(Parameters);
    bt_component_class_source_put_ref(SourceClass);
    bt_message_iterator_class_put_ref(Iterators);
    bt_plugin_put_ref(Plugin);
  }
};

/// What libbabeltrace2 recorded about the failure of the last call.
Error takeError(const std::string &What) {
  std::string Text = What;
  const bt_error *Cause = bt_current_thread_take_error();
  if (Cause) {
    uint64_t Last = bt_error_get_cause_count(Cause);
    if (Last != 0)
      Text += std::string(": ") + bt_error_cause_get_message(
                                      bt_error_borrow_cause_by_index(Cause, 0));
    bt_error_release(Cause);
  }
  return Error::plain(Text);
}

} // namespace

Error writeCtf(Timeline &Input, const PathTrack &Track,
               const std::string &Path) {
  TraceMessages Source(Input);
  Source.Path = Track;
  GraphParts G;
  if (bt_plugin_find("ctf", BT_TRUE, BT_TRUE, BT_TRUE, BT_FALSE, BT_FALSE,
                     &G.Plugin) != BT_PLUGIN_FIND_STATUS_OK)
    return takeError("libbabeltrace2 has no plug-in 'ctf'");
  const bt_component_class_sink *SinkClass =
      bt_plugin_borrow_sink_component_class_by_name_const(G.Plugin, "fs");
  if (!SinkClass)
    return Error::plain("libbabeltrace2 has no sink.ctf.fs");

  G.Iterators = bt_message_iterator_class_create(nextMessages);
  G.SourceClass = bt_component_class_source_create("kprobe", G.Iterators);
  G.Parameters = bt_value_map_create();
  G.Graph = bt_graph_create(0);
  if (!G.SourceClass || !G.Parameters || !G.Graph ||
      bt_message_iterator_class_set_initialize_method(G.Iterators,
                                                      initializeMessages) !=
          BT_MESSAGE_ITERATOR_CLASS_SET_METHOD_STATUS_OK ||
      bt_component_class_source_set_initialize_method(G.SourceClass,
                                                      initializeSource) !=
          BT_COMPONENT_CLASS_SET_METHOD_STATUS_OK ||
      bt_value_map_insert_string_entry(G.Parameters, "path", Path.c_str()) !=
          BT_VALUE_MAP_INSERT_ENTRY_STATUS_OK ||
      bt_value_map_insert_bool_entry(G.Parameters, "assume-single-trace",
                                     BT_TRUE) !=
          BT_VALUE_MAP_INSERT_ENTRY_STATUS_OK ||
      bt_value_map_insert_bool_entry(G.Parameters, "quiet", BT_TRUE) !=
          BT_VALUE_MAP_INSERT_ENTRY_STATUS_OK)
    return takeError("cannot set up the CTF writer");

  const bt_component_source *From = nullptr;
  const bt_component_sink *To = nullptr;
  if (bt_graph_add_source_component_with_initialize_method_data(
          G.Graph, G.SourceClass, "dump", nullptr, &Source,
          BT_LOGGING_LEVEL_NONE, &From) != BT_GRAPH_ADD_COMPONENT_STATUS_OK ||
      bt_graph_add_sink_component(G.Graph, SinkClass, "out", G.Parameters,
                                  BT_LOGGING_LEVEL_NONE,
                                  &To) != BT_GRAPH_ADD_COMPONENT_STATUS_OK ||
      bt_graph_connect_ports(
          G.Graph,
          bt_component_source_borrow_output_port_by_index_const(From, 0),
          bt_component_sink_borrow_input_port_by_index_const(To, 0),
          nullptr) != BT_GRAPH_CONNECT_PORTS_STATUS_OK)
    return takeError("cannot set up the CTF writer");
  if (bt_graph_run(G.Graph) != BT_GRAPH_RUN_STATUS_OK) {
    Error E = takeError("CTF trace is incomplete");
    return Source.Fault.empty() ? E : Error::plain(Source.Fault);
  }
  return Error::success();
}

} // namespace kprobe
