// kprobe-run: run a program with the kprobe runtime, on a GPU or on the
// virtual one.
//
// Sets the environment and becomes the program, so that its exit status is its
// own. By hand it is the same:
//
//   env HSA_TOOLS_LIB=<prefix>/lib/libkprobe-runtime.so
//       LD_PRELOAD=<prefix>/lib/libkprobe-exit.so
//       [KPROBE_OUTPUT=… KPROBE_KERNELS=… KPROBE_RING=… KPROBE_BUFFER=…]
//       [KPROBE_API=hip,hsa KPROBE_LTTNG=1 KPROBE_SCHED=1
//        LD_PRELOAD=<prefix>/lib/libkprobe-hip.so]
//       [KPROBE_PROFILE=… LD_PRELOAD=<prefix>/lib/libkprobe-profile.so]
//       PROGRAM ARGS
//
// and with --vgpu what kprobe-vgpu sets (tools/vgpu/launcher).
//
// Exit status: the program's; 127 when it cannot be found, 126 when it cannot
// be run, 2 for wrong usage, 1 when a part is missing or there is no GPU.
#include "Config.h"
#include "launcher/Launch.h"

#include <CLI/CLI.hpp>

#include <cstdio>

namespace {

int fail(int Status, const std::string &Message) {
  std::fprintf(stderr, "kprobe-run: error: %s\n", Message.c_str());
  return Status;
}

void setIfGiven(const char *Name, const std::string &Value) {
  if (!Value.empty())
    setenv(Name, Value.c_str(), 1);
}

// A variable that an option set is called by the option's name.
struct OptionName {
  const char *Variable;
  std::string Given;
  const char *Option;
};
std::string inTermsOfOptions(std::string Problem,
                             const std::vector<OptionName> &Names) {
  for (const OptionName &Name : Names)
    if (!Name.Given.empty() && Problem.rfind(Name.Variable, 0) == 0)
      Problem.replace(0, std::strlen(Name.Variable), Name.Option);
  return Problem;
}

// The program may change its directory before the dump is made.
std::string absolutePath(const std::string &Path) {
  char Folder[4096];
  if (Path.empty() || Path[0] == '/' || !getcwd(Folder, sizeof(Folder)))
    return Path;
  return std::string(Folder) + "/" + Path;
}

// Ours comes first: it wants to see the calls before anyone else answers them.
// What went wrong, or "".
std::string addPreload(const std::string &Name) {
  const std::string Library = vgpu::libraryFolder() + Name;
  if (access(Library.c_str(), R_OK) != 0)
    return "cannot read '" + Library + "': " + std::strerror(errno);
  // Blanks and colons separate the list; there is no way to quote them.
  if (Library.find_first_of(" :") != std::string::npos)
    return "LD_PRELOAD cannot name '" + Library + "'";
  const char *Others = std::getenv("LD_PRELOAD");
  bool Given = Others && std::string(Others).find(Library) != std::string::npos;
  if (!Given)
    setenv("LD_PRELOAD",
           (Library + (Others && *Others ? std::string(":") + Others : ""))
               .c_str(),
           1);
  // AddressSanitizer's library refuses to come after any other. It may: ours
  // calls whoever is next. What the user says about it counts more.
  const std::string Option = "verify_asan_link_order=0";
  const char *Asan = std::getenv("ASAN_OPTIONS");
  if (!Asan || std::string(Asan).find(Option) == std::string::npos)
    setenv("ASAN_OPTIONS",
           (Option + (Asan && *Asan ? std::string(":") + Asan : "")).c_str(),
           1);
  return "";
}

} // namespace

int main(int ArgCount, char **Args) {
  CLI::App App("Runs a program built with the kprobe plug-in and writes what "
               "its kernels did into a dump.",
               "kprobe-run");
  std::string Output, Targets, Kernels, Every, First, Sample, Mode, Ring,
      Buffer, Api, ApiFilter, Metrics, Profile, Waits;
  bool Verbose = false, Lttng = false, Sched = false;
  App.add_option("-o,--output", Output,
                 "Dump file; %p process id, %h host, %t time (default "
                 "kprobe-%p.kpd); an existing file is kept, a number is added")
      ->type_name("FILE");
  App.add_flag("--vgpu{gfx906}", Targets,
               "Run on the virtual GPU; --vgpu=TARGET chooses its target (" +
                   vgpu::DeviceConfig::knownTargets() + ")");
  App.add_option("--kernel", Kernels,
                 "Trace only kernels whose name matches; comma-separated "
                 "globs, a leading ! excludes")
      ->type_name("GLOB");
  App.add_option("--every", Every,
                 "Of each kernel's dispatches trace the first of every N")
      ->type_name("N");
  App.add_option("--first", First,
                 "Trace the first N dispatches of each kernel; with --every, "
                 "the first N of those that it chooses")
      ->type_name("N");
  App.add_option("--sample", Sample,
                 "Trace one of N waves (1/N), or of N workgroups (groups:1/N); "
                 "a power of two")
      ->type_name("SAMPLE");
  App.add_option("--mode", Mode,
                 "ring: keep the newest events of each wave (default); exact: "
                 "run a dispatch once more, from the same memory, where its "
                 "rings were too small; drop (keep the first), counters (count "
                 "blocks): of kernels built with KPROBE_PASS=mode=...")
      ->type_name("MODE");
  App.add_option("--ring", Ring,
                 "Most bytes of events kept for a wave, a power of two "
                 "(default 64K)")
      ->type_name("BYTES");
  App.add_option("--buffer", Buffer,
                 "Bytes of ring memory taken on each agent (default 256M)")
      ->type_name("BYTES");
  App.add_option("--api", Api,
                 "Record the calls of these interfaces, what their arguments "
                 "were and how long they took: hip, hsa or hip,hsa")
      ->type_name("LIST");
  App.add_option("--api-filter", ApiFilter,
                 "Of these, only functions whose name matches; globs as for "
                 "--kernel")
      ->type_name("GLOB");
  App.add_flag("--sched", Sched,
               "Record when the program's threads run and wait and, where it "
               "is permitted, who wakes them, system calls and interrupts");
  App.add_flag(
      "--lttng", Lttng,
      "The recorded calls go to LTTng-UST, too, for a session of yours "
      "(lttng enable-event -u 'kprobe:*'); --api hip,hsa unless given");
  App.add_flag("--metrics{20}", Metrics,
               "Read the devices' clocks, load, memory, power and temperature "
               "(rocm_smi); --metrics=MS says how often");
  App.add_flag("--profile{on}", Profile,
               "Sample where threads spend their time and record where they "
               "wait; --profile=cycles:N, instructions:N or cpu-clock:TIME "
               "chooses what makes a sample (default cycles:2000000)");
  App.add_option("--profile-waits", Waits,
                 "Shortest wait that is recorded (default 100us; 0: none)")
      ->type_name("TIME");
  App.add_flag("-v,--verbose", Verbose, "Say at the end what was seen");
  App.prefix_command();
  App.footer("Usage: kprobe-run [options] -- PROGRAM [ARGUMENTS]");
  try {
    App.parse(ArgCount, Args);
  } catch (const CLI::CallForHelp &Help) {
    return App.exit(Help);
  } catch (const CLI::ParseError &Error) {
    return fail(2, Error.what());
  }

  std::vector<std::string> Program = App.remaining();
  if (!Program.empty() && Program[0] == "--")
    Program.erase(Program.begin());
  else if (!Program.empty() && Program[0].size() > 1 && Program[0][0] == '-')
    return fail(2, "unknown option '" + Program[0] + "'");
  if (Program.empty())
    return fail(2, "no program given (kprobe-run [options] -- PROGRAM ARGS)");

  setIfGiven("KPROBE_OUTPUT", absolutePath(Output));
  if (Sched)
    setenv("KPROBE_SCHED", "1", 1);
  if (Lttng) {
    setenv("KPROBE_LTTNG", "1", 1);
    const char *Before = std::getenv("KPROBE_API");
    if (Api.empty() && (!Before || !*Before))
      Api = "hip,hsa";
  }
  if (Verbose)
    setenv("KPROBE_VERBOSE", "1", 1);
  // Where one variable's name begins another's, the longer one comes first.
  const std::vector<OptionName> Names = {
      {"KPROBE_EVERY", Every, "--every"},
      {"KPROBE_FIRST", First, "--first"},
      {"KPROBE_SAMPLE", Sample, "--sample"},
      {"KPROBE_MODE", Mode, "--mode"},
      {"KPROBE_RING", Ring, "--ring"},
      {"KPROBE_BUFFER", Buffer, "--buffer"},
      {"KPROBE_API_FILTER", ApiFilter, "--api-filter"},
      {"KPROBE_API", Api, "--api"},
      {"KPROBE_METRICS", Metrics, "--metrics"},
      {"KPROBE_PROFILE_WAITS", Waits, "--profile-waits"},
      {"KPROBE_PROFILE", Profile, "--profile"},
      {"KPROBE_KERNELS", Kernels, "--kernel"}};
  for (const OptionName &Name : Names)
    setIfGiven(Name.Variable, Name.Given);
  // The runtime would say the same, but only once the program has started.
  kprobe::Config Settings;
  std::string Problem;
  if (!kprobe::readConfig([](const char *Name) { return std::getenv(Name); },
                          Settings, Problem))
    return fail(2, inTermsOfOptions(Problem, Names));

  const std::string Library = vgpu::libraryFolder() + "libkprobe-runtime.so";
  if (access(Library.c_str(), R_OK) != 0)
    return fail(1, "cannot read '" + Library + "': " + std::strerror(errno));
  vgpu::addTool(Library);
  // For HSA's calls too: it begins before the program has made a thread.
  bool Calls = Settings.ApiHip || Settings.ApiHsa || Settings.Sched;
  bool Profiled = Settings.Profile.What != kprobe::ProfileWish::Off;
  if (Calls) {
    Problem = addPreload("libkprobe-hip.so");
    if (!Problem.empty())
      return fail(1, "calls cannot be recorded: " + Problem);
  }
  if (Profiled) {
    Problem = addPreload("libkprobe-profile.so");
    if (!Problem.empty())
      return fail(1, "threads cannot be sampled: " + Problem);
  }
  // Those two know of ends that run no exit handler. Without this one such an
  // end loses the last millisecond's dispatches: no reason not to run.
  if (!Calls && !Profiled)
    addPreload("libkprobe-exit.so");

  if (!Targets.empty()) {
    Problem = vgpu::checkTargets(Targets);
    if (!Problem.empty())
      return fail(2, Problem);
    Problem = vgpu::setVirtualGpu(Targets);
    if (!Problem.empty())
      return fail(1, Problem);
  } else if (!Profiled && !std::getenv("KPROBE_VGPU") &&
             access("/dev/kfd", F_OK) != 0) {
    return fail(1, "no GPU: there is no /dev/kfd; --vgpu runs the program on "
                   "the virtual GPU");
  }
  int Status = 0;
  Problem = vgpu::becomeProgram(std::move(Program), Status);
  return fail(Status, Problem);
}
