//===- Driver.cpp - The stand-in for the kernel driver ----------------------===//
//
// See Driver.h.
//
//===----------------------------------------------------------------------===//
#include "thunk/Driver.h"

#include "machine/Statistics.h"
#include "thunk/Topology.h"

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <new>
#include <pthread.h>
#include <signal.h>
#include <sys/mman.h>
#include <unistd.h>

using namespace vgpu;

namespace {

constexpr uint32_t DoorbellCount = 1024;
constexpr uint64_t DoorbellBytes = 64; ///< A cache line each.

/// In the child of a fork, whose doorbells are not there: a store to one is how a
/// program finds out that the device is its parent's. Anything else goes the way
/// it would have gone.
const char *ChildDoorbells = nullptr;
struct sigaction BeforeChild;

void onChildFault(int, siginfo_t *Info, void *) {
  const char *At = static_cast<const char *>(Info->si_addr);
  if (At >= ChildDoorbells && At < ChildDoorbells + DoorbellCount * DoorbellBytes) {
    constexpr char Text[] = "kprobe-vgpu: error: the child of a fork cannot use the device of "
                            "its parent\n";
    if (write(STDERR_FILENO, Text, sizeof(Text) - 1) > 0)
      fsync(STDERR_FILENO);
    abort();
  }
  sigaction(SIGSEGV, &BeforeChild, nullptr); // The access is made again.
}

/// A path or list from the environment, "" when not set.
std::string environment(const char *Name) {
  const char *Value = std::getenv(Name);
  return Value ? Value : "";
}

} // namespace

//===----------------------------------------------------------------------===//
// GpuNode
//===----------------------------------------------------------------------===//

GpuNode::GpuNode(Driver &Owner, uint32_t Node, DeviceConfig Config)
    : Owner(Owner), Node(Node), Config(std::move(Config)), Space(Owner.Memory, Node) {}

Device &GpuNode::device() {
  std::call_once(Made, [this] { Gpu = std::make_unique<Device>(Config, Space); });
  return *Gpu;
}

DispatchResult GpuNode::run(DispatchArgs &Args) {
  Args.KernelName = [this](uint64_t Object) { return Owner.Code.kernelName(Object); };
  Args.Place = [this](uint64_t Pc) { return Owner.Code.place(Pc); };
  Args.Interrupt = [this](uint32_t EventId) {
    Owner.Events.interrupt(EventId);
    Owner.kickWaiters();
  };
  Args.Look = [this] { Owner.lookAtQueues(); };
  Owner.Memory.beginDispatch();
  DispatchResult Result = device().run(Args);
  Owner.Memory.endDispatch();
  return Result;
}

void GpuNode::signalChanged(uint32_t EventId) {
  if (EventId)
    Owner.Events.setById(EventId);
  Owner.kickWaiters();
}

void GpuNode::report(const Fault &Problem) {
  std::string Text;
  if (Problem.Lines.empty())
    Text = std::string("kprobe-vgpu: ") + faultCauseName(Problem.Cause) + "\n";
  for (const std::string &Line : Problem.Lines)
    Text += "kprobe-vgpu: " + Line + "\n";
  // One write, so that lines of other threads do not come between.
  std::fflush(stdout);
  std::fwrite(Text.data(), 1, Text.size(), stderr);
  std::fflush(stderr);
  device().flush();
  Statistics::get().finish(); // The process may end in ROCr.
  if (Problem.Cause != FaultCause::Memory)
    return;
  HsaMemoryAccessFault Data;
  std::memset(&Data, 0, sizeof(Data));
  Data.NodeId = Node;
  Data.VirtualAddress = Problem.Address & ~(PageSize - 1);
  // A store to a range that may be read is one to a read-only page.
  if (Problem.IsWrite && Owner.Memory.lookup(Problem.Address, Node))
    Data.Failure.ReadOnly = 1;
  else
    Data.Failure.NotPresent = 1;
  Data.Flags = HSA_EVENTID_MEMORY_FATAL_PROCESS;
  Owner.Events.raiseMemoryFault(Data);
}

//===----------------------------------------------------------------------===//
// Driver
//===----------------------------------------------------------------------===//

Driver *Driver::Instance = nullptr;

Driver &Driver::get() {
  static std::once_flag Once;
  std::call_once(Once, [] { Instance = new Driver; });
  return *Instance;
}

Driver::Driver() {
  void *Map = mmap(nullptr, DoorbellCount * DoorbellBytes, PROT_READ | PROT_WRITE,
                   MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (Map == MAP_FAILED)
    throw std::bad_alloc();
  // The child of a fork that rings would wait for ever, often in a loop that never
  // enters the driver; so it faults instead, as with the real driver.
  madvise(Map, DoorbellCount * DoorbellBytes, MADV_DONTFORK);
  Doorbells = static_cast<char *>(Map);
  for (uint32_t I = DoorbellCount; I-- != 0;)
    FreeDoorbells.push_back(I);
  pthread_atfork(nullptr, nullptr, [] { get().childAfterFork(); });
}

bool Driver::configure() {
  std::string List = environment("KPROBE_VGPU");
  if (List.empty())
    List = "gfx906";
  size_t Begin = 0;
  while (Begin <= List.size()) {
    const size_t End = std::min(List.find(',', Begin), List.size());
    const std::string Target = List.substr(Begin, End - Begin);
    DeviceConfig Config;
    if (!DeviceConfig::forTarget(Target, Config)) {
      std::fprintf(stderr,
                   "kprobe-vgpu: error: unknown target '%s' in KPROBE_VGPU "
                   "(known: %s)\n",
                   Target.c_str(), DeviceConfig::knownTargets().c_str());
      Configs.clear();
      return false;
    }
    Configs.push_back(std::move(Config));
    Begin = End + 1;
  }
  return true;
}

HSAKMT_STATUS Driver::open() {
  std::lock_guard<std::mutex> Guard(Lock);
  if (Forked)
    return HSAKMT_STATUS_KERNEL_IO_CHANNEL_NOT_OPENED;
  if (OpenCount > 0) {
    ++OpenCount;
    return HSAKMT_STATUS_KERNEL_ALREADY_OPENED;
  }
  if (!Nodes.empty()) { // Opened before: same machine again.
    OpenCount = 1;
    return HSAKMT_STATUS_SUCCESS;
  }
  if (!configure())
    return HSAKMT_STATUS_KERNEL_IO_CHANNEL_NOT_OPENED;
  std::vector<uint32_t> GpuNodes;
  for (uint32_t I = 0; I != Configs.size(); ++I)
    GpuNodes.push_back(FirstGpuNode + I);
  Memory.setGpuNodes(GpuNodes);
  Memory.addInternal(Events.mailboxes(), EventTable::mailboxBytes());
  Memory.addInternal(Doorbells, DoorbellCount * DoorbellBytes);
  for (uint32_t Node : GpuNodes) {
    const DeviceConfig &Config = Configs[Node - FirstGpuNode];
    Memory.setLimit(Node, Config.VramBytes);
    Nodes.push_back(std::make_unique<GpuNode>(*this, Node, Config));
  }
  // Last: who sees it open (isOpen) sees what the machine has.
  OpenCount.store(1, std::memory_order_release);
  return HSAKMT_STATUS_SUCCESS;
}

HSAKMT_STATUS Driver::close() {
  {
    std::lock_guard<std::mutex> Guard(Lock);
    if (OpenCount == 0)
      return HSAKMT_STATUS_KERNEL_IO_CHANNEL_NOT_OPENED;
    if (--OpenCount > 0)
      return HSAKMT_STATUS_SUCCESS;
  }
  stopQueues();
  Code.setDebugList(nullptr);
  return HSAKMT_STATUS_SUCCESS;
}

HSAKMT_STATUS Driver::createQueue(uint32_t Node, HSA_QUEUE_TYPE Type, void *Ring,
                                  uint64_t RingBytes, HsaQueueResource &Resource) {
  if (!isGpu(Node))
    return HSAKMT_STATUS_INVALID_NODE_UNIT;
  if (Type != HSA_QUEUE_COMPUTE_AQL)
    return HSAKMT_STATUS_NOT_SUPPORTED;
  if (!Ring || RingBytes == 0 || (RingBytes & (RingBytes - 1)) != 0 ||
      !Resource.Queue_read_ptr_aql || !Resource.Queue_write_ptr_aql)
    return HSAKMT_STATUS_INVALID_PARAMETER;
  Queue::Config Setup;
  Setup.Ring = Ring;
  Setup.RingBytes = RingBytes;
  // The indices that ROCr names are members of its amd_queue_t.
  Setup.Descriptor =
      reinterpret_cast<amd_queue_t *>(reinterpret_cast<char *>(Resource.Queue_read_ptr_aql) -
                                      offsetof(amd_queue_t, read_dispatch_id));
  gpu(Node).device(); // Not in the first dispatch: making it takes a while.

  std::lock_guard<std::mutex> Guard(Lock);
  if (FreeDoorbells.empty())
    return HSAKMT_STATUS_OUT_OF_RESOURCES;
  const uint32_t Bell = FreeDoorbells.back();
  FreeDoorbells.pop_back();
  Setup.Doorbell = reinterpret_cast<uint64_t *>(Doorbells + Bell * DoorbellBytes);
  __atomic_store_n(Setup.Doorbell, ~uint64_t(0), __ATOMIC_RELEASE);
  const HSA_QUEUEID Id = NextQueue++;
  Setup.Id = uint32_t(Id);
  Resource.QueueId = Id;
  Resource.Queue_DoorBell_aql = Setup.Doorbell;
  Queues[Id] = std::make_unique<Queue>(Setup, gpu(Node));
  QueueNode[Id] = Node;
  return HSAKMT_STATUS_SUCCESS;
}

HSAKMT_STATUS Driver::destroyQueue(HSA_QUEUEID Id) {
  std::unique_ptr<Queue> Old;
  {
    std::lock_guard<std::mutex> Guard(Lock);
    auto It = Queues.find(Id);
    if (It == Queues.end())
      return HSAKMT_STATUS_INVALID_HANDLE;
    Old = std::move(It->second);
    Queues.erase(It);
    Old->cancel();
    QueueNode.erase(Id);
    const char *Bell = reinterpret_cast<char *>(Old->config().Doorbell);
    FreeDoorbells.insert(FreeDoorbells.begin(), uint32_t((Bell - Doorbells) / DoorbellBytes));
  }
  // Joined without the lock, which the thread may want for kickWaiters().
  Old.reset();
  return HSAKMT_STATUS_SUCCESS;
}

HSAKMT_STATUS Driver::suspendQueue(HSA_QUEUEID Id, bool Suspended) {
  std::lock_guard<std::mutex> Guard(Lock);
  auto It = Queues.find(Id);
  if (It == Queues.end())
    return HSAKMT_STATUS_INVALID_HANDLE;
  It->second->suspend(Suspended);
  return HSAKMT_STATUS_SUCCESS;
}

HSAKMT_STATUS Driver::grantGlobalSync(HSA_QUEUEID Id, uint32_t Count, uint32_t *First) {
  std::lock_guard<std::mutex> Guard(Lock);
  auto It = Queues.find(Id);
  if (It == Queues.end())
    return HSAKMT_STATUS_INVALID_HANDLE;
  if (Count > GlobalSyncResources)
    return HSAKMT_STATUS_OUT_OF_RESOURCES;
  for (auto &[Other, Each] : Queues)
    if (Other != Id && QueueNode[Other] == QueueNode[Id] && Each->globalResources())
      return HSAKMT_STATUS_OUT_OF_RESOURCES;
  It->second->setGlobalResources(Count);
  if (First)
    *First = 0;
  return HSAKMT_STATUS_SUCCESS;
}

bool Driver::hasQueue(HSA_QUEUEID Id) {
  std::lock_guard<std::mutex> Guard(Lock);
  return Queues.count(Id) != 0;
}

void Driver::kickQueues() {
  std::lock_guard<std::mutex> Guard(Lock);
  for (auto &[Id, Each] : Queues)
    Each->kick();
}

void Driver::lookAtQueues() {
  std::unique_lock<std::mutex> Guard(Lock, std::try_to_lock);
  if (!Guard)
    return;
  for (auto &[Id, Each] : Queues)
    Each->look();
}

void Driver::kickWaiters() {
  std::lock_guard<std::mutex> Guard(Lock);
  for (auto &[Id, Each] : Queues)
    Each->kickWaiter();
}

void Driver::stopQueues() {
  std::map<HSA_QUEUEID, std::unique_ptr<Queue>> All;
  {
    std::lock_guard<std::mutex> Guard(Lock);
    All.swap(Queues);
    QueueNode.clear();
    for (auto &[Id, Each] : All)
      Each->cancel();
  }
  for (auto &[Id, Each] : All)
    if (!Each->joinFor(std::chrono::seconds(2)))
      (void)Each.release(); // Its thread still uses it.
}

void Driver::childAfterFork() {
  Forked = true;
  ChildDoorbells = Doorbells;
  struct sigaction Handler = {};
  Handler.sa_sigaction = onChildFault;
  Handler.sa_flags = SA_SIGINFO;
  sigaction(SIGSEGV, &Handler, &BeforeChild);
  new (&Lock) std::mutex;
  Memory.resetLockAfterFork();
  Events.resetAfterFork();
  Code.resetLockAfterFork();
  Statistics::get().resetLockAfterFork();
  for (auto &[Id, Each] : Queues)
    Each->abandon();
}

void Driver::atUnload() {
  if (Instance && !Instance->Forked) {
    Instance->stopQueues();
    Statistics::get().finish();
  }
}
