// The statistics' files: whole JSON after every dispatch, sums that are the sums
// of the rows, tables that readers of single counters understand.
#include "machine/Statistics.h"

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include <fstream>
#include <iterator>
#include <unistd.h>

using namespace vgpu;

namespace {

std::string read(const std::string &Path) {
  std::ifstream Stream(Path, std::ios::binary);
  return std::string(std::istreambuf_iterator<char>(Stream), {});
}

class StatisticsTest : public testing::Test {
protected:
  std::string Path = testing::TempDir() + "vgpu-statistics-" + std::to_string(getpid());
  void TearDown() override { unlink(Path.c_str()); }

  static DispatchRecord record(const char *Kernel, uint64_t Index, uint64_t Factor) {
    DispatchRecord R;
    R.Queue = 3;
    R.Index = Index;
    R.Kernel = Kernel;
    R.Target = "gfx906";
    R.WavesPerSimd = 8;
    R.Limit = "vgprs";
    R.Sums.Dispatches = 1;
    // A different value for each counter.
    uint64_t Value = 100;
#define VGPU_COUNTER(Field, Name) R.Sums.Field = Factor * Value++;
#include "machine/Counters.def"
    R.Sums.Instructions[unsigned(OpClass::Salu)] = 7 * Factor;
    R.Sums.Instructions[unsigned(OpClass::Valu)] = 5 * Factor;
    R.Sums.HostSeconds = 1e-3;
    return R;
  }
};

TEST_F(StatisticsTest, JsonIsWholeAfterEachDispatch) {
  Statistics S("", Path);
  EXPECT_EQ(nlohmann::json::parse(read(Path))["dispatches"].size(), 0u);
  for (unsigned I = 0; I < 5; ++I) {
    S.add(record(I % 2 ? "odd" : "even", I, I + 1));
    const auto Document = nlohmann::json::parse(read(Path));
    ASSERT_EQ(Document["dispatches"].size(), I + 1);
    EXPECT_EQ(Document["dispatches"][I]["dispatch"], "3." + std::to_string(I));
    EXPECT_EQ(Document["total"]["dispatches"], I + 1);
  }
  const auto Document = nlohmann::json::parse(read(Path));
  ASSERT_EQ(Document["kernels"].size(), 2u);
#define VGPU_COUNTER(Field, Name)                                              \
  {                                                                            \
    uint64_t Sum = 0, BySum = 0;                                               \
    for (const auto &Row : Document["dispatches"])                             \
      Sum += uint64_t(Row[Name]);                                              \
    for (const auto &Row : Document["kernels"])                                \
      BySum += uint64_t(Row[Name]);                                            \
    EXPECT_EQ(Document["total"][Name], Sum) << Name;                           \
    EXPECT_EQ(BySum, Sum) << Name;                                             \
    EXPECT_EQ(Sum, 15 * (uint64_t(Document["dispatches"][0][Name]))) << Name;  \
  }
#include "machine/Counters.def"
  EXPECT_EQ(Document["total"]["instructions"], 12 * 15);
  EXPECT_EQ(Document["total"]["instructions_by_class"]["valu"], 5 * 15);
  EXPECT_NEAR(double(Document["total"]["l1_hit_rate"]),
              double(Document["total"]["l1_hits"]) /
                  (double(Document["total"]["l1_hits"]) + double(Document["total"]["l1_misses"])),
              1e-12);
}

TEST_F(StatisticsTest, NothingOfNothingIsNull) {
  Statistics S("", Path);
  DispatchRecord R;
  R.Kernel = "a \"name\" \xff";
  S.add(R);
  const auto Document = nlohmann::json::parse(read(Path));
  EXPECT_TRUE(Document["dispatches"][0]["l1_hit_rate"].is_null());
  EXPECT_TRUE(Document["dispatches"][0]["occupancy"].is_null());
}

TEST_F(StatisticsTest, TableHasEachCounterAndSums) {
  Statistics S(Path, "");
  S.add(record("even", 0, 1));
  S.add(record("even", 1, 2));
  S.finish();
  const std::string Once = read(Path);
  S.finish(); // Nothing new: nothing more.
  EXPECT_EQ(read(Path), Once);
  EXPECT_EQ(Once.find("dispatch 0 of queue 3: even\n  modelled-cycles                 100\n"), 0u)
      << Once;
  EXPECT_NE(Once.find("\n  instructions                     12\n"), std::string::npos) << Once;
  EXPECT_NE(Once.find("\n  waves-per-simd                    8 (limit: vgprs)\n"),
            std::string::npos);
  const size_t Totals = Once.find("totals (cycles are modelled)\n");
  ASSERT_NE(Totals, std::string::npos);
  EXPECT_NE(Once.find(" 2            300 ", Totals), std::string::npos) << Once.substr(Totals);
  EXPECT_NE(Once.find("  (all)\n", Totals), std::string::npos);
}

} // namespace
