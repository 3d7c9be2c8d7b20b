// Which blocks lie between an anchor and the block it tells of.
#include "PathRules.h"

#include "kprobe/wire.h"

#include <unordered_set>

namespace kprobe {

bool PathRules::add(uint32_t Omitted, uint32_t Anchor) {
  if (OwedBy[Anchor] != None || IsOmitted[Omitted])
    return false;
  OwedBy[Anchor] = Omitted;
  IsOmitted[Omitted] = true;
  std::unordered_set<uint32_t> Reached;
  std::vector<uint32_t> Work = {Anchor};
  while (!Work.empty()) {
    uint32_t Site = Work.back();
    Work.pop_back();
    for (uint32_t Next : Successors[Site])
      if (Next != Omitted && Reached.insert(Next).second)
        Work.push_back(Next);
    if (Reached.size() > KPROBE_MAX_BETWEEN)
      return false;
  }
  Between[Omitted].assign(Reached.begin(), Reached.end());
  std::sort(Between[Omitted].begin(), Between[Omitted].end());
  return true;
}

bool PathRules::isSound() const {
  // Each site is owed by one other at most, so that debts form chains and rings;
  // a ring is one where no site owes nothing.
  std::vector<bool> Ends(OwedBy.size());
  for (uint32_t Start = 0; Start < OwedBy.size(); ++Start) {
    std::vector<uint32_t> Chain;
    uint32_t Site = Start;
    while (Site != None && !Ends[Site] && Chain.size() <= OwedBy.size()) {
      Chain.push_back(Site);
      Site = OwedBy[Site];
    }
    if (Chain.size() > OwedBy.size())
      return false;
    for (uint32_t Each : Chain)
      Ends[Each] = true;
  }
  return true;
}

} // namespace kprobe
