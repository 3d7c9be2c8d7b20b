// kprobe-config: says where the parts of kprobe are, for build systems:
//
//   hipcc -fpass-plugin=$(kprobe-config --plugin) …
//   opt-22 -load-pass-plugin=$(kprobe-config --pass 22) …
//
// Paths are relative to this program, so that a build tree, an installation
// and a moved installation all work.
//
// Exit status: 1 when there is no such part, 2 for wrong usage.
#include "Compiler.h"

#include <CLI/CLI.hpp>

#include <cstdio>
#include <filesystem>

namespace fs = std::filesystem;

static int print(const kprobe::PathOrError &Found) {
  if (!Found.Error.empty()) {
    std::fprintf(stderr, "kprobe-config: error: %s\n", Found.Error.c_str());
    return 1;
  }
  std::printf("%s\n", Found.Path.c_str());
  return 0;
}

static kprobe::PathOrError existing(const fs::path &Path, const char *What) {
  if (fs::exists(Path))
    return {Path, ""};
  return {"", std::string(What) + " not found: " + Path.string()};
}

int main(int ArgCount, char **Args) {
  CLI::App App("Prints where the parts of kprobe are.", "kprobe-config");
  std::string Compiler;
  CLI::Option *Plugin =
      App.add_option("--plugin", Compiler,
                     "the plug-in for CLANG (hipcc's clang when left out)")
          ->expected(0, 1)
          ->type_name("[CLANG]");
  unsigned Major = 0; // hipcc's
  CLI::Option *Pass =
      App.add_option("--pass", Major,
                     "the plug-in for an LLVM version (hipcc's, 15, when left "
                     "out)")
          ->expected(0, 1)
          ->type_name("[VERSION]");
  bool Runtime = false, Include = false;
  App.add_flag("--runtime", Runtime, "the runtime library, for HSA_TOOLS_LIB");
  App.add_flag("--include", Include, "the folder of <kprobe/wire.h>");
  App.set_version_flag("--version", "kprobe " KPROBE_VERSION);
  try {
    App.parse(ArgCount, Args);
  } catch (const CLI::Success &Asked) { // --help, --version
    return App.exit(Asked);
  } catch (const CLI::ParseError &Wrong) {
    std::fprintf(stderr, "kprobe-config: error: %s\n", Wrong.what());
    return 2;
  }
  if ((Plugin->count() != 0) + (Pass->count() != 0) + Runtime + Include != 1) {
    std::fprintf(stderr, "kprobe-config: error: one of --plugin, --pass, "
                         "--runtime, --include, --version is needed\n");
    return 2;
  }

  std::error_code Failed;
  fs::path Self = fs::read_symlink("/proc/self/exe", Failed);
  if (Failed)
    return print({"", "cannot find itself: " + Failed.message()});
  fs::path Prefix = Self.parent_path().parent_path();
  if (Plugin->count())
    return print(kprobe::pluginFor(Compiler, Prefix / "lib"));
  if (Pass->count())
    return print(kprobe::pluginForMajor(Major ? Major : kprobe::HipccMajor, Prefix / "lib"));
  if (Runtime)
    return print(existing(Prefix / "lib/libkprobe-runtime.so", "runtime"));
  return print(existing(Prefix / "include", "headers"));
}
