// Layout of tables and chunks, writer's side of the tests.
#include "DumpBuilder.h"

#define XXH_INLINE_ALL
#include <xxhash.h>

#include <cstring>
#include <map>

namespace kprobe {
namespace {

/// Collects strings, each once; 0 is "".
class StringArea {
public:
  StringArea() { Text.push_back('\0'); }
  uint32_t add(const std::string &Value) {
    if (Value.empty())
      return 0;
    auto [Place, New] =
        Known.try_emplace(Value, static_cast<uint32_t>(Text.size()));
    if (New)
      Text.append(Value.c_str(), Value.size() + 1);
    return Place->second;
  }
  std::string Text;

private:
  std::map<std::string, uint32_t> Known;
};

template <typename T>
void place(Bytes &Out, const std::vector<T> &Records, uint32_t &Count,
           uint32_t &Offset) {
  Count = static_cast<uint32_t>(Records.size());
  Offset = static_cast<uint32_t>(Out.Data.size());
  if (!Records.empty())
    Out.raw(Records.data(), Records.size() * sizeof(T));
}

} // namespace

uint64_t tableHash(const std::vector<uint8_t> &Table) {
  uint64_t Hash = 0xcbf29ce484222325ull;
  for (size_t I = 0; I < Table.size(); ++I) {
    bool Field = I / 8 == offsetof(KprobeSiteTableHeader, ContentHash) / 8;
    Hash = (Hash ^ (Field ? 0 : Table[I])) * 0x100000001b3ull;
  }
  return Hash;
}

std::vector<uint8_t> TableBuilder::build() const {
  StringArea Strings;
  KprobeSiteTableHeader H = {};
  H.Magic = KPROBE_SITE_MAGIC;
  H.Version = KPROBE_WIRE_MAJOR << 16 | KPROBE_WIRE_MINOR;
  H.Producer = Strings.add(Producer);
  H.Target = Strings.add(Target);
  H.WaveSize = WaveSize;
  std::vector<KprobeKernelRecord> KernelRecords;
  std::vector<KprobeFunctionRecord> FunctionRecords;
  std::vector<KprobeSiteRecord> SiteRecords;
  std::vector<KprobeFrameRecord> FrameRecords;
  std::vector<uint32_t> Edges;
  std::vector<KprobeOmissionRecord> Omissions;
  auto count = [](const auto &V) { return static_cast<uint32_t>(V.size()); };
  for (const Kernel &K : Kernels) {
    KprobeKernelRecord KR = {};
    KR.Name = Strings.add(K.Name);
    KR.CloneName = Strings.add(K.CloneName);
    KR.FirstFunction = count(FunctionRecords);
    KR.FunctionCount = count(K.Functions);
    KR.FirstSite = count(SiteRecords);
    for (const Function &F : K.Functions) {
      FunctionRecords.push_back({Strings.add(F.Name), Strings.add(F.File),
                                 F.Line, count(KernelRecords),
                                 count(SiteRecords), count(F.Sites)});
      for (const Site &S : F.Sites) {
        KprobeSiteRecord SR = S.Record;
        SR.Function = count(FunctionRecords) - 1;
        SR.Block = Strings.add(S.Block);
        SR.File = Strings.add(S.File);
        SR.FirstFrame = count(FrameRecords);
        SR.FrameCount = count(S.Frames);
        SR.FirstEdge = count(Edges);
        SR.EdgeCount = count(S.Edges);
        for (const Frame &Fr : S.Frames)
          FrameRecords.push_back({Strings.add(Fr.Function),
                                  Strings.add(Fr.File), Fr.Line, Fr.Column});
        Edges.insert(Edges.end(), S.Edges.begin(), S.Edges.end());
        if (S.Anchor != KPROBE_NO_INDEX) {
          SR.Flags |= KPROBE_SITE_OMITTED;
          Omissions.push_back({count(SiteRecords), S.Anchor});
        }
        SiteRecords.push_back(SR);
      }
    }
    KR.SiteCount = count(SiteRecords) - KR.FirstSite;
    KernelRecords.push_back(KR);
  }
  Bytes Out;
  Out.record(H);
  place(Out, KernelRecords, H.KernelCount, H.KernelOffset);
  place(Out, FunctionRecords, H.FunctionCount, H.FunctionOffset);
  place(Out, SiteRecords, H.SiteCount, H.SiteOffset);
  place(Out, FrameRecords, H.FrameCount, H.FrameOffset);
  place(Out, Edges, H.EdgeCount, H.EdgeOffset);
  place(Out, Omissions, H.OmissionCount, H.OmissionOffset);
  H.StringBytes = count(Strings.Text);
  H.StringOffset = count(Out.Data);
  Out.text(Strings.Text);
  while (Out.Data.size() % 8 != 0)
    Out.Data.push_back(0);
  H.TotalBytes = Out.Data.size();
  std::memcpy(Out.Data.data(), &H, sizeof(H));
  H.ContentHash = tableHash(Out.Data);
  std::memcpy(Out.Data.data(), &H, sizeof(H));
  return Out.Data;
}

void DumpBuilder::start() {
  if (!Started)
    Out.record(Header);
  Started = true;
}

std::vector<uint8_t> &DumpBuilder::data() {
  start();
  return Out.Data;
}

void DumpBuilder::chunk(uint32_t Kind, const std::vector<uint8_t> &Payload) {
  start();
  KprobeChunkHeader H = {};
  H.Magic = KPROBE_CHUNK_MAGIC;
  H.Kind = Kind;
  H.PayloadBytes = Payload.size();
  H.Sequence = Sequence++ + SequenceDamage;
  H.Checksum = XXH3_64bits_withSeed(Payload.data(), Payload.size(),
                                    XXH3_64bits(&H, 32)) +
               ChecksumDamage;
  ChecksumDamage = SequenceDamage = 0;
  Out.record(H);
  Out.raw(Payload.data(), Payload.size());
  while (Out.Data.size() % 8 != 0)
    Out.Data.push_back(0);
}

void DumpBuilder::process(KprobeProcessRecord Record,
                          const std::string &Executable,
                          const std::string &Command,
                          const std::string &Version) {
  Record.ExecutableBytes = static_cast<uint32_t>(Executable.size());
  Record.CommandBytes = static_cast<uint32_t>(Command.size());
  Record.VersionBytes = static_cast<uint32_t>(Version.size());
  Bytes Payload;
  Payload.record(Record);
  Payload.text(Executable + Command + Version);
  chunk(KPROBE_CHUNK_PROCESS, Payload.Data);
}

void DumpBuilder::agent(KprobeAgentRecord Record, const std::string &Target,
                        const std::string &Name) {
  Record.TargetBytes = static_cast<uint32_t>(Target.size());
  Record.NameBytes = static_cast<uint32_t>(Name.size());
  Bytes Payload;
  Payload.record(Record);
  Payload.text(Target + Name);
  chunk(KPROBE_CHUNK_AGENT, Payload.Data);
}

void DumpBuilder::dispatch(KprobeDispatchRecord Record,
                           const std::string &Name) {
  Record.NameBytes = static_cast<uint32_t>(Name.size());
  Bytes Payload;
  Payload.record(Record);
  Payload.text(Name);
  chunk(KPROBE_CHUNK_DISPATCH, Payload.Data);
}

KprobeEvent makeEvent(uint32_t Site, uint32_t Lanes, uint32_t Clock,
                      uint32_t Kind) {
  return {Clock,
          KPROBE_TAG_BASE(Kind, Site) + (Lanes << KPROBE_TAG_LANES_SHIFT)};
}

} // namespace kprobe
