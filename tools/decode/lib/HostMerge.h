// The threads' streams of host events as one, by time.
//
// Each stream is in order already, so that only its next event is compared;
// memory is one chunk a thread. Ends that fit no begin are dropped, and calls
// that were left without an end (longjmp, an exception) get one when the call
// around them ends: what comes out nests.
#ifndef KPROBE_DECODE_HOSTMERGE_H
#define KPROBE_DECODE_HOSTMERGE_H

#include "ByteSource.h"
#include "Trace.h"

#include <memory>
#include <vector>

namespace kprobe {

struct HostItem {
  const HostThread *Thread = nullptr;
  HostEvent Event;
  bool Left = false; ///< of an end: it was made up, the call has no result
};

class HostMerge {
public:
  /// A HOST_EVENTS chunk's events: where they are in the file.
  void add(const HostThread &Thread, uint64_t Offset, uint64_t Bytes);
  /// Finds the first event. The source must live on.
  Error start(ByteSource &Source);

  /// The next event, or null; valid until step().
  const HostItem *head() const { return First ? &First->Item : nullptr; }
  Error step();

  /// Bytes of streams, all and those that were read.
  uint64_t size() const { return Size; }
  uint64_t given() const { return Given; }

private:
  struct Stream {
    const HostThread *Thread = nullptr;
    std::vector<std::pair<uint64_t, uint64_t>> Chunks;
    size_t NextChunk = 0;
    std::vector<uint8_t> Buffer;
    std::unique_ptr<HostEventReader> Reader;
    std::vector<HostEvent> Open; ///< begins without an end so far
    std::vector<HostItem> Queue; ///< to be given out, last first
    HostItem Item;
    bool Done = false;
  };
  Error advance(Stream &S);
  void choose();

  ByteSource *Source = nullptr;
  uint64_t Size = 0, Given = 0;
  std::map<uint32_t, Stream> Streams; ///< by thread number
  Stream *First = nullptr;
};

} // namespace kprobe

#endif
