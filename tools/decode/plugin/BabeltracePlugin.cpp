// source.kprobe.dump: lets babeltrace2 read dumps, alone or merged with traces
// of other kinds.
//
// Parameters: "inputs", an array of dump files, one output port each; and
// "critical-path", a boolean: the path through all of them is shown in the first
// one, of the main thread or of "thread", an id or a name. What is damaged is an
// error of the component; everything before it has been shown.
// Answers babeltrace.support-info, so that a dump needs no --component.
#include "PathInput.h"
#include "TraceMessages.h"

#include <cstdio>
#include <cstring>
#include <memory>

using namespace kprobe;

namespace {

struct Input {
  FileSource Source;
  Timeline Merged;
  TraceMessages Messages{Merged};
};

/// The component's data.
using Inputs = std::vector<std::unique_ptr<Input>>;

bt_component_class_initialize_method_status fail(bt_self_component *Self,
                                                 const std::string &Path,
                                                 const std::string &Text) {
  BT_CURRENT_THREAD_ERROR_APPEND_CAUSE_FROM_COMPONENT(
      Self, "%s: %s", Path.c_str(), Text.c_str());
  return BT_COMPONENT_CLASS_INITIALIZE_METHOD_STATUS_ERROR;
}

/// The path that the user wants; empty without one, which is told.
PathTrack wantedPath(const bt_value *Parameters,
                     const std::vector<std::string> &Files) {
  PathTrack Out;
  const bt_value *Wanted =
      bt_value_map_borrow_entry_value_const(Parameters, "critical-path");
  const bt_value *Thread =
      bt_value_map_borrow_entry_value_const(Parameters, "thread");
  PathWish Wish;
  if (Thread && bt_value_is_signed_integer(Thread))
    Wish.Thread = std::to_string(bt_value_integer_signed_get(Thread));
  else if (Thread)
    Wish.Thread =
        bt_value_is_string(Thread) ? bt_value_string_get(Thread) : "?";
  if (Wanted && bt_value_is_bool(Wanted) && bt_value_bool_get(Wanted))
    if (Error E = readCriticalPath(Files, Wish, Out))
      std::fprintf(stderr, "source.kprobe.dump: no critical path: %s\n",
                   E.text().c_str());
  return Out;
}

bt_component_class_initialize_method_status
initialize(bt_self_component_source *Source,
           bt_self_component_source_configuration *, const bt_value *Parameters,
           void *) {
  bt_self_component *Self = bt_self_component_source_as_self_component(Source);
  const bt_value *Paths =
      bt_value_map_borrow_entry_value_const(Parameters, "inputs");
  if (!Paths || !bt_value_is_array(Paths) || bt_value_array_is_empty(Paths))
    return fail(Self, "inputs", "an array of dump files is needed");
  auto All = std::make_unique<Inputs>();
  std::vector<std::string> Files;
  for (uint64_t I = 0; I < bt_value_array_get_length(Paths); ++I) {
    const bt_value *Value =
        bt_value_array_borrow_element_by_index_const(Paths, I);
    if (!bt_value_is_string(Value))
      return fail(Self, "inputs", "an array of dump files is needed");
    std::string Path = bt_value_string_get(Value);
    Files.push_back(Path);
    All->push_back(std::make_unique<Input>());
    Input &In = *All->back();
    Error E = In.Source.open(Path);
    if (!E)
      E = In.Merged.open(In.Source);
    // Without a process there is nothing to show; a later fault is told, and
    // what came before it is shown.
    if (!In.Merged.trace().Owner)
      return fail(Self, Path, E ? E.text() : "no process");
    if (E)
      std::fprintf(stderr, "source.kprobe.dump: %s: %s\n", Path.c_str(),
                   E.text().c_str());
  }
  All->front()->Messages.Path = wantedPath(Parameters, Files);
  for (uint64_t I = 0; I < All->size(); ++I)
    if (!(*All)[I]->Messages.initialize(Source, "dump" + std::to_string(I)))
      return fail(Self, Files[I], "cannot set up the trace");
  bt_self_component_set_data(Self, All.release());
  return BT_COMPONENT_CLASS_INITIALIZE_METHOD_STATUS_OK;
}

void finalize(bt_self_component_source *Source) {
  delete static_cast<Inputs *>(bt_self_component_get_data(
      bt_self_component_source_as_self_component(Source)));
}

bool isDump(const char *Path) {
  std::unique_ptr<std::FILE, int (*)(std::FILE *)> File(std::fopen(Path, "rb"),
                                                        std::fclose);
  uint64_t Magic = 0;
  return File && std::fread(&Magic, sizeof(Magic), 1, File.get()) == 1 &&
         Magic == KPROBE_FILE_MAGIC;
}

bt_component_class_query_method_status query(bt_self_component_class_source *,
                                             bt_private_query_executor *,
                                             const char *Object,
                                             const bt_value *Parameters, void *,
                                             const bt_value **Result) {
  if (std::strcmp(Object, "babeltrace.support-info") != 0)
    return BT_COMPONENT_CLASS_QUERY_METHOD_STATUS_UNKNOWN_OBJECT;
  const bt_value *Type =
      bt_value_map_borrow_entry_value_const(Parameters, "type");
  const bt_value *Path =
      bt_value_map_borrow_entry_value_const(Parameters, "input");
  bool Ours = Type && Path && !std::strcmp(bt_value_string_get(Type), "file") &&
              isDump(bt_value_string_get(Path));
  *Result = bt_value_real_create_init(Ours ? 1.0 : 0.0);
  return *Result ? BT_COMPONENT_CLASS_QUERY_METHOD_STATUS_OK
                 : BT_COMPONENT_CLASS_QUERY_METHOD_STATUS_MEMORY_ERROR;
}

} // namespace

BT_PLUGIN_MODULE();
BT_PLUGIN(kprobe);
BT_PLUGIN_DESCRIPTION("Dumps of kprobe");
BT_PLUGIN_SOURCE_COMPONENT_CLASS(dump, nextMessages);
BT_PLUGIN_SOURCE_COMPONENT_CLASS_DESCRIPTION(
    dump, "Calls, kernels, waves and blocks of kprobe's dumps");
BT_PLUGIN_SOURCE_COMPONENT_CLASS_INITIALIZE_METHOD(dump, initialize);
BT_PLUGIN_SOURCE_COMPONENT_CLASS_FINALIZE_METHOD(dump, finalize);
BT_PLUGIN_SOURCE_COMPONENT_CLASS_QUERY_METHOD(dump, query);
BT_PLUGIN_SOURCE_COMPONENT_CLASS_MESSAGE_ITERATOR_CLASS_INITIALIZE_METHOD(
    dump, initializeMessages);
