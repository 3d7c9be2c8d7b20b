// A thread that waits for the device sleeps: the device computes on the same
// processors, and HIP by itself would spin.
// REQUIRES: vgpu
// RUN: %hipcc -O3 -x hip %s -o %t -lpthread
// RUN: timeout 120 kprobe-vgpu -- %t | FileCheck %s
// CHECK: passed
#include "Inputs/check.h"

#include <pthread.h>
#include <sys/resource.h>
#include <unistd.h>

__global__ void waitFor(volatile int *Go) {
  while (!*Go)
    __builtin_amdgcn_s_sleep(127);
}

static double seconds() {
  rusage Used;
  getrusage(RUSAGE_THREAD, &Used);
  return double(Used.ru_utime.tv_sec + Used.ru_stime.tv_sec) +
         double(Used.ru_utime.tv_usec + Used.ru_stime.tv_usec) * 1e-6;
}

int main() {
  int *Go;
  HIP(hipHostMalloc(&Go, sizeof(int), 0));
  *Go = 1;
  waitFor<<<1, 64>>>(Go);
  HIP(hipDeviceSynchronize());
  *Go = 0;
  waitFor<<<1, 64>>>(Go);
  pthread_t Thread;
  pthread_create(
      &Thread, nullptr,
      [](void *Flag) -> void * {
        usleep(400000);
        *static_cast<volatile int *>(Flag) = 1;
        return nullptr;
      },
      Go);
  const double Before = seconds();
  HIP(hipDeviceSynchronize());
  const double Used = seconds() - Before;
  EXPECT(Used < 0.04, "waiting took %g of 0.4 seconds of processor time", Used);
  pthread_join(Thread, nullptr);
  return passed();
}
