// One wave, an input and an output buffer: what most memory tests need.
#ifndef VGPU_TEST_LANEFIXTURE_H
#define VGPU_TEST_LANEFIXTURE_H

#include "Harness.h"

#include <gtest/gtest.h>

namespace vgpu::test {

class LaneFixture : public testing::Test {
protected:
  explicit LaneFixture(const std::string &Target = "gfx906") : Target(Target) {}

  const std::string Target;
  static constexpr unsigned Bytes = 64 * 1024;
  TestMemory Memory;
  DeviceConfig Config;
  std::unique_ptr<Device> D;
  uint32_t *In = nullptr, *Out = nullptr;
  Launch L;
  DispatchResult Result;

  void SetUp() override {
    ASSERT_TRUE(DeviceConfig::forTarget(Target, Config));
    D = std::make_unique<Device>(Config, Memory);
    In = static_cast<uint32_t *>(Memory.allocate(Bytes));
    Out = static_cast<uint32_t *>(Memory.allocate(Bytes));
    for (unsigned I = 0; I < Bytes / 4; ++I)
      In[I] = I * 2654435761u + 12345;
    void **Kernarg = Memory.array<void *>(2);
    Kernarg[0] = In;
    Kernarg[1] = Out;
    L.Kernarg = Kernarg;
  }

  /// Runs Body with s[8:9] = In, s[10:11] = Out, v0 = lane, v1 = lane * 4,
  /// v2 = lane * 16. Result holds how it ended.
  bool runs(const std::string &Body, std::vector<std::string> Options = {}) {
    // Defaults first: of a directive given twice the later one counts.
    Options.insert(Options.begin(), {"next_free_vgpr 32", "next_free_sgpr 64"});
    TestKernel K(Memory, R"(
      s_load_dwordx4 s[8:11], s[0:1], 0x0
      v_lshlrev_b32_e32 v1, 2, v0
      v_lshlrev_b32_e32 v2, 4, v0
      s_waitcnt lgkmcnt(0)
    )" + Body,
                 Options, Target);
    EXPECT_EQ(K.Error, "") << Body;
    if (!K.Error.empty())
      return false;
    Result = launch(*D, Memory, K, L);
    return Result.Status == DispatchStatus::Completed;
  }
  std::string why() const { return text(Result.Fault); }
};

#define EXPECT_RUNS(...) ASSERT_TRUE(runs(__VA_ARGS__)) << why()

} // namespace vgpu::test

#endif
