// Mode exact: a dispatch whose rings turn out too small is run once more, from
// the same memory, into rings of the right size.
//
//   wait until nothing else runs ──► save what the kernel may reach
//     ──► run it, in mode ring ──► nothing overwritten: done
//                              └─► put the memory back, run it again
//
// All of it happens in the call that submits the dispatch, on a queue of our
// own; in the program's queue a barrier stands for the dispatch. Other threads'
// work waits at the gate meanwhile. Where that cannot be sound the dispatch is
// traced in mode ring, once, and the record says why; a first run that does not
// end in time stands as it is, and the gate opens, because it may wait for what
// the program does next.
//
// What a kernel may reach is found as a conservative garbage collector finds it:
// from its arguments and its module's variables, through every word that looks
// like an address.
#ifndef KPROBE_RUNTIME_REPLAY_H
#define KPROBE_RUNTIME_REPLAY_H

#include "Dispatch.h"
#include "MemoryMap.h"
#include "SignalPool.h"

#include <unordered_set>

namespace kprobe {

class Replay {
public:
  Replay(const HsaApi &Api, SignalPool &Signals, DispatchBoard &Board,
         MemoryMap &Memory, const Config &Settings)
      : Api(Api), Signals(Signals), Board(Board), Memory(Memory),
        Settings(Settings) {}

  // Packet is ready to be submitted in mode ring, and Item describes it. True
  // when it has been run and Packet was made a barrier that stands for it.
  // With the gate held.
  bool run(Dispatch &Item, hsa_kernel_dispatch_packet_t &Packet);

  // Before run() is asked about the same packet; with the gate held.
  void sawPacket(const QueueState &Queue, const AqlPacket &Packet);
  // Something runs whose end will not be known.
  void neverQuiet() { Memory.barrierSubmitted(nullptr, {}); }

  // Once nothing runs any more.
  void destroyQueues();

private:
  struct Saved {
    MemoryRange Range;
    std::vector<uint8_t> Bytes;
  };
  bool waitUntilQuiet(const Dispatch &Item);
  // KPROBE_REFUSAL_NONE, or why not.
  uint32_t save(const Dispatch &Item,
                const hsa_kernel_dispatch_packet_t &Packet,
                std::vector<Saved> &Into);
  bool restore(const std::vector<Saved> &From);
  hsa_queue_t *queueOf(Agent &Device);
  // Runs the packet with the signal Item.Run. False when it has not ended in
  // time.
  bool execute(Dispatch &Item, hsa_kernel_dispatch_packet_t Packet);
  static void onError(hsa_status_t Status, hsa_queue_t *Source, void *Data);

  const HsaApi &Api;
  SignalPool &Signals;
  DispatchBoard &Board;
  MemoryMap &Memory;
  const Config &Settings;
  // Under the gate.
  std::unordered_map<uint64_t, hsa_queue_t *> Queues; // by agent
  // Whose dispatch is on our queue; read by ROCr's thread when that fails.
  std::atomic<QueueState *> Running{nullptr};
};

} // namespace kprobe

#endif
