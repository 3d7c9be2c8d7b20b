// Walks a dump as kprobe/wire.h describes it and checks every frame: magic,
// sequence, checksum, padding, nothing after the last chunk.
#ifndef KPROBE_TEST_DUMPFILE_H
#define KPROBE_TEST_DUMPFILE_H

#include "kprobe/wire.h"

#include <cstring>
#include <string>
#include <vector>

struct DumpChunk {
  uint32_t Kind;
  std::vector<uint8_t> Payload;

  template <typename T> T record() const {
    T Value = {};
    std::memcpy(&Value, Payload.data(), std::min(sizeof(T), Payload.size()));
    return Value;
  }
  std::string text(size_t From = 0) const {
    return std::string(Payload.begin() + long(From), Payload.end());
  }
};

struct DumpDispatch {
  KprobeDispatchRecord Record;
  std::string Name;
};

struct DumpWave {
  uint64_t Dispatch;
  KprobeWaveHeader Header;
  KprobeWaveExtent Extent;
  std::vector<KprobeEvent> Events;
};

struct DumpFile {
  std::string Error; // of the first bad frame; chunks before it are kept
  std::vector<DumpChunk> Chunks;

  static DumpFile read(const std::string &Path);
  std::vector<DumpChunk> of(uint32_t Kind) const;
  std::vector<DumpDispatch> dispatches() const;
  std::vector<DumpWave> waves() const;
  bool hasSummary() const { return !of(KPROBE_CHUNK_SUMMARY).empty(); }
  KprobeSummaryRecord summary() const;
  bool says(const std::string &Text) const; // in a MESSAGE
};

#endif
