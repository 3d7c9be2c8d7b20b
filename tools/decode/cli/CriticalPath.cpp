// kprobe-decode critical-path: why a thread came so far so late.
#include "Commands.h"

#include "CriticalPathReport.h"
#include "TimeOption.h"

#include <algorithm>
#include <cstdio>
#include <iostream>
#include <memory>

namespace kprobe {
namespace {

struct Options {
  std::string File;
  std::string Thread;
  std::string From, To;
  bool Json = false;
};

/// By id or by name; the main thread, or else the one that lived longest.
const ThreadActivity *choose(const Activity &A, const Trace &T,
                             const std::string &Wish) {
  const ThreadActivity *Best = nullptr;
  for (const auto &[Id, Each] : A.Threads) {
    if (Each.First > Each.Last || Each.Emulation)
      continue;
    if (!Wish.empty()) {
      if (Wish == std::to_string(Id) || Wish == Each.Name)
        return &Each;
      continue;
    }
    if (T.Owner && Id == T.Owner->Record.Pid)
      return &Each;
    if (!Best || Each.Last - Each.First > Best->Last - Best->First)
      Best = &Each;
  }
  return Best;
}

int run(const Options &O) {
  FileSource Source;
  Timeline Input;
  Error E = Source.open(O.File);
  if (!E)
    E = Source.rewind(); // a pipe fails here
  if (!E)
    E = Input.open(Source);
  if (!Input.trace().Owner)
    return complain(O.File, E.text());
  StackReader Reader(Input.trace());
  Activity A;
  if (Error Unreadable = gatherActivity(Input, Reader, A))
    return complain(O.File, Unreadable.text());
  const ThreadActivity *Chosen = choose(A, Input.trace(), O.Thread);
  if (!Chosen)
    return complain(O.File, O.Thread.empty()
                                ? "no thread has any event (record with "
                                  "--api, --profile or --sched)"
                                : "no thread is called '" + O.Thread + "'");
  int64_t From = Chosen->First, To = Chosen->Last, Cut = 0;
  if (!O.From.empty() && parseTime(O.From, Cut))
    From = std::max(From, Input.beginNs() + Cut);
  if (!O.To.empty() && parseTime(O.To, Cut))
    To = std::min(To, Input.beginNs() + Cut);
  PathReport R = {A,
                  Input.trace(),
                  Reader,
                  Chosen->Id,
                  Input.beginNs(),
                  criticalPath(A, Input.trace(), Reader, Chosen->Id, From, To)};
  std::cout << (O.Json ? criticalPathJson(R) : criticalPathText(R));
  int Status = finishOutput();
  for (const std::string &Problem : Reader.symbols().problems())
    std::fprintf(stderr, "kprobe-decode: warning: %s\n", Problem.c_str());
  return E ? complain(O.File, E.text()) : Status;
}

} // namespace

Command addCriticalPathCommand(CLI::App &App) {
  auto O = std::make_shared<Options>();
  CLI::App *Sub = App.add_subcommand(
      "critical-path", "what a thread had to wait for, back to its begin");
  Sub->add_option("FILE", O->File, "dump")->required();
  Sub->add_option("--thread", O->Thread,
                  "id or name of the thread (default: the main thread)")
      ->type_name("T");
  Sub->add_option("--from", O->From,
                  "only from this time after the begin on; seconds, or with "
                  "ms, us, ns")
      ->check(checkTime)
      ->type_name("TIME");
  Sub->add_option("--to", O->To, "only up to this time")
      ->check(checkTime)
      ->type_name("TIME");
  Sub->add_flag("--json", O->Json, "for programs");
  return [O] { return run(*O); };
}

} // namespace kprobe
