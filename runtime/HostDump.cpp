// A thread that empties the streams every 50 ms.
#include "HostDump.h"
#include "Guarded.h"
#include "HostRecorder.h"
#include "LinuxEvents.h"
#include "Log.h"
#include "ProcessDump.h"
#include "QuietWrite.h"
#include "ThreadId.h"

#include <cerrno>
#include <csignal>
#include <cstdlib>
#include <pthread.h>
#include <semaphore.h>
#include <unistd.h>

namespace kprobe {
namespace {

constexpr long RoundNs = 50000000;
constexpr int FlushPatienceMs = 1000;

struct HostDump {
  Config Settings;
  sem_t News;
  pthread_t Thread;
  std::atomic<bool> Running{false};
  std::atomic<bool> Stop{false};
  std::atomic<bool> Failed{false};
  // As in Drain: no lock, since a signal handler may ask.
  std::atomic<uint64_t> FlushesAsked{0};
  std::atomic<uint64_t> FlushesDone{0};
  pid_t Process = 0;

  void append(uint32_t Kind, const void *Record, size_t Bytes,
              std::string_view Rest);
  void drain();
  void run();
  bool end();
};

// Never destroyed: its thread outlives main's destructors.
HostDump *Only = nullptr;

void HostDump::append(uint32_t Kind, const void *Record, size_t Bytes,
                      std::string_view Rest) {
  std::string Why;
  ProcessDump *Dump = ProcessDump::open(Settings, Why);
  DumpWriter::Part Parts[2] = {{Record, Bytes}, {Rest.data(), Rest.size()}};
  if (Dump && Dump->Writer.append(Kind, Parts, 2, &Why))
    return;
  // The first failure has its reason; later ones have been told.
  if (!Failed.exchange(true) && !Why.empty())
    logError(Why + "; tracing ends");
}

void HostDump::drain() {
  auto Append = [this](uint32_t Kind, const void *Record, size_t Bytes,
                       std::string_view Rest) {
    append(Kind, Record, Bytes, Rest);
  };
  HostRecorder::get().drain(Append);
  // Of a process that records nothing else, Linux's events are not worth a
  // file.
  if (ProcessDump::get())
    LinuxEvents::get().drain(Append);
}

void HostDump::run() {
  for (bool Last = false; !Last;) {
    struct timespec Until;
    clock_gettime(CLOCK_MONOTONIC, &Until);
    Until.tv_nsec += RoundNs;
    if (Until.tv_nsec >= 1000000000) {
      Until.tv_nsec -= 1000000000;
      ++Until.tv_sec;
    }
    while (sem_clockwait(&News, CLOCK_MONOTONIC, &Until) != 0 && errno == EINTR)
      ;
    Last = Stop.load(std::memory_order_acquire);
    uint64_t Asked = FlushesAsked.load(std::memory_order_acquire);
    if (!Failed.load(std::memory_order_relaxed))
      guarded([this] { drain(); });
    FlushesDone.store(Asked, std::memory_order_release);
  }
}

// False when it was not running.
bool HostDump::end() {
  if (!Running.exchange(false) || getpid() != Process)
    return false;
  Stop.store(true, std::memory_order_release);
  sem_post(&News);
  pthread_join(Thread, nullptr);
  return true;
}

void *threadMain(void *) {
  blocksAllSignals();
  isOurs();
  Only->run();
  return nullptr;
}

void finishAtExit() {
  guarded([] {
    if (!Only->end() || Only->Failed.load(std::memory_order_relaxed))
      return;
    HostRecorder::get().stop();
    if (ProcessDump *Dump = ProcessDump::get()) {
      Dump->Summary.ChunksDropped = Dump->Writer.chunksDropped();
      Only->append(KPROBE_CHUNK_SUMMARY, &Dump->Summary, sizeof(Dump->Summary),
                   {});
    }
  });
}

} // namespace

void startHostDump(const Config &Settings) {
  const bool First = !Only;
  if (First) {
    Only = new HostDump;
    sem_init(&Only->News, 0, 0);
    std::atexit(finishAtExit);
  } else if (Only->Running && Only->Process == getpid()) {
    return;
  }
  Only->Settings = Settings;
  Only->Process = getpid();
  Only->Stop = false;
  HostRecorder::get().setWaker([] { sem_post(&Only->News); });
  // No handler of the program shall run there.
  sigset_t All;
  sigset_t Old;
  sigfillset(&All);
  pthread_sigmask(SIG_SETMASK, &All, &Old);
  Only->Running = pthread_create(&Only->Thread, nullptr, threadMain, nullptr) == 0;
  pthread_sigmask(SIG_SETMASK, &Old, nullptr);
  if (!Only->Running) {
    logError("cannot start a thread; tracing is off");
    HostRecorder::get().stop();
    return;
  }
  pthread_setname_np(Only->Thread, "kprobe-drain");
}

void handOverHostDump() {
  if (Only)
    Only->end();
}

void flushHostDump() {
  if (!Only || !Only->Running.load(std::memory_order_acquire) ||
      getpid() != Only->Process)
    return;
  uint64_t Mine = Only->FlushesAsked.fetch_add(1, std::memory_order_acq_rel) + 1;
  sem_post(&Only->News);
  for (int Left = FlushPatienceMs;
       Left > 0 && Only->FlushesDone.load(std::memory_order_acquire) < Mine;
       --Left)
    usleep(1000);
}

} // namespace kprobe
