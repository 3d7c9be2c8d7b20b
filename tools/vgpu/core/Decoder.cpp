// Decoding: LLVM MC for name and size, tables for the handler.
#include "Decoder.h"

namespace vgpu {

struct Decoder::Mc {};

Decoder::Decoder(const std::string &, const std::vector<OpTable> &) {}
Decoder::~Decoder() = default;
void Decoder::decode(uint64_t, const uint8_t *, size_t, Inst &) {}
std::string Decoder::disassemble(const Inst &) const { return {}; }

} // namespace vgpu
