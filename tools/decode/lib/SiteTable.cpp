// Validation of site tables.
#include "SiteTable.h"

#include <cstddef>

namespace kprobe {

uint64_t SiteTable::contentHash(const uint8_t *Data, size_t Size) {
  constexpr size_t Field = offsetof(KprobeSiteTableHeader, ContentHash);
  uint64_t Hash = 0xcbf29ce484222325ull;
  for (size_t I = 0; I < Size; ++I) {
    bool InField = I >= Field && I < Field + sizeof(uint64_t);
    Hash = (Hash ^ (InField ? 0 : Data[I])) * 0x100000001b3ull;
  }
  return Hash;
}

/// Copies \p Count records at \p Offset of the table.
template <typename T>
static bool copyRecords(const ByteReader &Bytes, uint32_t Offset,
                        uint32_t Count, std::vector<T> &Out) {
  uint64_t Total = uint64_t(Count) * sizeof(T);
  if (!Bytes.holds(Offset, Total))
    return false;
  Out.resize(Count);
  if (Count != 0)
    std::memcpy(Out.data(), Bytes.data() + Offset, Total);
  return true;
}

/// Whether [First, First + Count) lies in [0, Size).
static bool inRange(uint32_t First, uint32_t Count, size_t Size) {
  return uint64_t(First) + Count <= Size;
}

Error SiteTable::parse(const ByteReader &Bytes) {
  uint64_t Base = Bytes.offset();
  auto fail = [&](const char *What) {
    return Error::at(Base, std::string("site table: ") + What);
  };
  if (!Bytes.readAt(0, Header))
    return fail("shorter than its header");
  if (Header.Magic != KPROBE_SITE_MAGIC)
    return fail("wrong magic");
  if (Header.Version >> 16 != KPROBE_WIRE_MAJOR)
    return fail("written for another major version");
  if (Header.TotalBytes != Bytes.size())
    return fail("its length differs from the chunk's");
  if (contentHash(Bytes.data(), Bytes.size()) != Header.ContentHash)
    return fail("content does not match its hash");
  if (!copyRecords(Bytes, Header.KernelOffset, Header.KernelCount, Kernels) ||
      !copyRecords(Bytes, Header.FunctionOffset, Header.FunctionCount,
                   Functions) ||
      !copyRecords(Bytes, Header.SiteOffset, Header.SiteCount, Sites) ||
      !copyRecords(Bytes, Header.FrameOffset, Header.FrameCount, Frames) ||
      !copyRecords(Bytes, Header.EdgeOffset, Header.EdgeCount, Edges) ||
      !copyRecords(Bytes, Header.OmissionOffset, Header.OmissionCount,
                   Omissions) ||
      !Bytes.holds(Header.StringOffset, Header.StringBytes))
    return fail("a part lies outside the table");
  if (Header.StringBytes == 0)
    return fail("no string area");
  Strings.assign(reinterpret_cast<const char *>(Bytes.data()) +
                     Header.StringOffset,
                 Header.StringBytes);
  if (Strings.front() != '\0' || Strings.back() != '\0')
    return fail("strings do not begin with \"\" and end in NUL");

  size_t Text = Strings.size();
  if (Header.Producer >= Text || Header.Target >= Text)
    return fail("a name lies outside the strings");
  if (Header.WaveSize != 32 && Header.WaveSize != 64)
    return fail("wave size is neither 32 nor 64");
  if (Header.SiteCount > KPROBE_MAX_SITES)
    return fail("more sites than an event can name");
  for (const KprobeKernelRecord &K : Kernels)
    if (K.Name >= Text || K.CloneName >= Text ||
        !inRange(K.FirstFunction, K.FunctionCount, Functions.size()) ||
        !inRange(K.FirstSite, K.SiteCount, Sites.size()))
      return fail("a kernel points outside the table");
  for (const KprobeFunctionRecord &F : Functions)
    if (F.Name >= Text || F.File >= Text || F.Kernel >= Kernels.size() ||
        !inRange(F.FirstSite, F.SiteCount, Sites.size()))
      return fail("a function points outside the table");
  for (const KprobeSiteRecord &S : Sites)
    if (S.Function >= Functions.size() || S.Block >= Text || S.File >= Text ||
        !inRange(S.FirstFrame, S.FrameCount, Frames.size()) ||
        !inRange(S.FirstEdge, S.EdgeCount, Edges.size()) ||
        (S.LoopHeader != KPROBE_NO_INDEX && S.LoopHeader >= Sites.size()))
      return fail("a site points outside the table");
  for (const KprobeFrameRecord &F : Frames)
    if (F.Function >= Text || F.File >= Text)
      return fail("an inline frame points outside the table");
  for (uint32_t Edge : Edges)
    if (Edge >= Sites.size())
      return fail("an edge points outside the table");
  if (!addOmissions())
    return fail("an omitted site has no sound anchor");
  return Error::success();
}

// Sites outside the kernel that an edge leads to are no part of its paths.
bool SiteTable::addOmissions() {
  for (const KprobeOmissionRecord &Omitted : Omissions) {
    if (Omitted.Site >= Sites.size() || Omitted.Anchor >= Sites.size() ||
        Sites[Omitted.Site].Function != Sites[Omitted.Anchor].Function)
      return false;
    const KprobeKernelRecord &K =
        Kernels[Functions[Sites[Omitted.Site].Function].Kernel];
    auto InKernel = [&K](uint32_t Site) {
      return Site - K.FirstSite < K.SiteCount;
    };
    if (!InKernel(Omitted.Site) || !InKernel(Omitted.Anchor))
      return false;
    auto Rules = Paths.find(K.FirstSite);
    if (Rules == Paths.end()) {
      std::vector<std::vector<uint32_t>> Successors(K.SiteCount);
      for (uint32_t I = 0; I < K.SiteCount; ++I) {
        const KprobeSiteRecord &S = Sites[K.FirstSite + I];
        for (uint32_t E = 0; E < S.EdgeCount; ++E)
          if (uint32_t To = Edges[S.FirstEdge + E]; InKernel(To))
            Successors[I].push_back(To - K.FirstSite);
      }
      Rules = Paths.emplace(K.FirstSite, std::move(Successors)).first;
    }
    if (Rules->second.size() != K.SiteCount)
      return false;
    if (!Rules->second.add(Omitted.Site - K.FirstSite,
                           Omitted.Anchor - K.FirstSite))
      return false;
  }
  for (const auto &Entry : Paths)
    if (!Entry.second.isSound())
      return false;
  return true;
}

} // namespace kprobe
