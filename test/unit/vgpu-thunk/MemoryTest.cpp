// The address space: what a device may touch, what a pointer query answers.
#include "thunk/Memory.h"

#include <gtest/gtest.h>

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <set>
#include <sys/mman.h>
#include <unistd.h>

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
  /// Whether the host may read there: the kernel tells without a signal.
  static bool readable(const char *Address) {
    int Pipe[2];
    EXPECT_EQ(0, pipe(Pipe));
    const bool Result = write(Pipe[1], Address, 1) == 1;
    EXPECT_TRUE(Result || errno == EFAULT);
    close(Pipe[0]);
    close(Pipe[1]);
    return Result;
  }
  std::string describe(const void *Address, uint32_t Node = 1) {
    return Ranges.describe(reinterpret_cast<uint64_t>(Address), Node);
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
  EXPECT_FALSE(readable(Block));
  EXPECT_EQ(HSAKMT_STATUS_MEMORY_NOT_REGISTERED,
            Ranges.free(Block, PageSize, nullptr));
}

TEST_F(Memory, FreedAddressesAreNotGivenOutAgainSoon) {
  std::set<char *> Seen;
  for (unsigned I = 0; I < 100; ++I) {
    char *Block = allocate(1, PageSize);
    EXPECT_TRUE(Seen.insert(Block).second) << I;
    Ranges.free(Block, PageSize, nullptr);
    EXPECT_FALSE(readable(Block));
  }
}

TEST_F(Memory, FreedAddressesComeBackInTheEnd) {
  // More address space than is kept back at a time, and more than there is.
  for (unsigned I = 0; I < 300; ++I) {
    char *Block = allocate(2, uint64_t(1) << 40);
    EXPECT_EQ(HSAKMT_STATUS_SUCCESS, Ranges.free(Block, uint64_t(1) << 40, nullptr));
  }
}

TEST_F(Memory, RunningOverTheEndIsNotRunningIntoTheNext) {
  char *First = allocate(1, PageSize), *Second = allocate(1, PageSize);
  Ranges.map(First, PageSize, nullptr);
  Ranges.map(Second, PageSize, nullptr);
  EXPECT_FALSE(visible(First + PageSize, 1));
  EXPECT_FALSE(visible(Second + PageSize, 1));
  EXPECT_FALSE(readable(First + PageSize));
}

TEST_F(Memory, LargeAllocationsAreAlignedToHugePages) {
  constexpr uint64_t Huge = 2 << 20;
  allocate(1, PageSize);
  for (uint64_t Size : {Huge, Huge + PageSize, 7 * Huge}) {
    char *Block = allocate(1, Size);
    EXPECT_EQ(0u, reinterpret_cast<uint64_t>(Block) % Huge) << Size;
    Ranges.map(Block, Size, nullptr);
    std::memset(Block, 1, Size); // All of it is there.
    EXPECT_TRUE(visible(Block + Size - 1, 1));
    EXPECT_FALSE(readable(Block + Size));
  }
}

TEST_F(Memory, ManyAllocationsFitTheKernelsLimit) {
  for (unsigned I = 0; I < 70000; ++I)
    ASSERT_NE(nullptr, allocate(1, PageSize)) << I;
}

TEST_F(Memory, SaysWhereAnAddressLies) {
  char *Block = allocate(1, 3 * PageSize);
  char Text[64];
  std::snprintf(Text, sizeof Text, "0x%llx", static_cast<unsigned long long>(uintptr_t(Block)));
  const std::string What = "a 12288-byte allocation of device memory at " + std::string(Text);
  EXPECT_EQ("5 bytes into " + What + ", which is not mapped to this device", describe(Block + 5));
  Ranges.map(Block, 3 * PageSize, nullptr);
  EXPECT_EQ("5 bytes into " + What, describe(Block + 5));
  EXPECT_EQ("0 bytes past the end of " + What, describe(Block + 3 * PageSize));
  EXPECT_EQ("1 byte before " + What, describe(Block - 1));
  Ranges.free(Block, 3 * PageSize, nullptr);
  EXPECT_EQ("16 bytes into " + What + ", which has been freed", describe(Block + 16));
  EXPECT_EQ("no allocation is near", describe(reinterpret_cast<void *>(16)));
  alignas(4096) static char Host[2 * PageSize];
  Ranges.registerUser(Host + 8, 100, {}, {});
  EXPECT_NE(std::string::npos,
            describe(Host + 8 + 100).find("0 bytes past the end of a 100-byte range of registered "
                                          "host memory"))
      << describe(Host + 108);
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
  // Copies: the thunk's structures are packed, and EXPECT_EQ takes references.
  EXPECT_EQ(Block, static_cast<void *>(Info.CPUAddress));
  EXPECT_EQ(reinterpret_cast<uint64_t>(Block), +Info.GPUAddress);
  EXPECT_EQ(2 * PageSize, +Info.SizeInBytes);
  ASSERT_EQ(2u, Info.NMappedNodes);
  EXPECT_EQ(2u, Info.MappedNodes[0]);
  EXPECT_EQ(&Tag, static_cast<void *>(Info.UserData));
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
