// API tables and host events from text.
#include "HostText.h"

#include <cstring>

namespace kprobe {

static uint32_t fieldType(const std::string &Name) {
#define KPROBE_FIELD(Type, Value, Bytes)                                       \
  if (Name == #Type)                                                           \
    return Value;
#include "kprobe/field_types.def"
  throw std::runtime_error("'" + Name + "' is no type of a field");
}

static size_t fieldSize(uint32_t Type) {
  switch (Type) {
#define KPROBE_FIELD(Name, Value, Bytes)                                       \
  case Value:                                                                  \
    return Bytes;
#include "kprobe/field_types.def"
  }
  return 0;
}

uint32_t HostText::string(const std::string &Text) {
  uint32_t Place = static_cast<uint32_t>(Strings.size());
  Strings.append(Text.c_str(), Text.size() + 1);
  return Place;
}

std::vector<HostText::Field> HostText::fields(const std::string &Text) {
  std::vector<Field> Out;
  for (const std::string &Part : TextLine::split(Text, ',')) {
    std::vector<std::string> Words = TextLine::split(Part, ':');
    if (Words.size() != 2)
      throw std::runtime_error("a field is name:TYPE");
    Out.push_back({Words[0], fieldType(Words[1])});
    Fields.push_back({string(Words[0]), Out.back().Type, KPROBE_NO_INDEX});
  }
  return Out;
}

void HostText::apiLine(TextLine &L) {
  if (L.word() == "end")
    return closeApi();
  if (L.word() != "function")
    throw std::runtime_error("'" + L.word() + "' has no place in an API");
  std::string Name = L.text("name", "f");
  Function F;
  F.Number = KPROBE_FUNCTION(Api.Domain, Functions.size());
  KprobeApiFunction R = {};
  R.Name = string(Name);
  R.FirstField = static_cast<uint32_t>(Fields.size());
  F.In = fields(L.text("in"));
  F.Out = fields(L.text("out"));
  R.InFields = static_cast<uint16_t>(F.In.size());
  R.OutFields = static_cast<uint16_t>(F.Out.size());
  R.ResultType = fieldType(L.text("result", "I32"));
  R.ResultEnum = KPROBE_NO_INDEX;
  std::vector<std::string> Names = TextLine::split(L.text("enum"), ',');
  if (!Names.empty())
    R.ResultEnum = static_cast<uint32_t>(Functions.size());
  for (size_t I = 0; I < Names.size(); ++I)
    Enumerators.push_back(
        {static_cast<int64_t>(I), R.ResultEnum, string(Names[I])});
  Functions.push_back(R);
  Known[Name] = F;
}

void HostText::closeApi() {
  Api.Name = string(ApiName);
  Api.FunctionCount = static_cast<uint32_t>(Functions.size());
  Api.FieldCount = static_cast<uint32_t>(Fields.size());
  Api.EnumeratorCount = static_cast<uint32_t>(Enumerators.size());
  Api.StringBytes = static_cast<uint32_t>(Strings.size());
  Bytes Payload;
  Payload.record(Api);
  for (const KprobeApiFunction &R : Functions)
    Payload.record(R);
  for (const KprobeApiField &R : Fields)
    Payload.record(R);
  for (const KprobeApiEnumerator &R : Enumerators)
    Payload.record(R);
  Payload.text(Strings);
  Dump.chunk(KPROBE_CHUNK_API_TABLE, Payload.Data);
  In = Part::None;
}

Bytes HostText::values(TextLine &L, const std::vector<Field> &Of) {
  std::vector<std::string> Texts = TextLine::split(L.text("values"), ',');
  if (Texts.size() > Of.size())
    throw std::runtime_error("more values than fields");
  Bytes Out;
  for (size_t I = 0; I < Texts.size(); ++I) {
    if (Of[I].Type == KPROBE_FIELD_STRING) {
      Out.record(static_cast<uint16_t>(Texts[I].size()));
      Out.text(Texts[I]);
      continue;
    }
    uint64_t Value = TextLine::parseNumber(Texts[I]);
    Out.raw(&Value, fieldSize(Of[I].Type));
  }
  return Out;
}

void HostText::eventLine(TextLine &L) {
  const std::string &Word = L.word();
  if (Word == "begin" || Word == "finish") {
    std::string Name = L.text("function", "f");
    if (!Known.count(Name))
      throw std::runtime_error("no function is called '" + Name + "'");
    const Function &F = Known[Name];
    KprobeHostEvent Head = {};
    Head.Function = F.Number + L.number32("beyond");
    if (Word == "begin")
      event(L, KPROBE_HOST_CALL_BEGIN,
            KprobeCallBegin{Head, L.number("parent")}, values(L, F.In));
    else
      event(L, KPROBE_HOST_CALL_END, KprobeCallEnd{Head, L.number("result")},
            values(L, F.Out));
  } else if (Word == "submit") {
    event(L, KPROBE_HOST_SUBMIT, KprobeHostSubmit{{}, L.number("dispatch")});
  } else if (Word == "allocate" || Word == "free") {
    event(L, Word == "free" ? KPROBE_HOST_FREE : KPROBE_HOST_ALLOCATE,
          KprobeHostMemory{{},
                           L.number("address"),
                           L.number("size"),
                           L.number32("agent", KPROBE_NO_INDEX),
                           0});
  } else if (Word == "copy") {
    KprobeHostEvent Head = {};
    Head.Function = L.number32("engine");
    event(L, KPROBE_HOST_COPY,
          KprobeHostCopy{Head,
                         L.number("id", 1),
                         L.number("target"),
                         L.number("source"),
                         L.number("size"),
                         L.number32("to", KPROBE_NO_INDEX),
                         L.number32("from", KPROBE_NO_INDEX)});
  } else if (Word == "copied") {
    event(L, KPROBE_HOST_COPY_DONE,
          KprobeHostCopyDone{{},
                             L.number("id", 1),
                             L.number("begin"),
                             L.number("end"),
                             L.number32("agent"),
                             L.number32("failed")});
  } else if (Word == "barrier") {
    event(L, KPROBE_HOST_BARRIER,
          KprobeHostBarrier{{},
                            L.number("index"),
                            L.number32("queue"),
                            static_cast<uint16_t>(L.number32("type", 3)),
                            static_cast<uint16_t>(L.number32("signals"))});
  } else if (Word == "in" || Word == "out") {
    event(L, Word == "in" ? KPROBE_HOST_SWITCH_IN : KPROBE_HOST_SWITCH_OUT,
          KprobeHostSwitch{{},
                           L.number32("tid", 77),
                           L.number32("pid", 42),
                           L.flag("preempted"),
                           0});
  } else if (Word == "wakeup") {
    event(L, KPROBE_HOST_WAKEUP,
          KprobeHostWakeup{{},
                           L.number32("tid", 77),
                           L.number32("pid", 42),
                           L.number32("woken"),
                           L.number32("processor")});
  } else if (Word == "syscall" || Word == "sysret") {
    event(L,
          Word == "syscall" ? KPROBE_HOST_SYSCALL_BEGIN
                            : KPROBE_HOST_SYSCALL_END,
          KprobeHostSyscall{{},
                            L.number32("tid", 77),
                            L.number32("pid", 42),
                            int64_t(L.number("number")),
                            int64_t(L.number("result"))});
  } else if (Word == "irq" || Word == "irqend") {
    event(L,
          Word == "irq" ? KPROBE_HOST_INTERRUPT_BEGIN
                        : KPROBE_HOST_INTERRUPT_END,
          KprobeHostInterrupt{{},
                              L.number32("tid", 77),
                              L.number32("pid", 42),
                              L.number32("number"),
                              L.flag("soft")});
  } else if (Word == "sample") {
    double Value = static_cast<double>(L.number("value"));
    KprobeHostSample R = {{}, L.number32("counter", 1), L.number32("agent"), 0};
    std::memcpy(&R.Value, &Value, sizeof(Value));
    event(L, KPROBE_HOST_SAMPLE, R);
  } else if (stackLine(L)) {
  } else if (Word == "unknown") {
    event(L, 999, KprobeHostSubmit{{}, 0});
  } else if (Word == "end") {
    Bytes Payload;
    Payload.record(Host);
    Payload.raw(Events.Data.data(), Events.Data.size());
    Dump.chunk(KPROBE_CHUNK_HOST_EVENTS, Payload.Data);
    In = Part::None;
  } else {
    throw std::runtime_error("'" + Word + "' has no place in host events");
  }
}

bool HostText::statement(TextLine &L) {
  if (In == Part::Api)
    return apiLine(L), true;
  if (In == Part::Host)
    return eventLine(L), true;
  if (L.word() == "api") {
    In = Part::Api;
    Api = {};
    Api.Domain = L.number32("domain", 2);
    ApiName = L.text("name", "hip");
    Strings.assign(1, '\0');
    Functions.clear();
    Fields.clear();
    Enumerators.clear();
  } else if (L.word() == "thread") {
    std::string Name = L.text("name");
    KprobeThreadRecord R = {L.number32("id", 1), L.number32("tid", 77),
                            static_cast<uint32_t>(Name.size()),
                            L.flag("processor") ? KPROBE_THREAD_PROCESSOR : 0};
    Bytes Payload;
    Payload.record(R);
    Payload.text(Name);
    Dump.chunk(KPROBE_CHUNK_THREAD, Payload.Data);
  } else if (L.word() == "module") {
    module(L);
  } else if (L.word() == "host") {
    In = Part::Host;
    Host = {L.number32("thread", 1), 0, L.number("lost")};
    Events = Bytes();
  } else {
    return false;
  }
  return true;
}

} // namespace kprobe
