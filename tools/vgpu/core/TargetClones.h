//===- TargetClones.h - Functions for the host at hand ----------------------===//
//
// VGPU_TARGET_CLONES before a function compiles it for x86-64-v3 and v4 too; the
// loader chooses. Not under ThreadSanitizer, whose calls in the functions that
// choose would run before it is there itself.
//
//===----------------------------------------------------------------------===//
#ifndef VGPU_CORE_TARGETCLONES_H
#define VGPU_CORE_TARGETCLONES_H

#ifdef __SANITIZE_THREAD__
#define VGPU_TARGET_CLONES
#else
#define VGPU_TARGET_CLONES                                                                         \
  __attribute__((target_clones("arch=x86-64-v4", "arch=x86-64-v3", "default")))
#endif

#endif
