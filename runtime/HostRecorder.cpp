// Streams from a thread's first event to its last, and their chunks.
#include "HostRecorder.h"

#include "LttngSink.h"

#include <cerrno>
#include <cstring>
#include <fcntl.h>
#include <pthread.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

namespace kprobe {

static constexpr size_t ChunkBytes = 256u << 10;
static constexpr uint64_t NameAgeNs = 1000000000;

// One word in the static TLS block: reading it is one instruction, and no
// allocation can happen inside a signal handler.
static thread_local HostStream *Mine
    __attribute__((tls_model("initial-exec"))) = nullptr;
static pthread_key_t EndKey;
static bool EndKeyMade = false;

HostRecorder &HostRecorder::get() {
  // Never destroyed: threads outlive main's destructors.
  alignas(HostRecorder) static unsigned char Place[sizeof(HostRecorder)];
  static HostRecorder *const Only = new (Place) HostRecorder;
  return *Only;
}

HostStream *hostStream() {
  if (HostStream *Stream = Mine)
    return HostRecorder::get().recording() ? Stream : nullptr;
  HostRecorder &Recorder = HostRecorder::get();
  if (!Recorder.recording())
    return nullptr;
  int Saved = errno;
  HostStream *Stream = Recorder.newStream();
  errno = Saved;
  return Stream;
}

void publishHostEvent(HostStream &Stream, const uint8_t *Event) {
  bool Wake = Stream.publish();
  LttngSink::event(Event);
  if (Wake)
    HostRecorder::get().wake();
}

void HostRecorder::threadEnds(void *Data) {
  auto *Stream = static_cast<HostStream *>(Data);
  if (auto *Function = get().BeforeThreadEnds)
    Function();
  // Whatever this thread still does gets a new stream, and this runs again.
  Mine = nullptr;
  prctl(PR_GET_NAME, Stream->LastName);
  // Pairs with the acquire load in drain().
  Stream->Closed.store(true, std::memory_order_release);
}

HostStream *HostRecorder::newStream() {
  std::lock_guard<std::mutex> Guard(Lock);
  if (!EndKeyMade) {
    if (pthread_key_create(&EndKey, threadEnds) != 0)
      return nullptr;
    EndKeyMade = true;
    pthread_atfork(nullptr, nullptr, inChild);
  }
  TouchedInOrder Memory(RingBytes);
  if (!Memory.Begin)
    return nullptr;
  auto *Stream =
      new (std::nothrow) HostStream(Memory.Begin, RingBytes, ++Threads,
                                    uint32_t(syscall(SYS_gettid)));
  if (!Stream || pthread_setspecific(EndKey, Stream) != 0) {
    Memory.unmap();
    delete Stream;
    return nullptr;
  }
  Stream->Memory = Memory;
  Streams.push_back(Stream);
  noteBegin();
  return Mine = Stream;
}

void HostRecorder::noteBegin() {
  uint64_t None = 0;
  FirstNs.compare_exchange_strong(None, hostNowNs(), std::memory_order_relaxed);
}

uint32_t HostRecorder::newStreamNumber() {
  std::lock_guard<std::mutex> Guard(Lock);
  return ++Threads;
}

// Only the thread that forked is left. Without a dump of the parent the child
// may become a traced process of its own (a daemon); with one it lets go.
void HostRecorder::inChild() {
  HostRecorder &Recorder = get();
  bool ParentTraced = bool(Recorder.Waker);
  if (ParentTraced) {
    Recorder.stop();
    return;
  }
  // The locks may be held by threads that do not exist here, and their rings
  // may be half written: begin anew, leave the old ones lie.
  new (&Recorder.Lock) std::mutex;
  new (&Recorder.WakerLock) std::mutex;
  new (&Recorder.Streams) std::vector<HostStream *>;
  Recorder.FirstNs.store(0, std::memory_order_relaxed);
  Recorder.Threads = 0;
  Mine = nullptr;
  pthread_setspecific(EndKey, nullptr);
}

void HostRecorder::add(const ApiTable &Table, const Config &Settings) {
  for (uint32_t I = 0; I < Table.Header.FunctionCount; ++I)
    Table.Selected[I] =
        Settings.ApiFunctions.matches(Table.Strings + Table.Functions[I].Name);
  std::lock_guard<std::mutex> Guard(Lock);
  for (const ApiTable *Known : Tables)
    if (Known == &Table)
      return;
  Tables.push_back(&Table);
  LttngSink::add(Table);
}

void HostRecorder::start(const Config &Settings) {
  {
    std::lock_guard<std::mutex> Guard(Lock);
    RingBytes = Settings.ApiRingBytes;
  }
  if (Settings.Lttng)
    LttngSink::open();
  On.store(true, std::memory_order_relaxed);
}

void HostRecorder::setWaker(std::function<void()> Function) {
  std::lock_guard<std::mutex> Guard(WakerLock);
  Waker = std::move(Function);
}

void HostRecorder::wake() {
  std::lock_guard<std::mutex> Guard(WakerLock);
  if (Waker)
    Waker();
}

static bool readName(uint32_t ThreadId, char (&Name)[16]) {
  std::string Path = "/proc/self/task/" + std::to_string(ThreadId) + "/comm";
  int File = open(Path.c_str(), O_RDONLY | O_CLOEXEC);
  if (File < 0)
    return false;
  char Text[17] = {};
  ssize_t Got = read(File, Text, sizeof(Text) - 1);
  close(File);
  if (Got <= 0)
    return false;
  if (char *End = std::strchr(Text, '\n'))
    *End = '\0';
  std::memset(Name, 0, sizeof(Name));
  std::memcpy(Name, Text, strnlen(Text, sizeof(Name) - 1));
  return true;
}

// Threads often get their name after their first event: it is looked at again.
void HostRecorder::announce(HostStream &Stream, const ChunkSink &Append,
                            bool Closed) {
  char Name[16] = {};
  uint64_t Now = hostNowNs();
  if (Closed)
    std::memcpy(Name, Stream.LastName, sizeof(Name));
  else if (Stream.Announced && Now - Stream.NameReadNs < NameAgeNs)
    return;
  else if (!readName(Stream.ThreadId, Name) && Stream.Announced)
    return;
  Stream.NameReadNs = Now;
  if (Stream.Announced && std::memcmp(Name, Stream.Name, sizeof(Name)) == 0)
    return;
  Stream.Announced = true;
  std::memcpy(Stream.Name, Name, sizeof(Name));
  std::string Text(Name, strnlen(Name, sizeof(Name)));
  KprobeThreadRecord Record = {Stream.Number, Stream.ThreadId,
                               uint32_t(Text.size()), 0};
  Append(KPROBE_CHUNK_THREAD, &Record, sizeof(Record), Text);
}

void HostRecorder::writeStream(HostStream &Stream, const ChunkSink &Append) {
  // What is recorded while this runs waits for the next time.
  for (uint64_t Left = Stream.Bytes; Left > 0;) {
    HostStream::Span Span = Stream.readable(ChunkBytes);
    uint64_t Lost = Stream.lost();
    if (Span.Bytes == 0 && Lost == Stream.LostTold)
      return;
    KprobeHostEventsRecord Record = {Stream.Number, 0, Lost};
    Append(KPROBE_CHUNK_HOST_EVENTS, &Record, sizeof(Record),
           {reinterpret_cast<const char *>(Span.Data), Span.Bytes});
    Stream.LostTold = Lost;
    Stream.consume(Span.Bytes);
    Left -= Span.Bytes < Left ? Span.Bytes : Left;
  }
}

void HostRecorder::addSource(std::function<void(const ChunkSink &)> Source) {
  std::lock_guard<std::mutex> Guard(Lock);
  Sources.push_back(std::move(Source));
}

void HostRecorder::drain(const ChunkSink &Append) {
  std::vector<HostStream *> Present;
  std::vector<std::function<void(const ChunkSink &)>> Others;
  std::vector<const ApiTable *> News;
  {
    std::lock_guard<std::mutex> Guard(Lock);
    Present = Streams;
    Others = Sources;
    for (const HostStream *Stream : Present)
      Begun = Begun || Stream->used();
    if (!Present.empty()) {
      News.assign(Tables.begin() + long(TablesWritten), Tables.end());
      TablesWritten = Tables.size();
    }
  }
  for (const ApiTable *Table : News) {
    const KprobeApiTable &H = Table->Header;
    std::string Rest;
    auto Add = [&](const void *Data, size_t Bytes) {
      Rest.append(static_cast<const char *>(Data), Bytes);
    };
    Add(Table->Functions, H.FunctionCount * sizeof(KprobeApiFunction));
    Add(Table->Fields, H.FieldCount * sizeof(KprobeApiField));
    Add(Table->Enumerators, H.EnumeratorCount * sizeof(KprobeApiEnumerator));
    Add(Table->Strings, H.StringBytes);
    Append(KPROBE_CHUNK_API_TABLE, &H, sizeof(H), Rest);
  }
  // Nothing has happened yet: no dump need be made for it.
  if (Begun)
    for (const auto &Source : Others)
      Source(Append);
  for (HostStream *Stream : Present) {
    // Before the events are looked at: none follows then.
    bool Closed = Stream->Closed.load(std::memory_order_acquire);
    if (Stream->used()) {
      announce(*Stream, Append, Closed);
      writeStream(*Stream, Append);
    }
    if (!Closed)
      continue;
    std::lock_guard<std::mutex> Guard(Lock);
    for (size_t I = 0; I < Streams.size(); ++I)
      if (Streams[I] == Stream) {
        Streams.erase(Streams.begin() + long(I));
        break;
      }
    LostBefore += Stream->lost();
    Stream->Memory.unmap();
    delete Stream;
  }
}

uint64_t HostRecorder::lost() const {
  auto &Self = const_cast<HostRecorder &>(*this);
  std::lock_guard<std::mutex> Guard(Self.Lock);
  uint64_t Sum = LostBefore;
  for (const HostStream *Stream : Streams)
    Sum += Stream->lost();
  return Sum;
}

} // namespace kprobe
