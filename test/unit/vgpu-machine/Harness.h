// Runs kernels written in assembly on a Device, from a raw AQL packet: no ROCr,
// no thunk. Text goes through LLVM's assembler, kernel descriptor included
// (.amdhsa_kernel), so that descriptors are what a compiler would make.
#ifndef VGPU_TEST_HARNESS_H
#define VGPU_TEST_HARNESS_H

#include "machine/Device.h"

#include <map>
#include <string>
#include <vector>

namespace vgpu::test {

/// Bytes of .text and of the first kernel descriptor of an assembled text.
struct Assembled {
  std::string Error; ///< Empty when the text assembled.
  std::vector<uint8_t> Text;
  std::vector<uint8_t> Descriptor;
};
Assembled assemble(const std::string &Source,
                   const std::string &Target = "gfx906");

/// What the thunk would supply: only what a test has allocated is valid.
class TestMemory : public AddressSpace {
public:
  ~TestMemory() override;
  MemoryRegion lookup(uint64_t Address) override;
  uint64_t generation() override { return Generation; }

  /// Zeroed; page-aligned, with unmapped space around it as far as the device
  /// is concerned.
  void *allocate(size_t Bytes, bool Writable = true);
  template <typename T> T *array(size_t Count) {
    return static_cast<T *>(allocate(Count * sizeof(T)));
  }
  /// Makes a region invalid for the device; the host memory stays.
  void forget(void *Begin);

private:
  std::map<uint64_t, MemoryRegion> Regions;
  uint64_t Generation = 1;
};

/// A kernel in device memory. Options are .amdhsa_ lines ("next_free_vgpr 8").
class TestKernel {
public:
  /// \p Body is the kernel's code; s_endpgm is appended.
  TestKernel(TestMemory &Memory, const std::string &Body,
             const std::vector<std::string> &Options = {},
             const std::string &Target = "gfx906");
  uint64_t object() const { return Object; }
  uint64_t entry() const { return Object + 256; }
  std::string Error;

private:
  uint64_t Object = 0;
};

struct Launch {
  uint32_t Grid[3] = {64, 1, 1};
  uint16_t Group[3] = {64, 1, 1};
  uint32_t GroupBytes = 0, PrivateBytes = 0;
  void *Kernarg = nullptr;
  amd_queue_t *Queue = nullptr;
  uint32_t GlobalResources = 0;
  std::function<void(uint32_t)> Interrupt;
};

DispatchResult launch(Device &D, TestMemory &Memory, const TestKernel &Kernel,
                      const Launch &L);

/// All lines of a fault's message, one string.
std::string text(const Fault &F);

} // namespace vgpu::test

#endif
