//===- FaultText.h - The parts of a fault's message -------------------------===//
//
// What a debugger would show of a wave, as text: the registers that an address
// was made from, the code around an instruction, source lines, and where the
// other waves are. Apart from Faults.cpp, which says what happened and to whom,
// because nothing here looks at the machine.
//
//===----------------------------------------------------------------------===//
#ifndef VGPU_MACHINE_FAULTTEXT_H
#define VGPU_MACHINE_FAULTTEXT_H

#include "core/CodeCache.h"
#include "core/Wave.h"
#include "machine/Device.h"

#include <string>
#include <vector>

namespace vgpu {

/// "0x1f".
std::string hexText(uint64_t Value);

/// "(1, 2, 3)".
std::string tripleText(const uint32_t (&Values)[3]);

/// The registers that \p I computes its address from, as \p Lane has them:
/// "v[4:5] = 0x7f0010, offset 16"; "" if it makes no address. A lane of MaxLanes
/// or more: scalar registers only.
std::string addressText(const Inst &I, const Wave &W, unsigned Lane);

/// "exec = 0x21, 2 of 64 lanes active".
std::string execText(const Wave &W);

/// "file.hip:12:3 in scale(int*)", then "inlined at …" for each caller.
std::vector<std::string> sourceText(const CodePlace &Place);

/// Instructions around the one at \p Pc, a line each, that one marked. They are
/// found by decoding from \p Begin (a function's first instruction) on; where
/// that does not lead to \p Pc, only it and what follows is shown.
std::vector<std::string> codeText(CodeCache &Code, const Decoder &Decode, unsigned WaveSize,
                                  uint64_t Begin, uint64_t Pc);

/// One wave that is still there, for waitersText.
struct WaveAt {
  uint64_t Pc;      ///< Of the instruction it runs, or of the barrier it waits at.
  bool AtBarrier;
  bool SameGroup;   ///< As the wave that the message is about.
};
/// Where all waves are: "3 waves wait at the barrier at entry + 0x40", most
/// waves first, at most eight lines.
std::vector<std::string> wavesText(const std::vector<WaveAt> &Waves, uint64_t Entry);

} // namespace vgpu
#endif
