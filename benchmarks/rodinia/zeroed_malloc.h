/* Included before a Rodinia source that takes fresh memory for zeros: makes it so. */
#ifndef KPROBE_BENCHMARKS_ZEROED_MALLOC_H
#define KPROBE_BENCHMARKS_ZEROED_MALLOC_H

#include <hip/hip_runtime.h>

#include <cstdlib>

#define malloc(Bytes) calloc(1, Bytes)

#endif
