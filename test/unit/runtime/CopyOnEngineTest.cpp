// Copies that name their engine, with the table of a ROCm newer than the one here.
#include "CopyOnEngine.h"

#include <gtest/gtest.h>
#include <hsa/hsa_api_trace.h>

namespace kprobe {
namespace {

enum Engine : uint32_t { Engine0 = 1, Engine1 = 2, Engine4 = 16 };

struct NewerTable {
  ApiTableVersion version;
  hsa_status_t (*hsa_amd_memory_async_copy_on_engine_fn)(
      void *, hsa_agent_t, const void *, hsa_agent_t, size_t, uint32_t,
      const hsa_signal_t *, hsa_signal_t, Engine, bool);
};
struct OlderTable {
  ApiTableVersion version;
};

struct Recorder {
  static inline CopyRequest Seen = {};
  template <typename Function>
  static hsa_status_t copy(const CopyRequest &Request, Function &&Submit) {
    Seen = Request;
    return Submit(hsa_signal_t{99});
  }
};

struct Call {
  size_t Bytes;
  uint32_t WaitCount;
  uint64_t Done;
  Engine Which;
  bool Force;
} LastCall;

hsa_status_t rocr(void *, hsa_agent_t, const void *, hsa_agent_t, size_t Bytes,
                  uint32_t WaitCount, const hsa_signal_t *, hsa_signal_t Done,
                  Engine Which, bool Force) {
  LastCall = {Bytes, WaitCount, Done.handle, Which, Force};
  return HSA_STATUS_ERROR_OUT_OF_RESOURCES;
}

TEST(CopyOnEngine, IsRecordedWithItsEngine) {
  NewerTable Table = {{1, sizeof(NewerTable), 0, 0}, rocr};
  using Hook = CopyOnEngine<NewerTable, Recorder>;
  Hook::install(Table);
  ASSERT_NE(Table.hsa_amd_memory_async_copy_on_engine_fn, rocr);
  int From = 0, To = 0;
  EXPECT_EQ(Table.hsa_amd_memory_async_copy_on_engine_fn(
                &To, {1}, &From, {2}, 4096, 3, nullptr, {7}, Engine4, true),
            HSA_STATUS_ERROR_OUT_OF_RESOURCES);
  EXPECT_EQ(Recorder::Seen.Target, &To);
  EXPECT_EQ(Recorder::Seen.Source, &From);
  EXPECT_EQ(Recorder::Seen.TargetAgent.handle, 1u);
  EXPECT_EQ(Recorder::Seen.SourceAgent.handle, 2u);
  EXPECT_EQ(Recorder::Seen.Bytes, 4096u);
  EXPECT_EQ(Recorder::Seen.Done.handle, 7u);
  EXPECT_EQ(Recorder::Seen.Engine, KPROBE_ENGINE_SDMA(4));
  // ROCr gets what the program gave, but for the signal.
  EXPECT_EQ(LastCall.Bytes, 4096u);
  EXPECT_EQ(LastCall.WaitCount, 3u);
  EXPECT_EQ(LastCall.Done, 99u);
  EXPECT_EQ(LastCall.Which, Engine4);
  EXPECT_TRUE(LastCall.Force);
  Hook::remove(Table);
  EXPECT_EQ(Table.hsa_amd_memory_async_copy_on_engine_fn, rocr);
}

TEST(CopyOnEngine, IsLeftAloneInATableWithoutIt) {
  // The entry is there for the compiler, but not in the table of this ROCr.
  NewerTable Short = {{1, sizeof(ApiTableVersion), 0, 0}, rocr};
  CopyOnEngine<NewerTable, Recorder>::install(Short);
  EXPECT_EQ(Short.hsa_amd_memory_async_copy_on_engine_fn, rocr);
  OlderTable Older = {};
  CopyOnEngine<OlderTable, Recorder>::install(Older);
  CopyOnEngine<OlderTable, Recorder>::remove(Older);
}

TEST(CopyOnEngine, KnowsOneEngineByItsBit) {
  EXPECT_EQ(engineOfMask(1), KPROBE_ENGINE_SDMA(0));
  EXPECT_EQ(engineOfMask(1u << 15), KPROBE_ENGINE_SDMA(15));
  EXPECT_EQ(engineOfMask(0), KPROBE_ENGINE_UNKNOWN);
  EXPECT_EQ(engineOfMask(3), KPROBE_ENGINE_UNKNOWN);
}

} // namespace
} // namespace kprobe
