// The processor a kernel is compiled for, as far as probes depend on it.
#ifndef KPROBE_PASS_TARGET_H
#define KPROBE_PASS_TARGET_H

#include "llvm/ADT/StringRef.h"
#include "llvm/IR/Function.h"
#include "llvm/IR/IRBuilder.h"
#include "llvm/Support/Error.h"
#include <string>

namespace kprobe {

// Ways to read a clock; targets.def says what each is.
enum class Clock { MEMTIME, MEMREALTIME, MESSAGE, CYCLES_LO, COUNTER };

// Ways to write a buffer store.
enum class BufferKind { GFX9, GFX101, GFX10, GFX11, GFX12 };

// One row of targets.def, and what the function's features add to it.
struct Target {
  llvm::StringRef Processor;
  BufferKind Buffers;
  unsigned WaveSize;
  Clock Event, Cycles, Ticks;
  int Place0, Place1; // hwreg number, -1: none
  unsigned StateBase; // first scalar register of the state
  unsigned StateLimit;

  // The clock of an event: i64, or i32 where that is all there is.
  llvm::Value *readEventClock(llvm::IRBuilderBase &Builder) const;
  // i64.
  llvm::Value *readCycles(llvm::IRBuilderBase &Builder) const;
  llvm::Value *readTicks(llvm::IRBuilderBase &Builder) const;
  // Raw place registers, i32; zero where the target has none.
  llvm::Value *readPlace0(llvm::IRBuilderBase &Builder) const;
  llvm::Value *readPlace1(llvm::IRBuilderBase &Builder) const;

  // KPROBE_EVENT_CLOCK_* of the site table.
  uint32_t eventClockKind() const;

  // Assembler names of the state: buffer resource of the slot and its words,
  // cursor, mask.
  std::string slot() const;
  std::string slotWord(unsigned Word) const;
  std::string cursor() const;
  std::string mask() const;
  // Pairs of registers for counters, next to the state: in full, or a word of it.
  // How the allocator's limit falls for so many.
  unsigned limitWithCounters(unsigned Pairs) const;
  std::string counter(unsigned Pair) const;
  std::string counterWord(unsigned Pair, unsigned Word) const;

  // Vector stores are counted with loads, so that who waits for a load may wait
  // for a store as well.
  bool countsStoresAsLoads() const { return Buffers == BufferKind::GFX9; }
  // For both, where they are counted together. The compiler sees the wait.
  void waitForVectorMemory(llvm::IRBuilderBase &Builder) const;

  // Last word of a resource for plain bytes.
  uint32_t bufferFormat() const;
  // Stores 1, 2 or 4 dwords of vector registers into the slot, at an offset in
  // a scalar register ("" for none) plus a constant.
  std::string storeToSlot(unsigned Dwords, llvm::StringRef Data,
                          llvm::StringRef Offset, unsigned Constant) const;
  // Adds two dwords to those in the slot, once for all lanes: narrows EXEC to the
  // first of them meanwhile. Saved: a scalar register as wide as EXEC; Lane: one of
  // 32 bits. Without any lane it does nothing.
  std::string addToSlot(llvm::StringRef Data, llvm::StringRef Offset,
                        unsigned Constant, llvm::StringRef Saved,
                        llvm::StringRef Lane) const;

private:
  unsigned firstOfPair(unsigned Pair) const;
  // Names of instructions say how many bits, not how many dwords.
  bool namesBits() const {
    return Buffers == BufferKind::GFX11 || Buffers == BufferKind::GFX12;
  }
  std::string accessSlot(llvm::StringRef Instruction, llvm::StringRef Data,
                         llvm::StringRef Offset, unsigned Constant) const;
};

// The target of a function; an error names a processor that has no row.
llvm::Expected<Target> targetOf(const llvm::Function &F);

} // namespace kprobe

#endif
