// Writes dumps for tests and benchmarks, damaged ones included.
//
// Independent of the runtime's writer on purpose: the two meet only in wire.h,
// so that a misreading of the format in one of them shows.
#ifndef KPROBE_MKDUMP_DUMPBUILDER_H
#define KPROBE_MKDUMP_DUMPBUILDER_H

#include "kprobe/wire.h"

#include <cstdint>
#include <string>
#include <vector>

namespace kprobe {

/// Bytes under construction.
class Bytes {
public:
  template <typename T> void record(const T &Value) {
    raw(&Value, sizeof(Value));
  }
  void text(const std::string &Value) { raw(Value.data(), Value.size()); }
  void raw(const void *Start, size_t Size) {
    const uint8_t *First = static_cast<const uint8_t *>(Start);
    Data.insert(Data.end(), First, First + Size);
  }
  std::vector<uint8_t> Data;
};

/// A site table by names; offsets and hash are worked out by build().
struct TableBuilder {
  struct Frame {
    std::string Function, File;
    uint32_t Line = 0, Column = 0;
  };
  struct Site {
    KprobeSiteRecord Record = {};
    std::string Block, File;
    std::vector<Frame> Frames;
    std::vector<uint32_t> Edges;
    uint32_t Anchor = KPROBE_NO_INDEX; ///< set: this site is omitted
  };
  struct Function {
    std::string Name, File;
    uint32_t Line = 0;
    std::vector<Site> Sites;
  };
  struct Kernel {
    std::string Name, CloneName;
    std::vector<Function> Functions;
  };
  std::string Producer = "kprobe-mkdump", Target = "gfx906";
  uint32_t WaveSize = 64;
  std::vector<Kernel> Kernels;

  std::vector<uint8_t> build() const;
};

uint64_t tableHash(const std::vector<uint8_t> &Table);

class DumpBuilder {
public:
  /// Written first; a test may spoil it before the first chunk.
  KprobeFileHeader Header = {KPROBE_FILE_MAGIC,
                             KPROBE_BYTE_ORDER,
                             KPROBE_WIRE_MAJOR,
                             KPROBE_WIRE_MINOR,
                             sizeof(KprobeFileHeader),
                             0,
                             0};
  /// Applied to the next chunk only, then cleared.
  uint64_t ChecksumDamage = 0;
  uint64_t SequenceDamage = 0;

  void chunk(uint32_t Kind, const std::vector<uint8_t> &Payload);
  void process(KprobeProcessRecord Record, const std::string &Executable,
               const std::string &Command, const std::string &Version);
  void agent(KprobeAgentRecord Record, const std::string &Target,
             const std::string &Name);
  void dispatch(KprobeDispatchRecord Record, const std::string &Name);
  template <typename T> void plain(uint32_t Kind, const T &Record) {
    Bytes Payload;
    Payload.record(Record);
    chunk(Kind, Payload.Data);
  }

  std::vector<uint8_t> &data();

private:
  void start();
  bool Started = false;
  uint64_t Sequence = 0;
  Bytes Out;
};

/// An event as a probe packs it.
KprobeEvent makeEvent(uint32_t Site, uint32_t Lanes, uint32_t Clock,
                      uint32_t Kind = KPROBE_EVENT_BLOCK);

} // namespace kprobe

#endif
