// How a kernel begins on each target: what its descriptor grants, and the
// registers that its waves find.
#include "Harness.h"

#include "machine/KernelDescriptor.h"

#include <cstring>
#include <gtest/gtest.h>
#include <set>

using namespace vgpu;
using namespace vgpu::test;

namespace {

/// The descriptor of a kernel with these .amdhsa_ lines.
const char *parse(const std::string &Target, const std::string &Options, KernelDescriptor &K) {
  std::string Lines;
  for (size_t Begin = 0; Begin < Options.size();) {
    const size_t End = std::min(Options.find(';', Begin), Options.size());
    Lines += ".amdhsa_" + Options.substr(Begin, End - Begin) + "\n";
    Begin = End + 1;
  }
  Assembled A = assemble(".text\n.p2align 8\nk:\ns_endpgm\n.rodata\n.p2align 6\n"
                         ".amdhsa_kernel k\n" + Lines + ".end_amdhsa_kernel\n",
                         Target);
  EXPECT_EQ(A.Error, "") << Target;
  DeviceConfig C;
  EXPECT_TRUE(DeviceConfig::forTarget(Target, C));
  return A.Descriptor.empty() ? "nothing to parse"
                              : KernelDescriptor::parse(A.Descriptor.data(), 0x10000, C, K);
}

TEST(Registers, GranulesOfEachTarget) {
  // What the assembler encodes, and what LLVM says such a wave is granted.
  const struct {
    const char *Target, *Options;
    unsigned WaveSize, Vgprs, Accs, Cost, Sgprs;
  } Rows[] = {
      {"gfx900", "next_free_vgpr 37;next_free_sgpr 10", 64, 40, 0, 40, 16},
      {"gfx906", "next_free_vgpr 37;next_free_sgpr 40", 64, 40, 0, 40, 48},
      {"gfx908", "next_free_vgpr 37;next_free_sgpr 10", 64, 40, 40, 40, 16},
      {"gfx90a", "next_free_vgpr 37;next_free_sgpr 10;accum_offset 40", 64, 40, 0, 40, 16},
      {"gfx90a", "next_free_vgpr 70;next_free_sgpr 10;accum_offset 36", 64, 36, 36, 72, 16},
      {"gfx90a", "next_free_vgpr 512;next_free_sgpr 10;accum_offset 256", 64, 256, 256, 512, 16},
      {"gfx1030", "next_free_vgpr 37;next_free_sgpr 10;wavefront_size32 1", 32, 48, 0, 48, 128},
      {"gfx1030", "next_free_vgpr 37;next_free_sgpr 100;wavefront_size32 0", 64, 40, 0, 80, 128},
      {"gfx1030", "next_free_vgpr 256;next_free_sgpr 10;wavefront_size32 0", 64, 256, 0, 512, 128},
  };
  for (const auto &Row : Rows) {
    SCOPED_TRACE(std::string(Row.Target) + " " + Row.Options);
    KernelDescriptor K;
    const char *Why = parse(Row.Target, Row.Options, K);
    ASSERT_EQ(Why, nullptr) << Why;
    EXPECT_EQ(K.WaveSize, Row.WaveSize);
    EXPECT_EQ(K.ArchVgprs, Row.Vgprs);
    EXPECT_EQ(K.Accs, Row.Accs);
    EXPECT_EQ(K.VgprCost, Row.Cost);
    EXPECT_EQ(K.Sgprs, Row.Sgprs);
  }
}

TEST(Registers, Gfx10ModeBits) {
  const std::string Base = "next_free_vgpr 8;next_free_sgpr 8;wavefront_size32 1;";
  KernelDescriptor K;
  ASSERT_EQ(parse("gfx1030", Base + "workgroup_processor_mode 1", K), nullptr);
  EXPECT_TRUE(K.WgpMode);
  ASSERT_EQ(parse("gfx1030", Base + "workgroup_processor_mode 0", K), nullptr);
  EXPECT_FALSE(K.WgpMode);
  // (LLVM 15's assembler takes the count only where the wave size goes without saying.)
  const char *Why = parse("gfx1030", "next_free_vgpr 8;next_free_sgpr 8;shared_vgpr_count 1", K);
  EXPECT_STREQ(Why, "shared VGPRs are not modelled");
}

TEST(Registers, Gfx90aSplitGroups) {
  KernelDescriptor K;
  ASSERT_EQ(parse("gfx90a", "next_free_vgpr 8;next_free_sgpr 8;accum_offset 8;tg_split 1", K),
            nullptr);
  EXPECT_TRUE(K.SplitGroups);
}

/// A device of one target that runs assembly.
struct Running : testing::Test {
  TestMemory Memory;
  DeviceConfig Config;
  DispatchResult run(const std::string &Target, const std::string &Body,
                     const std::vector<std::string> &Options, const Launch &L) {
    EXPECT_TRUE(DeviceConfig::forTarget(Target, Config));
    Device D(Config, Memory);
    TestKernel K(Memory, Body, Options, Target);
    EXPECT_EQ(K.Error, "");
    DispatchResult R = launch(D, Memory, K, L);
    EXPECT_EQ(R.Status, DispatchStatus::Completed) << text(R.Fault);
    return R;
  }
};

/// gfx90a has the three work-item ids in v0, ten bits each.
TEST_F(Running, PackedWorkitemIds) {
  constexpr unsigned X = 8, Y = 4, Z = 3;
  uint32_t *Out = Memory.array<uint32_t>(X * Y * Z + 64);
  void **Kernarg = Memory.array<void *>(1);
  Kernarg[0] = Out;
  Launch L;
  L.Grid[0] = L.Group[0] = X;
  L.Grid[1] = L.Group[1] = Y;
  L.Grid[2] = L.Group[2] = Z;
  L.Kernarg = Kernarg;
  // Index (z * Y + y) * X + x, taken apart by hand.
  run("gfx90a", R"(
    s_load_dwordx2 s[8:9], s[0:1], 0x0
    v_and_b32_e32 v1, 0x3ff, v0
    v_bfe_u32 v2, v0, 10, 10
    v_bfe_u32 v3, v0, 20, 10
    v_lshlrev_b32_e32 v3, 2, v3
    v_add_u32_e32 v2, v2, v3
    v_lshlrev_b32_e32 v2, 3, v2
    v_add_u32_e32 v1, v1, v2
    v_lshlrev_b32_e32 v1, 2, v1
    s_waitcnt lgkmcnt(0)
    global_store_dword v1, v0, s[8:9]
  )",
      {"system_vgpr_workitem_id 2", "accum_offset 16"}, L);
  for (unsigned I = 0; I < X * Y * Z; ++I)
    ASSERT_EQ(Out[I], I % X | I / X % Y << 10 | I / X / Y << 20) << I;
}

/// Every work item stores what V holds at the end of Body (s[8:9]: the output,
/// v1: its byte offset).
const char *const StoreEnd = "s_waitcnt lgkmcnt(0)\nglobal_store_dword v1, v2, s[8:9]";

/// A wave32 has 32 lanes, the last one of a group as many as are left.
TEST_F(Running, Gfx1030Wave32) {
  uint32_t *Out = Memory.array<uint32_t>(128);
  void **Kernarg = Memory.array<void *>(1);
  Kernarg[0] = Out;
  Launch L;
  L.Grid[0] = L.Group[0] = 48;
  L.Kernarg = Kernarg;
  const std::string Body = std::string(R"(
    s_load_dwordx2 s[8:9], s[0:1], 0x0
    v_lshlrev_b32_e32 v1, 2, v0
    v_mov_b32_e32 v2, exec_lo
  )") + StoreEnd;
  run("gfx1030", Body, {"wavefront_size32 1"}, L);
  for (unsigned I = 0; I < 48; ++I)
    ASSERT_EQ(Out[I], I < 32 ? 0xffffffffu : 0xffffu) << I;
  EXPECT_EQ(Out[48], 0u);
}

/// The waves of a workgroup lie on all four SIMDs of the pair of compute units in
/// WGP mode, on the two of one compute unit in CU mode (HW_ID1 says where).
TEST_F(Running, Gfx1030Modes) {
  uint32_t *Out = Memory.array<uint32_t>(512);
  void **Kernarg = Memory.array<void *>(1);
  Kernarg[0] = Out;
  Launch L;
  L.Grid[0] = 512;
  L.Group[0] = 256;
  L.Kernarg = Kernarg;
  const std::string Body = std::string(R"(
    s_load_dwordx2 s[8:9], s[0:1], 0x0
    s_lshl_b32 s2, s2, 10
    v_lshlrev_b32_e32 v1, 2, v0
    v_add_nc_u32_e32 v1, s2, v1
    s_getreg_b32 s3, hwreg(HW_REG_HW_ID1)
    v_mov_b32_e32 v2, s3
  )") + StoreEnd;
  for (const char *Mode : {"workgroup_processor_mode 1", "workgroup_processor_mode 0"}) {
    SCOPED_TRACE(Mode);
    run("gfx1030", Body, {"wavefront_size32 1", Mode}, L);
    const bool Wgp = Mode[std::strlen(Mode) - 1] == '1';
    for (unsigned Group = 0; Group < 2; ++Group) {
      std::set<unsigned> Simds, Units, Places;
      for (unsigned I = Group * 256; I < Group * 256 + 256; ++I) {
        Simds.insert(Out[I] >> 8 & 3);
        Units.insert(Out[I] >> 9 & 1);
        Places.insert(Out[I] >> 10);
      }
      EXPECT_EQ(Simds.size(), Wgp ? 4u : 2u);
      EXPECT_EQ(Units.size(), Wgp ? 2u : 1u);
      EXPECT_EQ(Places.size(), 1u) << "one workgroup processor";
    }
  }
}

/// ROCr leaves the index stride of the scratch resource to the command processor.
TEST_F(Running, Gfx1030ScratchResource) {
  uint32_t *Out = Memory.array<uint32_t>(64);
  void **Kernarg = Memory.array<void *>(1);
  Kernarg[0] = Out;
  amd_queue_t *Queue = Memory.array<amd_queue_t>(1);
  Queue->scratch_resource_descriptor[3] = 0x21814fac; // Stride 0, thread id added.
  Launch L;
  L.Queue = Queue;
  L.Kernarg = Kernarg;
  const std::string Body = std::string(R"(
    s_load_dwordx2 s[8:9], s[4:5], 0x0
    v_lshlrev_b32_e32 v1, 2, v0
    v_mov_b32_e32 v2, s3
  )") + StoreEnd;
  run("gfx1030", Body, {"wavefront_size32 1", "user_sgpr_private_segment_buffer 1"}, L);
  EXPECT_EQ(Out[0], 0x21814facu | 2u << 21);
  run("gfx1030", Body, {"wavefront_size32 0", "user_sgpr_private_segment_buffer 1"}, L);
  EXPECT_EQ(Out[0], 0x21814facu | 3u << 21);
}

} // namespace
