// What the programs of this folder share: every HIP call is checked, and every
// program ends with passed(), which prints what FileCheck waits for.
#ifndef KPROBE_TEST_VGPU_CHECK_H
#define KPROBE_TEST_VGPU_CHECK_H

#include <hip/hip_runtime.h>

#include <cstdio>
#include <cstdlib>

#define HIP(Call)                                                              \
  do {                                                                         \
    hipError_t Status = (Call);                                                \
    if (Status != hipSuccess) {                                                \
      std::printf("%s:%d: %s: %s\n", __FILE__, __LINE__, #Call,                \
                  hipGetErrorString(Status));                                  \
      std::exit(1);                                                            \
    }                                                                          \
  } while (false)

#define EXPECT(Condition, ...)                                                 \
  do {                                                                         \
    if (!(Condition)) {                                                        \
      std::printf("%s:%d: not true: %s: ", __FILE__, __LINE__, #Condition);    \
      std::printf(__VA_ARGS__);                                                \
      std::printf("\n");                                                       \
      std::exit(1);                                                            \
    }                                                                          \
  } while (false)

static inline int passed() {
  std::puts("passed");
  return 0;
}

#endif
