// Agents by their numbers in the dump.
//
// A program may close ROCr and open it again: its agents are found anew then,
// but keep the numbers by which the dump knows them, and are described once.
#ifndef KPROBE_RUNTIME_KNOWNAGENTS_H
#define KPROBE_RUNTIME_KNOWNAGENTS_H

#include <cstdint>
#include <mutex>
#include <string>
#include <vector>

namespace kprobe {

class KnownAgents {
public:
  // Identity is whatever tells an agent from all others of one loading.
  uint32_t numberOf(const std::string &Identity) {
    std::lock_guard<std::mutex> Guard(Lock);
    for (uint32_t I = 0; I < All.size(); ++I)
      if (All[I].Identity == Identity)
        return I;
    All.push_back({Identity, false, 0});
    return uint32_t(All.size() - 1);
  }

  // Whether the dump has the agent's description; then with its rate of ticks.
  bool described(uint32_t Number, uint64_t &TickHz) const {
    std::lock_guard<std::mutex> Guard(Lock);
    if (Number >= All.size() || !All[Number].Described)
      return false;
    TickHz = All[Number].TickHz;
    return true;
  }
  void describe(uint32_t Number, uint64_t TickHz) {
    std::lock_guard<std::mutex> Guard(Lock);
    if (Number < All.size())
      All[Number] = {All[Number].Identity, true, TickHz};
  }

private:
  struct Known {
    std::string Identity;
    bool Described;
    uint64_t TickHz;
  };
  mutable std::mutex Lock;
  std::vector<Known> All;
};

} // namespace kprobe

#endif
