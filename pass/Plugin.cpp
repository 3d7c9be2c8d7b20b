// Registration: what opt and clang see of the plug-in.
#include "Compat.h"
#include "KprobePass.h"
#include "LoadedLlvm.h"
#include "Marks.h"
#include <cstdio>

using namespace llvm;

static void registerCallbacks(PassBuilder &Builder) {
  Builder.registerPipelineParsingCallback(
      [](StringRef Name, ModulePassManager &Manager,
         ArrayRef<PassBuilder::PipelineElement>) {
        if (!Name.consume_front("kprobe"))
          return false;
        if (!Name.empty() &&
            !(Name.consume_front("<") && Name.consume_back(">")))
          return false;
        Manager.addPass(kprobe::KprobePass(Name));
        return true;
      });
  kprobe::compat::atPipelineStart(Builder, [](ModulePassManager &Manager) {
    Manager.addPass(kprobe::MarksPass());
  });
  kprobe::compat::atOptimizerEnd(Builder, [](ModulePassManager &Manager) {
    Manager.addPass(kprobe::KprobePass());
  });
}

extern "C" __attribute__((visibility("default"))) PassPluginLibraryInfo
llvmGetPassPluginInfo() {
  // The versions of the plug-in interface do not tell LLVM 14 from 19. To say
  // so here, and to return an interface that no compiler has, ends it in order.
  unsigned Loaded = kprobe::loadedLlvmMajor();
  if (Loaded && Loaded != LLVM_VERSION_MAJOR) {
    std::fprintf(stderr,
                 "kprobe: error: this plug-in is for LLVM %u, the compiler is "
                 "LLVM %u; `kprobe-config --plugin COMPILER` names the right "
                 "one\n",
                 unsigned(LLVM_VERSION_MAJOR), Loaded);
    return {0, "kprobe", KPROBE_VERSION, nullptr};
  }
  return {LLVM_PLUGIN_API_VERSION, "kprobe", KPROBE_VERSION, registerCallbacks};
}
