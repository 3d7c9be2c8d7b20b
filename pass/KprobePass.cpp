// Instruments the kernels of a device module: for each kernel `k` a clone
// `k.kprobe`, in which every basic block carries one probe. `k` itself is left
// as it is; the host runtime decides which of the two a dispatch runs.
//
// What a clone gets, on gfx906 (test/pass/probe_cost.ll pins it):
//
//   at entry     both clocks and the hook __kprobe_wave_claim; at the end of the
//                entry block, where what it has loaded is there,
//                  s_cmp_ge_u32; s_cbranch_scc1            is it sampled?
//                and if so
//                  s_mov_b64 s[70:71]                      ring
//                  s_mov_b32 s73; s_mov_b32 s72, 0         mask, cursor
//                and the hook __kprobe_wave_begun; if not, the rest of the
//                kernel as it is in the original (addPlainBody)
//   per block    but for the kernel's entry, of which the header tells, and for
//                those of which others tell (Placement.h), at its start
//                  s_memtime s[A:B]                        the clock
//                at its end (before a call, if it has one)
//                  s_and_b32 sC, s72, s73                  place in the ring
//                  s_add_u32 s72, s72, 8                   cursor
//                  s_bcnt1_i32_b64 sD, exec                lanes
//                  s_lshl4_add_u32 sD, sD, site and kind   the tag
//                  v_mov_b32 vE, sC
//                  v_mov_b32 vF, sA
//                  v_mov_b32 vG, sD
//                  global_store_dwordx2 vE, v[F:G], s[70:71]
//                nine instructions: no branch, no atomic, no LDS, and no wait
//                but the one for the clock, where a block is too short to
//                hide it
//   per return   both clocks, and after the event __kprobe_wave_ended
//
// s70..s73 lie above what the register allocator may use in the clone (72 less
// the special ones), so that the whole count, 80, still allows ten waves; a
// kernel that needs more scalar registers spills them to lanes of vector ones.
//
// Functions that a kernel calls directly are cloned with it, as often as there
// are kernels; a probe there has a tenth instruction, s_mov_b64 of the ring.
// Functions reached through pointers, and external ones, run uninstrumented:
// the state registers are callee-saved.
//
// To run it:  hipcc -fpass-plugin=$(kprobe-config --plugin) …
//             opt -load-pass-plugin=… -passes=kprobe   (or 'kprobe<OPTIONS>')
#include "KprobePass.h"
#include "BuildId.h"
#include "Clone.h"
#include "Compat.h"
#include "Diagnostics.h"
#include "Hooks.h"
#include "Placement.h"
#include "Probe.h"
#include "SiteFacts.h"
#include "SiteTable.h"
#include "kprobe/wire.h"
#include "llvm/ADT/SmallPtrSet.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Analysis/OptimizationRemarkEmitter.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/IR/Instructions.h"
#include "llvm/IR/Metadata.h"
#include <set>

using namespace llvm;

namespace kprobe {

// Pairs {original, clone} of what was done, so that a second run over the same
// module (a later stage of the build, opt after clang) does nothing.
static constexpr char DoneMetadata[] = "kprobe.kernels";

namespace {

class Instrumenter {
public:
  Instrumenter(Module &M, FunctionAnalysisManager &Analyses,
               const Options &Wanted)
      : M(M), Analyses(Analyses), Wanted(Wanted), Memory(M.getContext()) {}

  // True when the module was changed.
  bool run();

private:
  bool isAlreadyDone(const Function &F) const { return Done.count(&F); }
  SmallVector<Function *, 8> selectKernels();
  Error instrument(Function &Kernel, const Target &T, Hooks &DeviceRuntime);
  void instrumentFunction(const ClonedFunction &F, const FunctionFacts &Facts,
                          ArrayRef<unsigned> ToldBy, const ProbeEmitter &Probes,
                          Hooks *KernelHooks, const TwoBodies *Bodies);

  Module &M;
  FunctionAnalysisManager &Analyses;
  const Options &Wanted;
  SmallPtrSet<const Function *, 16> Done;
  unsigned KernelsSeen = 0;
  SiteTable Table;
  TraceMemory Memory;
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
    if (F.hasLocalLinkage())
      continue;
    ++KernelsSeen;
    if (!isAlreadyDone(F) && Wanted.selects(F.getName()))
      Selected.push_back(&F);
  }
  return Selected;
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

void Instrumenter::instrumentFunction(const ClonedFunction &F,
                                      const FunctionFacts &Facts,
                                      ArrayRef<unsigned> ToldBy,
                                      const ProbeEmitter &Probes,
                                      Hooks *KernelHooks,
                                      const TwoBodies *Bodies) {
  Function &Clone = *F.Clone;
  Probes.reserveState(Clone);
  for (Instruction &I : instructions(Clone))
    if (I.mayReadOrWriteMemory() && !isa<CallBase>(I))
      Memory.markForeign(I);
  // The back end does not look at scopes when it decides on scalar loads: any
  // store on the way is one too many. So its question is answered here, for
  // loads as they are and (invariant) for those it will join to wider ones.
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

  // When a wave began, and with which lanes, is in its header.
  bool ImpliedEntry = KernelHooks && !Wanted.AllBlocks;
  unsigned FirstSite = Table.addFunction(Facts, ImpliedEntry, ToldBy);
  IRBuilder<> Builder(entryPoint(Clone));
  // Moving to another place takes that place's line along.
  DebugLoc NoLine = noLine(Clone);
  auto MoveTo = [&](Instruction *Place) {
    Builder.SetInsertPoint(Place);
    Builder.SetCurrentDebugLocation(NoLine);
  };
  for (unsigned I = 0; I < Blocks.size(); ++I) {
    bool BeginsWave = KernelHooks && I == 0;
    // All of the entry block that has a probe is behind the choice.
    BasicBlock *Block = BeginsWave ? Bodies->Probed : Blocks[I];
    bool EndsWave = KernelHooks && isa<ReturnInst>(Block->getTerminator());
    bool HasEvent =
        !(BeginsWave && ImpliedEntry) && ToldBy[I] == BlockFacts::None;
    Instruction *End =
        BeginsWave ? &*Block->getFirstInsertionPt() : firstDeparture(*Block);
    // A musttail call is followed by its return and by nothing else; it is a
    // call, so that is taken care of.
    if (!End)
      End = Block->getTerminator();
    MoveTo(I == 0 ? entryPoint(Clone) : &*Block->getFirstInsertionPt());
    WaveClocks Begin, Ended;
    Claim Slot;
    Value *Clock = nullptr;
    if (BeginsWave) {
      Begin = Probes.readWaveClocks(Builder);
      Slot = KernelHooks->waveClaim(Builder);
      // As late as can be: what the hook has loaded arrives while the entry
      // block runs.
      MoveTo(Bodies->Choice);
      Bodies->Choice->setCondition(
          Builder.CreateICmpULT(Slot.Slot, Slot.SlotCount));
      Clock = Begin.Cycles;
    } else if (HasEvent) {
      Clock = Probes.readClock(Builder);
    }
    if (EndsWave) {
      // Before the last event, where they are the last that is waited for.
      MoveTo(Block->getTerminator());
      Ended = Probes.readWaveClocks(Builder);
    }
    MoveTo(End);
    if (BeginsWave) {
      Value *Ring = Probes.initState(Builder, Slot);
      KernelHooks->waveBegun(Builder, Ring, Begin);
    }
    if (HasEvent)
      Probes.commit(Builder, Clock, FirstSite + I);
    if (EndsWave) {
      MoveTo(Block->getTerminator());
      auto [Ring, Cursor] = Probes.readState(Builder);
      KernelHooks->waveEnded(Builder, Ring, Cursor, Ended);
    }
  }
}

Error Instrumenter::instrument(Function &Kernel, const Target &T,
                               Hooks &DeviceRuntime) {
  SmallVector<Function *, 4> Functions = functionsOf(Kernel);
  std::vector<FunctionFacts> Facts;
  std::vector<std::vector<unsigned>> ToldBy;
  size_t BlockCount = 0;
  for (Function *F : Functions) {
    Facts.push_back(collectFacts(*F, Analyses));
    ToldBy.push_back(Wanted.AllBlocks
                         ? std::vector<unsigned>(F->size(), BlockFacts::None)
                         : placeEvents(*F, Facts.back(), Analyses));
    BlockCount += F->size();
  }
  if (Table.siteCount() + BlockCount > KPROBE_MAX_SITES)
    return createStringError(inconvertibleErrorCode(),
                             "kernel '" + Kernel.getName() +
                                 "' not instrumented: the module has more "
                                 "blocks than site ids");

  std::vector<ClonedFunction> Clones = cloneKernel(Functions);
  Function &Clone = *Clones.front().Clone;
  Hooks::allowIn(Clone);
  entryPoint(Clone); // static allocas stand before the choice
  TwoBodies Bodies = addPlainBody(Clones);
  Table.addKernel(Kernel.getName(), Clone.getName());
  ProbeEmitter Probes(T, Memory);
  for (size_t I = 0; I < Clones.size(); ++I)
    instrumentFunction(Clones[I], Facts[I], ToldBy[I], Probes,
                       I == 0 ? &DeviceRuntime : nullptr,
                       I == 0 ? &Bodies : nullptr);

  LLVMContext &Context = M.getContext();
  M.getOrInsertNamedMetadata(DoneMetadata)
      ->addOperand(MDNode::get(Context, {ValueAsMetadata::get(&Kernel),
                                         ValueAsMetadata::get(&Clone)}));
  OptimizationRemarkEmitter Remarks(&Kernel);
  Remarks.emit([&] {
    return OptimizationRemark("kprobe", "Instrumented", &Kernel)
           << ore::NV("Sites", unsigned(BlockCount)) << " sites in "
           << ore::NV("Functions", unsigned(Clones.size()))
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
  Expected<Hooks> DeviceRuntime = Hooks::link(M, *T, Memory);
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
  return Instrumenter(M, FunctionAnalyses, Wanted).run()
             ? PreservedAnalyses::none()
             : PreservedAnalyses::all();
}

} // namespace kprobe
