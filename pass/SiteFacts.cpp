// Facts about blocks: place in the source, place in the loops, and what their
// instructions do. Counts are of IR, before instruction selection: good for
// roofs and ratios, not for cycles.
#include "SiteFacts.h"
#include "kprobe/wire.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/SmallString.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/Analysis/AliasAnalysis.h"
#include "llvm/Analysis/LoopInfo.h"
#include "llvm/Analysis/MemorySSA.h"
#include "llvm/IR/CFG.h"
#include "llvm/IR/DebugInfoMetadata.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/IR/Instructions.h"
#include "llvm/IR/IntrinsicInst.h"
#include "llvm/IR/IntrinsicsAMDGPU.h"
#include "llvm/Support/Path.h"

using namespace llvm;

namespace kprobe {

namespace {
enum AddressSpace : unsigned { Flat, Global, Region, Local, Constant, Private };
}

static std::string pathOf(const DIFile *File) {
  if (!File)
    return {};
  SmallString<256> Path = File->getFilename();
  if (!sys::path::is_absolute(Path)) {
    SmallString<256> Full = File->getDirectory();
    sys::path::append(Full, Path);
    Path = Full;
  }
  sys::path::remove_dots(Path);
  return std::string(Path);
}

// The first place in the function's own file, if there is one: a block that
// begins with something inlined from a system header is not to be found there.
static void addPlace(const BasicBlock &Block, BlockFacts &Facts) {
  const DISubprogram *Program = Block.getParent()->getSubprogram();
  const DILocation *Place = nullptr;
  for (const Instruction &I : Block) {
    const DILocation *L = I.getDebugLoc();
    if (isa<PHINode>(I) || isa<DbgInfoIntrinsic>(I) || !L || !L->getLine())
      continue;
    bool IsOwn = Program && L->getFile() == Program->getFile();
    if (!Place || IsOwn)
      Place = L;
    if (IsOwn)
      break;
  }
  if (!Place)
    return;
  Facts.File = pathOf(Place->getFile());
  Facts.Line = Place->getLine();
  Facts.Column = Place->getColumn();
  for (const DILocation *Call = Place->getInlinedAt(); Call;
       Call = Call->getInlinedAt()) {
    const DISubprogram *Caller = Call->getScope()->getSubprogram();
    StringRef Name = Caller->getLinkageName();
    Facts.Frames.push_back({(Name.empty() ? Caller->getName() : Name).str(),
                            pathOf(Call->getFile()), Call->getLine(),
                            Call->getColumn()});
  }
}

static bool endsWave(const CallBase &Call) {
  switch (Call.getIntrinsicID()) {
  case Intrinsic::trap:
  case Intrinsic::debugtrap:
  case Intrinsic::ubsantrap:
  case Intrinsic::amdgcn_endpgm:
    return true;
  default:
    return false;
  }
}

static bool isCall(const Instruction &I) {
  const auto *Call = dyn_cast<CallBase>(&I);
  return Call && !Call->isInlineAsm() && !isa<IntrinsicInst>(Call);
}

Instruction *firstDeparture(BasicBlock &Block) {
  for (Instruction &I : Block)
    if (isCall(I) || (isa<CallBase>(I) && (endsWave(cast<CallBase>(I)) ||
                                           cast<CallBase>(I).doesNotReturn())))
      return &I;
  return nullptr;
}

static unsigned lanesOf(const Type *T) {
  const auto *Vector = dyn_cast<FixedVectorType>(T);
  return Vector ? Vector->getNumElements() : 1;
}

static void addFlops(const Instruction &I, BlockFacts &Facts) {
  unsigned PerElement = 0;
  switch (I.getOpcode()) {
  case Instruction::FAdd:
  case Instruction::FSub:
  case Instruction::FMul:
  case Instruction::FDiv:
  case Instruction::FRem:
    PerElement = 1;
    break;
  case Instruction::Call:
    switch (cast<CallBase>(I).getIntrinsicID()) {
    case Intrinsic::fma:
    case Intrinsic::fmuladd:
      PerElement = 2;
      break;
    case Intrinsic::sqrt:
    case Intrinsic::sin:
    case Intrinsic::cos:
    case Intrinsic::exp2:
    case Intrinsic::log2:
    case Intrinsic::minnum:
    case Intrinsic::maxnum:
    case Intrinsic::amdgcn_rcp:
    case Intrinsic::amdgcn_rsq:
      PerElement = 1;
      break;
    default:
      break;
    }
    break;
  default:
    break;
  }
  unsigned Count = PerElement * lanesOf(I.getType());
  (I.getType()->isFPOrFPVectorTy() && I.getType()->getScalarType()->isDoubleTy()
       ? Facts.Flops64
       : Facts.Flops32) += Count;
}

// The address space and type of a memory access.
static const Value *accessed(const Instruction &I, Type *&Loaded,
                             Type *&Stored) {
  Loaded = Stored = nullptr;
  if (const auto *L = dyn_cast<LoadInst>(&I)) {
    Loaded = L->getType();
    return L->getPointerOperand();
  }
  if (const auto *S = dyn_cast<StoreInst>(&I)) {
    Stored = S->getValueOperand()->getType();
    return S->getPointerOperand();
  }
  if (const auto *A = dyn_cast<AtomicRMWInst>(&I)) {
    Loaded = Stored = A->getType();
    return A->getPointerOperand();
  }
  if (const auto *A = dyn_cast<AtomicCmpXchgInst>(&I)) {
    Loaded = Stored = A->getNewValOperand()->getType();
    return A->getPointerOperand();
  }
  return nullptr;
}

static void addInstruction(const Instruction &I, const FunctionFacts &Function,
                           const compat::Divergence &Divergence,
                           BlockFacts &Facts) {
  // Nothing is left of these in machine code, or nothing worth counting.
  if (isa<PHINode>(I) || isa<DbgInfoIntrinsic>(I) || isa<BitCastInst>(I) ||
      isa<AddrSpaceCastInst>(I) || isa<ExtractValueInst>(I) ||
      isa<InsertValueInst>(I) || isa<AllocaInst>(I) || isa<ReturnInst>(I) ||
      isa<UnreachableInst>(I) || I.isLifetimeStartOrEnd())
    return;
  if (const auto *G = dyn_cast<GetElementPtrInst>(&I);
      G && G->hasAllConstantIndices())
    return;

  const DataLayout &Layout = I.getModule()->getDataLayout();
  Type *Loaded, *Stored;
  if (const Value *Pointer = accessed(I, Loaded, Stored)) {
    unsigned Space = Pointer->getType()->getPointerAddressSpace();
    if (Space == Local || Space == Region) {
      ++Facts.Lds;
      return;
    }
    const auto *L = dyn_cast<LoadInst>(&I);
    bool Scalar = L && !compat::isDivergent(Divergence, *Pointer) &&
                  (Space == Constant ||
                   (Space == Global && Function.UnclobberedLoads.count(L)));
    ++(Scalar ? Facts.Salu : Facts.Vmem);
    Facts.DelayedByStores |= !Scalar && Loaded;
    if (Space != Private) {
      Facts.BytesRead += Loaded ? Layout.getTypeStoreSize(Loaded) : 0;
      Facts.BytesWritten += Stored ? Layout.getTypeStoreSize(Stored) : 0;
    }
    return;
  }
  if (const auto *Call = dyn_cast<IntrinsicInst>(&I)) {
    switch (Call->getIntrinsicID()) {
    case Intrinsic::assume:
    case Intrinsic::donothing:
    case Intrinsic::amdgcn_workitem_id_x:
    case Intrinsic::amdgcn_workitem_id_y:
    case Intrinsic::amdgcn_workitem_id_z:
    case Intrinsic::amdgcn_workgroup_id_x:
    case Intrinsic::amdgcn_workgroup_id_y:
    case Intrinsic::amdgcn_workgroup_id_z:
    case Intrinsic::amdgcn_dispatch_ptr:
    case Intrinsic::amdgcn_kernarg_segment_ptr:
    case Intrinsic::amdgcn_implicitarg_ptr:
      return;
    case Intrinsic::amdgcn_ds_bpermute:
    case Intrinsic::amdgcn_ds_permute:
    case Intrinsic::amdgcn_ds_swizzle:
      ++Facts.Lds;
      return;
    default:
      break;
    }
  }
  addFlops(I, Facts);
  bool Vector = I.getType()->isFPOrFPVectorTy() || isa<FCmpInst>(I) ||
                compat::isDivergent(Divergence, I);
  ++(Vector ? Facts.Valu : Facts.Salu);
}

static bool isBarrier(const Instruction &I) {
  const auto *Call = dyn_cast<IntrinsicInst>(&I);
  return Call && (Call->getIntrinsicID() == Intrinsic::amdgcn_s_barrier ||
                  Call->getIntrinsicID() == Intrinsic::amdgcn_wave_barrier);
}

// Writes that the back end knows to leave a load's place alone.
static bool isHarmless(const Instruction &Writer, const LoadInst &Load,
                       AAResults &Aliases) {
  if (isa<FenceInst>(Writer))
    return true;
  if (const auto *Call = dyn_cast<IntrinsicInst>(&Writer))
    return isBarrier(*Call);
  const Value *Atomic = nullptr;
  if (const auto *RMW = dyn_cast<AtomicRMWInst>(&Writer))
    Atomic = RMW->getPointerOperand();
  if (const auto *Exchange = dyn_cast<AtomicCmpXchgInst>(&Writer))
    Atomic = Exchange->getPointerOperand();
  return Atomic && Aliases.isNoAlias(Atomic, Load.getPointerOperand());
}

// As the back end decides it, to the letter: follow the definitions of memory
// upwards from the load; what MemorySSA's walker stops at counts as a write,
// which also bounds the work.
static bool isClobbered(const LoadInst &Load, MemorySSA &Memory,
                        AAResults &Aliases) {
  MemorySSAWalker *Walker = Memory.getWalker();
  MemoryLocation Place = MemoryLocation::get(&Load);
  SmallVector<MemoryAccess *, 8> Work{Walker->getClobberingMemoryAccess(&Load)};
  SmallPtrSet<MemoryAccess *, 8> Seen;
  while (!Work.empty()) {
    MemoryAccess *Access = Work.pop_back_val();
    if (!Seen.insert(Access).second || Memory.isLiveOnEntryDef(Access))
      continue;
    if (auto *Phi = dyn_cast<MemoryPhi>(Access)) {
      for (Use &Incoming : Phi->incoming_values())
        Work.push_back(cast<MemoryAccess>(&Incoming));
      continue;
    }
    auto *Def = cast<MemoryDef>(Access);
    if (!isHarmless(*Def->getMemoryInst(), Load, Aliases))
      return true;
    Work.push_back(
        Walker->getClobberingMemoryAccess(Def->getDefiningAccess(), Place));
  }
  return false;
}

static void collectScalarLoads(Function &F,
                               const compat::Divergence &Divergence,
                               MemorySSA &Memory, AAResults &Aliases,
                               FunctionFacts &Facts) {
  // Who calls a function may have written anything; the back end makes scalar
  // loads of global memory in kernels only.
  if (F.getCallingConv() != CallingConv::AMDGPU_KERNEL)
    return;
  SmallVector<Instruction *, 32> Writers;
  for (Instruction &I : instructions(F)) {
    auto *L = dyn_cast<LoadInst>(&I);
    if (I.mayWriteToMemory() && !isa<FenceInst>(I) && !isBarrier(I))
      Writers.push_back(&I);
    else if (L && L->getPointerAddressSpace() == Global && L->isSimple() &&
             !compat::isDivergent(Divergence, *L->getPointerOperand()) &&
             !isClobbered(*L, Memory, Aliases))
      Facts.UnclobberedLoads.insert(L);
  }
  // The work is a product; no real kernel comes near, generated ones might.
  constexpr size_t Most = 100000;
  if (Facts.UnclobberedLoads.size() * Writers.size() > Most)
    return;
  for (const LoadInst *L : Facts.UnclobberedLoads)
    if (none_of(Writers, [&](Instruction *Writer) {
          return isModSet(
              Aliases.getModRefInfo(Writer, MemoryLocation::get(L)));
        }))
      Facts.InvariantLoads.insert(L);
}

FunctionFacts collectFacts(Function &F, FunctionAnalysisManager &Analyses) {
  auto &Loops = Analyses.getResult<LoopAnalysis>(F);
  auto &Divergence = Analyses.getResult<compat::DivergencePass>(F);
  auto &Memory = Analyses.getResult<MemorySSAAnalysis>(F).getMSSA();
  auto &Aliases = Analyses.getResult<AAManager>(F);

  FunctionFacts Facts;
  Facts.Name = F.getName().str();
  if (const DISubprogram *Program = F.getSubprogram()) {
    Facts.File = pathOf(Program->getFile());
    Facts.Line = Program->getLine();
  }
  DenseMap<const BasicBlock *, unsigned> Numbers;
  for (BasicBlock &Block : F)
    Numbers.try_emplace(&Block, Numbers.size());
  collectScalarLoads(F, Divergence, Memory, Aliases, Facts);
  SmallVector<const BasicBlock *, 8> WithBarrier;
  for (BasicBlock &Block : F) {
    BlockFacts &B = Facts.Blocks.emplace_back();
    B.Name = Block.getName().str();
    addPlace(Block, B);
    if (&Block == &F.getEntryBlock())
      B.Flags |= KPROBE_SITE_ENTRY;
    if (const Loop *L = Loops.getLoopFor(&Block)) {
      B.LoopDepth = L->getLoopDepth();
      B.LoopHeader = Numbers.lookup(L->getHeader());
      if (L->getHeader() == &Block)
        B.Flags |= KPROBE_SITE_LOOP_HEADER;
    }
    if (isa<ReturnInst>(Block.getTerminator()))
      B.Flags |= KPROBE_SITE_RETURNS;
    if (isa<UnreachableInst>(Block.getTerminator()))
      B.Flags |= KPROBE_SITE_UNREACHABLE;
    SmallPtrSet<const BasicBlock *, 4> Seen;
    for (const BasicBlock *Next : successors(&Block))
      if (Seen.insert(Next).second)
        B.Successors.push_back(Numbers.lookup(Next));
    for (const Instruction &I : Block) {
      addInstruction(I, Facts, Divergence, B);
      if (isCall(I))
        B.Flags |= KPROBE_SITE_CALLS;
    }
    if (any_of(Block, isBarrier))
      WithBarrier.push_back(&Block);
  }
  Facts.HasBarriers = !WithBarrier.empty();
  for (BasicBlock &Block : F) {
    const Loop *Around = Loops.getLoopFor(&Block);
    Facts.Blocks[Numbers.lookup(&Block)].DelayedByStores &=
        none_of(WithBarrier, [&](const BasicBlock *B) {
          return !Around || Around->contains(B);
        });
  }
  return Facts;
}

} // namespace kprobe
