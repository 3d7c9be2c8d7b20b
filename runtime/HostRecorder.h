// All streams of host events of the process, and the way they reach the dump.
//
// Process-wide and never destroyed: threads record from the first HIP call on,
// before ROCr has loaded the tool, and until the process ends. Recording is off
// until someone asks for it; then each thread gets its ring at its first event.
#ifndef KPROBE_RUNTIME_HOSTRECORDER_H
#define KPROBE_RUNTIME_HOSTRECORDER_H

#include "Config.h"
#include "HostStream.h"

#include <functional>
#include <mutex>
#include <string>
#include <vector>

namespace kprobe {

// The generated table of one API; Selected has a byte for each function.
struct ApiTable {
  KprobeApiTable Header;
  const KprobeApiFunction *Functions;
  const KprobeApiField *Fields;
  const KprobeApiEnumerator *Enumerators;
  const char *Strings;
  uint8_t *Selected;
};

// This thread's stream; null when recording is off or there is no memory.
HostStream *hostStream();

class HostRecorder {
public:
  static HostRecorder &get();

  bool recording() const { return On.load(std::memory_order_relaxed); }
  // Begins to record calls of Table that the user asked for.
  void add(const ApiTable &Table, const Config &Settings);
  // Begins to record events that are no calls.
  void start(const Config &Settings);
  void stop() { On.store(false, std::memory_order_relaxed); }

  // When the oldest event may have happened; 0 when there is none yet.
  uint64_t firstNs() const { return FirstNs.load(std::memory_order_relaxed); }

  void noteBegin();

  // For a stream that is no thread's.
  uint32_t newStreamNumber();

  // Called on any thread when a quarter of its ring has been filled.
  void setWaker(std::function<void()> Waker);
  void wake();

  // Hands out everything recorded so far as chunks. One caller at a time.
  using ChunkSink = std::function<void(uint32_t Kind, const void *Record,
                                       size_t Bytes, std::string_view Rest)>;
  void drain(const ChunkSink &Append);
  // Source is asked for chunks of its own at each drain, before the events.
  void addSource(std::function<void(const ChunkSink &)> Source);
  // Called on a thread that ends, before its stream is closed. Set once.
  void setThreadEnd(void (*Function)()) { BeforeThreadEnds = Function; }
  uint64_t lost() const;

private:
  friend HostStream *hostStream();
  HostStream *newStream();
  void writeStream(HostStream &Stream, const ChunkSink &Append);
  void announce(HostStream &Stream, const ChunkSink &Append, bool Closed);
  static void threadEnds(void *Stream);
  static void inChild();

  std::atomic<bool> On{false};
  std::atomic<uint64_t> FirstNs{0};
  std::mutex Lock; // of what follows; never on the way of an event
  std::vector<HostStream *> Streams;
  std::vector<const ApiTable *> Tables;
  size_t TablesWritten = 0;
  bool Begun = false; // some stream has had an event
  uint64_t RingBytes = 0;
  uint32_t Threads = 0;
  std::vector<std::function<void(const ChunkSink &)>> Sources;
  void (*BeforeThreadEnds)() = nullptr;
  uint64_t LostBefore = 0; // of streams that are gone
  std::mutex WakerLock;
  std::function<void()> Waker;
};

// Event, which the thread made room for, is whole: to the drain, and to LTTng if
// that was asked for.
void publishHostEvent(HostStream &Stream, const uint8_t *Event);

// Records an event that is no call. The head's Bytes, Kind, Call and Ns are
// filled in here.
template <typename Record> void recordHostEvent(uint16_t Kind, Record Event) {
  static_assert(sizeof(Record) % 8 == 0, "events are multiples of 8 bytes");
  HostStream *Stream = hostStream();
  uint8_t *Place =
      Stream ? Stream->open(sizeof(Record), Stream->Reserved) : nullptr;
  if (!Place)
    return;
  Event.Head.Bytes = sizeof(Record);
  Event.Head.Kind = Kind;
  Event.Head.Call = Stream->Current;
  Event.Head.Ns = hostNowNs();
  __builtin_memcpy(Place, &Event, sizeof(Event));
  publishHostEvent(*Stream, Place);
}

} // namespace kprobe

#endif
