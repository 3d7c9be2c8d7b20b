// Which instructions that LLVM knows for gfx906 the core can run. The list is
// found by decoding: every opcode of every ALU format is offered to MC. What is
// left out on purpose is listed here, so that a missing handler fails the test.
#include "Harness.h"

#include "isa/MemTables.h"

#include <cstdio>
#include <set>

namespace vgputest {
namespace {

using CoverageTest = WaveTest;

/// Base mnemonics of all encodings that MC accepts.
std::set<std::string> mnemonics(vgpu::Decoder &D) {
  std::set<std::string> Names;
  auto Offer = [&](uint32_t Word0, uint32_t Word1) {
    const uint32_t Words[3] = {Word0, Word1, 0};
    vgpu::Inst I;
    D.decode(0, reinterpret_cast<const uint8_t *>(Words), sizeof Words, I);
    const std::string Name = vgpu::Decoder::baseMnemonic(D.disassemble(I));
    if (Name.compare(0, 2, "s_") == 0 || Name.compare(0, 2, "v_") == 0)
      Names.insert(Name);
  };
  for (uint32_t Op = 0; Op < 256; ++Op) {
    Offer(0xbe800000 | Op << 8, 0);          // SOP1
    Offer(0xbf000000 | (Op & 127) << 16, 0); // SOPC
    Offer(0xbf800000 | (Op & 127) << 16, 0); // SOPP
    Offer(0x80000000 | (Op % 96) << 23, 0);  // SOP2
    Offer(0xb0000000 | (Op & 31) << 23, 0);  // SOPK
    Offer(0x7e000000 | Op << 9, 0);          // VOP1
    Offer(0x7e0000f9 | Op << 9, 0x06060600); // VOP1 SDWA
    Offer(0x7c000000 | Op << 17, 0);         // VOPC
    Offer((Op % 62) << 25, 0);               // VOP2
    Offer((Op % 62) << 25 | 0xf9, 0x06060600);
  }
  for (uint32_t Op = 0; Op < 1024; ++Op)
    Offer(0xd0000000 | Op << 16, 0); // VOP3 and VOP3P
  return Names;
}

/// The same for the memory formats, without images.
std::set<std::string> memoryMnemonics(vgpu::Decoder &D) {
  std::set<std::string> Names;
  auto Offer = [&](uint32_t Word0, uint32_t Word1) {
    const uint32_t Words[3] = {Word0, Word1, 0};
    vgpu::Inst I;
    D.decode(0, reinterpret_cast<const uint8_t *>(Words), sizeof Words, I);
    const std::string Text = D.disassemble(I);
    if (Text.find('_') != std::string::npos)
      Names.insert(vgpu::Decoder::baseMnemonic(Text));
  };
  for (uint32_t Op = 0; Op < 256; ++Op) {
    Offer(0xc0020000 | Op << 18, 0);                   // SMEM
    Offer(0xd8000000 | Op << 17, 0);                   // DS
    Offer(0xe0000000 | (Op & 127) << 18, 0);           // MUBUF
    Offer(0xe8000000 | (Op & 15) << 15 | 4u << 19, 0); // MTBUF
    for (uint32_t Segment = 0; Segment < 3; ++Segment)
      Offer(0xdc000000 | (Op & 127) << 18 | Segment << 14, 0x007f0000); // FLAT
  }
  return Names;
}

/// Not instructions of compute programs, or never emitted by a compiler.
bool leftOut(const std::string &Name) {
  static const std::set<std::string> Names = {
      // Graphics: interpolation, primitive ordering, exports.
      "v_interp_p1_f32",
      "v_interp_p2_f32",
      "v_interp_mov_f32",
      "v_interp_p1ll_f16",
      "v_interp_p1lv_f16",
      "v_interp_p2_f16",
      "v_interp_p2_legacy_f16",
      "s_endpgm_ordered_ps_done",
      "v_screen_partition_4se_b32",
      "s_setkill",
      // Forked control flow and trap handlers, refused by design.
      "s_cbranch_g_fork",
      "s_cbranch_i_fork",
      "s_cbranch_join",
      "s_setvskip",
      "s_rfe_b64",
      "s_rfe_restore_b64",
      "s_sethalt",
      "s_sendmsghalt",
  };
  return Names.count(Name) != 0;
}

TEST_F(CoverageTest, EveryAluInstructionHasAHandler) {
  const std::set<std::string> All = mnemonics(D);
  unsigned Known = 0, Left = 0;
  for (const std::string &Name : All) {
    if (D.knows(Name))
      ++Known;
    else if (leftOut(Name))
      ++Left;
    else
      ADD_FAILURE() << "no handler for " << Name;
  }
  std::printf("ALU mnemonics of gfx906: %zu, run: %u, left out: %u\n",
              All.size(), Known, Left);
  EXPECT_GT(All.size(), 600u);
}

TEST_F(CoverageTest, MemoryInstructions) {
  vgpu::Decoder Whole("gfx906", vgpu::memoryTables());
  const std::set<std::string> All = memoryMnemonics(Whole);
  unsigned Known = 0;
  std::string Missing;
  for (const std::string &Name : All) {
    if (Whole.knows(Name))
      ++Known;
    else
      Missing += " " + Name;
  }
  std::printf(
      "memory mnemonics of gfx906: %zu, run: %u, without a handler:%s\n",
      All.size(), Known, Missing.c_str());
  EXPECT_GT(Known, 200u);
}

} // namespace
} // namespace vgputest
