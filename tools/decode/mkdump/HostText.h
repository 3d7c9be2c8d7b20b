// The statements of a dump description that are about host events: APIs,
// threads and their streams. Apart from TextDump, which hands them over.
#ifndef KPROBE_MKDUMP_HOSTTEXT_H
#define KPROBE_MKDUMP_HOSTTEXT_H

#include "DumpBuilder.h"
#include "TextLine.h"

#include <map>
#include <string>
#include <vector>

namespace kprobe {

class HostText {
public:
  explicit HostText(DumpBuilder &Dump) : Dump(Dump) {}

  /// Whether \p L is a statement of this class; it has been executed then.
  bool statement(TextLine &L);
  bool open() const { return In != Part::None; }

private:
  struct Field {
    std::string Name;
    uint32_t Type;
  };
  struct Function {
    uint32_t Number; ///< domain << 16 | index
    std::vector<Field> In, Out;
  };
  void apiLine(TextLine &L);
  void eventLine(TextLine &L);
  bool stackLine(TextLine &L);
  void module(TextLine &L);
  std::vector<Field> fields(const std::string &Text);
  uint32_t string(const std::string &Text);
  void closeApi();
  Bytes values(TextLine &L, const std::vector<Field> &Fields);
  template <typename Record>
  void event(TextLine &L, uint16_t Kind, Record Event,
             const Bytes &Values = Bytes());

  DumpBuilder &Dump;
  enum class Part { None, Api, Host } In = Part::None;

  KprobeApiTable Api = {};
  std::string ApiName, Strings;
  std::vector<KprobeApiFunction> Functions;
  std::vector<KprobeApiField> Fields;
  std::vector<KprobeApiEnumerator> Enumerators;
  std::map<std::string, Function> Known; ///< by name

  KprobeHostEventsRecord Host = {};
  Bytes Events;
};

template <typename Record>
void HostText::event(TextLine &L, uint16_t Kind, Record Event,
                     const Bytes &Values) {
  size_t Size = sizeof(Record) + (Values.Data.size() + 7) / 8 * 8;
  Event.Head.Kind = Kind;
  Event.Head.Bytes = static_cast<uint16_t>(L.number("bytes", Size));
  Event.Head.Call = L.number("call");
  Event.Head.Ns = L.number("ns");
  size_t Begin = Events.Data.size();
  Events.record(Event);
  Events.raw(Values.Data.data(), Values.Data.size());
  Events.Data.resize(Begin + Size);
}

} // namespace kprobe

#endif
