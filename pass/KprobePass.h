// The module pass.
#ifndef KPROBE_PASS_KPROBEPASS_H
#define KPROBE_PASS_KPROBEPASS_H

#include "Options.h"
#include "llvm/IR/PassManager.h"
#include <string>

namespace kprobe {

class KprobePass : public llvm::PassInfoMixin<KprobePass> {
public:
  // `Text`: options of a pipeline; those of the environment come first. What
  // is wrong with them is reported when the pass runs, where there is somebody
  // to report to.
  explicit KprobePass(llvm::StringRef Text = "") : PipelineText(Text) {}

  llvm::PreservedAnalyses run(llvm::Module &M,
                              llvm::ModuleAnalysisManager &Analyses);
  // At -O0 as well.
  static bool isRequired() { return true; }

private:
  std::string PipelineText;
};

} // namespace kprobe

#endif
