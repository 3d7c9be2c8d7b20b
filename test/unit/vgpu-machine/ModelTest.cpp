// Parts that know nothing of instructions: descriptor, caches, bandwidth,
// address check.
#include "Harness.h"

#include "machine/Bandwidth.h"
#include "machine/CacheModel.h"
#include "machine/KernelDescriptor.h"
#include "machine/MemoryMap.h"
#include "machine/MemoryTiming.h"

#include <gtest/gtest.h>

#include <random>
#include <vector>

using namespace vgpu;
using namespace vgpu::test;

namespace {

TEST(KernelDescriptor, FieldsOfAnAssembledOne) {
  Assembled A =
      assemble(".text\n.p2align 8\nk:\ns_endpgm\n.rodata\n.p2align 6\n"
               ".amdhsa_kernel k\n"
               ".amdhsa_group_segment_fixed_size 1234\n"
               ".amdhsa_private_segment_fixed_size 48\n"
               ".amdhsa_kernarg_size 24\n"
               ".amdhsa_user_sgpr_private_segment_buffer 1\n"
               ".amdhsa_user_sgpr_kernarg_segment_ptr 1\n"
               ".amdhsa_user_sgpr_flat_scratch_init 1\n"
               ".amdhsa_system_sgpr_workgroup_id_z 1\n"
               ".amdhsa_system_sgpr_private_segment_wavefront_offset 1\n"
               ".amdhsa_system_vgpr_workitem_id 2\n"
               ".amdhsa_next_free_vgpr 37\n.amdhsa_next_free_sgpr 40\n"
               ".amdhsa_float_denorm_mode_32 3\n.amdhsa_ieee_mode 0\n"
               ".end_amdhsa_kernel\n");
  ASSERT_EQ(A.Error, "");
  DeviceConfig C;
  ASSERT_TRUE(DeviceConfig::forTarget("gfx906", C));
  KernelDescriptor K;
  ASSERT_EQ(KernelDescriptor::parse(A.Descriptor.data(), 0x10000, C, K),
            nullptr);
  EXPECT_EQ(K.GroupBytes, 1234u);
  EXPECT_EQ(K.PrivateBytes, 48u);
  EXPECT_EQ(K.KernargBytes, 24u);
  EXPECT_EQ(K.ArchVgprs, 40u);
  EXPECT_EQ(K.Sgprs, 48u)
      << "40 and 6 of VCC, FLAT_SCRATCH, XNACK, to the granule";
  EXPECT_TRUE(K.PrivateSegmentBuffer && K.KernargPtr && K.FlatScratchInit &&
              K.PrivateWaveOffset);
  EXPECT_FALSE(K.DispatchPtr || K.QueuePtr || K.DispatchId || K.WorkgroupId[1]);
  EXPECT_TRUE(K.WorkgroupId[0] && K.WorkgroupId[2]);
  EXPECT_EQ(K.UserSgprs, 8u);
  EXPECT_EQ(K.WorkitemIds, 2u);
  EXPECT_EQ(K.Mode & 0xff, 0xf0u) << "nearest even, all denormals kept";
  EXPECT_EQ(K.Mode >> 8 & 3, 1u) << "dx10_clamp without ieee";
}

TEST(CacheModel, LeastRecentlyUsedGoesFirst) {
  CacheModel C(2 * 64, 64, 2); // One set of two ways.
  EXPECT_FALSE(C.access(1));
  EXPECT_FALSE(C.access(2));
  EXPECT_TRUE(C.access(1));
  EXPECT_FALSE(C.access(3)); // Evicts 2.
  EXPECT_TRUE(C.contains(1));
  EXPECT_FALSE(C.contains(2));
  C.clear();
  EXPECT_FALSE(C.access(1));
}

TEST(Bandwidth, FullStretchesPushRequestsBack) {
  Bandwidth B(2); // Two requests in 64 cycles.
  EXPECT_EQ(B.claim(10, 1), 10u);
  EXPECT_EQ(B.claim(20, 1), 20u);
  EXPECT_EQ(B.claim(20, 1), 64u);
  EXPECT_EQ(B.claim(5, 1), 64u) << "earlier in time, later in order";
  EXPECT_EQ(B.claim(5, 1), 128u);
  EXPECT_EQ(B.claim(1000, 1), 1000u) << "others are not in the way";
}

TEST(MemoryMap, NeighboursSpanAndGenerationCounts) {
  struct Space : AddressSpace {
    std::vector<MemoryRegion> Regions{{0x1000, 0x2000, true},
                                      {0x2000, 0x3000, true},
                                      {0x5000, 0x6000, false}};
    uint64_t Number = 1;
    unsigned Lookups = 0;
    MemoryRegion lookup(uint64_t A) override {
      ++Lookups;
      for (MemoryRegion &R : Regions)
        if (A >= R.Begin && A < R.End)
          return R;
      return {};
    }
    uint64_t generation() override { return Number; }
  } S;
  MemoryMap M(S);
  EXPECT_TRUE(M.allows(0x1ff0, 0x2010, true));
  EXPECT_FALSE(M.allows(0x2ff0, 0x3010, false));
  EXPECT_TRUE(M.allows(0x5000, 0x6000, false));
  EXPECT_FALSE(M.allows(0x5000, 0x5004, true));
  EXPECT_FALSE(M.allows(~uint64_t(0) - 3, 0, false)) << "wraps around";
  unsigned Before = S.Lookups;
  for (unsigned I = 0; I < 100; ++I)
    EXPECT_TRUE(M.allows(0x1000 + I, 0x1004 + I, true));
  EXPECT_EQ(S.Lookups, Before);
  S.Regions.erase(S.Regions.begin());
  ++S.Number;
  M.refresh();
  EXPECT_FALSE(M.allows(0x1000, 0x1004, false));
}

/// When loads from pages of 16 MiB of a program's memory complete, one after the other;
/// which pages is the same in each call, where they lie is not.
std::vector<uint64_t> loadTimes(uint64_t FirstPage, uint64_t PageStep) {
  DeviceConfig C;
  EXPECT_TRUE(DeviceConfig::forTarget("gfx906", C));
  MemoryTiming Timing(C);
  MemoryCounters Counters;
  std::mt19937_64 Random{1};
  std::vector<uint64_t> Times;
  for (unsigned I = 0; I < 200000; ++I) {
    const uint64_t Page = FirstPage + Random() % 4096 * PageStep;
    const uint64_t Address[64] = {Page * 4096 + Random() % 32 * 64};
    LineSet Lines(Timing.lineShift());
    Lines.collect(Address, 1, 4);
    Times.push_back(Timing.vector(0, 1000 * I, 64, Lines, 1, MemoryOp::Load, false, false, Counters));
  }
  EXPECT_GT(Counters.L2Hits, 10000u);
  EXPECT_GT(Counters.L2Misses, 10000u);
  return Times;
}

TEST(MemoryTiming, DoesNotDependOnWhereTheProgramsMemoryLies) {
  const std::vector<uint64_t> Times = loadTimes(0x7f1234567, 1);
  EXPECT_EQ(Times, loadTimes(0x55aa00013, 1));
  EXPECT_EQ(Times, loadTimes(0x7e0000001, 17));
}

} // namespace
