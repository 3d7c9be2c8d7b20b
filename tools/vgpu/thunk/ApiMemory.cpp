//===- ApiMemory.cpp - hsaKmt*: memory --------------------------------------===//
//
// Thin entry points over MemoryRanges; <hsakmt.h> says what each does. Sharing
// with other processes and with graphics is not supported: there is no other
// process that could see a virtual device.
//
//===----------------------------------------------------------------------===//
#include "thunk/Api.h"

using namespace vgpu;

namespace {

/// A list of node numbers from a caller; empty when any is unknown.
std::vector<uint32_t> nodeList(HSAuint64 Count, const HSAuint32 *Nodes) {
  std::vector<uint32_t> Result;
  for (HSAuint64 I = 0; Nodes && I != Count; ++I) {
    if (!Driver::get().isGpu(Nodes[I]) && Nodes[I] != 0)
      return {};
    Result.push_back(Nodes[I]);
  }
  return Result;
}

} // namespace

VGPU_API hsaKmtSetMemoryPolicy(HSAuint32, HSAuint32, HSAuint32, void *, HSAuint64) {
  VGPU_CHECK_OPEN();
  return HSAKMT_STATUS_SUCCESS; // Host and device are coherent.
}

VGPU_API hsaKmtAllocMemory(HSAuint32 Node, HSAuint64 Size, HsaMemFlags Flags, void **Address) {
  VGPU_CHECK_OPEN();
  if (Node != 0 && !Driver::get().isGpu(Node))
    return HSAKMT_STATUS_INVALID_NODE_UNIT;
  if (Flags.ui32.GDSMemory)
    return HSAKMT_STATUS_NO_MEMORY; // There is none.
  return Driver::get().Memory.allocate(Node, Size, Flags, Address);
}

VGPU_API hsaKmtFreeMemory(void *Address, HSAuint64 Size) {
  VGPU_CHECK_RELEASE();
  return Driver::get().Memory.free(Address, Size, nullptr);
}

VGPU_API hsaKmtRegisterMemory(void *Address, HSAuint64 Size) {
  VGPU_CHECK_OPEN();
  return Driver::get().Memory.registerUser(Address, Size, HsaMemFlags(), {});
}

VGPU_API hsaKmtRegisterMemoryToNodes(void *Address, HSAuint64 Size, HSAuint64 Count,
                                     HSAuint32 *Nodes) {
  VGPU_CHECK_OPEN();
  return Driver::get().Memory.registerUser(Address, Size, HsaMemFlags(), nodeList(Count, Nodes));
}

VGPU_API hsaKmtRegisterMemoryWithFlags(void *Address, HSAuint64 Size, HsaMemFlags Flags) {
  VGPU_CHECK_OPEN();
  return Driver::get().Memory.registerUser(Address, Size, Flags, {});
}

VGPU_API hsaKmtDeregisterMemory(void *Address) {
  VGPU_CHECK_RELEASE();
  return Driver::get().Memory.deregister(Address);
}

VGPU_API hsaKmtMapMemoryToGPU(void *Address, HSAuint64 Size, HSAuint64 *Alternate) {
  VGPU_CHECK_OPEN();
  return Driver::get().Memory.map(Address, Size, nullptr, Alternate);
}

VGPU_API hsaKmtMapMemoryToGPUNodes(void *Address, HSAuint64 Size, HSAuint64 *Alternate,
                                   HsaMemMapFlags, HSAuint64 Count, HSAuint32 *Nodes) {
  VGPU_CHECK_OPEN();
  const std::vector<uint32_t> List = nodeList(Count, Nodes);
  if (Count == 0 || List.size() != Count)
    return HSAKMT_STATUS_INVALID_PARAMETER;
  return Driver::get().Memory.map(Address, Size, &List, Alternate);
}

VGPU_API hsaKmtUnmapMemoryToGPU(void *Address) {
  VGPU_CHECK_RELEASE();
  return Driver::get().Memory.unmap(Address);
}

VGPU_API hsaKmtQueryPointerInfo(const void *Pointer, HsaPointerInfo *Info) {
  VGPU_CHECK_OPEN();
  if (!Pointer || !Info)
    return HSAKMT_STATUS_INVALID_PARAMETER;
  return Driver::get().Memory.query(Pointer, *Info);
}

VGPU_API hsaKmtSetMemoryUserData(const void *Pointer, void *UserData) {
  VGPU_CHECK_RELEASE();
  return Driver::get().Memory.setUserData(Pointer, UserData);
}

VGPU_API hsaKmtShareMemory(void *, HSAuint64, HsaSharedMemoryHandle *) {
  return HSAKMT_STATUS_NOT_SUPPORTED;
}

VGPU_API hsaKmtRegisterSharedHandle(const HsaSharedMemoryHandle *, void **, HSAuint64 *) {
  return HSAKMT_STATUS_NOT_SUPPORTED;
}

VGPU_API hsaKmtRegisterSharedHandleToNodes(const HsaSharedMemoryHandle *, void **, HSAuint64 *,
                                           HSAuint64, HSAuint32 *) {
  return HSAKMT_STATUS_NOT_SUPPORTED;
}

VGPU_API hsaKmtRegisterGraphicsHandleToNodes(HSAuint64, HsaGraphicsResourceInfo *, HSAuint64,
                                             HSAuint32 *) {
  return HSAKMT_STATUS_NOT_SUPPORTED;
}

VGPU_API hsaKmtSVMSetAttr(void *, HSAuint64, unsigned int, HSA_SVM_ATTRIBUTE *) {
  return HSAKMT_STATUS_NOT_SUPPORTED;
}

VGPU_API hsaKmtSVMGetAttr(void *, HSAuint64, unsigned int, HSA_SVM_ATTRIBUTE *) {
  return HSAKMT_STATUS_NOT_SUPPORTED;
}

// Page faults are never retried.
VGPU_API hsaKmtSetXNACKMode(HSAint32 Enable) {
  return Enable ? HSAKMT_STATUS_NOT_SUPPORTED : HSAKMT_STATUS_SUCCESS;
}

VGPU_API hsaKmtGetXNACKMode(HSAint32 *Enabled) {
  if (!Enabled)
    return HSAKMT_STATUS_INVALID_PARAMETER;
  *Enabled = 0;
  return HSAKMT_STATUS_SUCCESS;
}
