// One loading of the tool: everything between OnLoad and OnUnload.
//
// A tracer is made on the heap and never deleted: ROCr's signal thread and the
// program's queues may call into it after tracing has ended, and must then
// find a live object that lets everything pass.
#ifndef KPROBE_RUNTIME_TRACER_H
#define KPROBE_RUNTIME_TRACER_H

#include "Drain.h"
#include "Metrics.h"
#include "ProcessDump.h"
#include "Resources.h"
#include "Rewriter.h"

namespace kprobe {

class Tracer {
public:
  Tracer(const HsaApi &Api, const Config &Settings, ProcessDump &Dump);

  // False when the drain thread cannot be made: nothing will be traced.
  bool start();
  // Ends tracing; any number of calls from any threads, the first one works.
  // Unloading: ROCr lives on (hsa_init may follow), so memory and signals are
  // given back; at the process's end they are left to it.
  void finish(bool Unloading);
  // The device reported an error that most likely ends the process: writes at
  // once what the waves have left so far, and ends tracing.
  void deviceFailed(const std::string &What);
  // The process is about to end without telling anyone: what has been recorded
  // so far goes into the dump, tracing goes on.
  void flush();
  // In the child of a fork: no lock is taken, nothing is written.
  void letGo();

  // Hooks on memory and copies, in the table that we are loaded with.
  Resources &resources() { return Things; }
  MemoryMap &memory() { return Memory; }

  // After finish(): whoever writes next may.
  bool ended() const { return Writer.ended(); }

  bool active() const { return Active.load(std::memory_order_acquire); }

  // What the hooks report, each after the original call has succeeded.
  hsa_status_t
  createQueue(hsa_agent_t Agent, uint32_t Size, hsa_queue_type32_t Type,
              void (*Callback)(hsa_status_t, hsa_queue_t *, void *), void *Data,
              uint32_t PrivateBytes, uint32_t GroupBytes, hsa_queue_t **Queue);
  bool ownsQueue(const hsa_queue_t *Queue);
  // Before a queue is destroyed (its address may be used again at once), and
  // with the result of that once it is.
  std::shared_ptr<QueueState> forgetQueue(hsa_queue_t *Queue);
  void queueDestroyed(const QueueState &Queue);
  void readerCreated(hsa_code_object_reader_t Reader, const void *Elf,
                     size_t Bytes);
  void readerCreatedFromFile(hsa_code_object_reader_t Reader, int File);
  void readerDestroyed(hsa_code_object_reader_t Reader);
  void codeObjectLoaded(hsa_executable_t Executable, hsa_agent_t Agent,
                        hsa_code_object_reader_t Reader);
  void executableFrozen(hsa_executable_t Executable);
  void executableDestroyed(hsa_executable_t Executable);

  // ROCr's call for each packet that the program submits.
  void intercept(const std::shared_ptr<QueueState> &Queue, const void *Packets,
                 uint64_t Count, uint64_t FirstIndex,
                 hsa_amd_queue_intercept_packet_writer Writer);

private:
  // Stands between ROCr and the program's callback for errors of a queue.
  struct ErrorRelay {
    Tracer *Owner;
    void (*Callback)(hsa_status_t, hsa_queue_t *, void *);
    void *Data;
  };
  static void relayError(hsa_status_t Status, hsa_queue_t *Source, void *Data);
  void end(std::chrono::milliseconds Patience, bool Unloading);
  void report(const std::string &Problem);
  void say();

  const HsaApi Api;
  const Config Settings;
  ProcessDump &Dump;
  Agents Devices;
  CodeObjects Code;
  SignalPools Signals;
  DispatchBoard Board;
  MemoryMap Memory;
  Replay Exact;
  Rewriter Packets;
  Resources Things;
  Metrics Sensors;
  Drain Writer;
  // Set by start(), cleared by end() and letGo(): release stores pair with the
  // acquire load in active(), so that a hook that sees true sees a whole
  // tracer.
  std::atomic<bool> Active{false};
  // Set in the child of a fork, where FinishLock may be held for ever.
  std::atomic<bool> Gone{false};
  std::mutex FinishLock;
  bool Finished = false;
  std::mutex QueueLock;
  std::unordered_map<hsa_queue_t *, std::shared_ptr<QueueState>> Queues;
  // Kept until the end, because ROCr keeps their addresses: states of
  // destroyed queues and error relays of all.
  std::vector<std::shared_ptr<QueueState>> Retired;
  std::vector<std::unique_ptr<ErrorRelay>> Relays;
};

} // namespace kprobe

#endif
