// Every width of load and store through every kind of address: global, flat,
// buffer, scratch and LDS; and all scalar atomics.
#include "LaneFixture.h"

#include <cstring>
#include <functional>

using namespace vgpu;
using namespace vgpu::test;

namespace {

const uint32_t Before = 0xaaaabbbb; // in a register that is loaded in part

struct Load {
  const char *Memory, *Lds; // what the instruction is called there, or null
  unsigned Registers;
  std::function<uint32_t(const uint8_t *)> First; // of one register
};

template <class T> T at(const uint8_t *P) {
  T V;
  std::memcpy(&V, P, sizeof V);
  return V;
}
uint32_t low(uint32_t V) { return (Before & 0xffff0000) | (V & 0xffff); }
uint32_t high(uint32_t V) { return V << 16 | (Before & 0xffff); }
uint32_t dword(const uint8_t *P) { return at<uint32_t>(P); }

const Load Loads[] = {
    {"ubyte", "u8", 1, [](const uint8_t *P) { return uint32_t(*P); }},
    {"sbyte", "i8", 1, [](const uint8_t *P) { return uint32_t(at<int8_t>(P)); }},
    {"ushort", "u16", 1,
     [](const uint8_t *P) { return uint32_t(at<uint16_t>(P)); }},
    {"sshort", "i16", 1,
     [](const uint8_t *P) { return uint32_t(at<int16_t>(P)); }},
    {"ubyte_d16", "u8_d16", 1, [](const uint8_t *P) { return low(*P); }},
    {"ubyte_d16_hi", "u8_d16_hi", 1, [](const uint8_t *P) { return high(*P); }},
    {"sbyte_d16", "i8_d16", 1,
     [](const uint8_t *P) { return low(uint32_t(at<int8_t>(P))); }},
    {"sbyte_d16_hi", "i8_d16_hi", 1,
     [](const uint8_t *P) { return high(uint32_t(at<int8_t>(P))); }},
    {"short_d16", "u16_d16", 1,
     [](const uint8_t *P) { return low(at<uint16_t>(P)); }},
    {"short_d16_hi", "u16_d16_hi", 1,
     [](const uint8_t *P) { return high(at<uint16_t>(P)); }},
    {"dword", "b32", 1, dword},
    {"dwordx2", "b64", 2, dword},
    {"dwordx3", "b96", 3, dword},
    {"dwordx4", "b128", 4, dword},
};

struct Store {
  const char *Memory, *Lds;
  unsigned Bytes;
  unsigned From; // byte of the register that it begins with
};
const Store Stores[] = {
    {"byte", "b8", 1, 0},         {"byte_d16_hi", "b8_d16_hi", 1, 2},
    {"short", "b16", 2, 0},       {"short_d16_hi", "b16_d16_hi", 2, 2},
    {"dword", "b32", 4, 0},       {"dwordx2", "b64", 8, 0},
    {"dwordx3", "b96", 12, 0},    {"dwordx4", "b128", 16, 0},
};

std::string registers(unsigned First, unsigned Count) {
  return Count == 1 ? "v" + std::to_string(First)
                    : "v[" + std::to_string(First) + ":" +
                          std::to_string(First + Count - 1) + "]";
}

/// The ways to an address, and the operands of each: v2 is 16 times the lane.
struct Way {
  const char *Name, *Load, *Store; // prefixes
  const char *Address;
};
const Way Ways[] = {
    {"global", "global_load_", "global_store_", "v2, s[12:13]"},
    {"flat", "flat_load_", "flat_store_", "v[8:9]"},
    {"buffer", "buffer_load_", "buffer_store_", "v2, s[12:15], 0 offen"},
    {"scratch", "scratch_load_", "scratch_store_", "v10, off"},
    {"lds", "ds_read_", "ds_write_", "v2"},
};

class MemoryForms : public LaneFixture {
protected:
  void SetUp() override {
    LaneFixture::SetUp();
    // As ROCr would set up scratch: 8 waves of 64 lanes, 64 bytes each.
    amd_queue_t *Queue = Memory.array<amd_queue_t>(1);
    L.Queue = Queue;
    L.PrivateBytes = 64;
    L.GroupBytes = 1024;
    const auto Base = reinterpret_cast<uint64_t>(Memory.allocate(8 * 4096));
    Queue->scratch_backing_memory_location = Base;
    Queue->scratch_wave64_lane_byte_size = 64;
    Queue->compute_tmpring_size = 8 | 4 << 12;
    Queue->scratch_resource_descriptor[0] = uint32_t(Base);
    Queue->scratch_resource_descriptor[1] = uint32_t(Base >> 32) | 1u << 31;
    Queue->scratch_resource_descriptor[2] = 8 * 4096;
    Queue->scratch_resource_descriptor[3] = 0x00ea4fac;
  }

  /// Body with s[8:9] = In, s[10:11] = Out, s[12:15] a buffer over Where, v2 =
  /// 16 * lane, v[8:9] its address there, v10 = 16, an address of scratch.
  bool runsThere(const std::string &Where, const std::string &Body) {
    TestKernel K(Memory, R"(
      s_add_u32 flat_scratch_lo, s6, s17
      s_addc_u32 flat_scratch_hi, s7, 0
      s_load_dwordx4 s[8:11], s[4:5], 0x0
      v_lshlrev_b32_e32 v2, 4, v0
      v_mov_b32_e32 v10, 16
      s_waitcnt lgkmcnt(0)
      s_mov_b32 s12, )" + Where + R"(
      s_mov_b32 s13, 0
      s_mov_b32 s14, 0x10000
      s_mov_b32 s15, 0x27fac
    )" + Body,
                 {"user_sgpr_private_segment_buffer 1",
                  "user_sgpr_flat_scratch_init 1",
                  "system_sgpr_private_segment_wavefront_offset 1",
                  "private_segment_fixed_size 64", "user_sgpr_count 16",
                  "next_free_vgpr 32", "next_free_sgpr 64"});
    EXPECT_EQ(K.Error, "") << Body;
    if (!K.Error.empty())
      return false;
    Result = launch(*D, Memory, K, L);
    return Result.Status == DispatchStatus::Completed;
  }
  /// Addresses within Where (the low register of a pair).
  static std::string addresses(unsigned Low) {
    const std::string L = "s" + std::to_string(Low),
                      H = "s" + std::to_string(Low + 1);
    return "s_mov_b32 s13, " + H + "\nv_mov_b32_e32 v9, " + H +
           "\nv_add_co_u32_e32 v8, vcc, " + L +
           ", v2\nv_addc_co_u32_e32 v9, vcc, 0, v9, vcc\n";
  }
};

TEST_F(MemoryForms, Loads) {
  for (const Way &W : Ways)
    for (const Load &Op : Loads) {
      const bool IsLds = W.Load == std::string("ds_read_");
      const std::string Text = std::string(W.Load) + (IsLds ? Op.Lds : Op.Memory);
      std::string Body = addresses(8);
      // LDS and scratch get 16 bytes a lane first.
      if (IsLds || W.Name == std::string("scratch"))
        Body += "global_load_dwordx4 v[12:15], v2, s[8:9]\ns_waitcnt vmcnt(0)\n" +
                std::string(IsLds ? "ds_write_b128 v2, v[12:15]\n"
                                  : "scratch_store_dwordx4 v10, v[12:15], off\n");
      for (unsigned N = 4; N < 8; ++N)
        Body += "v_mov_b32_e32 v" + std::to_string(N) + ", 0xaaaabbbb\n";
      Body += "s_waitcnt vmcnt(0) lgkmcnt(0)\n" + Text + " " +
              registers(4, Op.Registers) + ", " + W.Address +
              "\ns_waitcnt vmcnt(0) lgkmcnt(0)\n"
              "global_store_dwordx4 v2, v[4:7], s[10:11]\n";
      ASSERT_TRUE(runsThere("s8", Body)) << Text << why();
      for (unsigned Lane = 0; Lane < 64; ++Lane)
        for (unsigned N = 0; N < 4; ++N) {
          const auto *P =
              reinterpret_cast<const uint8_t *>(In + 4 * Lane + N);
          ASSERT_EQ(Out[4 * Lane + N],
                    N < Op.Registers ? Op.First(P) : Before)
              << Text << " lane " << Lane << " register " << N;
        }
    }
}

TEST_F(MemoryForms, Stores) {
  for (const Way &W : Ways)
    for (const Store &Op : Stores) {
      const bool IsLds = W.Load == std::string("ds_read_"),
                 IsScratch = W.Name == std::string("scratch");
      const std::string Text =
          std::string(W.Store) + (IsLds ? Op.Lds : Op.Memory);
      std::memset(Out, 0x77, 2048);
      const std::string Data = registers(4, (Op.Bytes + 3) / 4);
      std::string Body =
          addresses(10) + "global_load_dwordx4 v[4:7], v2, s[8:9]\n";
      for (unsigned N = 12; N < 16; ++N)
        Body += "v_mov_b32_e32 v" + std::to_string(N) + ", 0x77777777\n";
      if (IsLds)
        Body += "ds_write_b128 v2, v[12:15]\n";
      else if (IsScratch)
        Body += "scratch_store_dwordx4 v10, v[12:15], off\n";
      Body += "s_waitcnt vmcnt(0) lgkmcnt(0)\n" + Text + " ";
      if (W.Name == std::string("global"))
        Body += "v2, " + Data + ", s[12:13]\n";
      else if (W.Name == std::string("buffer"))
        Body += Data + ", " + W.Address + "\n";
      else if (IsScratch)
        Body += "v10, " + Data + ", off\n";
      else
        Body += std::string(W.Address) + ", " + Data + "\n";
      if (IsLds)
        Body += "ds_read_b128 v[12:15], v2\n";
      else if (IsScratch)
        Body += "s_waitcnt vmcnt(0)\nscratch_load_dwordx4 v[12:15], v10, off\n";
      if (IsLds || IsScratch)
        Body += "s_waitcnt vmcnt(0) lgkmcnt(0)\n"
                "global_store_dwordx4 v2, v[12:15], s[10:11]\n";
      ASSERT_TRUE(runsThere("s10", Body)) << Text << why();
      for (unsigned Lane = 0; Lane < 64; ++Lane) {
        uint8_t Want[16];
        std::memset(Want, 0x77, 16);
        std::memcpy(Want,
                    reinterpret_cast<const uint8_t *>(In + 4 * Lane) + Op.From,
                    Op.Bytes);
        ASSERT_EQ(std::memcmp(Out + 4 * Lane, Want, 16), 0)
            << Text << " lane " << Lane;
      }
    }
}

TEST_F(MemoryForms, ScalarAtomics) {
  using Fn = std::function<uint64_t(uint64_t, uint64_t, bool)>;
  auto Less = [](uint64_t A, uint64_t B, bool Wide) {
    return Wide ? int64_t(A) < int64_t(B) : int32_t(A) < int32_t(B);
  };
  const struct {
    const char *Name;
    Fn New; // memory, data, 64 bits
  } Cases[] = {
      {"swap", [](uint64_t, uint64_t D, bool) { return D; }},
      {"add", [](uint64_t M, uint64_t D, bool) { return M + D; }},
      {"sub", [](uint64_t M, uint64_t D, bool) { return M - D; }},
      {"smin",
       [&](uint64_t M, uint64_t D, bool W) { return Less(M, D, W) ? M : D; }},
      {"umin", [](uint64_t M, uint64_t D, bool) { return M < D ? M : D; }},
      {"smax",
       [&](uint64_t M, uint64_t D, bool W) { return Less(M, D, W) ? D : M; }},
      {"umax", [](uint64_t M, uint64_t D, bool) { return M > D ? M : D; }},
      {"and", [](uint64_t M, uint64_t D, bool) { return M & D; }},
      {"or", [](uint64_t M, uint64_t D, bool) { return M | D; }},
      {"xor", [](uint64_t M, uint64_t D, bool) { return M ^ D; }},
      {"inc", [](uint64_t M, uint64_t D, bool) { return M >= D ? 0 : M + 1; }},
      {"dec",
       [](uint64_t M, uint64_t D, bool) { return !M || M > D ? D : M - 1; }},
  };
  const uint64_t Values[] = {0, 1, 0x7fffffff, 0x80000000, 0xffffffff,
                             0x8000000000000000, ~uint64_t(0)};
  auto *Out64 = reinterpret_cast<uint64_t *>(Out);
  auto *In64 = reinterpret_cast<uint64_t *>(In);
  for (const auto &Case : Cases)
    for (bool Wide : {false, true})
      for (bool Buffer : {false, true}) {
        const std::string Name = std::string(Buffer ? "s_buffer" : "s") +
                                 "_atomic_" + Case.Name + (Wide ? "_x2" : "");
        const uint64_t Mask = Wide ? ~uint64_t(0) : 0xffffffff;
        std::string Body = addresses(10);
        unsigned Pairs = 0;
        for (uint64_t M : Values)
          for (uint64_t D : Values) {
            In64[Pairs] = D & Mask;
            Out64[Pairs] = M & Mask;
            const std::string Offset = std::to_string(8 * Pairs);
            Body += "s_load_dwordx2 s[20:21], s[8:9], " + Offset +
                    "\ns_waitcnt lgkmcnt(0)\n" + Name +
                    (Wide ? " s[20:21], " : " s20, ") +
                    (Buffer ? "s[12:15], " : "s[10:11], ") + Offset +
                    " glc\ns_waitcnt lgkmcnt(0)\n" +
                    (Wide ? "" : "s_mov_b32 s21, 0\n") +
                    "s_store_dwordx2 s[20:21], s[10:11], " +
                    std::to_string(1024 + 8 * Pairs) + "\n";
            ++Pairs;
          }
        ASSERT_TRUE(runsThere("s10", Body + "s_dcache_wb\n")) << Name << why();
        unsigned N = 0;
        for (uint64_t M : Values)
          for (uint64_t D : Values) {
            const uint64_t New = Case.New(M & Mask, D & Mask, Wide) & Mask;
            ASSERT_EQ(Out64[N] & Mask, New) << Name << " " << M << " " << D;
            ASSERT_EQ(Out64[128 + N], M & Mask) << Name << " returns";
            ++N;
          }
      }
}

} // namespace
