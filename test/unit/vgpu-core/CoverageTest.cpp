// Which instructions that LLVM knows for each target the virtual GPU can run.
// The list is found by decoding: every opcode of every format is offered to MC.
// What is left out on purpose is listed here with its reason, so that a missing
// handler fails the test, and so does a table of tools/vgpu/README.md that has
// other counts.
#include "Harness.h"

#include "isa/MemTables.h"

#include <cstdio>
#include <fstream>
#include <functional>
#include <iterator>
#include <set>

namespace vgputest {
namespace {

class CoverageTest : public ::testing::TestWithParam<const char *> {
protected:
  CoverageTest() : D(GetParam(), vgpu::memoryTables()) {
    EXPECT_EQ(D.error(), "");
  }

  /// The base mnemonic of an encoding, or something else than a name.
  std::string name(uint32_t Word0, uint32_t Word1) {
    const uint32_t Words[4] = {Word0, Word1, 0, 0};
    vgpu::Inst I;
    D.decode(0, reinterpret_cast<const uint8_t *>(Words), sizeof Words, I);
    return vgpu::Decoder::baseMnemonic(D.disassemble(I));
  }

  using Names = std::set<std::string>;
  using Wanted = std::function<bool(const std::string &)>;

  void offer(Names &Into, const Wanted &W, uint32_t Word0, uint32_t Word1) {
    const std::string Name = name(Word0, Word1);
    if (Name.find('_') != std::string::npos && W(Name))
      Into.insert(Name);
  }

  static bool startsWith(const std::string &Name, const char *Prefix) {
    return Name.rfind(Prefix, 0) == 0;
  }

  /// Encodings that a target does not have mean nothing or something else to
  /// MC, never a name that the target lacks: all are offered to all.
  Names aluMnemonics() {
    Names R;
    const Wanted W = [](const std::string &Name) {
      return startsWith(Name, "s_") || startsWith(Name, "v_");
    };
    for (uint32_t Op = 0; Op < 256; ++Op) {
      offer(R, W, 0xbe800000 | Op << 8, 0);          // SOP1
      offer(R, W, 0xbf000000 | (Op & 127) << 16, 0); // SOPC
      offer(R, W, 0xbf800000 | (Op & 127) << 16, 0); // SOPP
      offer(R, W, 0x80000000 | (Op % 96) << 23, 0);  // SOP2
      offer(R, W, 0xb0000000 | (Op & 31) << 23, 0);  // SOPK
      offer(R, W, 0x7e000000 | Op << 9, 0);          // VOP1
      offer(R, W, 0x7e0000f9 | Op << 9, 0x06060600); // VOP1 SDWA
      offer(R, W, 0x7c000000 | Op << 17, 0);         // VOPC
      offer(R, W, (Op % 62) << 25, 0);               // VOP2
      offer(R, W, (Op % 62) << 25 | 0xf9, 0x06060600);
      // VOP3P; matrix operands are vector registers, two kinds of them.
      offer(R, W, 0xcc000000 | (Op & 127) << 16, 0);
      for (uint32_t Acc : {0u, 3u << 27})
        offer(R, W, 0xd3800000 | (Op & 127) << 16, 0x04020100 | Acc);
    }
    for (uint32_t Op = 0; Op < 1024; ++Op)
      for (uint32_t Encoding : {0xd0000000, 0xd4000000}) // VOP3
        offer(R, W, Encoding | Op << 16, 0);
    return R;
  }

  /// The same for the memory formats, without images.
  Names memoryMnemonics() {
    Names R;
    const Wanted W = [](const std::string &Name) {
      return !startsWith(Name, "v_") && !startsWith(Name, "image_");
    };
    for (uint32_t Op = 0; Op < 256; ++Op) {
      offer(R, W, 0xc0020000 | Op << 18, 0);          // SMEM
      offer(R, W, 0xf4000000 | Op << 18, 0xfa000000); // … of gfx10
      offer(R, W, 0xd8000000 | Op << 17, 0);          // DS
      offer(R, W, 0xd8010000 | Op << 17, 0);          // … GDS
      offer(R, W, 0xda000000 | Op << 17, 0);          // … of gfx10
      offer(R, W, 0xe0000000 | Op << 18, 0x80000000); // MUBUF
      offer(R, W, 0xe0010000 | Op << 18, 0x80000000); // … to LDS
      offer(R, W, 0xe8000000 | (Op & 15) << 15 | 4u << 19, 0x80000000);
      offer(R, W, 0xe8000000 | (Op & 7) << 16 | 22u << 19, 0x80000000);
      offer(R, W, 0xe8000000 | (Op & 7) << 16 | 22u << 19, 0x80200000);
      for (uint32_t Segment = 0; Segment < 3; ++Segment)
        for (uint32_t SAddr : {0x007f0000u, 0x007d0000u, 0u})
          for (uint32_t Glc : {0u, 1u << 16})
            offer(R, W, 0xdc000000 | (Op & 127) << 18 | Glc | Segment << 14,
                  SAddr);
    }
    return R;
  }

  vgpu::Decoder D;
};

/// Why an instruction is left out on purpose; null if it is not.
const char *reasonLeftOut(const std::string &Name) {
  struct Reason {
    const char *Why;
    std::vector<const char *> Prefixes;
  };
  static const Reason Reasons[] = {
      {"graphics",
       {"v_interp_", "s_endpgm_ordered_ps_done", "v_screen_partition_4se_b32",
        "s_setkill", "v_mullit_f32"}},
      {"global data share", {"ds_ordered_count"}},
      {"trap handlers", {"s_rfe_", "s_sethalt", "s_sendmsghalt"}},
      {"forked control flow",
       {"s_cbranch_g_fork", "s_cbranch_i_fork", "s_cbranch_join",
        "s_setvskip"}},
      {"marks what is not to be reached", {"s_code_end"}},
  };
  for (const Reason &R : Reasons)
    for (const char *Prefix : R.Prefixes)
      if (Name.rfind(Prefix, 0) == 0)
        return R.Why;
  return nullptr;
}

struct Counted {
  size_t All = 0, Run = 0;
  std::string Left;    // on purpose
  std::string Missing; // no handler, and no reason
};

Counted count(const vgpu::Decoder &D, const std::set<std::string> &Names) {
  Counted C;
  C.All = Names.size();
  for (const std::string &Name : Names) {
    if (const char *Why = reasonLeftOut(Name))
      C.Left += " " + Name + " (" + Why + ")";
    else if (D.knows(Name))
      ++C.Run;
    else
      C.Missing += " " + Name;
  }
  return C;
}

TEST_P(CoverageTest, EveryInstructionHasAHandler) {
  const Counted Alu = count(D, aluMnemonics());
  const Counted Memory = count(D, memoryMnemonics());
  char Row[128];
  std::snprintf(Row, sizeof Row, "| %s | %zu | %zu | %zu | %zu |", GetParam(),
                Alu.All, Alu.Run, Memory.All, Memory.Run);
  std::puts(Row);
  std::ifstream Readme(VGPU_README);
  const std::string Text{std::istreambuf_iterator<char>(Readme), {}};
  EXPECT_NE(Text.find(Row), std::string::npos)
      << "tools/vgpu/README.md does not have the row " << Row;
  std::printf("left out:%s%s\n", Alu.Left.c_str(), Memory.Left.c_str());
  EXPECT_EQ(Alu.Missing, "");
  EXPECT_EQ(Memory.Missing, "");
  EXPECT_GT(Alu.All, 600u);
  EXPECT_GT(Memory.All, 300u);
}

INSTANTIATE_TEST_SUITE_P(Targets, CoverageTest,
                         ::testing::Values("gfx900", "gfx906", "gfx908",
                                           "gfx90a", "gfx1030"),
                         [](const auto &Info) {
                           return std::string(Info.param);
                         });

} // namespace
} // namespace vgputest
