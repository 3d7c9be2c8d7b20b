// Turns instruction bytes into Inst. LLVM's MC disassembler says what an
// instruction is called and how long it is; the operand fields are read from
// the encoding here, one routine a format. Also prints disassembly for faults
// and logs.
#ifndef VGPU_CORE_DECODER_H
#define VGPU_CORE_DECODER_H

#include "Inst.h"
#include "TargetTraits.h"
#include "Wave.h"

#include <deque>
#include <memory>
#include <mutex>
#include <string>
#include <unordered_map>
#include <vector>

namespace vgpu {

struct OpAlias;

class Decoder {
public:
  /// Target: a name of TargetTraits.h. Extra: tables of handlers beside the ALU ones, which
  /// are always there (the machine adds its memory instructions). On failure
  /// (target unknown to LLVM or to us) ok() is false and error() says why.
  explicit Decoder(const std::string &Target, const std::vector<OpTable> &Extra = {});
  ~Decoder();
  Decoder(const Decoder &) = delete;
  Decoder &operator=(const Decoder &) = delete;

  bool ok() const { return Error.empty(); }
  const std::string &error() const { return Error; }
  /// Only where ok().
  const TargetTraits &target() const { return *Traits; }

  /// Decodes the instruction at address Pc from its bytes (as many as are
  /// readable, at most 20 are used). Always fills I: what cannot be decoded
  /// or has no handler raises FaultKind::UnknownInstruction when run.
  /// Thread-safe, as disassemble is.
  void decode(uint64_t Pc, const uint8_t *Bytes, size_t Size, Inst &I);

  /// "v_add_f32_e32 v0, v1, v2"; the encoding in hex if MC does not know it.
  /// WaveSize: of the wave that runs it (0: the target's usual one).
  std::string disassemble(const Inst &I, unsigned WaveSize = 0) const;

  /// Base mnemonics that have a handler, for coverage counts.
  bool knows(const std::string &BaseMnemonic) const { return Ops.count(BaseMnemonic) != 0; }

  /// "v_add_f32_e32" → "v_add_f32".
  static std::string baseMnemonic(const std::string &Printed);

private:
  struct Mc;
  friend class FieldReader;

  void addTable(const OpTable &T);
  void addAliases(const std::vector<OpAlias> &Aliases);
  const Vreg *broadcast(uint32_t Value);

  mutable std::mutex Lock; // of all below, held by what is public

  std::unique_ptr<Mc> M;
  mutable std::unique_ptr<Mc> OtherWaveSize; // made when first asked for
  const TargetTraits *Traits = nullptr;
  std::string Error;
  std::unordered_map<std::string, const OpEntry *> Ops;
  std::deque<OpEntry> Renamed;
  // Instructions that have no handler, and their names.
  std::deque<std::string> Names;
  std::vector<std::unique_ptr<OpEntry>> Unknown;
  std::unordered_map<uint32_t, std::unique_ptr<Vreg>> Constants;
};

} // namespace vgpu

#endif
