// Dumps from text, and readers of them, for the tests of this folder.
#ifndef KPROBE_TEST_UNIT_DECODE_TESTDUMP_H
#define KPROBE_TEST_UNIT_DECODE_TESTDUMP_H

#include "ByteSource.h"
#include "DumpVerifier.h"
#include "TextDump.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace kprobe::test {

/// Bytes at an address that is a multiple of 8.
class AlignedBytes {
public:
  explicit AlignedBytes(const std::vector<uint8_t> &Bytes)
      : Words((Bytes.size() + 7) / 8 + 1), Size(Bytes.size()) {
    if (!Bytes.empty())
      std::memcpy(Words.data(), Bytes.data(), Bytes.size());
  }
  uint8_t *data() { return reinterpret_cast<uint8_t *>(Words.data()); }
  size_t size() const { return Size; }

private:
  std::vector<uint64_t> Words;
  size_t Size;
};

inline std::vector<uint8_t> make(const std::string &Text) {
  std::vector<uint8_t> Bytes;
  std::string Fault;
  EXPECT_TRUE(makeDump(Text, Bytes, Fault)) << Fault;
  return Bytes;
}

/// Process, agent and a table "T" of one kernel with three sites.
inline const char *const Head = "process\n"
                                "agent id=0\n"
                                "table name=T\n"
                                "  kernel name=_Z1kPf\n"
                                "  site block=entry file=k.cpp line=1 entry\n"
                                "  site block=loop file=k.cpp line=2 depth=1\n"
                                "  site block=exit file=k.cpp line=3 returns\n"
                                "end\n";

/// Counts what it is given.
class CountingSink : public TraceSink {
public:
  Error dispatch(const Dispatch &) override {
    ++Dispatches;
    return Error::success();
  }
  Error wave(const Dispatch &, const WaveView &View) override {
    ++Waves;
    Events += View.EventCount;
    return Error::success();
  }
  uint64_t Dispatches = 0, Waves = 0, Events = 0;
};

/// The error text of reading \p Bytes, "" when there was none.
inline std::string readInto(const std::vector<uint8_t> &Bytes, TraceSink &Sink,
                            Trace &Out) {
  AlignedBytes Input(Bytes);
  MemorySource Source(Input.data(), Input.size());
  Error E = readTrace(Source, Out, Sink);
  return E ? E.text() : "";
}

inline std::string faultOf(const std::string &Text) {
  CountingSink Sink;
  Trace Out;
  return readInto(make(Text), Sink, Out);
}

} // namespace kprobe::test

#endif
