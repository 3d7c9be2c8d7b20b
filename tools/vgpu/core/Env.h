// What a wave's instructions need from outside the wave. The machine
// implements it; unit tests use a small one of their own. One virtual call an
// instruction is fine, one a lane is not: hence host pointers for memory.
#ifndef VGPU_CORE_ENV_H
#define VGPU_CORE_ENV_H

#include <cstddef>
#include <cstdint>
#include <string>

namespace vgpu {

struct Wave;
struct Inst;

enum class Access : uint8_t { Read, Write, Execute };

enum class FaultKind : uint8_t {
  UnknownInstruction, // no handler, or the encoding means nothing
  IllegalOperand,     // operand the instruction may not have, register out of range
  Memory,             // address not mapped, or not with this access
  Misaligned,
  LdsRange,
  Trap,               // s_trap
  Assertion,
  Timeout,            // --max-cycles
  Deadlock,
};

/// Read by handlers and by the code cache.
class CodeMemory {
public:
  virtual ~CodeMemory() = default;
  /// Copies up to N bytes at Addr into Dst; returns how many from Addr on are
  /// mapped and executable (0: none).
  virtual size_t fetchCode(uint64_t Addr, void *Dst, size_t N) = 0;
};

class ExecEnv {
public:
  virtual ~ExecEnv() = default;
  /// Flat apertures as the hardware would report them (bits 63..48 count).
  uint64_t SharedBase = uint64_t(1) << 48;
  uint64_t SharedLimit = (uint64_t(1) << 48) + 0xffffffff;
  uint64_t PrivateBase = uint64_t(2) << 48;
  uint64_t PrivateLimit = (uint64_t(2) << 48) + 0xffffffff;

  /// Host pointer to N bytes of device memory, or null if that range is not
  /// mapped for this access. Never raises a fault itself: the caller knows
  /// the lane.
  virtual void *memory(Wave &W, uint64_t Addr, size_t N, Access A) = 0;

  /// LDS of the wave's workgroup.
  virtual uint8_t *ldsBase(Wave &W) = 0;
  virtual size_t ldsSize(Wave &W) = 0;

  virtual uint64_t cycleClock(Wave &W) = 0; // s_memtime
  virtual uint64_t realTime(Wave &W) = 0;   // s_memrealtime, 100 MHz

  /// SOPP and friends. Each may change W.Status.
  virtual void endProgram(Wave &W) = 0;
  virtual void barrier(Wave &W) = 0;
  /// s_waitcnt: the encoded immediate of the target; also the gfx10
  /// single-counter forms, told apart by Inst::Info.
  virtual void waitCounters(Wave &W, const Inst &I, uint32_t Imm) = 0;
  virtual void sleep(Wave &W, uint32_t Units64Cycles) = 0;
  virtual void sendMessage(Wave &W, const Inst &I, uint32_t Message, uint32_t M0) = 0;
  virtual void trap(Wave &W, const Inst &I, uint32_t TrapId) = 0;
  virtual void setPriority(Wave &W, uint32_t Priority) = 0;
  /// Whole register Id of s_getreg (MODE, STATUS and SH_MEM_BASES are
  /// answered by the core). False: this target has no such register.
  virtual bool readHwReg(Wave &W, uint32_t Id, uint32_t &Value) = 0;
  virtual bool writeHwReg(Wave &W, uint32_t Id, uint32_t Value) = 0;
  /// s_icache_inv: code may have changed; the cache must look again.
  virtual void invalidateCode(Wave &W) = 0;

  /// Ends the wave: sets Status to Faulted and keeps the report. Lane is
  /// MaxLanes where no lane is meant; Addr 0 where no address is.
  virtual void fault(Wave &W, const Inst &I, FaultKind Kind, std::string Text,
                     unsigned Lane, uint64_t Addr) = 0;
};

} // namespace vgpu

#endif
