// Linking and inlining of device-rt. The bitcode is made by the plug-in's own
// LLVM and embedded at build time, so that one file is all a user needs.
#include "Hooks.h"
#include "kprobe/wire.h"
#include "llvm/Bitcode/BitcodeReader.h"
#include "llvm/IR/IntrinsicsAMDGPU.h"
#include "llvm/IR/Module.h"
#include "llvm/Linker/Linker.h"
#include "llvm/Transforms/Utils/Cloning.h"

using namespace llvm;

// KPROBE_HOOKS_BITCODE is the path of the file at build time.
extern "C" {
extern const char kprobe_hooks_begin[] __attribute__((visibility("hidden")));
extern const char kprobe_hooks_end[] __attribute__((visibility("hidden")));
}
asm(".section .rodata.kprobe,\"a\",@progbits\n"
    ".balign 16\n"
    ".hidden kprobe_hooks_begin\n.hidden kprobe_hooks_end\n"
    ".globl kprobe_hooks_begin\n.globl kprobe_hooks_end\n"
    "kprobe_hooks_begin:\n.incbin \"" KPROBE_HOOKS_BITCODE "\"\n"
    "kprobe_hooks_end:\n.byte 0\n"
    ".previous\n");

namespace kprobe {

namespace {
struct Signature {
  const char *Name;
  FunctionType *Type;
  bool IsPrimitive;
};
} // namespace

static std::vector<Signature> signatures(LLVMContext &Context) {
  auto Make = [](Type *Result, std::initializer_list<Type *> Arguments) {
    // C's (void).
    if (Arguments.size() == 1 && (*Arguments.begin())->isVoidTy())
      return FunctionType::get(Result, false);
    return FunctionType::get(Result, Arguments, false);
  };
#define KPROBE_ARGUMENTS(...)                                                  \
  { __VA_ARGS__ }
#define KPROBE_TYPE_VOID Type::getVoidTy(Context)
#define KPROBE_TYPE_I32 Type::getInt32Ty(Context)
#define KPROBE_TYPE_I64 Type::getInt64Ty(Context)
#define KPROBE_TYPE_CONTEXT FixedVectorType::get(KPROBE_TYPE_I32, 16)
#define KPROBE_TYPE_CLAIM                                                      \
  StructType::get(KPROBE_TYPE_I64, KPROBE_TYPE_I32, KPROBE_TYPE_I32,           \
                  KPROBE_TYPE_I32, KPROBE_TYPE_I32)
  return {
#define KPROBE_HOOK(Name, Result, Arguments)                                   \
  {"__kprobe_" #Name, Make(Result, KPROBE_ARGUMENTS Arguments), false},
#define KPROBE_PRIMITIVE(Name, Result, Arguments)                              \
  {"__kprobe_" #Name, Make(Result, KPROBE_ARGUMENTS Arguments), true},
#include "kprobe/hooks.def"
  };
}

// Structures compare by content: the bitcode's are named.
static bool sameType(Type *A, Type *B) {
  if (A == B)
    return true;
  auto *StructA = dyn_cast<StructType>(A), *StructB = dyn_cast<StructType>(B);
  return StructA && StructB && StructA->elements() == StructB->elements();
}

static bool sameSignature(FunctionType *A, FunctionType *B) {
  return sameType(A->getReturnType(), B->getReturnType()) &&
         A->params() == B->params();
}

static void definePrimitive(Function &F, const Target &T) {
  IRBuilder<> Builder(BasicBlock::Create(F.getContext(), "", &F));
  StringRef Name = F.getName();
  Name.consume_front("__kprobe_");
  Value *Result = nullptr;
  if (Name == "wave_shift") {
    Result = Builder.getInt32(T.WaveSize == 64 ? 6 : 5);
  }
  assert(Result && "a primitive of hooks.def without a body");
  Builder.CreateRet(Result);
}

// Inlines a call and leaves the caller's attributes as they were: the hooks
// promise nothing about floating point and must not take promises away.
static void inlineCall(CallBase &Call) {
  Function &Caller = *Call.getFunction();
  AttributeList Attributes = Caller.getAttributes();
  InlineFunctionInfo Info;
  InlineResult Result = InlineFunction(Call, Info);
  assert(Result.isSuccess() && "hooks are plain enough to inline");
  (void)Result;
  Caller.setAttributes(Attributes);
}

static void inlineAndErase(Function &F) {
  while (!F.use_empty())
    inlineCall(*cast<CallBase>(*F.user_begin()));
  F.eraseFromParent();
}

Expected<Hooks> Hooks::link(Module &M, const Target &T) {
  StringRef Bytes(kprobe_hooks_begin, kprobe_hooks_end - kprobe_hooks_begin);
  Expected<std::unique_ptr<Module>> Source =
      parseBitcodeFile({Bytes, "kprobe hooks"}, M.getContext());
  if (!Source)
    return Source.takeError();
  // The program's module flags and compiler identity stand.
  while (!(*Source)->named_metadata_empty())
    (*Source)->eraseNamedMetadata(&*(*Source)->named_metadata_begin());
  (*Source)->setDataLayout(M.getDataLayout());
  (*Source)->setTargetTriple(M.getTargetTriple());
  if (Linker::linkModules(M, std::move(*Source)))
    return createStringError(inconvertibleErrorCode(),
                             "cannot link the device runtime");

  Hooks Linked;
  SmallVector<Function *, 8> Primitives;
  for (const Signature &S : signatures(M.getContext())) {
    Function *F = M.getFunction(S.Name);
    if (!F) // a primitive that no hook uses
      continue;
    if (!sameSignature(F->getFunctionType(), S.Type))
      return createStringError(inconvertibleErrorCode(),
                               Twine("device runtime: ") + S.Name +
                                   " is not what hooks.def says");
    if (S.IsPrimitive) {
      definePrimitive(*F, T);
      Primitives.push_back(F);
    } else {
      F->setLinkage(GlobalValue::InternalLinkage);
      F->setVisibility(GlobalValue::DefaultVisibility);
    }
  }
  for (Function *F : Primitives)
    inlineAndErase(*F);
  Linked.WaveClaim = M.getFunction("__kprobe_wave_claim");
  Linked.WaveClaimSampled = M.getFunction("__kprobe_wave_claim_sampled");
  return Linked;
}

void Hooks::allowIn(Function &Kernel) {
  for (const char *Claim :
       {"amdgpu-no-workgroup-id-x", "amdgpu-no-workgroup-id-y",
        "amdgpu-no-workgroup-id-z",
        "amdgpu-no-workitem-id-x", "amdgpu-no-workitem-id-y",
        "amdgpu-no-workitem-id-z"})
    Kernel.removeFnAttr(Claim);
}

// Aligned, so that one scalar instruction loads it. A kernel without arguments
// has no pointer to them, but one to the hidden ones, which are then the first.
LoadInst *Hooks::loadContext(IRBuilderBase &Builder) {
  Function &Kernel = *Builder.GetInsertBlock()->getParent();
  bool HasArguments = !Kernel.arg_empty();
  if (!HasArguments)
    Kernel.removeFnAttr("amdgpu-no-implicitarg-ptr");
  Value *Arguments = Builder.CreateIntrinsic(
      HasArguments ? Intrinsic::amdgcn_kernarg_segment_ptr
                   : Intrinsic::amdgcn_implicitarg_ptr,
      ArrayRef<Type *>(), ArrayRef<Value *>());
  constexpr int64_t Bytes = sizeof(KprobeDispatchContext);
  auto *Words = FixedVectorType::get(Builder.getInt32Ty(), Bytes / 4);
  Value *Place = Builder.CreateConstGEP1_64(Builder.getInt8Ty(), Arguments,
                                            uint64_t(-Bytes));
  LoadInst *Load = Builder.CreateAlignedLoad(Words, Place, Align(Bytes));
  Load->setMetadata(LLVMContext::MD_invariant_load,
                    MDNode::get(Builder.getContext(), {}));
  return Load;
}

// Where nothing is optimised, 16 registers in a row are more than the fast
// register allocator can find beside a kernel's own: each word is loaded where it
// is used.
static void loadWords(LoadInst &Context) {
  IRBuilder<> Builder(&Context);
  SmallVector<ExtractElementInst *, 16> Words;
  for (User *U : Context.users()) {
    if (auto *Pairs = dyn_cast<BitCastInst>(U))
      for (User *Pair : Pairs->users())
        Words.push_back(cast<ExtractElementInst>(Pair));
    else
      Words.push_back(cast<ExtractElementInst>(U));
  }
  for (ExtractElementInst *Word : Words) {
    Builder.SetInsertPoint(Word);
    Builder.SetCurrentDebugLocation(Context.getDebugLoc());
    uint64_t Offset =
        Word->getType()->getPrimitiveSizeInBits() / 8 *
        cast<ConstantInt>(Word->getIndexOperand())->getZExtValue();
    LoadInst *Load = Builder.CreateAlignedLoad(
        Word->getType(),
        Builder.CreateConstGEP1_64(Builder.getInt8Ty(),
                                   Context.getPointerOperand(), Offset),
        Align(4));
    Load->copyMetadata(Context);
    Word->replaceAllUsesWith(Load);
    Word->eraseFromParent();
  }
  for (User *Unused : make_early_inc_range(Context.users()))
    cast<Instruction>(Unused)->eraseFromParent();
  Context.eraseFromParent();
}

Claim Hooks::waveClaim(IRBuilderBase &Builder, LoadInst *Context,
                       bool Sampled) {
  CallInst *Call =
      Builder.CreateCall(Sampled ? WaveClaimSampled : WaveClaim, {Context});
  auto Field = [&](unsigned I) { return Builder.CreateExtractValue(Call, I); };
  Claim Slot = {Field(0), Field(1), Field(2), Field(3), Field(4)};
  bool Optimized = !Call->getFunction()->hasOptNone();
  inlineCall(*Call);
  if (!Optimized)
    loadWords(*Context);
  return Slot;
}

void Hooks::finish() {
  WaveClaim->eraseFromParent();
  WaveClaimSampled->eraseFromParent();
}

} // namespace kprobe
