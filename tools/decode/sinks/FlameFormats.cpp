// Folded stacks and speedscope.
#include "FlameFormats.h"

#include <nlohmann/json.hpp>

#include <algorithm>
#include <cmath>

namespace kprobe {

std::string foldedStacks(const Flame &F) {
  std::string Out;
  for (const auto &[Stack, Weight] : F.stacks()) {
    auto Ns = static_cast<unsigned long long>(std::llround(Weight));
    if (Ns == 0)
      continue;
    std::string Line;
    for (uint32_t Index : Stack) {
      std::string Name = F.frames()[Index].Name;
      // Separators of the format.
      std::replace(Name.begin(), Name.end(), ';', ':');
      std::replace(Name.begin(), Name.end(), '\n', ' ');
      Line += (Line.empty() ? "" : ";") + Name;
    }
    Out += Line + " " + std::to_string(Ns) + "\n";
  }
  return Out;
}

std::string speedscope(const Flame &F, const std::string &Name) {
  using nlohmann::json;
  json Frames = json::array();
  for (const Flame::Frame &Each : F.frames()) {
    json J = {{"name", Each.Name}};
    if (!Each.File.empty()) {
      J["file"] = Each.File;
      J["line"] = Each.Line;
    }
    Frames.push_back(std::move(J));
  }
  json Samples = json::array(), Weights = json::array();
  double Sum = 0;
  for (const auto &[Stack, Weight] : F.stacks()) {
    Samples.push_back(Stack);
    Weights.push_back(std::llround(Weight));
    Sum += static_cast<double>(std::llround(Weight));
  }
  json Out = {
      {"$schema", "https://www.speedscope.app/file-format-schema.json"},
      {"exporter", "kprobe-decode"},
      {"name", Name},
      {"shared", {{"frames", std::move(Frames)}}},
      {"profiles",
       json::array({{{"type", "sampled"},
                     {"name", Name},
                     {"unit", "nanoseconds"},
                     {"startValue", 0},
                     {"endValue", Sum},
                     {"samples", std::move(Samples)},
                     {"weights", std::move(Weights)}}})}};
  return Out.dump(-1, ' ', false, json::error_handler_t::replace) + "\n";
}

} // namespace kprobe
