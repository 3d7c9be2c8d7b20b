// Instruments the kernels of a device module: for each kernel `k` two clones, in
// which every basic block carries one probe. `k.kprobe` traces all its waves;
// `k.sampled.kprobe` is for dispatches of which only some are to be traced, and has
// the original's blocks a second time for the others (addPlainBody); a large kernel
// has only `k.kprobe`, which is then built like that. `k` itself is left as it is; the
// host runtime decides which of them a dispatch runs.
//
// What a clone gets, on gfx906 (test/pass/probe_cost.ll pins it):
//
//   at entry     both clocks and a load of the dispatch context; at the end of the
//                entry block, where what it has loaded is there, the hook
//                __kprobe_wave_claim (hooks.c), and
//                  s_add_u32 s68; s_addc_u32 s69           slot
//                  s_mov_b32 s73; s_mov_b32 s72, 0         mask, cursor
//                  s_mov_b32 s70; s_mov_b32 s71            rest of the resource
//                and three stores to the header; in the clone for samples before
//                all this
//                  s_cmp_ge_u32; s_cbranch_scc1            is it sampled?
//   per block    but for the kernel's entry, of which the header tells, and for
//                those of which others tell (Placement.h), at its start
//                  s_memtime s[A:B]                        the clock
//                at its end (before a call, if it has one)
//                  s_bcnt1_i32_b64 sC, exec                lanes
//                  s_lshl4_add_u32 sC, sC, site and kind   the tag
//                  v_mov_b32 vF, sC
//                  v_mov_b32 vE, sA
//                  s_and_b32 sD, s72, s73                  place in the ring
//                  s_add_u32 s72, s72, 8                   cursor
//                  buffer_store_dwordx2 v[E:F], off, s[68:71], sD offset:128
//                eight instructions, six where all lanes of the wave are known
//                to come (the tag is then a constant), one less where the block
//                is too short for a clock; no branch, no atomic, no LDS, and no
//                wait but the one for the clock. Where no wave can come to a block
//                twice, each event has a place of its own (assignPlaces): neither
//                mask nor cursor, and two instructions less.
//                In mode drop the place is s_min_u32 instead: whatever comes when
//                all places are full comes to the last one. In mode counters
//                there are no events but a counter for each site (Counting.h):
//                stored, counted in scalar registers, or an atomic.
//   per return   both clocks, and after the event two stores to the header
//
// s68..s73 lie above what the register allocator may use in the clone (70 less
// the special ones), so that the whole count, 80, still allows ten waves; a
// kernel that needs more scalar registers spills them to lanes of vector ones.
//
// Functions that a kernel calls directly are cloned with it, as often as there
// are kernels. Functions reached through pointers, and external ones, run
// uninstrumented: the state registers are callee-saved.
//
// To run it:  hipcc -fpass-plugin=$(kprobe-config --plugin) …
//             opt -load-pass-plugin=… -passes=kprobe   (or 'kprobe<OPTIONS>')
#include "KprobePass.h"
#include "BuildId.h"
#include "Clone.h"
#include "Compat.h"
#include "Counting.h"
#include "Diagnostics.h"
#include "Hooks.h"
#include "Marks.h"
#include "Placement.h"
#include "Probe.h"
#include "SiteFacts.h"
#include "SiteTable.h"
#include "kprobe/wire.h"
#include "llvm/ADT/SmallPtrSet.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Analysis/OptimizationRemarkEmitter.h"
#include "llvm/IR/Instructions.h"
#include "llvm/IR/IntrinsicsAMDGPU.h"
#include "llvm/IR/Metadata.h"
#include <optional>

using namespace llvm;

namespace kprobe {

// {original, clones} of what was done, so that a second run over the same
// module (a later stage of the build, opt after clang) does nothing.
static constexpr char DoneMetadata[] = "kprobe.kernels";

namespace {

// What is to be done with a function of a kernel, in each of its clones.
struct FunctionPlan {
  FunctionFacts Facts;
  std::vector<BlockPlacement> Placements;
  CountingPlan Counting; // mode counters; of functions: in memory
  unsigned FirstSite = 0;
};

class Instrumenter {
public:
  Instrumenter(Module &M, FunctionAnalysisManager &Analyses,
               const Options &Wanted)
      : M(M), Analyses(Analyses), Wanted(Wanted) {}

  // True when the module was changed.
  bool run();

private:
  bool isAlreadyDone(const Function &F) const { return Done.count(&F); }
  SmallVector<Function *, 8> selectKernels();
  Error instrument(Function &Kernel, const Target &T, Hooks &DeviceRuntime);
  void instrumentFunction(const ClonedFunction &F, const FunctionPlan &Plan,
                          const ProbeEmitter &Probes, Hooks *KernelHooks,
                          const TwoBodies *Bodies);
  void count(IRBuilderBase &Builder, const ProbeEmitter &Probes,
             const FunctionPlan &Plan, unsigned Block, ProbeEvent Visit) const;

  Module &M;
  FunctionAnalysisManager &Analyses;
  const Options &Wanted;
  SmallPtrSet<const Function *, 16> Done;
  unsigned KernelsSeen = 0;
  SiteTable Table;
};

} // namespace

SmallVector<Function *, 8> Instrumenter::selectKernels() {
  if (NamedMDNode *Pairs = M.getNamedMetadata(DoneMetadata))
    for (MDNode *Pair : Pairs->operands())
      for (const MDOperand &Operand : Pair->operands())
        if (auto *F = mdconst::dyn_extract_or_null<Function>(Operand))
          Done.insert(F);

  SmallVector<Function *, 8> Selected;
  for (Function &F : M) {
    if (F.getCallingConv() != CallingConv::AMDGPU_KERNEL || F.isDeclaration() ||
        F.hasAvailableExternallyLinkage())
      continue;
    // Not a kernel that a host could name.
    if (F.hasLocalLinkage() || isMarkedCopy(F))
      continue;
    ++KernelsSeen;
    if (!isAlreadyDone(F) && Wanted.selectsKernel(F.getName()))
      Selected.push_back(&F);
  }
  return Selected;
}

// No instruction moves across in the back end's scheduling.
static void keepOrder(IRBuilderBase &Builder) {
  Builder.CreateIntrinsic(Intrinsic::amdgcn_sched_barrier, ArrayRef<Type *>(),
                          ArrayRef<Value *>{Builder.getInt32(0)});
}

// Static allocas first: code inserted after them may then split the block.
static Instruction *entryPoint(Function &F) {
  BasicBlock &Entry = F.getEntryBlock();
  Instruction *Point = &*Entry.getFirstInsertionPt();
  while (isa<AllocaInst>(Point))
    Point = Point->getNextNode();
  for (Instruction &I :
       make_early_inc_range(make_range(Point->getIterator(), Entry.end())))
    if (auto *Alloca = dyn_cast<AllocaInst>(&I);
        Alloca && isa<ConstantInt>(Alloca->getArraySize()))
      Alloca->moveBefore(Entry, Point->getIterator());
  return Point;
}

// Calls in a function with debug information must say where they are; probes
// belong to no line.
static DebugLoc noLine(Function &F) {
  if (DISubprogram *Program = F.getSubprogram())
    return DILocation::get(F.getContext(), 0, 0, Program);
  return {};
}

// The last load before End that may be of any memory, if assembly can take its
// value. Such may come out of order, so that whoever waits for one waits for all that
// is in flight: an event stored before would be waited for as well.
static Value *lastFlatLoad(BasicBlock &Block, Instruction &End) {
  constexpr unsigned FlatSpace = 0;
  for (Instruction &I : reverse(make_range(Block.begin(), End.getIterator())))
    if (auto *Load = dyn_cast<LoadInst>(&I);
        Load && Load->getPointerAddressSpace() == FlatSpace) {
      Type *Loaded = Load->getType();
      bool Fits = Loaded->isIntegerTy(32) || Loaded->isIntegerTy(64) ||
                  Loaded->isFloatTy() || Loaded->isDoubleTy();
      return Fits ? Load : nullptr;
    }
  return nullptr;
}

void Instrumenter::count(IRBuilderBase &Builder, const ProbeEmitter &Probes,
                         const FunctionPlan &Plan, unsigned Block,
                         ProbeEvent Visit) const {
  unsigned Site = Plan.FirstSite + Block - Table.firstSiteOfKernel();
  const BlockCounting &Counting = Plan.Counting.Blocks[Block];
  switch (Counting.How) {
  case BlockCounting::Way::InMemory:
    return Probes.countInMemory(Builder, Site);
  case BlockCounting::Way::Once:
    Visit.Place = Site;
    return Probes.countOnce(Builder, Visit);
  case BlockCounting::Way::InRegisters:
    return Probes.countInRegisters(Builder, Counting.Pair, Site);
  }
}

void Instrumenter::instrumentFunction(const ClonedFunction &F,
                                      const FunctionPlan &Plan,
                                      const ProbeEmitter &Probes,
                                      Hooks *KernelHooks,
                                      const TwoBodies *Bodies) {
  Function &Clone = *F.Clone;
  const FunctionFacts &Facts = Plan.Facts;
  Probes.reserveState(Clone);
  // To the back end a clock may write anything: one on the way and it makes no
  // scalar loads. So its question is answered here, for loads as they are and
  // (invariant) for those it will join to wider ones.
  MDNode *Empty = MDNode::get(M.getContext(), {});
  auto Mark = [&](const auto &Loads, StringRef Kind) {
    for (const LoadInst *Load : Loads) {
      Value *Copy = F.Values->lookup(Load);
      cast<LoadInst>(Copy)->setMetadata(Kind, Empty);
      if (Value *Plain = Bodies ? Bodies->Plain->lookup(Copy) : nullptr)
        cast<LoadInst>(Plain)->setMetadata(Kind, Empty);
    }
  };
  Mark(Facts.UnclobberedLoads, "amdgpu.noclobber");
  Mark(Facts.InvariantLoads, "invariant.load");

  SmallVector<BasicBlock *, 32> Blocks;
  for (BasicBlock &Block : *F.Original)
    Blocks.push_back(cast<BasicBlock>(F.Values->lookup(&Block)));

  IRBuilder<> Builder(entryPoint(Clone));
  // Moving to another place takes that place's line along.
  DebugLoc NoLine = noLine(Clone);
  auto MoveTo = [&](Instruction *Place) {
    Builder.SetInsertPoint(Place);
    Builder.SetCurrentDebugLocation(NoLine);
  };
  bool Counts = Wanted.Mode == KPROBE_MODE_COUNTERS;
  // Where nothing is optimised the resource would be copied.
  bool StoresDelayLoads = KernelHooks && !Clone.hasOptNone() &&
                          Probes.target().countsStoresAsLoads();
  for (unsigned I = 0; I < Blocks.size(); ++I) {
    bool BeginsWave = KernelHooks && I == 0;
    // Where there is a choice, all of the entry block that has a probe is behind it.
    bool Chooses = BeginsWave && Bodies;
    BasicBlock *Block = Chooses ? Bodies->Probed : Blocks[I];
    bool EndsWave = KernelHooks && isa<ReturnInst>(Block->getTerminator());
    const BlockPlacement &Placement = Plan.Placements[I];
    bool HasEvent = Placement.hasEvent();
    Instruction *End =
        Chooses ? &*Block->getFirstInsertionPt() : firstDeparture(*Block);
    // A musttail call is followed by its return and by nothing else; it is a
    // call, so that is taken care of.
    if (!End)
      End = Block->getTerminator();
    MoveTo(I == 0 ? entryPoint(Clone) : &*Block->getFirstInsertionPt());
    for (unsigned Left : Plan.Counting.Blocks[I].Stores)
      Probes.storeCounter(Builder, Plan.Counting.Blocks[Left].Pair,
                          Plan.FirstSite + Left - Table.firstSiteOfKernel());
    WaveClocks Begin, Ended;
    Claim Slot;
    Value *Clock = nullptr;
    if (BeginsWave) {
      Begin = Probes.readWaveClocks(Builder);
      LoadInst *Context = Hooks::loadContext(Builder);
      keepOrder(Builder);
      // As late as can be: the context arrives while the entry block runs.
      MoveTo(Chooses ? Bodies->Choice : End);
      keepOrder(Builder);
      Slot = KernelHooks->waveClaim(Builder, Context, /*Sampled=*/Chooses);
      if (Chooses)
        Bodies->Choice->setCondition(
            Builder.CreateICmpULT(Slot.Slot, Slot.SlotCount));
      Clock = Begin.Cycles;
    } else if (HasEvent && Placement.Timed && !Counts) {
      Clock = Probes.readClock(Builder);
    }
    if (EndsWave) {
      // Before the last event, where they are the last that is waited for.
      MoveTo(Block->getTerminator());
      Ended = Probes.readWaveClocks(Builder);
    }
    Value *Behind = StoresDelayLoads ? lastFlatLoad(*Block, *End) : nullptr;
    MoveTo(End);
    if (BeginsWave) {
      // The plain body is laid out on a way to here, so that the compiler takes
      // what is in flight there for in flight here, too: it would wait for it at
      // every barrier, and so for the events' stores. What the entry block has
      // loaded is soon needed.
      if (Chooses && Facts.HasBarriers && StoresDelayLoads)
        Probes.target().waitForVectorMemory(Builder);
      Probes.initState(Builder, Slot);
      Probes.waveBegun(Builder, Begin);
    }
    ProbeEvent Event{Plan.FirstSite + I, Clock, Placement.AllLanes,
                     StoresDelayLoads && Facts.Blocks[I].DelayedByStores &&
                         !Behind,
                     Behind, Placement.Place};
    if (HasEvent && Counts)
      count(Builder, Probes, Plan, I, Event);
    else if (HasEvent)
      Probes.commit(Builder, Event);
    if (EndsWave) {
      MoveTo(Block->getTerminator());
      Probes.waveEnded(Builder, Ended);
    }
  }
}

// Larger kernels have one clone only, in which waves choose: the choice costs them
// little, and each further body costs the compiler as much as the kernel did.
static constexpr unsigned LargeKernel = 2000;

static unsigned instructionsOf(ArrayRef<Function *> Functions) {
  unsigned Count = 0;
  for (const Function *F : Functions)
    Count += F->getInstructionCount();
  return Count;
}

static void nameMarks(Function &F, const MarkNames &Marks,
                      FunctionFacts &Facts) {
  Facts.Name = originalName(Facts.Name).str();
  unsigned Number = 0;
  for (BasicBlock &Block : F) {
    BlockFacts &B = Facts.Blocks[Number++];
    auto Mark = Marks.find(&Block);
    if (Mark == Marks.end())
      continue;
    B.Name = Mark->second;
    B.Flags |= KPROBE_SITE_MARK;
  }
}

Error Instrumenter::instrument(Function &Kernel, const Target &T,
                               Hooks &DeviceRuntime) {
  SmallVector<Function *, 4> Functions = functionsOf(markedCopy(Kernel));
  MarkNames Marks;
  std::vector<FunctionPlan> Plans;
  size_t BlockCount = 0;
  for (Function *F : Functions) {
    size_t MarksBefore = Marks.size();
    splitAtMarks(*F, Marks);
    if (Marks.size() != MarksBefore)
      Analyses.invalidate(*F, PreservedAnalyses::none());
    FunctionPlan &Plan = Plans.emplace_back();
    Plan.Facts = collectFacts(*F, Analyses);
    nameMarks(*F, Marks, Plan.Facts);
    Plan.Placements = placeEvents(*F, Plan.Facts, Analyses, Wanted);
    Plan.Counting.Blocks.resize(F->size());
    BlockCount += F->size();
  }
  if (Table.siteCount() + BlockCount > KPROBE_MAX_SITES)
    return createStringError(inconvertibleErrorCode(),
                             "kernel '" + Kernel.getName() +
                                 "' not instrumented: the module has more "
                                 "blocks than site ids");

  bool Counts = Wanted.Mode == KPROBE_MODE_COUNTERS;
  bool Bounded =
      Functions.size() == 1 && isBounded(*Functions.front(), Analyses);
  bool HasPlaces = Bounded && !Counts &&
                   assignPlaces(*Functions.front(), Analyses,
                                Plans.front().Placements);
  if (Counts)
    Plans.front().Counting = planCounting(*Functions.front(), Analyses,
                                          Plans.front().Placements);
  ProbeEmitter Probes(T, Wanted.Mode, /*HasCursor=*/!Counts && !HasPlaces,
                      Plans.front().Counting.Pairs);
  Table.addKernel(Kernel.getName(),
                  (Kernel.getName() + KPROBE_CLONE_SUFFIX).str(), Wanted.Mode,
                  (HasPlaces ? KPROBE_KERNEL_PLACES : 0) |
                      (Bounded ? KPROBE_KERNEL_BOUNDED : 0));
  for (FunctionPlan &Plan : Plans)
    Plan.FirstSite = Table.addFunction(Plan.Facts, Plan.Placements);

  SmallVector<Metadata *, 3> Done{ValueAsMetadata::get(&Kernel)};
  SmallVector<StringRef, 2> Suffixes{KPROBE_CLONE_SUFFIX};
  bool IsLarge = instructionsOf(Functions) > LargeKernel;
  if (!IsLarge)
    Suffixes.push_back(KPROBE_SAMPLED_SUFFIX);
  for (StringRef Suffix : Suffixes) {
    std::vector<ClonedFunction> Clones = cloneKernel(Functions, Suffix);
    // Nobody debugs a clone; lines are all that is needed. (LLVM 19's scheduler
    // corrupts memory where variables meet scheduling barriers.)
    for (const ClonedFunction &F : Clones)
      compat::dropVariables(*F.Clone);
    Function &Clone = *Clones.front().Clone;
    Hooks::allowIn(Clone);
    entryPoint(Clone); // static allocas stand before the choice
    std::optional<TwoBodies> Bodies;
    if (IsLarge || Suffix == KPROBE_SAMPLED_SUFFIX)
      Bodies = addPlainBody(Clones);
    for (size_t I = 0; I < Clones.size(); ++I)
      instrumentFunction(Clones[I], Plans[I], Probes,
                         I == 0 ? &DeviceRuntime : nullptr,
                         I == 0 && Bodies ? &*Bodies : nullptr);
    Done.push_back(ValueAsMetadata::get(&Clone));
  }

  M.getOrInsertNamedMetadata(DoneMetadata)
      ->addOperand(MDNode::get(M.getContext(), Done));
  OptimizationRemarkEmitter Remarks(&Kernel);
  Remarks.emit([&] {
    return OptimizationRemark("kprobe", "Instrumented", &Kernel)
           << ore::NV("Sites", unsigned(BlockCount)) << " sites in "
           << ore::NV("Functions", unsigned(Functions.size()))
           << " functions of kernel '" << ore::NV("Kernel", Kernel.getName())
           << "'";
  });
  return Error::success();
}

bool Instrumenter::run() {
  SmallVector<Function *, 8> Kernels = selectKernels();
  if (Kernels.empty()) {
    if (KernelsSeen && Done.empty())
      reportWarning(M, Twine(KernelsSeen) +
                           " kernels, none instrumented: the options leave "
                           "out all of them");
    return false;
  }
  Expected<Target> T = targetOf(*Kernels.front());
  for (Function *Kernel : drop_begin(Kernels)) {
    if (!T)
      break;
    Expected<Target> Other = targetOf(*Kernel);
    if (!Other)
      T = Other.takeError();
    else if (Other->Processor != T->Processor || Other->WaveSize != T->WaveSize)
      T = createStringError(inconvertibleErrorCode(),
                            "the module mixes processors or wave sizes");
  }
  if (!T) {
    reportWarning(M, toString(T.takeError()) + "; no kernel instrumented");
    return false;
  }
  Expected<Hooks> DeviceRuntime = Hooks::link(M, *T);
  if (!DeviceRuntime) {
    reportError(M, toString(DeviceRuntime.takeError()));
    return true;
  }
  for (Function *Kernel : Kernels)
    if (Error E = instrument(*Kernel, *T, *DeviceRuntime))
      reportWarning(M, toString(std::move(E)));
  DeviceRuntime->finish();
  if (!Table.siteCount())
    return true;
  M.appendModuleInlineAsm(siteSectionAssembly(Table.bytes(producer(), *T)));
  if (Wanted.Verbose)
    reportWarning(M, Twine(Table.kernelCount()) + " of " + Twine(KernelsSeen) +
                         " kernels instrumented, " + Twine(Table.siteCount()) +
                         " sites, " + Twine(Table.omissionCount()) +
                         " of them told of by others");
  return true;
}

// Device code that the pass does not know is worth a word when it has kernels;
// everything else is a host module.
static void warnForeignDevice(Module &M, const Triple &Target) {
  for (const Function &F : M) {
    if (F.getCallingConv() == CallingConv::SPIR_KERNEL ||
        F.getCallingConv() == CallingConv::PTX_Kernel) {
      reportWarning(M, "target '" + Target.str() +
                           "' is not supported; no kernel instrumented");
      return;
    }
  }
}

PreservedAnalyses KprobePass::run(Module &M, ModuleAnalysisManager &Analyses) {
  Triple Target = compat::targetTriple(M);
  if (Target.getArch() != Triple::amdgcn) {
    warnForeignDevice(M, Target);
    return PreservedAnalyses::all();
  }
  Options Wanted;
  Error Bad = Wanted.parseEnvironment();
  if (!Bad)
    Bad = Wanted.parse(PipelineText);
  if (Bad) {
    reportError(M, toString(std::move(Bad)));
    return PreservedAnalyses::all();
  }
  if (Wanted.Disable)
    return PreservedAnalyses::all();
  auto &FunctionAnalyses =
      Analyses.getResult<FunctionAnalysisManagerModuleProxy>(M).getManager();
  bool Changed = Instrumenter(M, FunctionAnalyses, Wanted).run();
  Changed |= removeMarkedCopies(M);
  return Changed ? PreservedAnalyses::none() : PreservedAnalyses::all();
}

} // namespace kprobe
