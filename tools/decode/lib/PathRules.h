// Blocks without an event of their own, put back where they ran.
//
// The site table says of each such block J which block A tells of it: J runs
// exactly once after each A, with the same lanes. When: behind everything that A
// reaches without passing J. So J is owed from A's event on, and paid before the
// first event that is not in between; what is owed innermost is paid first.
#ifndef KPROBE_DECODE_PATHRULES_H
#define KPROBE_DECODE_PATHRULES_H

#include <algorithm>
#include <cstdint>
#include <utility>
#include <vector>

namespace kprobe {

/// For the sites of one kernel, counted from its first.
class PathRules {
public:
  static constexpr uint32_t None = UINT32_MAX;

  /// \p Successors by site.
  PathRules(std::vector<std::vector<uint32_t>> Successors)
      : Successors(std::move(Successors)),
        OwedBy(this->Successors.size(), None),
        IsOmitted(this->Successors.size()), Between(this->Successors.size()) {}

  size_t size() const { return Successors.size(); }

  /// Site \p Omitted runs after each \p Anchor. False if another already does,
  /// or too many lie between.
  bool add(uint32_t Omitted, uint32_t Anchor);

  /// False when following what sites owe does not come to an end.
  bool isSound() const;

  /// The site that runs once after each \p Site, or None.
  uint32_t owedBy(uint32_t Site) const { return OwedBy[Site]; }

  /// Whether \p Site may run between the anchor of \p Omitted and it.
  bool isBefore(uint32_t Site, uint32_t Omitted) const {
    const std::vector<uint32_t> &Sites = Between[Omitted];
    return std::binary_search(Sites.begin(), Sites.end(), Site);
  }

private:
  std::vector<std::vector<uint32_t>> Successors;
  std::vector<uint32_t> OwedBy;
  std::vector<bool> IsOmitted;
  std::vector<std::vector<uint32_t>> Between; ///< by omitted site, sorted
};

/// Walks one wave's events.
class PathWalk {
public:
  explicit PathWalk(const PathRules &Rules) : Rules(Rules) {}

  /// An event of \p Site, by \p Lanes. Calls \p Pay(site, lanes) for each block
  /// that ran before it.
  template <typename Fn> void event(uint32_t Site, uint32_t Lanes, Fn &&Pay) {
    while (!Owed.empty() && !Rules.isBefore(Site, Owed.back().Site))
      pay(Pay);
    owe(Site, Lanes);
  }

  /// The wave ended: everything that is owed ran.
  template <typename Fn> void end(Fn &&Pay) {
    while (!Owed.empty())
      pay(Pay);
  }

private:
  struct Debt {
    uint32_t Site, Lanes;
  };
  void owe(uint32_t Site, uint32_t Lanes) {
    if (uint32_t Next = Rules.owedBy(Site); Next != PathRules::None)
      Owed.push_back({Next, Lanes});
  }
  template <typename Fn> void pay(Fn &&Pay) {
    Debt Paid = Owed.back();
    Owed.pop_back();
    Pay(Paid.Site, Paid.Lanes);
    owe(Paid.Site, Paid.Lanes);
  }

  const PathRules &Rules;
  std::vector<Debt> Owed;
};

} // namespace kprobe

#endif
