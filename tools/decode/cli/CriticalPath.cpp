// kprobe-decode critical-path: why a thread came so far so late.
#include "Commands.h"

#include "PathInput.h"

#include <cstdio>
#include <iostream>
#include <memory>

namespace kprobe {
namespace {

struct Options {
  std::vector<std::string> Files;
  std::string Thread;
  std::string From, To;
  std::string KernelTrace;
  bool Json = false;
};

int run(const Options &O) {
  PathWish Wish;
  Wish.Thread = O.Thread;
  Wish.KernelTrace = O.KernelTrace;
  if (!O.From.empty())
    parsePathEnd(O.From, Wish.From);
  if (!O.To.empty())
    parsePathEnd(O.To, Wish.To);
  PathInput P;
  int Status = 0;
  if (Error E = P.open(O.Files, Wish)) {
    // What a dump lacks is the better reason.
    if (P.faults().empty())
      Status = complain(O.Files.front(), E.text());
  } else {
    PathReport R = P.report();
    std::cout << (O.Json ? criticalPathJson(R) : criticalPathText(R));
    Status = finishOutput();
    for (const std::string &Problem : P.problems())
      std::fprintf(stderr, "kprobe-decode: warning: %s\n", Problem.c_str());
  }
  for (const PathInput::Fault &F : P.faults())
    Status |= complain(F.File, F.Text);
  return Status;
}

std::string checkPathEnd(const std::string &Text) {
  PathEnd Ignored;
  return parsePathEnd(Text, Ignored);
}

} // namespace

Command addCriticalPathCommand(CLI::App &App) {
  auto O = std::make_shared<Options>();
  CLI::App *Sub = App.add_subcommand(
      "critical-path", "what a thread had to wait for, back to its begin");
  Sub->add_option("FILE", O->Files,
                  "dumps of one machine: the program's, and those of processes "
                  "that it started or waited for")
      ->required();
  Sub->add_option("--thread", O->Thread,
                  "id or name of the thread (default: who made the call of "
                  "--to, else the main thread of the first dump)")
      ->type_name("T");
  Sub->add_option("--from", O->From,
                  "only from here on: a time after the begin (seconds, or with "
                  "ms, us, ns), or the begin of a call: hipMemcpy is its first "
                  "one, hipMemcpy#3 its third, of the thread if one is chosen")
      ->check(checkPathEnd)
      ->type_name("TIME|CALL");
  Sub->add_option("--to", O->To,
                  "only up to here: a time, or the end of a call; without a "
                  "number the last one")
      ->check(checkPathEnd)
      ->type_name("TIME|CALL");
  Sub->add_option("--kernel-trace", O->KernelTrace,
                  "LTTng's trace of the kernel at the time (its directory, or "
                  "its session's): who ran, waited and woke whom, in place of "
                  "the dumps' records of --sched")
      ->type_name("DIR");
  Sub->add_flag("--json", O->Json, "for programs");
  return [O] { return run(*O); };
}

} // namespace kprobe
