// Groups segments by what they are and adds where their time went.
#include "CriticalPathReport.h"

#include "Names.h"
#include "TextTable.h"

#include <nlohmann/json.hpp>

#include <algorithm>
#include <cstdio>
#include <map>

namespace kprobe {
namespace {

using Kind = PathSegment::Kind;

const char *nameOf(Kind What) {
  switch (What) {
  case Kind::Running:
    return "running";
  case Kind::Preempted:
    return "preempted";
  case Kind::Ready:
    return "ready";
  case Kind::Blocked:
    return "blocked";
  case Kind::Launch:
    return "launch";
  case Kind::Device:
    return "device";
  case Kind::Queue:
    return "queue";
  case Kind::Return:
    return "return";
  }
  return "";
}

std::string threadName(const Activity &A, uint32_t Id) {
  auto Found = A.Threads.find(Id);
  std::string Name = Found == A.Threads.end() ? "" : Found->second.Name;
  return (Name.empty() ? "thread" : Name) + " (" + std::to_string(Id) + ")";
}

bool isVirtual(const PathSegment &S) {
  return S.Run && S.Run->Kernel && S.Run->Kernel->Where->isVirtual();
}

/// Who and why, in words.
std::string describe(const PathReport &R, const PathSegment &S) {
  std::string Thread = threadName(R.A, S.Thread);
  std::string Gpu = isVirtual(S) ? "virtual GPU" : "GPU";
  switch (S.What) {
  case Kind::Running:
    return Thread + " runs";
  case Kind::Preempted:
    return Thread + " is preempted";
  case Kind::Ready:
    return Thread + " is woken and waits for a processor";
  case Kind::Blocked:
    return Thread + " waits: " + S.Cause;
  case Kind::Launch:
    return S.Run->Name + " is launched, waits for the " + Gpu;
  case Kind::Device:
    return S.Run->Name + " runs on the " + Gpu;
  case Kind::Queue:
    return S.Run->Name + " waits for its queue on the " + Gpu;
  case Kind::Return:
    // Its times are modelled; the emulation goes on behind their end.
    if (isVirtual(S))
      return S.Run->Name + " is still emulated, " + Thread + " waits";
    return Thread + " learns that " + S.Run->Name + " has ended";
  }
  return "";
}

/// The place in the source that a programmer looks for: the innermost Python
/// line, and the innermost native function with a name.
std::string hottest(const FrameNames &Names,
                    const std::vector<uint32_t> &Stack) {
  std::string Python, Native;
  for (auto Place = Stack.rbegin(); Place != Stack.rend(); ++Place) {
    const Frame &F = Names[*Place];
    std::string Line =
        F.File.empty() ? ""
                       : " (" + F.File.substr(F.File.rfind('/') + 1) + ":" +
                             std::to_string(F.Line) + ")";
    if (F.Python) {
      Python = F.Name + Line;
      break;
    }
    if (Native.empty() && F.Name[0] != '[')
      Native = F.Name + Line;
  }
  if (Python.empty() || Native.empty())
    return Python + Native;
  return Python + " in " + Native;
}

using Weights = std::map<std::string, double>;

void addPlaces(const PathReport &R, const PathSegment &S, Weights &To) {
  double Ns = static_cast<double>(S.End - S.Begin);
  if (S.What == Kind::Running) {
    const std::vector<StackAt> &Ran = R.A.Threads.at(S.Thread).Ran;
    auto Place = std::lower_bound(
        Ran.begin(), Ran.end(), S.Begin,
        [](const StackAt &At, int64_t Begin) { return At.Ns < Begin; });
    auto End = Place;
    double Sum = 0;
    for (; End != Ran.end() && End->Ns <= S.End; ++End)
      Sum += static_cast<double>(End->Weight);
    for (; Place != End; ++Place)
      To[hottest(R.Names, Place->Stack)] +=
          Ns * static_cast<double>(Place->Weight) / Sum;
  } else if (S.Wait && !S.Wait->Stack.empty()) {
    To[hottest(R.Names, S.Wait->Stack)] += Ns;
  } else if (S.What == Kind::Launch && !S.Run->Stack.empty()) {
    To[hottest(R.Names, S.Run->Stack)] += Ns;
  } else if (S.What == Kind::Device && S.Run->Kernel) {
    Weights Blocks;
    double Sum = 0;
    for (const DeviceRun::Wave *W : lastWaves(*S.Run))
      for (const auto &[Site, Time] : W->Blocks) {
        Blocks[blockLabel(*S.Run->Kernel->Table, Site)] +=
            static_cast<double>(Time);
        Sum += static_cast<double>(Time);
      }
    // Who launched it comes with the blocks: the path leads from there to here.
    std::string Launcher =
        S.Run->Stack.empty() ? "" : " < " + hottest(R.Names, S.Run->Stack);
    for (const auto &[Label, Time] : Blocks)
      To[Label + Launcher] += Ns * Time / Sum;
    if (Blocks.empty() && !Launcher.empty())
      To[S.Run->Name + Launcher] += Ns;
  }
}

struct Group {
  int64_t Ns = 0;
  size_t Count = 0;
  Kind What = Kind::Running;
  Weights Places;
};

std::vector<std::pair<std::string, Group>> groupsOf(const PathReport &R) {
  std::map<std::string, Group> ByName;
  for (const PathSegment &S : R.Segments) {
    Group &G = ByName[describe(R, S)];
    G.Ns += S.End - S.Begin;
    G.Count += 1;
    G.What = S.What;
    addPlaces(R, S, G.Places);
  }
  std::vector<std::pair<std::string, Group>> Out(ByName.begin(), ByName.end());
  std::stable_sort(Out.begin(), Out.end(), [](const auto &X, const auto &Y) {
    return X.second.Ns > Y.second.Ns;
  });
  return Out;
}

std::vector<std::pair<std::string, double>> byWeight(const Weights &W) {
  std::vector<std::pair<std::string, double>> Out(W.begin(), W.end());
  std::stable_sort(Out.begin(), Out.end(), [](const auto &X, const auto &Y) {
    return X.second > Y.second;
  });
  return Out;
}

std::string percent(double Part, double Whole) {
  char Text[32];
  std::snprintf(Text, sizeof(Text), "%.1f %%",
                Whole > 0 ? 100 * Part / Whole : 0);
  return Text;
}

int64_t lengthOf(const PathReport &R) {
  return R.Segments.empty() ? 0
                            : R.Segments.back().End - R.Segments.front().Begin;
}

} // namespace

std::string criticalPathText(const PathReport &R) {
  constexpr size_t MostPlaces = 3;
  int64_t Length = lengthOf(R);
  std::string Out = "critical path of " + threadName(R.A, R.Thread) + ": " +
                    durationText(static_cast<uint64_t>(Length)) + ", " +
                    std::to_string(R.Segments.size()) + " segments\n";
  if (std::any_of(R.Segments.begin(), R.Segments.end(), isVirtual))
    Out += "the GPU is virtual: its time is emulation, not kernel time\n";
  if (!R.A.Switches)
    Out += "without --sched: waits are known by their stacks and calls only, "
           "not who ended them\n";
  TextTable Table({{"time", TextTable::Right},
                   {"share", TextTable::Right},
                   {"count", TextTable::Right},
                   {"what", TextTable::Left}});
  for (const auto &[What, G] : groupsOf(R)) {
    Table.row({durationText(static_cast<uint64_t>(G.Ns)),
               percent(static_cast<double>(G.Ns), static_cast<double>(Length)),
               std::to_string(G.Count), What});
    size_t Shown = 0;
    for (const auto &[Place, Ns] : byWeight(G.Places))
      if (Shown++ < MostPlaces)
        Table.row({"", percent(Ns, static_cast<double>(Length)), "",
                   "  " + Place});
  }
  return Out + Table.text();
}

PathTrack criticalPathTrack(const PathReport &R) {
  PathTrack Track;
  Track.Name = "critical path of " + threadName(R.A, R.Thread);
  for (const PathSegment &S : R.Segments) {
    Weights Places;
    addPlaces(R, S, Places);
    std::vector<std::pair<std::string, double>> Order = byWeight(Places);
    Track.Slices.push_back({S.Begin, S.End, nameOf(S.What), describe(R, S),
                            Order.empty() ? "" : Order.front().first});
  }
  return Track;
}

void PathTrack::cut(int64_t FromNs, int64_t ToNs) {
  std::vector<Slice> Kept;
  for (Slice &S : Slices) {
    S.BeginNs = std::max(S.BeginNs, FromNs);
    S.EndNs = std::min(S.EndNs, ToNs);
    if (S.BeginNs < S.EndNs)
      Kept.push_back(std::move(S));
  }
  Slices = std::move(Kept);
}

std::string criticalPathJson(const PathReport &R) {
  using nlohmann::json;
  json Segments = json::array();
  for (const PathSegment &S : R.Segments) {
    json J = {{"begin_ns", S.Begin - R.BeginNs},
              {"end_ns", S.End - R.BeginNs},
              {"kind", nameOf(S.What)},
              {"thread", S.Thread}};
    if (!S.Cause.empty())
      J["cause"] = S.Cause;
    if (S.Run)
      J["run"] = S.Run->Name;
    if (S.Run && S.Run->Kernel)
      J["dispatch"] = S.Run->Kernel->Record.Dispatch;
    if (isVirtual(S))
      J["virtual"] = true;
    Weights Places;
    addPlaces(R, S, Places);
    for (const auto &[Place, Ns] : byWeight(Places))
      J["places"].push_back({{"place", Place}, {"ns", Ns}});
    Segments.push_back(std::move(J));
  }
  json Groups = json::array();
  for (const auto &[What, G] : groupsOf(R))
    Groups.push_back({{"what", What},
                      {"kind", nameOf(G.What)},
                      {"ns", G.Ns},
                      {"count", G.Count}});
  json Out = {{"thread", R.Thread},
              {"ns", lengthOf(R)},
              {"sched", R.A.Switches},
              {"segments", std::move(Segments)},
              {"groups", std::move(Groups)}};
  return Out.dump(1, ' ', false, json::error_handler_t::replace) + "\n";
}

} // namespace kprobe
