//===- Machine.h - Compute units, waves, and what runs them -----------------===//
//
// State of the modelled GPU while dispatches run. One thread runs everything:
// compute units in turn for a window of modelled cycles, in each the SIMD whose
// next wave is due first, in that the wave that has been ready longest. All of
// it follows from modelled time alone, so two runs are equal cycle by cycle.
//
// With DeviceConfig::Threads, that many threads have the units among them and meet
// at the end of each window. Between windows one thread has everything. Within one,
// - a thread has its units and all on them: workgroups, LDS, waves, vector and scalar
//   caches; a Worker; and its part of each dispatch's counters;
// - Shared is held where a workgroup ends and the next one takes its place (pools,
//   dispatches, shader engines) and where a fault is reported;
// - MemoryTiming and Decoder have locks of their own; all else is only read.
// Which thread comes first decides over places and bandwidth, so then cycles differ
// from run to run.
//
// Machine is also the ExecEnv of every wave; the memory instructions
// (isa/Mem*.cpp) use its non-virtual part directly.
//
//===----------------------------------------------------------------------===//
#ifndef VGPU_MACHINE_MACHINE_H
#define VGPU_MACHINE_MACHINE_H

#include "core/CodeCache.h"
#include "core/Decoder.h"
#include "core/Env.h"
#include "core/Wave.h"
#include "machine/Device.h"
#include "machine/Dispatch.h"
#include "machine/Log.h"
#include "machine/MemoryMap.h"
#include "machine/MemoryTiming.h"
#include "machine/RegisterMemory.h"
#include "machine/ThreadTeam.h"
#include "machine/Worker.h"

#include <atomic>
#include <memory>
#include <mutex>
#include <vector>

namespace vgpu {

struct MachineWave;

/// Work items that share LDS and barriers.
struct Workgroup {
  Dispatch *Parent = nullptr; ///< Null when it is not on a compute unit.
  uint32_t Id[3] = {};
  unsigned Cu = 0;
  unsigned FirstSimd = 0; ///< Of those that its waves are spread over.
  unsigned Slot = 0;      ///< TG_ID of HW_ID.
  unsigned Waves = 0, Ended = 0, AtBarrier = 0;
  uint64_t BarrierTime = 0; ///< Latest arrival at the barrier now filling.
  uint32_t LdsBytes = 0, LdsAllocated = 0;
  std::vector<uint8_t> Lds;
  MachineWave *Members[32] = {};
};

/// Outstanding operations that complete in the order in which they were issued.
struct OperationQueue {
  static constexpr unsigned Size = 64;
  unsigned Head = 0, Count = 0;
  uint64_t Last = 0; ///< When the newest one completes.
  uint64_t Done[Size];

  void reset() {
    Head = Count = 0;
    Last = 0;
  }
  /// Moves \p Cycle to when no more than \p Left are outstanding.
  void wait(unsigned Left, uint64_t &Cycle) {
    if (Count <= Left)
      return;
    const unsigned Gone = Count - Left;
    const uint64_t Time = Done[(Head + Gone - 1) % Size];
    Cycle = Cycle < Time ? Time : Cycle;
    Head = (Head + Gone) % Size;
    Count = Left;
  }
  uint64_t push(uint64_t Time, uint64_t &Cycle) {
    Last = Last < Time ? Time : Last;
    if (Count == Size - 1)
      wait(Size - 2, Cycle);
    Done[(Head + Count++) % Size] = Last;
    return Last;
  }
};

struct MachineWave : Wave {
  // What the scheduler reads at every step comes first, near the end of Wave.
  const Inst *Next = nullptr; ///< At Pc, if it says so itself.
  Dispatch *Parent = nullptr;
  RunCounters *Counted = nullptr; ///< Parent's, of the Host.
  Worker *Host = nullptr;         ///< Of its compute unit.
  bool AfterBranch = false;   ///< The next instruction opens a block.
  unsigned Number = 0;        ///< In the workgroup.
  unsigned Cu = 0;   ///< Index of its ComputeUnit, on gfx10 a pair of them.
  unsigned Simd = 0, Slot = 0;
  unsigned L1 = 0; ///< The compute unit whose vector cache and LDS port it uses.
  const ClassCost *Costs = nullptr; ///< By OpClass, for its wave size.

  /// Completion times of outstanding operations. Vector memory completes in
  /// order; scalar memory and LDS share a counter but have no order.
  static constexpr unsigned MaxLgkm = 64;
  bool CountsStores = false; ///< Stores have a counter of their own (gfx10).
  uint8_t LgkmLimit = 16;    ///< One more than the counter can hold.
  unsigned LgkmCount = 0;
  uint64_t LdsLast = 0;
  OperationQueue Vm, Stores;
  uint64_t Lgkm[MaxLgkm];

  uint64_t Started = 0; ///< Cycle of its first instruction.
  /// Waits for other waves, and has no time at which it goes on.
  bool waits() const { return Status == WaveStatus::AtBarrier || Status == WaveStatus::Sleeping; }
  /// Then: where. A barrier takes one dword, other instructions that wait take two.
  uint64_t stoppedAt() const { return Pc - (Status == WaveStatus::AtBarrier ? 4 : 8); }

  int ScratchSlot = -1;
  uint64_t ScratchBase = 0; ///< Of this wave; swizzled by lane.
  unsigned RegisterCount = 0; ///< For which there is room at Vgpr.

  /// Counts one more outstanding operation that completes at \p Done; the wave
  /// waits for the oldest when the counter is full. \p NoResult: a store, or an
  /// atomic that returns nothing. Returns when it completes.
  uint64_t pushVm(uint64_t Done, bool NoResult) {
    OperationQueue &Q = NoResult && CountsStores ? Stores : Vm;
    return Q.push(Done, Cycle);
  }
  void pushLgkm(uint64_t Done);
  /// pushLgkm for LDS, whose operations complete in order.
  void pushLds(uint64_t Done) {
    LdsLast = Done < LdsLast ? LdsLast : Done;
    pushLgkm(LdsLast);
  }
  void waitVm(unsigned Left) { Vm.wait(Left, Cycle); }
  void waitStores(unsigned Left) { Stores.wait(Left, Cycle); }
  void waitLgkm(unsigned Left);
};

/// What one instruction costs when it issues.
struct IssueCost {
  Port Unit;
  uint8_t Busy;  ///< Cycles the port is taken.
  uint16_t Wave; ///< Cycles until the wave may issue again.
};

/// Instructions of a wave that were executed ahead and have not issued yet.
struct IssueQueue {
  static constexpr unsigned Most = 28;
  uint8_t Head = 0, Tail = 0;
  IssueCost Entries[Most];
};

struct SimdState {
  static constexpr unsigned MaxSlots = 16;
  static constexpr uint64_t Never = ~uint64_t(0);
  /// A key of this value: not within this window, perhaps never.
  static constexpr unsigned FarKey = 0xffff;
  MachineWave *Waves[MaxSlots] = {};
  uint64_t Ready[MaxSlots]; ///< When each wave may issue; Never if it cannot.
  /// The same, as cycles from the window's begin, for the choice among them.
  alignas(16) uint16_t Key[MaxSlots];
  uint64_t PortFree[unsigned(Port::Count)] = {};
  IssueQueue Ahead[MaxSlots];
  uint8_t Priority[MaxSlots] = {}; ///< s_setprio.
  unsigned Raised = 0;             ///< How many slots have one above 0.
  bool Touched = false;            ///< One was made ready, or its priority changed.
  unsigned Used = 0;    ///< Slots with a wave.
  unsigned VgprsUsed = 0, SgprsUsed = 0;

  SimdState() { reset(); }
  void reset() {
    for (unsigned I = 0; I < MaxSlots; ++I) {
      Waves[I] = nullptr;
      Priority[I] = 0;
      clearReady(I);
    }
    for (uint64_t &Free : PortFree)
      Free = 0;
    Used = VgprsUsed = SgprsUsed = Raised = 0;
  }
  void setReady(unsigned Slot, uint64_t Cycle, uint64_t WindowBegin) {
    Ready[Slot] = Cycle;
    Key[Slot] = key(Cycle, WindowBegin);
  }
  void setPriority(unsigned Slot, unsigned Value) {
    Raised += unsigned(Value != 0) - unsigned(Priority[Slot] != 0);
    Priority[Slot] = uint8_t(Value);
    Touched = true;
  }
  void clearReady(unsigned Slot) {
    Ready[Slot] = Never;
    Key[Slot] = FarKey;
    Ahead[Slot].Head = Ahead[Slot].Tail = 0;
  }
  /// A new window: keys count from its begin.
  void rebase(uint64_t WindowBegin) {
    for (unsigned I = 0; I < MaxSlots; ++I)
      Key[I] = key(Ready[I], WindowBegin);
  }

private:
  static uint16_t key(uint64_t Cycle, uint64_t WindowBegin) {
    const uint64_t Late = Cycle < WindowBegin ? 0 : Cycle - WindowBegin;
    return uint16_t(Late < FarKey ? Late : FarKey);
  }
};

/// What shares LDS: on gfx10 a workgroup processor, which is two compute units.
struct ComputeUnit {
  Worker *Host = nullptr; ///< Who runs it.
  std::vector<SimdState> Simds;
  uint64_t Next[4]; ///< Of each SIMD: when its next wave is due.
  bool Used = false; ///< Since the time line began.
  unsigned Groups = 0;
  uint32_t LdsUsed = 0;
  uint32_t LdsOfCu[2] = {}; ///< Part of it that is bound to one of two compute units.
  uint32_t GroupSlots = 0; ///< Bit per TG_ID in use.
};

/// What the global wave sync unit does (ds_gws_*).
enum class GlobalSync : uint8_t { Init, Barrier, SemaV, SemaBr, SemaP, ReleaseAll };

/// One resource of that unit: a barrier across workgroups, or a semaphore.
struct GlobalResource {
  uint32_t Counter = 0;
  uint64_t Latest = 0; ///< Latest arrival at the barrier now filling.
  std::vector<MachineWave *> Waiting;
};

class Machine;
namespace base {
/// Runs the waves of one SIMD until the next one is due at \p Limit or later.
void runSimd(Machine &M, unsigned Cu, unsigned Simd, uint64_t Limit);
} // namespace base
namespace v3 {
void runSimd(Machine &M, unsigned Cu, unsigned Simd, uint64_t Limit);
} // namespace v3

class Machine final : public ExecEnv {
public:
  Machine(const DeviceConfig &Config, AddressSpace &Space);
  ~Machine() override;

  /// Begins \p D at \p ReadyTick, but not earlier than the last window of modelled
  /// time that has run. False if it is over already; D.Result says how.
  bool start(Dispatch &D, uint64_t ReadyTick);
  /// Lets all dispatches run for a window of modelled time. Appends those that
  /// have ended to \p Ended.
  void runWindow(std::vector<Dispatch *> &Ended);
  bool idle() const { return Running.empty(); }
  /// Sets the clocks to \p Tick, as if the device had stood still until then.
  void skipTo(uint64_t Tick);
  /// The tick at which a dispatch would begin now.
  uint64_t nowTick() const { return tickAt(WindowEnd); }
  /// To be called by a thread that is about to call start and runWindow: its
  /// processor time counts from here on.
  void enter();
  MemoryMap &memoryMap() { return Workers[0]->Memory; }
  void flush() { Log.flush(); }
  /// Empty, or why this machine cannot run anything.
  const std::string &error() const { return Decode.error(); }

  // --- For the memory instructions -----------------------------------------
  static Machine &of(Wave &W) { return static_cast<Machine &>(*W.Env); }
  /// All active lanes may access Bytes at their address; else raises a fault
  /// that names the lane. Inactive lanes have some address, too.
  bool checkLanes(Wave &W, const Inst &I, const uint64_t *Address, uint64_t Exec, unsigned Bytes,
                  bool Write);
  /// Models the time of a vector memory operation and counts it; returns when
  /// it completes.
  uint64_t vectorTime(Wave &W, const Inst &I, const uint64_t *Address, uint64_t Exec,
                      unsigned Bytes, MemoryOp Op);
  uint64_t vectorTime(MachineWave &W, const Inst &I, LineSet &Lines, unsigned Bytes, MemoryOp Op);
  /// The same for LDS.
  void ldsTime(Wave &W, const Inst &I, const uint32_t *Address, uint64_t Exec, unsigned Dwords);
  void scalarTime(Wave &W, uint64_t Address, unsigned Bytes, bool Store);
  bool allows(Wave &W, uint64_t Begin, uint64_t End, bool Write) {
    return static_cast<MachineWave &>(W).Host->Memory.allows(Begin, End, Write);
  }
  MemoryTiming &memoryTiming() { return Timing; }
  void globalSync(Wave &W, const Inst &I, GlobalSync Op);
  void logTime(const MachineWave &W, uint64_t Pc, uint64_t Value, bool RealTime) {
    if (Log.enabled())
      Log.time(W, Pc, Value, RealTime);
  }
  static uint32_t privateBytes(const Wave &W) {
    return static_cast<const MachineWave &>(W).Parent->Private;
  }
  const DeviceConfig &config() const { return Config; }
  const TimingModel &model() const { return Model; }
  /// An access beyond what a work item has of scratch.
  void stackFault(Wave &W, const Inst &I, const std::string &Text, unsigned Lane, uint64_t Address);
  /// True unless the buffer at \p Base is the dispatch's scratch and \p Address
  /// is not in what the wave's work items were given of it.
  bool onStack(const Wave &Any, uint64_t Base, uint64_t Address, unsigned Bytes) const {
    auto &W = static_cast<const MachineWave &>(Any);
    const Dispatch &D = *W.Parent;
    if (W.ScratchSlot < 0 || Base - D.ScratchBase >= D.ScratchBytes)
      return true;
    return Address - W.ScratchBase + Bytes <= uint64_t(D.Private) * W.WaveSize;
  }

  // --- ExecEnv ---------------------------------------------------------------
  void *memory(Wave &W, uint64_t Addr, size_t N, Access A) override;
  uint8_t *ldsBase(Wave &W) override { return W.Group->Lds.data(); }
  size_t ldsSize(Wave &W) override { return W.Group->LdsBytes; }
  uint64_t cycleClock(Wave &W) override;
  uint64_t realTime(Wave &W) override;
  void endProgram(Wave &W) override;
  void barrier(Wave &W) override;
  void waitCounters(Wave &W, const Inst &I, uint32_t Imm) override;
  void sleep(Wave &W, uint32_t Units64Cycles) override;
  void sendMessage(Wave &W, const Inst &I, uint32_t Message, uint32_t M0) override;
  void trap(Wave &W, const Inst &I, uint32_t TrapId) override;
  void setPriority(Wave &W, uint32_t Priority) override;
  bool readHwReg(Wave &W, uint32_t Id, uint32_t &Value) override;
  bool writeHwReg(Wave &W, uint32_t Id, uint32_t Value) override;
  void invalidateCode(Wave &) override;
  void fault(Wave &W, const Inst &I, FaultKind Kind, std::string Text, unsigned Lane,
             uint64_t Addr) override;

private:
  // Dispatcher.cpp
  void startTimeLine(uint64_t Cycle);
  uint64_t ticksOver(uint64_t Cycles) const;
  uint64_t tickAt(uint64_t Cycle) const;
  void finish(Dispatch &D);
  bool placeGroup(Dispatch &D, unsigned Cu, uint64_t When);
  void placeGroups(Dispatch &D, uint64_t When);
  void groupEnded(Workgroup &G, uint64_t When);
  void removeGroup(Workgroup &G);
  void removeGroups(Dispatch &D);
  void charge();

  // Scheduler.cpp
  bool checkProgress(uint64_t Now);
  void reportDeadlock();
  void runUnit(unsigned Cu, uint64_t End);
  void runUnits(unsigned Part, unsigned Parts);
  bool inParallel() const;
  friend void base::runSimd(Machine &, unsigned, unsigned, uint64_t);
  friend void v3::runSimd(Machine &, unsigned, unsigned, uint64_t);
  void waveStopped(MachineWave &W);
  void releaseBarrier(Workgroup &G);
  void makeReady(MachineWave &W);
  void wake(GlobalResource &R, size_t Count, uint64_t Cycle);
  void forgetCode(Worker &Host);

  // Faults.cpp
  void report(Dispatch &D, FaultCause Cause, uint64_t QueueError, const Wave *W, const Inst *I,
              const std::string &Text, unsigned Lane, uint64_t Address);
  std::string waveText(const MachineWave &W, unsigned Lane);
  void describeInstruction(const MachineWave &W, const Inst &I, unsigned Lane);
  void describeWaves(const Workgroup &Group);

  const DeviceConfig Config;
  const TimingModel &Model;
  Decoder Decode;
  MemoryTiming Timing;
  ExecutionLog Log;

  /// Of base or v3, as the host can.
  void (*const RunSimd)(Machine &, unsigned, unsigned, uint64_t);
  std::vector<std::unique_ptr<Worker>> Workers;
  std::mutex Shared; ///< See above.
  std::vector<Dispatch *> Running; ///< In the order in which they began.
  uint64_t Origin = 0;             ///< Device cycle that is 0 on the time line.
  uint64_t WindowBegin = 0, WindowEnd = 0;
  std::vector<uint64_t> EngineFree; ///< By shader engine: next wave launch.
  unsigned NextCu = 0, FirstCu = 0, NextDispatch = 0;
  std::atomic<bool> Interrupted{false}; ///< A dispatch stopped: end this window early.
  std::atomic<bool> Slept{false};       ///< A wave slept in this window: let the host run.
  double LastCharge = 0;
  GlobalResource Globals[GlobalSyncResources];

  std::vector<ComputeUnit> Units;
  RegisterMemory Registers;
  std::vector<std::unique_ptr<MachineWave>> WavePool;
  std::vector<MachineWave *> WaveFree;
  std::vector<std::unique_ptr<Workgroup>> GroupPool;
  std::vector<Workgroup *> GroupFree;
  ThreadTeam Team; ///< Last: its threads end before what they use.
};

} // namespace vgpu
#endif
