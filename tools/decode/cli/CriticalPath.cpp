// kprobe-decode critical-path: why a thread came so far so late.
#include "Commands.h"

#include "CriticalPathReport.h"
#include "TimeOption.h"

#include <algorithm>
#include <cstdio>
#include <iostream>
#include <memory>
#include <optional>

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

/// A dump, and what its critical paths are made of.
struct PathInput {
  FileSource Source;
  Timeline Input;
  std::optional<StackReader> Reader;
  Activity A;
  const ThreadActivity *Chosen = nullptr;

  /// On success \p Damage may say why only a part of the dump was read.
  Error open(const std::string &File, const std::string &Thread,
             Error &Damage) {
    Damage = Source.open(File);
    if (!Damage)
      Damage = Source.rewind(); // a pipe fails here
    if (!Damage)
      Damage = Input.open(Source);
    if (!Input.trace().Owner)
      return Damage;
    Reader.emplace(Input.trace());
    if (Error E = gatherActivity(Input, *Reader, A))
      return E;
    Chosen = choose(A, Input.trace(), Thread);
    if (Chosen)
      return Error::success();
    return Error::plain(Thread.empty() ? "no thread has any event (record with "
                                         "--api, --profile or --sched)"
                                       : "no thread is called '" + Thread +
                                             "'");
  }

  PathReport report(int64_t From, int64_t To) const {
    return {A,
            Input.trace(),
            *Reader,
            Chosen->Id,
            Input.beginNs(),
            criticalPath(A, Input.trace(), *Reader, Chosen->Id, From, To)};
  }
};

int run(const Options &O) {
  PathInput P;
  Error Damage = Error::success();
  if (Error E = P.open(O.File, O.Thread, Damage))
    return complain(O.File, E.text());
  int64_t From = P.Chosen->First, To = P.Chosen->Last, Cut = 0;
  if (!O.From.empty() && parseTime(O.From, Cut))
    From = std::max(From, P.Input.beginNs() + Cut);
  if (!O.To.empty() && parseTime(O.To, Cut))
    To = std::min(To, P.Input.beginNs() + Cut);
  PathReport R = P.report(From, To);
  std::cout << (O.Json ? criticalPathJson(R) : criticalPathText(R));
  int Status = finishOutput();
  for (const std::string &Problem : P.Reader->symbols().problems())
    std::fprintf(stderr, "kprobe-decode: warning: %s\n", Problem.c_str());
  return Damage ? complain(O.File, Damage.text()) : Status;
}

} // namespace

Error readCriticalPath(const std::string &File, const std::string &Thread,
                       PathTrack &Out) {
  PathInput P;
  Error Damage = Error::success();
  if (Error E = P.open(File, Thread, Damage))
    return E;
  Out = criticalPathTrack(P.report(P.Chosen->First, P.Chosen->Last));
  return Error::success();
}

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
