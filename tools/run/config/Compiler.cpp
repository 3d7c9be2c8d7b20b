// A compiler is asked for its version by running it: names and paths say little
// (hipcc is a script, clang++ a link to some clang-15).
#include "Compiler.h"

#include <cstdio>
#include <cstdlib>
#include <fcntl.h>
#include <filesystem>
#include <regex>
#include <set>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

extern char **environ;

namespace fs = std::filesystem;

namespace kprobe {

// What `Program --version` prints; false when it cannot be run. Its talk on
// stderr is not shown: hipcc complains there about machines without a GPU.
static bool runVersion(const std::string &Program, std::string &Output) {
  int Pipe[2];
  if (pipe(Pipe))
    return false;
  posix_spawn_file_actions_t Actions;
  posix_spawn_file_actions_init(&Actions);
  posix_spawn_file_actions_adddup2(&Actions, Pipe[1], STDOUT_FILENO);
  posix_spawn_file_actions_addopen(&Actions, STDERR_FILENO, "/dev/null",
                                   O_WRONLY, 0);
  posix_spawn_file_actions_addclose(&Actions, Pipe[0]);
  std::string Name = Program, Option = "--version";
  char *Args[] = {Name.data(), Option.data(), nullptr};
  pid_t Child;
  int Failed =
      posix_spawnp(&Child, Program.c_str(), &Actions, nullptr, Args, environ);
  posix_spawn_file_actions_destroy(&Actions);
  close(Pipe[1]);
  if (!Failed) {
    char Buffer[4096];
    for (ssize_t Read; (Read = read(Pipe[0], Buffer, sizeof Buffer)) > 0;)
      Output.append(Buffer, Read);
    int Status;
    waitpid(Child, &Status, 0);
    Failed = !WIFEXITED(Status) || WEXITSTATUS(Status) == 127;
  }
  close(Pipe[0]);
  return !Failed;
}

unsigned majorVersionIn(const std::string &Text) {
  // "Debian clang version 15.0.6", "LLVM version 15.0.6"; AMD's own clang says
  // "AMD clang version 15.0.0 (…)".
  static const std::regex Pattern("(clang|LLVM) version ([0-9]{1,4})\\.");
  std::smatch Match;
  return std::regex_search(Text, Match, Pattern)
             ? unsigned(std::stoul(Match[2]))
             : 0;
}

// "15, 19": the versions that the folder has plug-ins for.
static std::string pluginVersions(const std::string &Library) {
  static const std::regex Pattern("kprobe-pass-llvm([0-9]{1,4})\\.so");
  std::set<unsigned> Majors;
  std::error_code Ignored;
  for (const auto &Entry : fs::directory_iterator(Library, Ignored)) {
    std::string Name = Entry.path().filename();
    std::smatch Match;
    if (std::regex_match(Name, Match, Pattern))
      Majors.insert(unsigned(std::stoul(Match[1])));
  }
  std::string Versions;
  for (unsigned Major : Majors)
    Versions += (Versions.empty() ? "" : ", ") + std::to_string(Major);
  return Versions.empty() ? "none" : Versions;
}

// `For` says who asks: " ('clang++-19')".
static PathOrError find(unsigned Major, const std::string &Library,
                        const std::string &For) {
  std::string Plugin =
      Library + "/kprobe-pass-llvm" + std::to_string(Major) + ".so";
  if (fs::exists(Plugin))
    return {Plugin, ""};
  return {"", "no plug-in for LLVM " + std::to_string(Major) + For +
                  "; there are plug-ins for: " + pluginVersions(Library)};
}

PathOrError pluginForMajor(unsigned Major, const std::string &Library) {
  return find(Major, Library, "");
}

PathOrError pluginFor(const std::string &Compiler, const std::string &Library) {
  std::string Name = Compiler, Output;
  if (!Name.empty()) {
    if (!runVersion(Name, Output))
      return {"", "cannot run '" + Name + "'"};
  } else {
    for (const char *Candidate : {"hipcc", "clang++", "clang"})
      if (runVersion(Name = Candidate, Output) && majorVersionIn(Output))
        break;
    if (!majorVersionIn(Output))
      return {"", "no hipcc and no clang on PATH; name the compiler: "
                  "--plugin CLANG"};
  }
  unsigned Major = majorVersionIn(Output);
  if (!Major)
    return {"", "'" + Name + "' does not say that it is clang"};
  return find(Major, Library, " ('" + Name + "')");
}

} // namespace kprobe
