// Reading and joining.
#include "DispatchCounters.h"

#include <nlohmann/json.hpp>

#include <array>
#include <cerrno>
#include <cstring>
#include <fstream>
#include <map>

namespace kprobe {
namespace {

using Json = nlohmann::ordered_json;

/// What a dispatch is known by in a queue: packet index, grid, workgroup.
using Shape = std::array<uint64_t, 7>;

struct Row {
  Shape Place;
  const Json *Members;
};

bool sizes(const Json &Of, const char *Name, uint64_t *Out) {
  auto Found = Of.find(Name);
  if (Found == Of.end() || !Found->is_array() || Found->size() != 3)
    return false;
  for (size_t I = 0; I < 3; ++I) {
    if (!(*Found)[I].is_number_unsigned())
      return false;
    Out[I] = (*Found)[I].get<uint64_t>();
  }
  return true;
}

/// The queue's name in the file, and where in it the dispatch was.
bool parseRow(const Json &Members, std::string &Queue, Row &Out) {
  auto Name = Members.find("dispatch");
  if (Name == Members.end() || !Name->is_string() ||
      !sizes(Members, "grid", &Out.Place[1]) ||
      !sizes(Members, "workgroup", &Out.Place[4]))
    return false;
  std::string Text = Name->get<std::string>();
  size_t Dot = Text.rfind('.');
  if (Dot == std::string::npos || Dot + 1 == Text.size() ||
      Text.find_first_not_of("0123456789", Dot + 1) != std::string::npos)
    return false;
  Queue = Text.substr(0, Dot);
  Out.Place[0] = std::strtoull(Text.c_str() + Dot + 1, nullptr, 10);
  Out.Members = &Members;
  return true;
}

Shape shapeOf(const KprobeDispatchRecord &R) {
  return {R.QueueIndex, R.Grid[0],  R.Grid[1], R.Grid[2],
          R.Group[0],   R.Group[1], R.Group[2]};
}

} // namespace

uint32_t DispatchCounters::nameOf(const std::string &Text) {
  auto [Place, New] =
      Known.try_emplace(Text, static_cast<uint32_t>(Names.size()));
  if (New)
    Names.push_back(Text);
  return Place->second;
}

Error DispatchCounters::read(const std::string &Path, const Trace &T) {
  std::ifstream File(Path);
  if (!File)
    return Error::plain(std::strerror(errno));
  Json All = Json::parse(File, nullptr, false);
  if (!All.is_object() || !All.contains("dispatches") ||
      !All["dispatches"].is_array())
    return Error::plain("is no JSON object with \"dispatches\"");
  // Queues in the order in which the file first names them.
  std::vector<std::pair<std::string, std::map<Shape, const Json *>>> Theirs;
  for (const Json &Members : All["dispatches"]) {
    std::string Queue;
    Row R;
    if (!Members.is_object() || !parseRow(Members, Queue, R))
      return Error::plain("has a dispatch without \"QUEUE.INDEX\", grid or "
                          "workgroup");
    auto Found = std::find_if(Theirs.begin(), Theirs.end(),
                              [&](const auto &Q) { return Q.first == Queue; });
    if (Found == Theirs.end())
      Found = Theirs.insert(Found, {Queue, {}});
    Found->second[R.Place] = R.Members;
  }
  std::map<uint32_t, std::vector<const Dispatch *>> Ours;
  for (const auto &Entry : T.Dispatches)
    Ours[Entry.second.Record.Queue].push_back(&Entry.second);
  for (const auto &[Number, Dispatches] : Ours) {
    auto Same = std::find_if(Theirs.begin(), Theirs.end(), [&](const auto &Q) {
      return std::all_of(Dispatches.begin(), Dispatches.end(),
                         [&](const Dispatch *D) {
                           return Q.second.count(shapeOf(D->Record)) != 0;
                         });
    });
    if (Same == Theirs.end())
      continue;
    for (const Dispatch *D : Dispatches) {
      std::vector<Value> &Out = Values[D->Record.Dispatch];
      auto add = [&](const std::string &Name, const Json &Number) {
        if (Number.is_number())
          Out.push_back({nameOf(Name), Number.get<double>()});
      };
      for (const auto &[Name, Member] :
           Same->second.at(shapeOf(D->Record))->items()) {
        add(Name, Member);
        if (Member.is_object())
          for (const auto &[Inner, Number] : Member.items())
            add(Name + "." + Inner, Number);
      }
    }
    Theirs.erase(Same);
  }
  return Error::success();
}

} // namespace kprobe
