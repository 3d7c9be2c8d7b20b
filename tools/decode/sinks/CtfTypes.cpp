// Trace IR: clock, stream class, event classes.
#include "CtfFields.h"

#include "Names.h"

#include <cstring>

namespace kprobe {
namespace {

/// Text for the metadata: ASCII that neither the writer nor the babeltrace2
/// program's printer needs to escape.
std::string plainText(std::string Text) {
  for (char &C : Text) {
    unsigned char U = static_cast<unsigned char>(C);
    if (U < 0x20 || U >= 0x7f)
      C = '?';
    else if (C == '"' || C == '\'' || C == '\\')
      C = '`';
  }
  return Text;
}

} // namespace

CtfTypes::~CtfTypes() {
  for (const bt_event_class *E : Events)
    bt_event_class_put_ref(E);
  bt_stream_class_put_ref(Streams);
  bt_trace_put_ref(Trace);
  bt_clock_class_put_ref(Clock);
  bt_trace_class_put_ref(Class);
}

const bt_event_class *CtfTypes::event(const char *Name,
                                      bt_field_class *Payload) {
  bt_event_class *E = bt_event_class_create(Streams);
  if (!E || !Payload ||
      bt_event_class_set_name(E, Name) != BT_EVENT_CLASS_SET_NAME_STATUS_OK ||
      bt_event_class_set_payload_field_class(E, Payload) !=
          BT_EVENT_CLASS_SET_FIELD_CLASS_STATUS_OK)
    Failed = true;
  bt_field_class_put_ref(Payload);
  Events.push_back(E);
  return E;
}

bt_field_class *CtfTypes::site(const Timeline &Input) {
  bt_field_class *Field = bt_field_class_enumeration_unsigned_create(Class);
  bt_field_class_integer_set_field_value_range(Field, 32);
  const std::vector<const SiteTable *> &Tables = Input.trace().TablesInOrder;
  uint64_t Number = 0;
  for (size_t Which = 0; Which < Tables.size(); ++Which) {
    const SiteTable *Table = Tables[Which];
    FirstSite[Table] = Number;
    for (uint32_t I = 0; I < Table->sites().size(); ++I, ++Number) {
      const KprobeSiteRecord &S = Table->sites()[I];
      // The number that other outputs show first, with that of its table when
      // there are several: labels of an enumeration are distinct.
      std::string Label = plainText(
          (Tables.size() > 1 ? std::to_string(Which) + ":" : "") +
          std::to_string(I) + " " +
          demangle(Table->string(Table->functions()[S.Function].Name)) + " " +
          blockLabel(*Table, I));
      bt_integer_range_set_unsigned *Range =
          bt_integer_range_set_unsigned_create();
      if (bt_integer_range_set_unsigned_add_range(Range, Number, Number) !=
              BT_INTEGER_RANGE_SET_ADD_RANGE_STATUS_OK ||
          bt_field_class_enumeration_unsigned_add_mapping(Field, Label.c_str(),
                                                          Range) !=
              BT_FIELD_CLASS_ENUMERATION_ADD_MAPPING_STATUS_OK)
        Failed = true;
      bt_integer_range_set_unsigned_put_ref(Range);
    }
  }
  if (Number != 0)
    return Field;
  // CTF has no empty enumeration.
  bt_field_class_put_ref(Field);
  return number(Class, 32);
}

bool CtfTypes::create(bt_self_component *Self, const Timeline &Input,
                      bool WithPath) {
  const Process &P = *Input.trace().Owner;
  Class = bt_trace_class_create(Self);
  Clock = bt_clock_class_create(Self);
  if (!Class || !Clock)
    return false;

  // The clock counts CLOCK_MONOTONIC nanoseconds, as LTTng's does; its offset
  // says when that clock was zero.
  int64_t Offset = Input.realtimeNs(0);
  constexpr int64_t Second = 1000000000;
  int64_t Seconds = Offset / Second, Rest = Offset % Second;
  if (Rest < 0) {
    --Seconds;
    Rest += Second;
  }
  bt_clock_class_set_frequency(Clock, Second);
  bt_clock_class_set_offset(Clock, Seconds, static_cast<uint64_t>(Rest));
  bt_clock_class_set_origin_is_unix_epoch(Clock, BT_TRUE);
  Failed |= bt_clock_class_set_name(Clock, "monotonic") !=
            BT_CLOCK_CLASS_SET_NAME_STATUS_OK;
  Failed |= bt_clock_class_set_description(Clock, "Monotonic Clock") !=
            BT_CLOCK_CLASS_SET_DESCRIPTION_STATUS_OK;

  // The same boot, the same clock: readers see by this that a trace of LTTng
  // tells of the same machine.
  static constexpr uint8_t Unknown[16] = {};
  const std::optional<Machine> &Where = Input.trace().Where;
  if (Where && std::memcmp(Where->Record.BootId, Unknown, sizeof(Unknown)) != 0)
    bt_clock_class_set_uuid(Clock, Where->Record.BootId);

  Streams = bt_stream_class_create(Class);
  if (!Streams)
    return false;
  Failed |= bt_stream_class_set_default_clock_class(Streams, Clock) !=
            BT_STREAM_CLASS_SET_DEFAULT_CLOCK_CLASS_STATUS_OK;
  bt_stream_class_set_supports_packets(Streams, BT_TRUE, BT_TRUE, BT_TRUE);

  auto n = [&](unsigned Bits) { return number(Class, Bits); };
  auto text = [&] { return bt_field_class_string_create(Class); };
  Submit = event("kprobe:dispatch", structure(Class, {{"dispatch", n(64)},
                                                      {"agent", n(32)},
                                                      {"queue", n(32)},
                                                      {"kernel", text()},
                                                      {"status", text()},
                                                      {"grid_x", n(32)},
                                                      {"grid_y", n(32)},
                                                      {"grid_z", n(32)},
                                                      {"group_x", n(32)},
                                                      {"group_y", n(32)},
                                                      {"group_z", n(32)},
                                                      {"waves", n(64)},
                                                      {"waves_sampled", n(64)},
                                                      {"thread", n(32)},
                                                      {"call", n(64)}}));
  KernelBegin =
      event("kprobe:kernel_begin", structure(Class, {{"dispatch", n(64)},
                                                     {"kernel", text()},
                                                     {"agent", n(32)},
                                                     {"queue", n(32)}}));
  KernelEnd = event("kprobe:kernel_end", structure(Class, {{"dispatch", n(64)},
                                                           {"agent", n(32)},
                                                           {"queue", n(32)}}));
  DispatchCounter = event(
      "kprobe:dispatch_counter",
      structure(Class, {{"dispatch", n(64)},
                        {"agent", n(32)},
                        {"counter", text()},
                        {"value",
                         bt_field_class_real_double_precision_create(Class)}}));
  WaveBegin = event("kprobe:wave_begin",
                    structure(Class, {{"dispatch", n(64)},
                                      {"wave", n(64)},
                                      {"group_x", n(32)},
                                      {"group_y", n(32)},
                                      {"group_z", n(32)},
                                      {"wave_in_group", n(32)},
                                      {"track", n(32)},
                                      {"place", text()},
                                      {"agent", n(32)},
                                      {"unit", text()},
                                      {"exec", number(Class, 64, true)}}));
  Block = event("kprobe:block", structure(Class, {{"dispatch", n(64)},
                                                  {"wave", n(64)},
                                                  {"site", site(Input)},
                                                  {"lanes", n(8)},
                                                  {"cycle", n(64)},
                                                  {"cycles", n(32)},
                                                  {"duration_ns", n(64)}}));
  WaveEnd = event("kprobe:wave_end", structure(Class, {{"dispatch", n(64)},
                                                       {"wave", n(64)},
                                                       {"agent", n(32)},
                                                       {"unit", text()},
                                                       {"track", n(32)},
                                                       {"ended", n(8)},
                                                       {"written", n(64)},
                                                       {"kept", n(64)},
                                                       {"overwritten", n(64)},
                                                       {"empty", n(64)}}));
  if (WithPath)
    PathSegment =
        event("kprobe:path_segment", structure(Class, {{"kind", text()},
                                                       {"what", text()},
                                                       {"place", text()},
                                                       {"duration_ns", n(64)}}));
  createHost();
  createLinux();
  if (Failed)
    return false;

  Trace = bt_trace_create(Class);
  if (!Trace)
    return false;
  auto entry = [&](const char *Name, const std::string &Value) {
    Failed |= bt_trace_set_environment_entry_string(Trace, Name,
                                                    plainText(Value).c_str()) !=
              BT_TRACE_SET_ENVIRONMENT_ENTRY_STATUS_OK;
  };
  entry("tracer_name", "kprobe");
  entry("runtime", P.Version);
  entry("executable", P.Executable);
  if (Where) {
    entry("hostname", Where->HostName);
    entry("system", Where->System);
  }
  Failed |= bt_trace_set_environment_entry_integer(
                Trace, "pid", static_cast<int64_t>(P.Record.Pid)) !=
            BT_TRACE_SET_ENVIRONMENT_ENTRY_STATUS_OK;
  for (const auto &[Number, A] : Input.trace().Agents) {
    entry(("agent_" + std::to_string(Number)).c_str(), A.Target);
    if (A.isVirtual())
      entry(("agent_" + std::to_string(Number) + "_times").c_str(), "modelled");
  }
  return !Failed;
}

} // namespace kprobe
