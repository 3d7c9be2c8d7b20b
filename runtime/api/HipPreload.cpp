// libkprobe-hip.so: stands in front of libamdhip64 by LD_PRELOAD.
//
// The wrappers are generated; here are its start and the look-up of the real
// functions. The program need not use HIP at all: a shell that starts one gets
// the library too, and must not notice.
#include <hip/hip_runtime_api.h>

#include "Log.h"
#include "api/HipReal.h"

#include <dlfcn.h>

namespace kprobe {

void *findHipFunction(const char *Symbol) {
  if (void *Next = dlsym(RTLD_NEXT, Symbol))
    return Next;
  // Opened by dlopen: not in the search order.
  std::string Library = "libamdhip64.so." + std::to_string(HIP_VERSION_MAJOR);
  for (const char *Name : {Library.c_str(), "libamdhip64.so"})
    if (void *Handle = dlopen(Name, RTLD_LAZY | RTLD_NOLOAD)) {
      void *Function = dlsym(Handle, Symbol);
      dlclose(Handle);
      if (Function)
        return Function;
    }
  logWarning(std::string("no function '") + Symbol + "' in libamdhip64");
  return nullptr;
}

__attribute__((constructor)) static void startHipRecording() {
  recordHipApi(hipApiTable());
}

} // namespace kprobe
