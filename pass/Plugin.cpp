// Registration: what opt and clang see of the plug-in.
#include "Compat.h"
#include "KprobePass.h"

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
  kprobe::compat::atOptimizerEnd(Builder, [](ModulePassManager &Manager) {
    Manager.addPass(kprobe::KprobePass());
  });
}

extern "C" __attribute__((visibility("default"))) PassPluginLibraryInfo
llvmGetPassPluginInfo() {
  return {LLVM_PLUGIN_API_VERSION, "kprobe", KPROBE_VERSION, registerCallbacks};
}
