// Parsing of the environment. A variable that cannot be understood turns
// tracing off with one line: a trace of something else than what was asked for
// would be worse than none.
#include "Config.h"

#include "kprobe/wire.h"

#include <algorithm>
#include <cxxabi.h>
#include <fnmatch.h>
#include <map>
#include <stdlib.h>

namespace kprobe {

// Reads digits from the start of Text; the place behind them, or 0 for none or
// too many.
static size_t parseDigits(const std::string &Text, uint64_t &Value) {
  size_t Place = 0;
  Value = 0;
  while (Place < Text.size() && Text[Place] >= '0' && Text[Place] <= '9') {
    uint64_t Digit = uint64_t(Text[Place] - '0');
    if (Value > (UINT64_MAX - Digit) / 10)
      return 0;
    Value = Value * 10 + Digit;
    ++Place;
  }
  return Place;
}

bool parseCount(const std::string &Text, uint64_t &Count) {
  uint64_t Value = 0;
  size_t End = parseDigits(Text, Value);
  if (End == 0 || End != Text.size() || Value == 0)
    return false;
  Count = Value;
  return true;
}

bool parseSize(const std::string &Text, uint64_t &Bytes) {
  uint64_t Value = 0;
  size_t Place = parseDigits(Text, Value);
  if (Place == 0)
    return false;
  unsigned Shift = 0;
  if (Place < Text.size()) {
    switch (Text[Place++]) {
    case 'k':
    case 'K':
      Shift = 10;
      break;
    case 'm':
    case 'M':
      Shift = 20;
      break;
    case 'g':
    case 'G':
      Shift = 30;
      break;
    default:
      return false;
    }
  }
  if (Place != Text.size() || Value > (UINT64_MAX >> Shift))
    return false;
  Bytes = Value << Shift;
  return true;
}

bool parseDuration(const std::string &Text, uint64_t &Ns) {
  size_t Digits = Text.find_first_not_of("0123456789");
  if (Digits == 0 || Digits == std::string::npos || Digits > 9)
    return false;
  const std::string Unit = Text.substr(Digits);
  const std::pair<const char *, uint64_t> Units[] = {
      {"ns", 1}, {"us", 1000}, {"ms", 1000000}, {"s", 1000000000}};
  for (const auto &[Name, Factor] : Units)
    if (Unit == Name) {
      Ns = strtoull(Text.c_str(), nullptr, 10) * Factor;
      return true;
    }
  return false;
}

// "cycles:100000", "instructions:1000000", "cpu-clock:1ms", "on".
static bool readProfile(const std::string &Text, ProfileWish &Out) {
  size_t Colon = Text.find(':');
  const std::string Name = Text.substr(0, Colon);
  const std::string Value =
      Colon == std::string::npos ? "" : Text.substr(Colon + 1);
  Out.What = Name == "cycles" || Name == "on"  ? ProfileWish::Cycles
             : Name == "instructions" ? ProfileWish::Instructions
             : Name == "cpu-clock"    ? ProfileWish::CpuClock
                                      : ProfileWish::Off;
  if (Out.What == ProfileWish::Off)
    return false;
  bool Clock = Out.What == ProfileWish::CpuClock;
  Out.Period = Clock ? ProfileWish::DefaultClockNs : ProfileWish::DefaultCycles;
  if (Colon == std::string::npos)
    return true;
  if (Clock)
    return parseDuration(Value, Out.Period) && Out.Period >= 10000;
  if (Value.empty() || Value.size() > 15 ||
      Value.find_first_not_of("0123456789") != std::string::npos)
    return false;
  Out.Period = strtoull(Value.c_str(), nullptr, 10);
  return Name != "on" && Out.Period >= 1000;
}

bool SampleChoice::parse(const std::string &Text) {
  const std::string WavesUnit = "waves:", GroupsUnit = "groups:", Part = "1/";
  auto Begins = [&](size_t At, const std::string &With) {
    return Text.compare(At, With.size(), With) == 0;
  };
  bool OfGroups = Begins(0, GroupsUnit);
  size_t Place = OfGroups               ? GroupsUnit.size()
                 : Begins(0, WavesUnit) ? WavesUnit.size()
                                        : 0;
  uint64_t Number = 0;
  if (!Begins(Place, Part) ||
      !parseCount(Text.substr(Place + Part.size()), Number) ||
      (Number & (Number - 1)) != 0 || Number > (1u << MostShift))
    return false;
  Groups = OfGroups;
  for (Shift = 0; Number > 1; Number >>= 1)
    ++Shift;
  return true;
}

bool KernelFilter::parse(const std::string &Text) {
  size_t Begin = 0;
  while (true) {
    size_t End = Text.find(',', Begin);
    std::string Glob = Text.substr(
        Begin, End == std::string::npos ? std::string::npos : End - Begin);
    bool Excludes = !Glob.empty() && Glob[0] == '!';
    if (Excludes)
      Glob.erase(0, 1);
    if (Glob.empty())
      return false;
    (Excludes ? Exclude : Include).push_back(Glob);
    if (End == std::string::npos)
      return true;
    Begin = End + 1;
  }
}

// "void f<int>(int*)" → "f<int>": what people type.
static std::string withoutParameters(const std::string &Demangled) {
  size_t Depth = 0;
  size_t End = Demangled.size();
  // The parameter list is the last bracket group outside template arguments;
  // walk back over it.
  for (size_t I = Demangled.size(); I-- > 0;) {
    if (Demangled[I] == ')')
      ++Depth;
    else if (Demangled[I] == '(' && Depth > 0 && --Depth == 0) {
      End = I;
      break;
    }
  }
  std::string Name = Demangled.substr(0, End);
  // A template's return type stands before the name, behind a blank that is
  // outside angle brackets.
  int Angle = 0;
  int Paren = 0;
  size_t Begin = 0;
  for (size_t I = 0; I < Name.size(); ++I) {
    if (Name[I] == '<')
      ++Angle;
    else if (Name[I] == '>')
      --Angle;
    else if (Name[I] == '(')
      ++Paren;
    else if (Name[I] == ')')
      --Paren;
    else if (Name[I] == ' ' && Angle == 0 && Paren == 0)
      Begin = I + 1;
  }
  return Name.substr(Begin);
}

bool KernelFilter::matches(const std::string &MangledName) const {
  if (Include.empty() && Exclude.empty())
    return true;
  std::vector<std::string> Forms{MangledName};
  int Status = 0;
  if (char *Text =
          abi::__cxa_demangle(MangledName.c_str(), nullptr, nullptr, &Status)) {
    Forms.push_back(Text);
    Forms.push_back(withoutParameters(Text));
    free(Text);
  }
  auto MatchesAny = [&](const std::vector<std::string> &Globs) {
    for (const std::string &Glob : Globs)
      for (const std::string &Form : Forms)
        if (fnmatch(Glob.c_str(), Form.c_str(), 0) == 0)
          return true;
    return false;
  };
  if (MatchesAny(Exclude))
    return false;
  return Include.empty() || MatchesAny(Include);
}

static bool readSwitch(const char *Text) {
  return Text && *Text && std::string(Text) != "0";
}

static bool readApiNames(const std::string &Text, Config &Out) {
  for (size_t Begin = 0; Begin <= Text.size();) {
    size_t End = std::min(Text.find(',', Begin), Text.size());
    std::string Name = Text.substr(Begin, End - Begin);
    if (Name == "hip")
      Out.ApiHip = true;
    else if (Name == "hsa")
      Out.ApiHsa = true;
    else
      return false;
    Begin = End + 1;
  }
  return true;
}

bool readConfig(const EnvironmentReader &Get, Config &Out, std::string &Why) {
  Out.Disabled = readSwitch(Get("KPROBE_DISABLE"));
  Out.Verbose = readSwitch(Get("KPROBE_VERBOSE"));
  Out.Sched = readSwitch(Get("KPROBE_SCHED"));
  Out.Lttng = readSwitch(Get("KPROBE_LTTNG"));
  auto Text = [&](const char *Name) {
    const char *Value = Get(Name);
    return std::string(Value ? Value : "");
  };
  auto Ring = [&](const char *Name, uint64_t Least, const char *LeastText,
                  uint64_t &To) {
    std::string Value = Text(Name);
    uint64_t Bytes = 0;
    if (Value.empty())
      return true;
    if (!parseSize(Value, Bytes) || Bytes < Least ||
        Bytes > Config::MostRingBytes || (Bytes & (Bytes - 1)) != 0) {
      Why = std::string(Name) + ": \"" + Value +
            "\" is not a power of two between " + LeastText + " and 1G";
      return false;
    }
    To = Bytes;
    return true;
  };
  auto Filter = [&](const char *Name, KernelFilter &To) {
    std::string Value = Text(Name);
    if (Value.empty() || To.parse(Value))
      return true;
    Why = std::string(Name) + ": \"" + Value + "\" has an empty pattern";
    return false;
  };
  auto Count = [&](const char *Name, uint64_t &To) {
    std::string Value = Text(Name);
    if (Value.empty() || parseCount(Value, To))
      return true;
    Why = std::string(Name) + ": \"" + Value +
          "\" is not a whole number of 1 and more";
    return false;
  };
  auto Size = [&](const char *Name, uint64_t &To) {
    std::string Value = Text(Name);
    if (Value.empty() || (parseSize(Value, To) && To <= (1ull << 44)))
      return true;
    Why = std::string(Name) + ": \"" + Value + "\" is not a size";
    return false;
  };
  std::string Value = Text("KPROBE_OUTPUT");
  if (!Value.empty())
    Out.Output = Value;

  if (!Size("KPROBE_BUFFER", Out.BufferBytes))
    return false;
  uint64_t RingBytes = Out.RingBytes;
  if (!Ring("KPROBE_RING", Config::LeastRingBytes, "64", RingBytes) ||
      !Filter("KPROBE_KERNELS", Out.Kernels) ||
      !Count("KPROBE_EVERY", Out.Dispatches.Every) ||
      !Count("KPROBE_FIRST", Out.Dispatches.First))
    return false;
  Out.RingBytes = uint32_t(RingBytes);
  Value = Text("KPROBE_SAMPLE");
  if (!Value.empty() && !Out.Sample.parse(Value)) {
    Why = "KPROBE_SAMPLE: \"" + Value +
          "\" is not 1/N, waves:1/N or groups:1/N with a power of two up to "
          "1048576";
    return false;
  }
  Value = Text("KPROBE_MODE");
#define KPROBE_MODE(Name, Number, Text) {Text, Number},
  const std::map<std::string, uint32_t> Modes = {
#include "kprobe/modes.def"
  };
  if (!Value.empty() && !Modes.count(Value)) {
    Why = "KPROBE_MODE: \"" + Value + "\" is none of ring, drop, counters, exact";
    return false;
  }
  if (!Value.empty())
    Out.Mode = Modes.at(Value);
  uint64_t Seconds = 0;
  if (!Size("KPROBE_SNAPSHOT", Out.SnapshotBytes) ||
      !Count("KPROBE_EXACT_WAIT", Seconds))
    return false;
  if (Seconds)
    Out.ExactPatience =
        std::chrono::seconds(std::min<uint64_t>(Seconds, 1u << 20));
  Out.AllMemoryReachable = readSwitch(Get("HSA_XNACK"));
  Value = Text("KPROBE_POOL");
  if (!Value.empty() && Value != "device" && Value != "host") {
    Why = "KPROBE_POOL: \"" + Value + "\" is neither device nor host";
    return false;
  }
  Out.HostPool = Value == "host";
  Value = Text("KPROBE_METRICS");
  uint64_t Period = 0;
  if (!Value.empty() &&
      (!parseSize(Value, Period) || Period < 1 || Period > 60000)) {
    Why = "KPROBE_METRICS: \"" + Value +
          "\" is not a number of milliseconds up to 60000";
    return false;
  }
  Out.MetricsMs = uint32_t(Period);
  Value = Text("KPROBE_API");
  if (!Value.empty() && !readApiNames(Value, Out)) {
    Why = "KPROBE_API: \"" + Value + "\" is not a list of hip and hsa";
    return false;
  }
  Value = Text("KPROBE_PROFILE");
  if (!Value.empty() && !readProfile(Value, Out.Profile)) {
    Why = "KPROBE_PROFILE: \"" + Value +
          "\" is none of cycles:N, instructions:N (1000 or more), "
          "cpu-clock:TIME (10us or more)";
    return false;
  }
  Value = Text("KPROBE_PROFILE_WAITS");
  if (!Value.empty() && Value != "0" &&
      !parseDuration(Value, Out.Profile.LeastWaitNs)) {
    Why = "KPROBE_PROFILE_WAITS: \"" + Value + "\" is no time (100us, 1ms, 0)";
    return false;
  }
  if (Value == "0")
    Out.Profile.LeastWaitNs = 0;
  return Filter("KPROBE_API_FILTER", Out.ApiFunctions) &&
         Ring("KPROBE_API_BUFFER", Config::LeastApiRingBytes, "64K",
              Out.ApiRingBytes);
}

} // namespace kprobe
