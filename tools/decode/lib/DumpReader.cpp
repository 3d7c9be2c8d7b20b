// Framing and payload layouts of dumps.
#include "DumpReader.h"

#define XXH_INLINE_ALL
#include <xxhash.h>

#include <cstdio>

namespace kprobe {
namespace {

std::string chunkName(uint32_t Kind) {
  switch (Kind) {
#undef KPROBE_CHUNK
#define KPROBE_CHUNK(Name, Value, Text)                                        \
  case Value:                                                                  \
    return Text;
#include "kprobe/chunk_kinds.def"
  default:
    return "kind " + std::to_string(Kind);
  }
}

std::string hex(uint64_t Value) {
  char Text[24];
  std::snprintf(Text, sizeof(Text), "0x%llx",
                static_cast<unsigned long long>(Value));
  return Text;
}

Error tooShort(const ByteReader &Bytes, uint32_t Kind) {
  return Error::at(Bytes.offset(),
                   chunkName(Kind) + " chunk is too short for its content");
}

Error readFileHeader(ByteSource &Source, uint64_t &Offset) {
  ByteSpan Span;
  if (Error E = Source.next(sizeof(KprobeFileHeader), Span))
    return E;
  if (Span.Size == 0)
    return Error::at(0, "file is empty");
  // The two ways of not being a dump come before "cut": they say more.
  ByteReader Bytes(Span.Data, Span.Size);
  KprobeFileHeader Header;
  uint64_t Magic = 0;
  if (Bytes.readAt(0, Magic) && Magic != KPROBE_FILE_MAGIC) {
    if (__builtin_bswap64(Magic) == KPROBE_FILE_MAGIC)
      return Error::at(0, "written on a machine of the other byte order");
    return Error::at(0, "not a kprobe dump (wrong magic)");
  }
  if (!Bytes.readAt(0, Header))
    return Error::at(Span.Size, "file ends inside its header");
  if (Header.ByteOrder != KPROBE_BYTE_ORDER) {
    if (__builtin_bswap32(Header.ByteOrder) == KPROBE_BYTE_ORDER)
      return Error::at(offsetof(KprobeFileHeader, ByteOrder),
                       "written on a machine of the other byte order");
    return Error::at(offsetof(KprobeFileHeader, ByteOrder),
                     "byte order mark is damaged");
  }
  if (Header.Major != KPROBE_WIRE_MAJOR)
    return Error::at(offsetof(KprobeFileHeader, Major),
                     "format version " + std::to_string(Header.Major) + "." +
                         std::to_string(Header.Minor) +
                         ", this program reads version " +
                         std::to_string(KPROBE_WIRE_MAJOR));
  if (Header.HeaderBytes != sizeof(KprobeFileHeader))
    return Error::at(offsetof(KprobeFileHeader, HeaderBytes),
                     "header says it has " +
                         std::to_string(Header.HeaderBytes) + " bytes");
  if (Header.Features != 0)
    return Error::at(offsetof(KprobeFileHeader, Features),
                     "needs features that this program does not know (" +
                         hex(Header.Features) + ")");
  Offset = sizeof(KprobeFileHeader);
  return Error::success();
}

Error readWaves(ByteReader Bytes, DumpVisitor &Visitor) {
  uint64_t Offset = Bytes.offset();
  KprobeWavesRecord Record;
  if (!Bytes.read(Record))
    return tooShort(Bytes, KPROBE_CHUNK_WAVES);
  if (Error E = Visitor.waves(Record, Offset))
    return E;
  for (uint64_t I = 0; I < Record.WaveCount; ++I) {
    uint64_t WaveOffset = Bytes.offset();
    WaveView View;
    if (!Bytes.read(View.Header) || !Bytes.read(View.Extent))
      return tooShort(Bytes, KPROBE_CHUNK_WAVES);
    if (View.Extent.EventBytes % sizeof(KprobeEvent) != 0)
      return Error::at(WaveOffset, "events of a wave are not whole");
    View.EventsOffset = Bytes.offset();
    View.EventCount = View.Extent.EventBytes / sizeof(KprobeEvent);
    if (!Bytes.takeArray(View.EventCount, View.Events))
      return tooShort(Bytes, KPROBE_CHUNK_WAVES);
    if (View.Extent.Flags & KPROBE_EXTENT_COUNTERS)
      std::swap(View.EventCount, View.CounterCount);
    if (Error E = Visitor.wave(View, WaveOffset))
      return E;
  }
  if (Bytes.remaining() != 0)
    return Error::at(Bytes.offset(), "waves chunk has bytes after its waves");
  return Error::success();
}

/// Reads a fixed record and up to three strings whose lengths \p Lengths gives.
template <typename T, typename Fn>
Error readWithStrings(ByteReader Bytes, uint32_t Kind, Fn Visit) {
  T Record;
  std::string_view Strings[3];
  uint64_t Lengths[3] = {0, 0, 0};
  ByteReader Start = Bytes;
  if (!Bytes.read(Record))
    return tooShort(Start, Kind);
  (void)Visit(Record, Lengths, nullptr);
  for (int I = 0; I < 3; ++I)
    if (!Bytes.takeString(Lengths[I], Strings[I]))
      return tooShort(Start, Kind);
  if (Bytes.remaining() != 0)
    return Error::at(Bytes.offset(),
                     chunkName(Kind) + " chunk has bytes after its content");
  return Visit(Record, Lengths, Strings);
}

Error readPayload(uint32_t Kind, ByteReader Bytes, DumpVisitor &Visitor) {
  uint64_t Offset = Bytes.offset();
  using Strings = const std::string_view *;
  switch (Kind) {
  case KPROBE_CHUNK_PROCESS:
    return readWithStrings<KprobeProcessRecord>(
        Bytes, Kind,
        [&](const KprobeProcessRecord &R, uint64_t *Lengths, Strings S) {
          Lengths[0] = R.ExecutableBytes;
          Lengths[1] = R.CommandBytes;
          Lengths[2] = R.VersionBytes;
          return S ? Visitor.process(R, S[0], S[1], S[2], Offset)
                   : Error::success();
        });
  case KPROBE_CHUNK_AGENT:
    return readWithStrings<KprobeAgentRecord>(
        Bytes, Kind,
        [&](const KprobeAgentRecord &R, uint64_t *Lengths, Strings S) {
          Lengths[0] = R.TargetBytes;
          Lengths[1] = R.NameBytes;
          return S ? Visitor.agent(R, S[0], S[1], Offset) : Error::success();
        });
  case KPROBE_CHUNK_SITE_TABLE:
    return Visitor.siteTable(Bytes);
  case KPROBE_CHUNK_CLOCK:
    return readWithStrings<KprobeClockRecord>(
        Bytes, Kind, [&](const KprobeClockRecord &R, uint64_t *, Strings S) {
          return S ? Visitor.clock(R, Offset) : Error::success();
        });
  case KPROBE_CHUNK_DISPATCH:
    return readWithStrings<KprobeDispatchRecord>(
        Bytes, Kind,
        [&](const KprobeDispatchRecord &R, uint64_t *Lengths, Strings S) {
          Lengths[0] = R.NameBytes;
          return S ? Visitor.dispatch(R, S[0], Offset) : Error::success();
        });
  case KPROBE_CHUNK_WAVES:
    return readWaves(Bytes, Visitor);
  case KPROBE_CHUNK_SUMMARY:
    return readWithStrings<KprobeSummaryRecord>(
        Bytes, Kind, [&](const KprobeSummaryRecord &R, uint64_t *, Strings S) {
          return S ? Visitor.summary(R, Offset) : Error::success();
        });
  case KPROBE_CHUNK_MESSAGE:
    return Visitor.message(
        std::string_view(reinterpret_cast<const char *>(Bytes.data()),
                         Bytes.size()),
        Offset);
  case KPROBE_CHUNK_API_TABLE:
    return Visitor.apiTable(Bytes);
  case KPROBE_CHUNK_THREAD:
    return readWithStrings<KprobeThreadRecord>(
        Bytes, Kind,
        [&](const KprobeThreadRecord &R, uint64_t *Lengths, Strings S) {
          Lengths[0] = R.NameBytes;
          return S ? Visitor.thread(R, S[0], Offset) : Error::success();
        });
  case KPROBE_CHUNK_HOST_EVENTS: {
    KprobeHostEventsRecord Record;
    ByteReader Events;
    if (!Bytes.read(Record) || !Bytes.take(Bytes.remaining(), Events))
      return tooShort(Bytes, Kind);
    return Visitor.hostEvents(Record, Events, Offset);
  }
  case KPROBE_CHUNK_MACHINE:
    return readWithStrings<KprobeMachineRecord>(
        Bytes, Kind,
        [&](const KprobeMachineRecord &R, uint64_t *Lengths, Strings S) {
          Lengths[0] = R.HostNameBytes;
          Lengths[1] = R.SystemBytes;
          return S ? Visitor.machine(R, S[0], S[1], Offset) : Error::success();
        });
  case KPROBE_CHUNK_COUNTER:
    return readWithStrings<KprobeCounterRecord>(
        Bytes, Kind,
        [&](const KprobeCounterRecord &R, uint64_t *Lengths, Strings S) {
          Lengths[0] = R.NameBytes;
          Lengths[1] = R.UnitBytes;
          return S ? Visitor.counter(R, S[0], S[1], Offset) : Error::success();
        });
  case KPROBE_CHUNK_RESOURCES:
    return readWithStrings<KprobeResourcesRecord>(
        Bytes, Kind,
        [&](const KprobeResourcesRecord &R, uint64_t *, Strings S) {
          return S ? Visitor.resources(R, Offset) : Error::success();
        });
  case KPROBE_CHUNK_MODULE:
    return readWithStrings<KprobeModuleRecord>(
        Bytes, Kind,
        [&](const KprobeModuleRecord &R, uint64_t *Lengths, Strings S) {
          Lengths[0] = R.PathBytes;
          Lengths[1] = R.BuildIdBytes;
          return S ? Visitor.module(R, S[0], S[1], Offset) : Error::success();
        });
  default:
    return Visitor.unknownChunk(Kind, Offset);
  }
}

} // namespace

Error readDump(ByteSource &Source, DumpVisitor &Visitor) {
  uint64_t Offset = 0;
  if (Error E = readFileHeader(Source, Offset))
    return E;
  for (uint64_t Sequence = 0;; ++Sequence) {
    ByteSpan Span;
    if (Error E = Source.next(sizeof(KprobeChunkHeader), Span))
      return E;
    if (Span.Size == 0)
      return Visitor.end(Offset);
    KprobeChunkHeader Header;
    if (!ByteReader(Span.Data, Span.Size).readAt(0, Header))
      return Error::at(Offset, "file ends inside the header of chunk " +
                                   std::to_string(Sequence));
    if (Header.Magic != KPROBE_CHUNK_MAGIC)
      return Error::at(Offset, "chunk " + std::to_string(Sequence) +
                                   " does not begin here (wrong magic)");
    std::string Name = "chunk " + std::to_string(Sequence) + " (" +
                       chunkName(Header.Kind) + ")";
    if (Header.Sequence != Sequence)
      return Error::at(Offset, Name + " is out of sequence: it says " +
                                   std::to_string(Header.Sequence));
    uint64_t Payload = Header.PayloadBytes;
    uint64_t Padding = (0 - Payload) & 7;
    uint64_t PayloadOffset = Offset + sizeof(Header);
    uint64_t Seed = XXH3_64bits(Span.Data, 32);
    if (Payload > UINT64_MAX / 2)
      return Error::at(Offset, Name + " has an impossible length");
    if (Error E = Source.next(Payload + Padding, Span))
      return E;
    if (Span.Size != Payload + Padding)
      return Error::at(Offset, Name + " is cut: it has " +
                                   std::to_string(Payload + Padding) +
                                   " bytes, the file only " +
                                   std::to_string(Span.Size));
    if (XXH3_64bits_withSeed(Span.Data, Payload, Seed) != Header.Checksum)
      return Error::at(Offset, Name + " is damaged (checksum differs)");
    for (uint64_t I = Payload; I < Payload + Padding; ++I)
      if (Span.Data[I] != 0)
        return Error::at(PayloadOffset + I, Name + " has damaged padding");
    if (Error E =
            readPayload(Header.Kind,
                        ByteReader(Span.Data, Payload, PayloadOffset), Visitor))
      return E;
    Offset = PayloadOffset + Payload + Padding;
  }
}

} // namespace kprobe
