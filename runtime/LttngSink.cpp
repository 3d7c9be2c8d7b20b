// Opening the provider, and the names that go with calls.
#include "LttngSink.h"

#include "HostRecorder.h"
#include "Log.h"

#include <dlfcn.h>

namespace kprobe {

std::atomic<KprobeLttngEvent *> LttngSink::Provider{nullptr};

static constexpr uint32_t MostDomains = 8;
static std::atomic<const ApiTable *> Tables[MostDomains];

void LttngSink::open() {
  if (Provider.load(std::memory_order_relaxed))
    return;
  // Beside this library.
  Dl_info Ours;
  std::string Path;
  if (dladdr(reinterpret_cast<void *>(&LttngSink::open), &Ours)) {
    Path = Ours.dli_fname;
    Path.resize(Path.rfind('/') + 1);
  }
  Path += "libkprobe-lttng.so";
  void *Library = dlopen(Path.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (!Library) {
    const char *Why = dlerror();
    logWarning(std::string("no events for LTTng: ") + (Why ? Why : "unknown"));
    return;
  }
  // Release: pairs with the acquire in event().
  Provider.store(
      reinterpret_cast<KprobeLttngEvent *>(dlsym(Library, KPROBE_LTTNG_EVENT)),
      std::memory_order_release);
}

void LttngSink::add(const ApiTable &Table) {
  if (Table.Header.Domain < MostDomains)
    Tables[Table.Header.Domain].store(&Table, std::memory_order_release);
}

void LttngSink::emit(KprobeLttngEvent *Emit, const KprobeHostEvent *Event) {
  bool Call = Event->Kind == KPROBE_HOST_CALL_BEGIN ||
              Event->Kind == KPROBE_HOST_CALL_END;
  if (!Call)
    return Emit(Event, nullptr, nullptr);
  const ApiTable *Table = Tables[(Event->Function >> 16) % MostDomains].load(
      std::memory_order_acquire);
  const KprobeApiFunction &Function =
      Table->Functions[Event->Function & 0xffff];
  Emit(Event, Table->Strings + Table->Header.Name,
       Table->Strings + Function.Name);
}

} // namespace kprobe
