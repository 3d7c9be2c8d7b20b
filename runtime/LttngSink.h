// The way of host events to LTTng-UST, when the user asked for it.
//
// Nothing here needs LTTng: the provider is a library of ours that is opened at
// run time. Without it, or without a session that wants the events, the program
// and the dump are the same.
#ifndef KPROBE_RUNTIME_LTTNGSINK_H
#define KPROBE_RUNTIME_LTTNGSINK_H

#include "kprobe/wire.h"

#include <atomic>

// The provider's only function. Api and Function are of calls, else null.
extern "C" typedef void KprobeLttngEvent(const KprobeHostEvent *Head,
                                         const char *Api, const char *Function);
#define KPROBE_LTTNG_EVENT "kprobe_lttng_event"

namespace kprobe {

struct ApiTable;

class LttngSink {
public:
  // Opens the provider once a process; with one line on stderr when that fails.
  static void open();
  // Before the table's first event.
  static void add(const ApiTable &Table);

  // On the thread of an event, once it is whole.
  static void event(const void *Whole) {
    // Acquire: behind the pointer is the library's code and data.
    if (KprobeLttngEvent *Emit = Provider.load(std::memory_order_acquire))
      emit(Emit, static_cast<const KprobeHostEvent *>(Whole));
  }

private:
  static void emit(KprobeLttngEvent *Emit, const KprobeHostEvent *Event);
  static std::atomic<KprobeLttngEvent *> Provider;
};

} // namespace kprobe

#endif
