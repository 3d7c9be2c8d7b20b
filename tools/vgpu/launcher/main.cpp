//===- main.cpp - kprobe-vgpu: run a HIP program on the virtual GPU ---------===//
//
//   kprobe-vgpu [--vgpu gfx906,…] [--stats[=FILE]]
//               [--stats-json[=FILE]] [--log FILE] [--max-cycles N] [--threads N]
//               -- PROGRAM ARGS
//
// Sets the environment and becomes the program, so that its exit status is its
// own. By hand it is the same:
//
//   env LD_LIBRARY_PATH=<prefix>/lib/kprobe-vgpu HSA_ENABLE_SDMA=0
//       KPROBE_VGPU=gfx906 PROGRAM ARGS
//
// Exit status: the program's; 127 when it cannot be found, 126 when it cannot
// be run, 2 for wrong usage, 1 when the virtual GPU is not installed.
//
//===----------------------------------------------------------------------===//
#include "launcher/Launch.h"

#include <CLI/CLI.hpp>

#include <cstdio>
#include <cstdlib>
#include <string>
#include <vector>

namespace {

int fail(int Status, const std::string &Message) {
  std::fprintf(stderr, "kprobe-vgpu: error: %s\n", Message.c_str());
  return Status;
}

} // namespace

int main(int ArgCount, char **Args) {
  CLI::App App("Runs a HIP program on a virtual GPU: the program's own code, "
               "the real ROCm libraries, and a model of the device below them.\n"
               "All times and cycle counts are modelled.",
               "kprobe-vgpu");
  std::string Target = "gfx906", Stats, StatsJson, Log;
  uint64_t MaxCycles = 0;
  unsigned Threads = 0;
  App.add_option("--vgpu,--target", Target,
                 "Devices, as a comma-separated list of targets (" +
                     vgpu::DeviceConfig::knownTargets() + ")")
      ->capture_default_str();
  App.add_flag("--stats{-}", Stats,
               "Print counters of each dispatch, or write them to a file "
               "(--stats=FILE)");
  App.add_flag("--stats-json{kprobe-vgpu.json}", StatsJson,
               "Write counters of each dispatch and their sums as JSON "
               "(--stats-json=FILE; %p in FILE is the process id)");
  App.add_option("--log", Log, "Write the log of executed blocks to FILE")->type_name("FILE");
  App.add_option("--max-cycles", MaxCycles,
                 "End a dispatch that runs longer than N modelled cycles with "
                 "an error")
      ->type_name("N");
  App.add_option("--threads", Threads,
                 "Run compute units on N threads: faster where a kernel has many "
                 "workgroups, but cycles differ from run to run")
      ->type_name("N")
      ->check(CLI::Range(1, 1024));
  App.prefix_command();
  App.footer("Usage: kprobe-vgpu [options] -- PROGRAM [ARGUMENTS]");
  try {
    App.parse(ArgCount, Args);
  } catch (const CLI::CallForHelp &Help) {
    return App.exit(Help);
  } catch (const CLI::ParseError &Error) {
    return fail(2, std::string(Error.what()));
  }

  std::vector<std::string> Program = App.remaining();
  if (!Program.empty() && Program[0] == "--")
    Program.erase(Program.begin());
  if (Program.empty())
    return fail(2, "no program given (kprobe-vgpu [options] -- PROGRAM ARGS)");
  if (Program[0].size() > 1 && Program[0][0] == '-')
    return fail(2, "unknown option '" + Program[0] + "'");
  std::string Problem = vgpu::checkTargets(Target);
  if (!Problem.empty())
    return fail(2, Problem);
  Problem = vgpu::setVirtualGpu(Target);
  if (!Problem.empty())
    return fail(1, Problem);
  if (!Stats.empty())
    setenv("KPROBE_VGPU_STATS", Stats.c_str(), 1);
  if (!StatsJson.empty())
    setenv("KPROBE_VGPU_STATS_JSON", StatsJson.c_str(), 1);
  if (!Log.empty())
    setenv("KPROBE_VGPU_LOG", Log.c_str(), 1);
  if (MaxCycles)
    setenv("KPROBE_VGPU_MAX_CYCLES", std::to_string(MaxCycles).c_str(), 1);
  if (Threads)
    setenv("KPROBE_VGPU_THREADS", std::to_string(Threads).c_str(), 1);

  int Status = 0;
  Problem = vgpu::becomeProgram(std::move(Program), Status);
  return fail(Status, Problem);
}
