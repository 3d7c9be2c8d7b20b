// A decoded instruction, as handlers see it: every field of the encoding is
// resolved once by the Decoder, so a handler never looks at raw bits. Also the
// tables (OpEntry) by which each isa file tells the Decoder what it can run.
#ifndef VGPU_CORE_INST_H
#define VGPU_CORE_INST_H

#include <cstddef>
#include <cstdint>

namespace vgpu {

struct Wave;
struct Inst;
struct Vreg;

/// Runs one instruction for all active lanes; called through execute() of
/// Execute.h. Wave::Pc already points behind
/// it; Inst::Pc is its own address.
using Handler = void (*)(Wave &, const Inst &);

/// Type of an operand: gives the number of registers it takes and how inline
/// constants and literals turn into bits.
enum class Ty : uint8_t {
  None,
  B16, F16,          // low half of a register
  B32, F32, P16, PF16, // P16: two 16-bit integers, PF16: two halves
  B64, I64, F64,     // register pairs; a literal is zero-extended, sign-extended, the high half
  PF32,              // two singles in a pair; an inline constant is the first of them
  B96, B128, B256, B512, B1024,
  Mask,              // lane mask: one or two scalar registers by wave size
};

/// Registers of 32 bits that a value of type T takes (Mask: see WaveSize).
constexpr unsigned dwordsOf(Ty T) {
  switch (T) {
  case Ty::None: return 0;
  case Ty::B64: case Ty::I64: case Ty::F64: case Ty::PF32: return 2;
  case Ty::B96: return 3;
  case Ty::B128: return 4;
  case Ty::B256: return 8;
  case Ty::B512: return 16;
  case Ty::B1024: return 32;
  default: return 1;
  }
}

enum class OperandKind : uint8_t {
  None,
  Sgpr,    // Reg: index into Wave::Sgpr
  Vgpr,    // Reg: index into Wave::Vgpr
  Const,   // Value: inline constant or literal, already widened for its type
  Special, // Reg: SpecialReg; has to be computed
};

/// Scalar sources that are no register (numbers are the gfx9 encoding).
enum SpecialReg : uint16_t {
  SrcSharedBase = 235,
  SrcSharedLimit = 236,
  SrcPrivateBase = 237,
  SrcPrivateLimit = 238,
  SrcVccz = 251,
  SrcExecz = 252,
  SrcScc = 253,
};

enum OperandMods : uint8_t {
  ModNeg = 1,  // float: flip the sign after abs; packed: of the low half
  ModAbs = 2,  // float: clear the sign
  ModSext = 4, // SDWA: sign-extend the selected part
  ModNegHi = 8, // packed: flip the sign of the high half
};

/// Inst::DppCtrl of DPP8, which has Inst::Dpp8Lanes instead of a control.
constexpr uint16_t Dpp8Control = 0x200;

/// SDWA selections.
enum Sel : uint8_t { SelByte0, SelByte1, SelByte2, SelByte3, SelWord0, SelWord1, SelDword };
enum DstUnused : uint8_t { UnusedPad, UnusedSext, UnusedPreserve };

struct Operand {
  OperandKind Kind = OperandKind::None;
  Ty Type = Ty::None;
  uint8_t Mods = 0;       // OperandMods
  uint8_t Select = SelDword; // Sel, of SDWA
  bool Modified = false;  // vector source: Mods, Select, DPP or op_sel change what is read
  uint16_t Reg = 0;
  uint64_t Value = 0;     // Const only
  const Vreg *Lanes = nullptr; // Const of 32 bits or less: the value in every lane

  bool isVgpr() const { return Kind == OperandKind::Vgpr; }
  bool isSgpr() const { return Kind == OperandKind::Sgpr; }
  bool isConst() const { return Kind == OperandKind::Const; }
};

enum class Format : uint8_t {
  Unknown,
  Sop1, Sop2, Sopk, Sopc, Sopp,
  Vop1, Vop2, Vopc, Vop3, Vop3b, Vop3p,
  Smem, Flat, Ds, Mubuf, Mtbuf, Mimg, Exp, Vintrp,
};

enum class Segment : uint8_t { Flat, Scratch, Global };

/// What an instruction keeps busy; the timing model and the statistics
/// counters both go by it.
enum class OpClass : uint8_t {
  Unknown,
  Salu,
  Branch,
  Message,   // s_sendmsg, s_trap, s_sethalt, s_setprio …
  Wait,      // s_waitcnt family
  Nop,       // s_nop, s_sleep, cache hints
  Barrier,
  End,       // s_endpgm
  Valu,      // full rate
  ValuHalf,  // f64 and other slower vector operations
  ValuQuarter, // transcendental, 32-bit integer multiply
  ValuF64,
  ValuTransF64,
  Matrix,
  SmemLoad, SmemStore, SmemTime, SmemOther,
  FlatLoad, FlatStore, FlatAtomic,
  VmemLoad, VmemStore, VmemAtomic, VmemOther, // global, scratch and buffer
  LdsLoad, LdsStore, LdsAtomic, LdsOther,
  Count
};

enum OpFlags : uint32_t {
  // Vector operand layout, for the Decoder.
  OpReadsDst = 1u << 0,   // v_mac, v_fmac, v_dot2c: source 2 is the destination
  OpCarryOut = 1u << 1,   // second result: lane mask (VCC, or sdst of VOP3b)
  OpCarryIn = 1u << 2,    // last source is a lane mask (VCC, or an SGPR in VOP3)
  OpCompare = 1u << 3,    // result is a lane mask (VCC or an SGPR)
  OpCompareX = 1u << 4,   // … and EXEC
  OpLiteralMul = 1u << 5, // v_madmk: D = S0 * K + S1
  OpLiteralAdd = 1u << 6, // v_madak: D = S0 * S1 + K
  OpScalarDst = 1u << 7,  // VALU whose result is an SGPR (v_readlane)
  OpReadsVcc = 1u << 8,   // v_div_fmas: VCC is read besides the sources
  OpKeepsHigh = 1u << 9,  // 16-bit result leaves the other half alone (op_sel picks it)
  OpPacked = 1u << 10,    // VOP3P with op_sel/op_sel_hi
  OpMix = 1u << 11,       // mad_mix: op_sel_hi says f16, op_sel says which half
  OpNoVector = 1u << 12,  // runs without EXEC (v_readlane, v_readfirstlane, v_nop)
  OpSwapsDst = 1u << 13,  // v_swap: source 0 is written too
  OpAccDst = 1u << 14,    // v_accvgpr_write: the result is an AccVGPR whatever the encoding says
  OpAccSrc = 1u << 15,    // v_accvgpr_read: so is source 0
  // Control.
  OpBranch = 1u << 16,    // may change the PC
  OpEndsRun = 1u << 17,   // the scheduler must look at the wave's status afterwards
  OpStores = 1u << 18,    // writes memory
  OpReturns = 1u << 19,   // memory operation with a vector or scalar result
  OpAtomic = 1u << 20,
  OpDataInDst = 1u << 21, // SMEM/VMEM store, SOPK: the data field is a source
  OpLdsPair = 1u << 22,   // DS read2/write2: offset0 and offset1 are separate
  OpAddTid = 1u << 24,    // GLOBAL: the lane's number makes the address, no vector register does
  OpSecondData = 1u << 23, // atomic with a second operand: data1 of DS, else behind the first
};

/// One row of an isa file's table: what it is called and how it runs.
/// `Name` is the base mnemonic without _e32, _e64, _sdwa, _dpp.
struct OpEntry {
  const char *Name;
  Handler Run;
  OpClass Class;
  uint32_t Flags = 0;           // OpFlags
  Ty Dst = Ty::None;            // memory operations: type of the data (load result or store data)
  Ty Src[3] = {Ty::None, Ty::None, Ty::None};
  uint16_t Arg = 0;             // free for the isa file (element size, comparison code …)
};
using OpInfo = OpEntry;

struct OpTable {
  const OpEntry *Ops;
  size_t Count;
};

struct Inst {
  Handler Run = nullptr;
  const OpInfo *Info = nullptr; // never null: unknown instructions have one too
  uint64_t Pc = 0;              // address of its first byte
  Format Form = Format::Unknown;
  uint8_t Size = 1;             // in dwords
  uint16_t VgprEnd = 0;         // 1 + highest VGPR it names; 0 if none
  uint16_t AccEnd = 0;          // the same for AccVGPRs, counted from a0
  int32_t Imm = 0;              // SOPK, SOPP: simm16 sign-extended

  // ALU operands. Memory formats use the named fields further down.
  Operand Dst;
  Operand Src[3];
  uint16_t SDst = 0;            // OpCarryOut/OpCompare: scalar register of the mask
  bool KeepsHigh = false;       // 16-bit result: the other half stays (op_sel picks which)
  bool Plain = true;            // no SDWA, DPP, clamp, omod, op_sel: results go straight to Dst

  // Vector modifiers.
  bool Clamp = false;
  uint8_t Omod = 0;             // 0 none, 1 *2, 2 *4, 3 /2
  uint8_t OpSel = 0;            // bit per source, bit 3 for the destination
  uint8_t OpSelHi = 0;
  bool Sdwa = false;
  uint8_t DstSel = SelDword;
  uint8_t DstUnusedMode = UnusedPad;
  bool Dpp = false;             // applies to source 0
  bool BoundCtrl = false;       // DPP: invalid lanes read 0
  bool FetchInactive = false;   // DPP of gfx10: inactive lanes are read like others
  uint32_t Dpp8Lanes = 0;       // DPP8: 3 bits a lane of each eight
  uint16_t DppCtrl = 0;
  uint8_t Cbsz = 0;             // matrix: log2 of how many blocks share a block of A,
  uint8_t Abid = 0;             // … which of them it is,
  uint8_t Blgp = 0;             // … and how the lanes of B are rearranged
  bool FlushHalves = false;     // matrix and dot: denormal halves and results count as zero
  uint8_t RowMask = 0xf;
  uint8_t BankMask = 0xf;

  // Memory. Registers are indices; NoReg where the encoding has none.
  static constexpr uint16_t NoReg = 0xffff;
  uint16_t VAddr = NoReg;       // FLAT, DS, MUBUF: first VGPR of the address
  uint16_t VData = NoReg;       // first VGPR of store data (DS: data0)
  uint16_t VData1 = NoReg;      // DS: data1
  uint16_t VDst = NoReg;        // first VGPR of the result (MUBUF: equals VData)
  uint16_t SAddr = NoReg;       // GLOBAL, SCRATCH: scalar base (pair, or one for scratch)
  uint16_t SBase = NoReg;       // SMEM: first SGPR of the address pair or of the resource
  uint16_t SData = NoReg;       // SMEM: first SGPR of result or store data
  uint16_t SRsrc = NoReg;       // MUBUF, MTBUF: first of the four SGPRs of the resource
  Operand SOffset;              // SMEM, MUBUF: scalar offset (None: none)
  int32_t Offset = 0;           // bytes, signed where the format is (DS: 16-bit unsigned)
  uint8_t Offset0 = 0;          // DS pairs
  uint8_t Offset1 = 0;
  Segment Seg = Segment::Flat;
  bool Glc = false;
  bool Slc = false;
  bool Dlc = false;
  bool LdsDma = false;          // MUBUF, FLAT: data goes to LDS
  bool Offen = false;
  bool Idxen = false;
  bool Tfe = false;
  bool Gds = false;
  uint8_t DFmt = 0;             // MTBUF, in the numbers of gfx9
  uint8_t NFmt = 0;

  uint32_t Raw[4] = {};         // encoding, for messages
};

} // namespace vgpu

#endif
