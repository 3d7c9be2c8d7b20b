// Events with a value of their own, to tell them apart behind a stream.
#ifndef KPROBE_TEST_RUNTIME_STREAMEVENTS_H
#define KPROBE_TEST_RUNTIME_STREAMEVENTS_H

#include "HostStream.h"

#include <cstring>

namespace kprobe {

// Writes an event of Bytes bytes that carries Value; false when it found no room.
// Not inlined: the compiler must not know what a test interrupts it with.
[[gnu::noinline]] inline bool put(HostStream &Stream, uint16_t Bytes,
                                  uint64_t Value) {
  uint8_t *Place = Stream.open(Bytes, 0);
  if (!Place)
    return false;
  KprobeHostSubmit Event = {{Bytes, KPROBE_HOST_SUBMIT, 0, 0, 0}, Value};
  std::memcpy(Place, &Event, sizeof(Event));
  Stream.publish();
  return true;
}

} // namespace kprobe

#endif
