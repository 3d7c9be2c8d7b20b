// What every program in this folder shares: checked HIP calls, the size
// argument, deterministic input, and the one line that a run ends with.
#ifndef KPROBE_BENCHMARKS_CHECK_H
#define KPROBE_BENCHMARKS_CHECK_H

#include <hip/hip_runtime.h>

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <vector>

#define HIP_CHECK(Call)                                                        \
  do {                                                                         \
    hipError_t Status_ = (Call); /* No name that Call may use. */              \
    if (Status_ != hipSuccess) {                                               \
      std::fprintf(stderr, "error: %s: %s\n", #Call,                           \
                   hipGetErrorString(Status_));                                \
      std::exit(1);                                                            \
    }                                                                          \
  } while (0)

/// The size given as first argument, or \p Default; exits with status 2 when it
/// is not a number from 1 to \p Max.
inline int sizeArgument(int Argc, char **Argv, int Default, int Max) {
  if (Argc < 2)
    return Default;
  char *End = nullptr;
  long Value = std::strtol(Argv[1], &End, 10);
  if (*End != '\0' || Value < 1 || Value > Max || Argc > 2) {
    std::fprintf(stderr, "usage: %s [SIZE from 1 to %d]\n", Argv[0], Max);
    std::exit(2);
  }
  return static_cast<int>(Value);
}

/// The same sequence of numbers on every machine.
class Sequence {
public:
  explicit Sequence(uint32_t Seed) : State(Seed) {}
  uint32_t next() {
    State = State * 1664525u + 1013904223u;
    return State >> 8;
  }

private:
  uint32_t State;
};

/// Device copy of a host vector.
template <typename T> class DeviceArray {
public:
  explicit DeviceArray(const std::vector<T> &Host) : Count(Host.size()) {
    HIP_CHECK(hipMalloc(&Data, Count * sizeof(T)));
    HIP_CHECK(
        hipMemcpy(Data, Host.data(), Count * sizeof(T), hipMemcpyHostToDevice));
  }
  ~DeviceArray() { (void)hipFree(Data); }
  DeviceArray(const DeviceArray &) = delete;
  DeviceArray &operator=(const DeviceArray &) = delete;

  operator T *() const { return Data; }
  std::vector<T> toHost() const {
    std::vector<T> Host(Count);
    HIP_CHECK(
        hipMemcpy(Host.data(), Data, Count * sizeof(T), hipMemcpyDeviceToHost));
    return Host;
  }

private:
  T *Data = nullptr;
  size_t Count;
};

/// 64-bit FNV-1a of a result, printed so that two runs can be compared.
template <typename T> uint64_t fingerprint(const std::vector<T> &Values) {
  uint64_t Hash = 0xcbf29ce484222325u;
  const auto *Bytes = reinterpret_cast<const unsigned char *>(Values.data());
  for (size_t I = 0; I < Values.size() * sizeof(T); ++I)
    Hash = (Hash ^ Bytes[I]) * 0x100000001b3u;
  return Hash;
}

/// Prints the verdict and gives the program's exit status.
inline int verdict(const char *Name, size_t Mismatches, uint64_t Fingerprint) {
  if (Mismatches) {
    std::printf("FAIL %s: %zu values differ\n", Name, Mismatches);
    return 1;
  }
  std::printf("result %016llx\nPASS %s\n",
              static_cast<unsigned long long>(Fingerprint), Name);
  return 0;
}

#endif
