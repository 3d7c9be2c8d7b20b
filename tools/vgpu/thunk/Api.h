//===- Api.h - What the hsaKmt* functions share -----------------------------===//
//
// <hsakmt.h> declares the functions; this makes their definitions the only
// symbols that leave the library.
//
//===----------------------------------------------------------------------===//
#ifndef VGPU_THUNK_API_H
#define VGPU_THUNK_API_H

#include "thunk/Driver.h"

#include <hsakmt.h>

#define VGPU_API extern "C" __attribute__((visibility("default"))) HSAKMT_STATUS

/// First line of functions that ask for something.
#define VGPU_CHECK_OPEN()                                                                          \
  do {                                                                                             \
    if (!vgpu::Driver::get().isOpen())                                                             \
      return HSAKMT_STATUS_KERNEL_IO_CHANNEL_NOT_OPENED;                                           \
  } while (false)

/// First line of functions that give something back. In the child of a fork ROCr
/// calls them when the child exits, and aborts unless they succeed.
#define VGPU_CHECK_RELEASE()                                                                       \
  do {                                                                                             \
    if (vgpu::Driver::get().isForkedChild())                                                       \
      return HSAKMT_STATUS_SUCCESS;                                                                \
    VGPU_CHECK_OPEN();                                                                             \
  } while (false)

#endif
