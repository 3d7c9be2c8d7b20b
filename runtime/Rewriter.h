// Turns the program's packets into those that are submitted.
//
// For a dispatch of an instrumented kernel the copy names the clone, carries
// the address of a dispatch context in reserved2, has the clone's segment
// sizes and a completion signal of ours. When anything that needs is missing,
// the packet goes through as it came, and the record says why. Called on the
// program's own thread: it never waits for the drain, and for the device only
// where a full queue would have made the program wait anyway.
#ifndef KPROBE_RUNTIME_REWRITER_H
#define KPROBE_RUNTIME_REWRITER_H

#include "Dispatch.h"
#include "Replay.h"
#include "SignalPool.h"

namespace kprobe {

// Waves and workgroups of a grid, in 64 bits, saturating.
struct GridShape {
  uint64_t GroupsX = 0;
  uint64_t GroupsY = 0;
  uint64_t GroupsZ = 0;
  uint64_t WavesPerGroup = 0; // of a whole workgroup
  uint64_t Waves = 0;         // that are launched; partial groups have fewer
  uint64_t WaveIndices = 0;   // groups * WavesPerGroup: range of WaveIndex
};
GridShape gridShape(const hsa_kernel_dispatch_packet_t &Packet,
                    uint32_t WaveSize);

class Rewriter {
public:
  Rewriter(const HsaApi &Api, CodeObjects &Code, SignalPools &Signals,
           DispatchBoard &Board, const Config &Settings, Replay *Exact,
           std::atomic<uint64_t> &DispatchCounter)
      : Api(Api), Code(Code), Signals(Signals), Board(Board),
        Settings(Settings), Exact(Exact), DispatchCounter(DispatchCounter) {}

  // Packets holds Count packets and is changed in place. FirstIndex is the
  // queue index of the first.
  void rewrite(const std::shared_ptr<QueueState> &Queue, AqlPacket *Packets,
               size_t Count, uint64_t FirstIndex);

  // From now on no dispatch gets probes; all are still watched, because that
  // is what waitForRoom() learns from.
  void stopInstrumenting() {
    Instrumenting.store(false, std::memory_order_relaxed);
  }

  // Before Count packets are submitted: returns once the device queue can take
  // them. The program sees an intercepted queue as never full; what does not
  // fit is put aside by ROCr, which in 5.2 may then let a later packet
  // overtake. Staying below the queue's size keeps the order.
  void waitForRoom(QueueState &Queue, size_t Count);

private:
  void rewriteDispatch(const std::shared_ptr<QueueState> &Queue,
                       hsa_kernel_dispatch_packet_t &Packet, uint64_t Index,
                       uint64_t Position);
  uint32_t instrument(Dispatch &Item, hsa_kernel_dispatch_packet_t &Packet,
                      const GridShape &Grid);
  void undo(Dispatch &Item);
  bool watch(const DispatchRef &Item, hsa_kernel_dispatch_packet_t &Packet);
  bool callAtEnd(const DispatchRef &Item);

  const HsaApi &Api;
  CodeObjects &Code;
  SignalPools &Signals;
  DispatchBoard &Board;
  const Config &Settings;
  Replay *Exact; // null in other modes
  std::atomic<uint64_t> &DispatchCounter;
  std::atomic<bool> Instrumenting{true}; // a hint; orders nothing
};

} // namespace kprobe

#endif
