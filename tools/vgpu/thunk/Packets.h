//===- Packets.h - AQL packets that <hsa.h> does not lay out ----------------===//
//
// Header fields and AMD's vendor-specific packets. Every packet is 64 bytes and
// has its completion signal in the last eight.
//
//===----------------------------------------------------------------------===//
#ifndef VGPU_THUNK_PACKETS_H
#define VGPU_THUNK_PACKETS_H

#include <hsa/hsa.h>
#include <hsa/hsa_ext_amd.h>

#include <cstddef>
#include <cstdint>

namespace vgpu {

constexpr uint64_t PacketBytes = 64;

/// Second half of the first dword of a vendor-specific packet.
enum AmdPacketFormat : uint8_t {
  AmdFormatPm4Buffer = 1, ///< Jump to a buffer of PM4: cache maintenance.
  AmdFormatBarrierValue = HSA_AMD_PACKET_TYPE_BARRIER_VALUE,
};

inline uint8_t packetType(uint16_t Header) {
  return uint8_t(Header >> HSA_PACKET_HEADER_TYPE) & 0xff;
}

/// Reads the header as the device must: before anything else in the packet.
inline uint16_t loadHeader(const void *Packet) {
  return __atomic_load_n(static_cast<const uint16_t *>(Packet), __ATOMIC_ACQUIRE);
}

static_assert(sizeof(hsa_kernel_dispatch_packet_t) == PacketBytes, "");
static_assert(sizeof(hsa_barrier_and_packet_t) == PacketBytes, "");
static_assert(sizeof(hsa_amd_barrier_value_packet_t) == PacketBytes, "");
static_assert(offsetof(hsa_kernel_dispatch_packet_t, completion_signal) == 56, "");
static_assert(offsetof(hsa_barrier_and_packet_t, completion_signal) == 56, "");
static_assert(offsetof(hsa_amd_barrier_value_packet_t, completion_signal) == 56, "");

/// Bits of queue_inactive_signal that ROCr decodes (amd_aql_queue.cpp, ROCr
/// 5.2, DynamicScratchHandler).
enum QueueErrorCode : uint64_t {
  QueueNeedsScratch = 1, ///< In waves of 64 lanes.
  QueueNeedsScratch32 = 1024,
  QueueBadPacket = 32,
  QueueBadVendorPacket = 256,
  QueueReturnsScratch = 512,
  QueueTrap = 0x80000000,
};

} // namespace vgpu
#endif
