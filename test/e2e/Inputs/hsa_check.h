// Ends the program with the place where a call of HSA failed.
#ifndef KPROBE_TEST_HSACHECK_H
#define KPROBE_TEST_HSACHECK_H

#include <cstdio>
#include <cstdlib>
#include <hsa/hsa.h>

#define HSA(Call)                                                              \
  do {                                                                         \
    hsa_status_t Status = (Call);                                              \
    if (Status != HSA_STATUS_SUCCESS) {                                        \
      std::printf("%s:%d: %s: %x\n", __FILE__, __LINE__, #Call, Status);       \
      std::exit(1);                                                            \
    }                                                                          \
  } while (false)

#endif
