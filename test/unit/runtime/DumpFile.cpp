// See DumpFile.h.
#include "DumpFile.h"

#define XXH_INLINE_ALL
#include <xxhash.h>

#include <fstream>
#include <iterator>

DumpFile DumpFile::read(const std::string &Path) {
  DumpFile Dump;
  std::ifstream In(Path, std::ios::binary);
  if (!In) {
    Dump.Error = "cannot open";
    return Dump;
  }
  std::vector<uint8_t> Bytes((std::istreambuf_iterator<char>(In)),
                             std::istreambuf_iterator<char>());
  KprobeFileHeader Header;
  if (Bytes.size() < sizeof(Header)) {
    Dump.Error = "no header";
    return Dump;
  }
  std::memcpy(&Header, Bytes.data(), sizeof(Header));
  if (Header.Magic != KPROBE_FILE_MAGIC ||
      Header.ByteOrder != KPROBE_BYTE_ORDER ||
      Header.Major != KPROBE_WIRE_MAJOR ||
      Header.HeaderBytes != sizeof(Header) || Header.Reserved != 0) {
    Dump.Error = "bad header";
    return Dump;
  }
  uint64_t At = sizeof(Header);
  while (At < Bytes.size()) {
    KprobeChunkHeader Chunk;
    auto Bad = [&](const char *Why) {
      Dump.Error = Why + std::string(" at ") + std::to_string(At);
      return Dump;
    };
    if (Bytes.size() - At < sizeof(Chunk))
      return Bad("cut header");
    std::memcpy(&Chunk, &Bytes[At], sizeof(Chunk));
    if (Chunk.Magic != KPROBE_CHUNK_MAGIC || Chunk.Reserved != 0)
      return Bad("bad magic");
    if (Chunk.Sequence != Dump.Chunks.size())
      return Bad("bad sequence");
    uint64_t Padded = (Chunk.PayloadBytes + 7) & ~7ull;
    if (Bytes.size() - At - sizeof(Chunk) < Padded)
      return Bad("cut payload");
    const uint8_t *Payload = &Bytes[At] + sizeof(Chunk);
    if (XXH3_64bits_withSeed(Payload, Chunk.PayloadBytes,
                             XXH3_64bits(&Bytes[At], 32)) != Chunk.Checksum)
      return Bad("bad checksum");
    for (uint64_t I = Chunk.PayloadBytes; I < Padded; ++I)
      if (Payload[I])
        return Bad("padding not zero");
    Dump.Chunks.push_back(
        {Chunk.Kind, {Payload, Payload + Chunk.PayloadBytes}});
    At += sizeof(Chunk) + Padded;
  }
  return Dump;
}

std::vector<DumpChunk> DumpFile::of(uint32_t Kind) const {
  std::vector<DumpChunk> Result;
  for (const DumpChunk &Chunk : Chunks)
    if (Chunk.Kind == Kind)
      Result.push_back(Chunk);
  return Result;
}

std::vector<DumpDispatch> DumpFile::dispatches() const {
  std::vector<DumpDispatch> Result;
  for (const DumpChunk &Chunk : of(KPROBE_CHUNK_DISPATCH))
    Result.push_back({Chunk.record<KprobeDispatchRecord>(),
                      Chunk.text(sizeof(KprobeDispatchRecord))});
  return Result;
}

std::vector<DumpWave> DumpFile::waves() const {
  std::vector<DumpWave> Result;
  for (const DumpChunk &Chunk : of(KPROBE_CHUNK_WAVES)) {
    auto Record = Chunk.record<KprobeWavesRecord>();
    size_t At = sizeof(Record);
    for (uint64_t I = 0; I < Record.WaveCount; ++I) {
      DumpWave Wave;
      Wave.Dispatch = Record.Dispatch;
      std::memcpy(&Wave.Header, &Chunk.Payload[At], sizeof(Wave.Header));
      At += sizeof(Wave.Header);
      std::memcpy(&Wave.Extent, &Chunk.Payload[At], sizeof(Wave.Extent));
      At += sizeof(Wave.Extent);
      Wave.Events.resize(Wave.Extent.EventBytes / 8);
      if (!Wave.Events.empty())
        std::memcpy(Wave.Events.data(), &Chunk.Payload[At],
                    Wave.Extent.EventBytes);
      At += Wave.Extent.EventBytes;
      Result.push_back(Wave);
    }
  }
  return Result;
}

KprobeSummaryRecord DumpFile::summary() const {
  auto Summaries = of(KPROBE_CHUNK_SUMMARY);
  return Summaries.empty() ? KprobeSummaryRecord{}
                           : Summaries.back().record<KprobeSummaryRecord>();
}

bool DumpFile::says(const std::string &Text) const {
  for (const DumpChunk &Chunk : of(KPROBE_CHUNK_MESSAGE))
    if (Chunk.text().find(Text) != std::string::npos)
      return true;
  return false;
}
