// kprobe-decode stats: where the time went, by kernel and block.
#include "Commands.h"

#include "DumpVerifier.h"
#include "Progress.h"
#include "StatisticsReport.h"

#include <algorithm>
#include <iostream>
#include <memory>

namespace kprobe {

Command addStatsCommand(CLI::App &App) {
  struct Options {
    std::vector<std::string> Files;
    ReportOptions Report;
    bool Json = false;
  };
  auto O = std::make_shared<Options>();
  CLI::App *Sub = App.add_subcommand("stats", "time by kernel and block");
  Sub->add_option("FILE", O->Files, "dumps; - is standard input")->required();
  Sub->add_option("--top", O->Report.Top, "show N blocks a kernel")
      ->check(CLI::PositiveNumber)
      ->type_name("N");
  Sub->add_flag("--json", O->Json, "for programs");
  return [O] {
    Statistics S;
    // Faults are told after the tables, so that they are the last thing seen.
    std::vector<std::pair<std::string, std::string>> Faults;
    std::vector<uint64_t> Damaged;
    for (const std::string &File : O->Files) {
      uint64_t Before = S.eventTotals().Damaged;
      Trace &T = S.open();
      FileSource Source;
      Progress Reading("reading " + File);
      Source.watch(
          [&](uint64_t Done, uint64_t All) { Reading.show(Done, All); });
      Error E = Source.open(File);
      if (!E)
        E = readTrace(Source, T, S);
      if (E)
        Faults.emplace_back(File, E.text());
      Damaged.push_back(S.eventTotals().Damaged - Before);
    }
    S.finish();
    // Tables of nothing would only hide the fault.
    int Status = 0;
    bool Any = std::any_of(S.traces().begin(), S.traces().end(),
                           [](const auto &T) { return T->Owner.has_value(); });
    if (Any) {
      std::cout << (O->Json ? statisticsJson(S, O->Report)
                            : statisticsText(S, O->Report));
      Status = finishOutput();
    }
    for (const auto &[File, Text] : Faults)
      Status |= complain(File, Text);
    for (size_t I = 0; I < Damaged.size(); ++I)
      Status |= complainOfDamage(O->Files[I], Damaged[I]);
    return Status;
  };
}

} // namespace kprobe
