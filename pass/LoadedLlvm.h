// Which LLVM has loaded the plug-in.
#ifndef KPROBE_PASS_LOADEDLLVM_H
#define KPROBE_PASS_LOADEDLLVM_H

namespace kprobe {

// Major version of the LLVM in this process, found without calling into it
// (its functions may not be what this plug-in takes them for); 0: unknown.
unsigned loadedLlvmMajor();

} // namespace kprobe

#endif
