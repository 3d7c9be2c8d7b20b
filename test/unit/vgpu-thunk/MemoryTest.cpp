// The address space: what a device may touch, what a pointer query answers.
#include "thunk/Memory.h"

#include <gtest/gtest.h>

#include <cerrno>
#include <cstring>
#include <sys/mman.h>

using namespace vgpu;

namespace {

struct Memory : testing::Test {
  MemoryRanges Ranges;
  void SetUp() override { Ranges.setGpuNodes({1, 2}); }

  char *allocate(uint32_t Node, uint64_t Size, HsaMemFlags Flags = {}) {
    void *Address = nullptr;
    EXPECT_EQ(HSAKMT_STATUS_SUCCESS,
              Ranges.allocate(Node, Size, Flags, &Address));
    return static_cast<char *>(Address);
  }
  bool visible(const void *Address, uint32_t Node) {
    return bool(Ranges.lookup(reinterpret_cast<uint64_t>(Address), Node));
  }
};

TEST_F(Memory, AllocationIsVisibleOnceMapped) {
  char *Block = allocate(1, 3 * PageSize);
  EXPECT_FALSE(visible(Block, 1));
  std::vector<uint32_t> Nodes = {1};
  EXPECT_EQ(HSAKMT_STATUS_SUCCESS, Ranges.map(Block, 3 * PageSize, &Nodes));
  EXPECT_TRUE(visible(Block, 1));
  EXPECT_FALSE(visible(Block, 2));
  EXPECT_FALSE(visible(Block - 1, 1));
  EXPECT_TRUE(visible(Block + 3 * PageSize - 1, 1));
  EXPECT_FALSE(visible(Block + 3 * PageSize, 1));
  const MemoryRegion Region =
      Ranges.lookup(reinterpret_cast<uint64_t>(Block) + 5, 1);
  EXPECT_EQ(reinterpret_cast<uint64_t>(Block), Region.Begin);
  EXPECT_EQ(3 * PageSize, Region.End - Region.Begin);
  EXPECT_TRUE(Region.Writable);

  const uint64_t Before = Ranges.generation();
  EXPECT_EQ(HSAKMT_STATUS_SUCCESS, Ranges.unmap(Block));
  EXPECT_FALSE(visible(Block, 1));
  EXPECT_NE(Before, Ranges.generation());
}

TEST_F(Memory, FreeIsForgottenAtOnceAndUnmappedAfterTheDispatch) {
  char *Block = allocate(1, PageSize);
  Ranges.map(Block, PageSize, nullptr);
  std::memset(Block, 1, PageSize);
  Ranges.beginDispatch();
  const uint64_t Before = Ranges.generation();
  EXPECT_EQ(HSAKMT_STATUS_SUCCESS, Ranges.free(Block, PageSize, nullptr));
  EXPECT_FALSE(visible(Block, 1));
  EXPECT_NE(Before, Ranges.generation());
  EXPECT_EQ(1, *Block); // A running kernel would not crash the process.
  Ranges.endDispatch();
  EXPECT_EQ(-1, msync(Block, PageSize, MS_ASYNC));
  EXPECT_EQ(ENOMEM, errno); // Not mapped.
  EXPECT_EQ(HSAKMT_STATUS_MEMORY_NOT_REGISTERED,
            Ranges.free(Block, PageSize, nullptr));
}

TEST_F(Memory, BadSizesAreRefused) {
  void *Address = nullptr;
  EXPECT_EQ(HSAKMT_STATUS_INVALID_PARAMETER,
            Ranges.allocate(1, 100, {}, &Address));
  EXPECT_EQ(HSAKMT_STATUS_INVALID_PARAMETER,
            Ranges.allocate(1, 0, {}, &Address));
  char *Block = allocate(1, 2 * PageSize);
  EXPECT_EQ(HSAKMT_STATUS_INVALID_PARAMETER,
            Ranges.free(Block, PageSize, nullptr));
  EXPECT_EQ(HSAKMT_STATUS_SUCCESS, Ranges.free(Block, 2 * PageSize, nullptr));
}

TEST_F(Memory, NodeHasAsMuchAsItHas) {
  Ranges.setLimit(1, 10 * PageSize);
  void *Address = nullptr;
  char *Block = allocate(1, 8 * PageSize);
  EXPECT_EQ(HSAKMT_STATUS_NO_MEMORY,
            Ranges.allocate(1, 3 * PageSize, {}, &Address));
  allocate(2, 100 * PageSize);
  HsaMemFlags Scratch = {};
  Scratch.ui32.Scratch = 1;
  char *Pool = allocate(1, uint64_t(4) << 30, Scratch);
  EXPECT_TRUE(visible(Pool + (uint64_t(3) << 30), 1));
  Ranges.free(Block, 8 * PageSize, nullptr);
  allocate(1, 10 * PageSize);
}

TEST_F(Memory, ReadOnly) {
  HsaMemFlags Flags = {};
  Flags.ui32.ReadOnly = 1;
  char *Block = allocate(0, PageSize, Flags);
  Ranges.map(Block, PageSize, nullptr);
  EXPECT_FALSE(Ranges.lookup(reinterpret_cast<uint64_t>(Block), 1).Writable);
}

TEST_F(Memory, RegisteredHostMemory) {
  alignas(4096) static char Host[4 * PageSize];
  char *Inner = Host + PageSize + 100;
  EXPECT_EQ(HSAKMT_STATUS_SUCCESS, Ranges.registerUser(Inner, 200, {}, {}));
  EXPECT_FALSE(visible(Inner, 1));
  EXPECT_EQ(HSAKMT_STATUS_SUCCESS, Ranges.map(Inner, 200, nullptr));
  EXPECT_TRUE(visible(Inner, 2));
  EXPECT_TRUE(visible(Host + PageSize, 1)); // Whole pages are pinned.
  EXPECT_FALSE(visible(Host, 1));

  // A wider registration around it, and the inner one twice.
  EXPECT_EQ(HSAKMT_STATUS_SUCCESS,
            Ranges.registerUser(Host, sizeof(Host), {}, {}));
  EXPECT_EQ(HSAKMT_STATUS_SUCCESS, Ranges.map(Host, sizeof(Host), nullptr));
  EXPECT_EQ(HSAKMT_STATUS_SUCCESS, Ranges.registerUser(Inner, 200, {}, {}));
  EXPECT_EQ(reinterpret_cast<uint64_t>(Host),
            Ranges.lookup(reinterpret_cast<uint64_t>(Inner), 1).Begin);
  EXPECT_EQ(HSAKMT_STATUS_SUCCESS, Ranges.deregister(Host));
  EXPECT_FALSE(visible(Host, 1));
  EXPECT_TRUE(visible(Inner, 1));
  EXPECT_EQ(HSAKMT_STATUS_SUCCESS, Ranges.deregister(Inner));
  EXPECT_TRUE(visible(Inner, 1));
  EXPECT_EQ(HSAKMT_STATUS_SUCCESS, Ranges.deregister(Inner));
  EXPECT_FALSE(visible(Inner, 1));
  EXPECT_EQ(HSAKMT_STATUS_MEMORY_NOT_REGISTERED, Ranges.deregister(Inner));
}

TEST_F(Memory, PointerQuery) {
  HsaMemFlags Flags = {};
  Flags.ui32.ExecuteAccess = 1;
  char *Block = allocate(2, 2 * PageSize, Flags);
  std::vector<uint32_t> Nodes = {2, 1};
  Ranges.map(Block, 2 * PageSize, &Nodes);
  int Tag = 0;
  EXPECT_EQ(HSAKMT_STATUS_SUCCESS, Ranges.setUserData(Block, &Tag));
  HsaPointerInfo Info;
  EXPECT_EQ(HSAKMT_STATUS_SUCCESS, Ranges.query(Block + 5000, Info));
  EXPECT_EQ(HSA_POINTER_ALLOCATED, Info.Type);
  EXPECT_EQ(2u, Info.Node);
  EXPECT_EQ(Block, Info.CPUAddress);
  EXPECT_EQ(reinterpret_cast<uint64_t>(Block), Info.GPUAddress);
  EXPECT_EQ(2 * PageSize, Info.SizeInBytes);
  ASSERT_EQ(2u, Info.NMappedNodes);
  EXPECT_EQ(2u, Info.MappedNodes[0]);
  EXPECT_EQ(&Tag, Info.UserData);
  EXPECT_EQ(Flags.Value, Info.MemFlags.Value);
  EXPECT_EQ(HSAKMT_STATUS_ERROR, Ranges.query(&Tag, Info));
  EXPECT_EQ(HSA_POINTER_UNKNOWN, Info.Type);
  EXPECT_EQ(HSAKMT_STATUS_ERROR, Ranges.setUserData(&Tag, &Tag));
}

TEST_F(Memory, FixedAddressIsThatOrNothing) {
  char *Block = allocate(1, PageSize);
  HsaMemFlags Flags = {};
  Flags.ui32.FixedAddress = 1;
  void *Address = Block;
  EXPECT_EQ(HSAKMT_STATUS_NO_MEMORY,
            Ranges.allocate(1, PageSize, Flags, &Address));
  Ranges.free(Block, PageSize, nullptr);
  EXPECT_EQ(HSAKMT_STATUS_SUCCESS,
            Ranges.allocate(1, PageSize, Flags, &Address));
  EXPECT_EQ(Block, Address);
}

} // namespace
