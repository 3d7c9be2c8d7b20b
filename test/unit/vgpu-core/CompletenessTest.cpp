// Every instruction that the virtual GPU claims to run was run by some test of
// this program. Asked after the last test, and only if none was left out.
#include "Harness.h"

#include "isa/Tables.h"

namespace vgputest {
namespace {

class Completeness : public ::testing::Environment {
  void TearDown() override {
    if (::testing::GTEST_FLAG(filter) != "*" || TestTarget::usual().isGfx10())
      return;
    std::string Missing;
    for (const vgpu::OpTable &Table : vgpu::isaTables())
      for (size_t N = 0; N < Table.Count; ++N)
        if (!executedNames().count(Table.Ops[N].Name))
          Missing += std::string(" ") + Table.Ops[N].Name;
    EXPECT_EQ(Missing, "") << "no test runs these instructions";
  }
};

const ::testing::Environment *const Asked =
    ::testing::AddGlobalTestEnvironment(new Completeness);

} // namespace
} // namespace vgputest
