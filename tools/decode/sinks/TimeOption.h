// Times on the command line, the same for all subcommands.
#ifndef KPROBE_DECODE_TIMEOPTION_H
#define KPROBE_DECODE_TIMEOPTION_H

#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <string>
#include <utility>

namespace kprobe {

/// "1.5", "200ms", "3us", "10ns": seconds without a unit. False on anything
/// else.
inline bool parseTime(const std::string &Text, int64_t &Ns) {
  char *Unit = nullptr;
  double Value = std::strtod(Text.c_str(), &Unit);
  if (Unit == Text.c_str() || !(Value >= 0) || Value > 1e9)
    return false;
  const std::pair<const char *, double> Units[] = {
      {"", 1e9}, {"s", 1e9}, {"ms", 1e6}, {"us", 1e3}, {"ns", 1}};
  for (const auto &[Name, Factor] : Units)
    if (!std::strcmp(Unit, Name)) {
      Ns = static_cast<int64_t>(Value * Factor + 0.5);
      return true;
    }
  return false;
}

inline std::string checkTime(const std::string &Text) {
  int64_t Ignored;
  return parseTime(Text, Ignored)
             ? ""
             : "'" + Text + "' is no time (1.5, 200ms, 3us, 10ns)";
}

} // namespace kprobe

#endif
