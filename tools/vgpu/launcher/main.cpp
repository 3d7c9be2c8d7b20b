//===- main.cpp - kprobe-vgpu: run a HIP program on the virtual GPU ---------===//
//
//   kprobe-vgpu [--target gfx906] [--stats[=FILE]] [--log FILE]
//               [--max-cycles N] -- PROGRAM ARGS
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
#include "machine/DeviceConfig.h"

#include <CLI/CLI.hpp>

#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>
#include <unistd.h>
#include <vector>

namespace {

int fail(int Status, const std::string &Message) {
  std::fprintf(stderr, "kprobe-vgpu: error: %s\n", Message.c_str());
  return Status;
}

/// Directory of the stand-in library: ../lib/kprobe-vgpu from this program.
std::string libraryDirectory() {
  char Path[4096];
  const ssize_t Length = readlink("/proc/self/exe", Path, sizeof(Path) - 1);
  if (Length <= 0)
    return "";
  std::string Program(Path, size_t(Length));
  Program.resize(Program.rfind('/'));              // …/bin
  Program.resize(Program.rfind('/') + 1);          // …/
  return Program + "lib/kprobe-vgpu";
}

void prepend(const char *Name, const std::string &Value) {
  const char *Old = std::getenv(Name);
  setenv(Name, (Old && *Old ? Value + ":" + Old : Value).c_str(), 1);
}

/// The first name in a comma-separated list that is no target, or "".
std::string unknownTarget(const std::string &List) {
  size_t Begin = 0;
  while (Begin <= List.size()) {
    const size_t End = std::min(List.find(',', Begin), List.size());
    vgpu::DeviceConfig Config;
    const std::string Target = List.substr(Begin, End - Begin);
    if (!vgpu::DeviceConfig::forTarget(Target, Config))
      return Target.empty() ? "''" : Target;
    Begin = End + 1;
  }
  return "";
}

} // namespace

int main(int ArgCount, char **Args) {
  CLI::App App("Runs a HIP program on a virtual GPU: the program's own code, "
               "the real ROCm libraries, and a model of the device below them.\n"
               "All times and cycle counts are modelled.",
               "kprobe-vgpu");
  std::string Target = "gfx906", Stats, Log;
  uint64_t MaxCycles = 0;
  App.add_option("--target", Target,
                 "Devices, as a comma-separated list of targets (" +
                     vgpu::DeviceConfig::knownTargets() + ")")
      ->capture_default_str();
  App.add_flag("--stats{-}", Stats,
               "Print counters of each dispatch, or write them to a file "
               "(--stats=FILE)");
  App.add_option("--log", Log, "Write the log of executed blocks to FILE")
      ->type_name("FILE");
  App.add_option("--max-cycles", MaxCycles,
                 "End a dispatch that runs longer than N modelled cycles with "
                 "an error")
      ->type_name("N");
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
  const std::string Unknown = unknownTarget(Target);
  if (!Unknown.empty())
    return fail(2, "unknown target '" + Unknown + "' (known: " +
                       vgpu::DeviceConfig::knownTargets() + ")");

  const std::string Library = libraryDirectory() + "/libhsakmt.so.1";
  if (access(Library.c_str(), R_OK) != 0)
    return fail(1, "cannot read '" + Library + "': " + std::strerror(errno));

  prepend("LD_LIBRARY_PATH", libraryDirectory());
  setenv("KPROBE_VGPU", Target.c_str(), 1);
  setenv("HSA_ENABLE_SDMA", "0", 1);
  if (!Stats.empty())
    setenv("KPROBE_VGPU_STATS", Stats.c_str(), 1);
  if (!Log.empty())
    setenv("KPROBE_VGPU_LOG", Log.c_str(), 1);
  if (MaxCycles)
    setenv("KPROBE_VGPU_MAX_CYCLES", std::to_string(MaxCycles).c_str(), 1);

  std::vector<char *> Pointers;
  for (std::string &Arg : Program)
    Pointers.push_back(&Arg[0]);
  Pointers.push_back(nullptr);
  execvp(Pointers[0], Pointers.data());
  const int Problem = errno;
  return fail(Problem == ENOENT ? 127 : 126,
              "cannot run '" + Program[0] + "': " + std::strerror(Problem));
}
