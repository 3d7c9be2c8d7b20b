// kprobe-decode flame: time by stack, for flame graphs.
#include "Commands.h"

#include "FlameFormats.h"

#include <CLI/Validators.hpp>

#include <algorithm>
#include <cstdio>
#include <iostream>
#include <memory>

namespace kprobe {

Command addFlameCommand(CLI::App &App) {
  struct Options {
    std::vector<std::string> Files;
    std::string Format = "folded";
    std::vector<std::string> Of;
    bool Lines = false;
  };
  auto O = std::make_shared<Options>();
  CLI::App *Sub = App.add_subcommand(
      "flame", "time by stack, for flame graphs (of runs with --profile)");
  Sub->add_option("FILE", O->Files, "dumps")->required();
  Sub->add_option("--to", O->Format,
                  "folded (a line a stack; flamegraph.pl, inferno) or "
                  "speedscope (JSON; www.speedscope.app)")
      ->check(CLI::IsMember({"folded", "speedscope"}));
  Sub->add_option("--of", O->Of, "samples, waits, kernels; all by default")
      ->delimiter(',')
      ->check(CLI::IsMember({"samples", "waits", "kernels"}));
  Sub->add_flag("--lines", O->Lines, "tell lines of native frames apart, too");
  return [O] {
    FlameChoice Wanted;
    auto has = [&](const char *Name) {
      return O->Of.empty() ||
             std::find(O->Of.begin(), O->Of.end(), Name) != O->Of.end();
    };
    Wanted.Samples = has("samples");
    Wanted.Waits = has("waits");
    Wanted.Kernels = has("kernels");
    Wanted.Lines = O->Lines;
    Flame Sum(Wanted);
    std::vector<std::pair<std::string, std::string>> Faults;
    for (const std::string &File : O->Files) {
      FileSource Source;
      Timeline T;
      Error E = Source.open(File);
      if (!E)
        E = Source.rewind(); // a pipe fails here
      if (!E)
        E = T.open(Source);
      if (E)
        Faults.emplace_back(File, E.text());
      if (!T.trace().Owner)
        continue;
      if (Error Unreadable = Sum.add(T))
        Faults.emplace_back(File, Unreadable.text());
    }
    std::cout << (O->Format == "folded" ? foldedStacks(Sum)
                                        : speedscope(Sum, O->Files.front()));
    int Status = finishOutput();
    for (const std::string &Problem : Sum.problems())
      std::fprintf(stderr, "kprobe-decode: warning: %s\n", Problem.c_str());
    if (Sum.brokenStacks() != 0)
      std::fprintf(stderr,
                   "kprobe-decode: warning: %llu stacks lack outer frames; "
                   "they stand below (broken stack)\n",
                   static_cast<unsigned long long>(Sum.brokenStacks()));
    for (const auto &[File, Text] : Faults)
      Status |= complain(File, Text);
    return Status;
  };
}

} // namespace kprobe
