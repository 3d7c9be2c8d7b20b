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

/// First line of every function but hsaKmtOpenKFD.
#define VGPU_CHECK_OPEN()                                                      \
  do {                                                                         \
    if (!vgpu::Driver::get().isOpen())                                         \
      return HSAKMT_STATUS_KERNEL_IO_CHANNEL_NOT_OPENED;                       \
  } while (false)

#endif
