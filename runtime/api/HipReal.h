// The function behind a wrapper of the preloaded library: what the program
// would have called without it.
#ifndef KPROBE_RUNTIME_API_HIPREAL_H
#define KPROBE_RUNTIME_API_HIPREAL_H

#include "api/ApiCall.h"

namespace kprobe {

// The next definition after ours in the program's search order, in its default
// version; libamdhip64 has one version of each name. Where HIP was opened at
// run time, the loaded library is asked. Null, with one line on stderr, when
// there is none.
void *findHipFunction(const char *Symbol);

template <unsigned Index, typename Function>
Function *real(const char *Symbol) {
  // Relaxed: the value is the same whoever finds it, and code needs no order.
  static std::atomic<Function *> Found{nullptr};
  Function *Known = Found.load(std::memory_order_relaxed);
  if (__builtin_expect(!Known, 0)) {
    Known = reinterpret_cast<Function *>(findHipFunction(Symbol));
    Found.store(Known, std::memory_order_relaxed);
  }
  return Known;
}

// What a wrapper returns when there is no function behind it.
template <typename Result> Result missing() {
  if constexpr (std::is_same<Result, hipError_t>::value)
    return hipErrorSharedObjectSymbolNotFound;
  else if constexpr (!std::is_void<Result>::value)
    return Result();
}

} // namespace kprobe

#endif
