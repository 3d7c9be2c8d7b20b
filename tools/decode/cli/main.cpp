// kprobe-decode: reads dumps of the kprobe runtime.
#include "Commands.h"

#include "DumpVerifier.h"

#include <CLI/CLI.hpp>

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <iostream>
#include <iterator>

namespace kprobe {

int complain(const std::string &Place, const std::string &Text) {
  std::cout.flush();
  std::fprintf(stderr, "kprobe-decode: error: %s: %s\n", Place.c_str(),
               Text.c_str());
  return 1;
}

int readFile(const std::string &Path, Trace &Out, TraceSink &Sink) {
  FileSource Source;
  if (Error E = Source.open(Path))
    return complain(Path, E.text());
  if (Error E = readTrace(Source, Out, Sink))
    return complain(Path, E.text());
  return 0;
}

int finishOutput() {
  errno = 0;
  std::cout.flush();
  if (std::cout && std::fflush(stdout) == 0)
    return 0;
  std::cout.clear();
  return complain("output", errno ? std::strerror(errno) : "cannot be written");
}

int complainOfDamage(const std::string &Path, uint64_t Count) {
  if (Count == 0)
    return 0;
  return complain(Path, std::to_string(Count) +
                            (Count == 1 ? " event is" : " events are") +
                            " damaged: no such site in its kernel");
}

} // namespace kprobe

int main(int Count, char **Arguments) {
  std::ios::sync_with_stdio(false);
  CLI::App App("Statistics, listings and conversions of kprobe dumps",
               "kprobe-decode");
  App.require_subcommand(1);
  kprobe::Command Commands[] = {kprobe::addStatsCommand(App),
                                kprobe::addDumpCommand(App),
                                kprobe::addConvertCommand(App),
                                kprobe::addFlameCommand(App),
                                kprobe::addCriticalPathCommand(App)};
  const char *Names[] = {"stats", "dump", "convert", "flame", "critical-path"};
  try {
    App.parse(Count, Arguments);
  } catch (const CLI::CallForHelp &E) {
    return App.exit(E);
  } catch (const CLI::ParseError &E) {
    std::string Text = E.what();
    std::fprintf(stderr, "kprobe-decode: error: %s\n",
                 Text.substr(0, Text.find('\n')).c_str());
    return 2;
  }
  for (size_t I = 0; I < std::size(Names); ++I)
    if (App.got_subcommand(Names[I]))
      return Commands[I]();
  return 2;
}
