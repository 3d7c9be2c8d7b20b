// kprobe-mkdump TEXT -o FILE: makes a dump for a test from a description.
#include "TextDump.h"

#include <CLI/CLI.hpp>

#include <cstdio>
#include <fstream>
#include <iostream>
#include <sstream>

int main(int Count, char **Arguments) {
  CLI::App App("Makes a kprobe dump from a readable description (tests only)");
  std::string Input, Output;
  App.add_option("TEXT", Input, "description; - is standard input")->required();
  App.add_option("-o,--output", Output, "dump to write")->required();
  try {
    App.parse(Count, Arguments);
  } catch (const CLI::ParseError &E) {
    return App.exit(E) == 0 ? 0 : 2;
  }
  auto fail = [&](const std::string &Text) {
    std::fprintf(stderr, "kprobe-mkdump: error: %s\n", Text.c_str());
    return 1;
  };
  std::stringstream Text;
  if (Input == "-") {
    Text << std::cin.rdbuf();
  } else {
    std::ifstream File(Input);
    if (!File)
      return fail(Input + ": cannot be read");
    Text << File.rdbuf();
  }
  std::vector<uint8_t> Dump;
  std::string Fault;
  if (!kprobe::makeDump(Text.str(), Dump, Fault))
    return fail(Input + ": " + Fault);
  std::ofstream Out(Output, std::ios::binary);
  Out.write(reinterpret_cast<const char *>(Dump.data()),
            static_cast<std::streamsize>(Dump.size()));
  Out.close();
  if (!Out)
    return fail(Output + ": cannot be written");
  return 0;
}
