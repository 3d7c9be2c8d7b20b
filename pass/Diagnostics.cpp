// A diagnostic kind of our own; LLVM's generic ones carry source locations
// that a statement about a whole module does not have.
#include "Diagnostics.h"
#include "llvm/IR/DiagnosticInfo.h"
#include "llvm/IR/DiagnosticPrinter.h"
#include "llvm/IR/LLVMContext.h"

using namespace llvm;

namespace kprobe {

namespace {
class Diagnostic : public DiagnosticInfo {
public:
  Diagnostic(DiagnosticSeverity Severity, const Twine &Message)
      : DiagnosticInfo(kind(), Severity), Message(Message) {}
  void print(DiagnosticPrinter &Printer) const override {
    Printer << "kprobe: " << Message;
  }

private:
  static int kind() {
    static const int Kind = getNextAvailablePluginDiagnosticKind();
    return Kind;
  }
  const Twine &Message;
};
} // namespace

void reportError(Module &M, const Twine &Message) {
  M.getContext().diagnose(Diagnostic(DS_Error, Message));
}

void reportWarning(Module &M, const Twine &Message) {
  M.getContext().diagnose(Diagnostic(DS_Warning, Message));
}

} // namespace kprobe
