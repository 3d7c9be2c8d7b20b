// The drain thread: writes what completed dispatches left behind.
//
// The only writer of the dump. It blocks all signals, so that no handler of
// the program ever runs on it, and calls HSA only for clocks and time stamps.
#ifndef KPROBE_RUNTIME_DRAIN_H
#define KPROBE_RUNTIME_DRAIN_H

#include "Clocks.h"
#include "Dispatch.h"
#include "Metrics.h"
#include "ProcessDump.h"

#include <pthread.h>
#include <unordered_set>

namespace kprobe {

class Drain {
public:
  Drain(const HsaApi &Api, Agents &Devices, DispatchBoard &Board,
        ProcessDump &Dump, Metrics &Sensors);

  // False when the thread cannot be made.
  bool start();
  // Writes everything that completes within Patience, the rest as it stands,
  // and a SUMMARY; then the thread ends. Gives up on a thread that hangs.
  // True when nothing was left running.
  bool finish(std::chrono::milliseconds Patience);
  // After finish(): nothing is written from here any more.
  bool ended() const { return Ended; }

  // Returns when everything recorded so far is in the dump, at the latest after
  // Patience. Any thread but the drain's, signal handlers included.
  void flush(std::chrono::milliseconds Patience);

  // The dump cannot be written any more.
  bool failed() const { return Failed.load(std::memory_order_relaxed); }

  // A line for the user that is also kept in the dump. Any thread.
  void message(const std::string &Text);

private:
  static void *threadMain(void *Self);
  void run();
  void writeBatch(const std::vector<DispatchRef> &Batch);
  void writeHeldBack();
  void writeDispatch(Dispatch &Item, bool Final);
  void announceAgent(Agent &Device);
  void describeAgent(Agent &Device);
  void announceTable(const SiteTable &Table);
  void writeClocks(bool OnlyNew);
  bool poolsRunLow();
  bool preparePools();
  void writeMessages();
  void writeHostEvents();
  struct WriteBatch;
  void writeFailed(const std::string &Why);
  void append(uint32_t Kind, const void *Record, size_t RecordBytes,
              std::string_view Strings = {});

  ClockSources clockSources(const Agent &Device) const;

  const HsaApi &Api;
  Agents &Devices;
  DispatchBoard &Board;
  ProcessDump &Dump;
  KprobeSummaryRecord &Summary;
  Metrics &Sensors;
  // Dispatches without a time stamp that came before the first one with: the
  // agent is announced with a checked clock, and they follow.
  std::vector<DispatchRef> HeldBack;
  uint64_t SystemHz = 0;
  // A hint that new dispatches need no probes; orders nothing.
  std::atomic<bool> Failed{false};
  std::unordered_set<uint64_t> TablesWritten;
  // No lock: a signal handler that ends the process may have interrupted any.
  std::atomic<uint64_t> FlushesAsked{0};
  std::atomic<uint64_t> FlushesDone{0};
  std::mutex MessageLock;
  std::vector<std::string> Messages;
  pthread_t Thread = {};
  bool Running = false;
  bool Ended = false;
  bool LeftRunning = false; // read after the thread was joined
  std::atomic<int64_t> PatienceMs{0};
};

} // namespace kprobe

#endif
