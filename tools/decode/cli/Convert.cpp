// kprobe-decode convert: traces for other programs.
#include "Commands.h"

#include "PathInput.h"
#include "Progress.h"
#include "TimeOption.h"

#include <CLI/Validators.hpp>

#include <cstdio>
#include <memory>

namespace kprobe {
namespace {

struct Options {
  std::vector<std::string> Files;
  std::string Format;
  std::string Output;
  std::string From, Until;
  std::string Counters;
  bool Path = false;
  std::string PathThread, KernelTrace;
  TimelineCut Cut;
};

/// Talk about what had to be bent, once an input.
void remark(const std::string &File, const Timeline &T) {
  auto say = [&](const std::string &Text) {
    std::fprintf(stderr, "kprobe-decode: warning: %s: %s\n", File.c_str(),
                 Text.c_str());
  };
  uint64_t Timed = 0;
  for (const auto &Entry : T.trace().Dispatches)
    Timed += T.counters().of(Entry.first) != nullptr;
  if (!T.counters().names().empty() && Timed < T.trace().Dispatches.size())
    say("no counters of " +
        std::to_string(T.trace().Dispatches.size() - Timed) + " dispatches");
  if (T.clampedTimes() != 0)
    say(std::to_string(T.clampedTimes()) +
        " times lay outside the trace or before their begin and were moved");
  for (const auto &[Number, A] : T.trace().Agents) {
    std::string Who = "agent " + std::to_string(Number);
    const AgentClock &C = T.clockOf(A);
    if (T.waveCount() != 0 && C.How == Alignment::None)
      say(Who + " has no clock readings: its waves are not aligned with the "
                "host");
    if (C.How == Alignment::Dispatches)
      say(Who + " has no readings of its counter: waves are aligned with "
                "kernel times");
  }
}

/// One directory for one input, PATH/N for several.
Error writeCtfInputs(const std::vector<std::unique_ptr<Timeline>> &Inputs,
                     const std::vector<PathTrack> &Paths,
                     const std::string &Path) {
  if (Inputs.size() == 1)
    return writeCtf(*Inputs.front(), Paths.front(), Path);
  for (size_t I = 0; I < Inputs.size(); ++I)
    if (Error E =
            writeCtf(*Inputs[I], Paths[I], Path + "/" + std::to_string(I)))
      return E;
  return Error::success();
}

/// The path through all inputs: a track of the first one.
void addPath(const Options &O, const std::vector<std::string> &Names,
             const Timeline &First, PathTrack &Out) {
  PathWish Wish;
  Wish.Thread = O.PathThread;
  Wish.KernelTrace = O.KernelTrace;
  if (Error None = readCriticalPath(Names, Wish, Out)) {
    std::fprintf(stderr, "kprobe-decode: warning: %s: no critical path: %s\n",
                 Names.front().c_str(), None.text().c_str());
    return;
  }
  Out.cut(First.beginNs() + O.Cut.FromNs,
          O.Cut.ToNs < INT64_MAX - First.beginNs()
              ? First.beginNs() + O.Cut.ToNs
              : INT64_MAX);
}

int convert(Options &O) {
  if (!O.From.empty())
    parseTime(O.From, O.Cut.FromNs);
  if (!O.Until.empty())
    parseTime(O.Until, O.Cut.ToNs);
  std::vector<std::unique_ptr<FileSource>> Sources;
  std::vector<std::unique_ptr<Timeline>> Inputs;
  std::vector<std::string> Names;
  std::vector<std::pair<std::string, std::string>> Faults;
  for (const std::string &File : O.Files) {
    auto Source = std::make_unique<FileSource>();
    auto T = std::make_unique<Timeline>();
    T->cut(O.Cut);
    Progress Reading("reading " + File);
    Source->watch(
        [&](uint64_t Done, uint64_t All) { Reading.show(Done, All); });
    Error E = Source->open(File);
    if (!E)
      E = Source->rewind(); // a pipe fails here, before anything is written
    if (!E)
      E = T->open(*Source);
    Source->watch(nullptr);
    if (!O.Counters.empty() && T->trace().Owner)
      if (Error Unread = T->counters().read(O.Counters, T->trace()))
        return complain(O.Counters, Unread.text());
    if (E)
      Faults.emplace_back(File, E.text());
    if (!T->trace().Owner)
      continue;
    Sources.push_back(std::move(Source));
    Inputs.push_back(std::move(T));
    Names.push_back(File);
  }
  int Status = 0;
  std::vector<PathTrack> Paths(Inputs.size());
  if (O.Path && !Inputs.empty())
    addPath(O, Names, *Inputs.front(), Paths.front());
  if (!Inputs.empty()) {
    Progress Writing("writing " + O.Output);
    for (size_t I = 0; I < Inputs.size(); ++I)
      Inputs[I]->watch([&, I](uint64_t Given, uint64_t All) {
        Writing.show(I * All + Given, Inputs.size() * All);
      });
    Error E = O.Format == "ctf"        ? writeCtfInputs(Inputs, Paths, O.Output)
              : O.Format == "perfetto" ? writePerfetto(Inputs, Paths, O.Output)
              : O.Format == "chrome"   ? writeChrome(Inputs, Paths, O.Output)
              : O.Format == "csv"      ? writeCsv(Inputs, O.Output)
                                       : writeCallsCsv(Inputs, O.Output);
    if (E)
      Status = complain(O.Output, E.text());
  }
  for (size_t I = 0; I < Inputs.size(); ++I) {
    remark(Names[I], *Inputs[I]);
    Status |= complainOfDamage(Names[I], Inputs[I]->damagedEvents());
  }
  for (const auto &[File, Text] : Faults)
    Status |= complain(File, Text);
  return Status;
}

} // namespace

Command addConvertCommand(CLI::App &App) {
  auto O = std::make_shared<Options>();
  CLI::App *Sub = App.add_subcommand("convert", "traces for other programs");
  Sub->add_option("FILE", O->Files, "dumps")->required();
  Sub->add_option("--to", O->Format,
                  "ctf (a directory), perfetto (protobuf), chrome (JSON; "
                  "Perfetto reads it), csv (a row for each event), calls-csv "
                  "(a row for each call)")
      ->required()
      ->check(CLI::IsMember({"ctf", "perfetto", "chrome", "csv", "calls-csv"}));
  Sub->add_option("-o,--output", O->Output,
                  "what to write; - is standard output (all but ctf)")
      ->required()
      ->type_name("PATH");
  Sub->add_option("--from", O->From,
                  "only what happens from this time after the begin on; "
                  "seconds, or with ms, us, ns")
      ->check(checkTime)
      ->type_name("TIME");
  Sub->add_option("--until", O->Until, "only what happens up to this time")
      ->check(checkTime)
      ->type_name("TIME");
  Sub->add_option("--counters", O->Counters,
                  "what kprobe-vgpu --stats-json counted of each dispatch: "
                  "counter tracks (ctf, perfetto, chrome)")
      ->type_name("FILE");
  Sub->add_flag("--critical-path", O->Path,
                "a track of the critical path, as kprobe-decode critical-path "
                "shows it of all FILEs (ctf, perfetto, chrome)");
  Sub->add_option("--thread", O->PathThread,
                  "whose path: id or name of a thread (default: the main "
                  "thread)")
      ->type_name("T");
  Sub->add_option("--kernel-trace", O->KernelTrace,
                  "for the path: LTTng's trace of the kernel at the time")
      ->type_name("DIR");
  Sub->add_option("--kernel", O->Cut.Kernel,
                  "of kernels only those with TEXT in their name")
      ->type_name("TEXT");
  Sub->add_option("--dispatch", O->Cut.Dispatch,
                  "of kernels only this dispatch")
      ->type_name("N");
  Sub->add_option("--wave", O->Cut.Wave,
                  "of waves only this one of each dispatch")
      ->type_name("N");
  return [O] { return convert(*O); };
}

} // namespace kprobe
