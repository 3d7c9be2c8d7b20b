// The tables in one of the sections; layouts from kprobe/wire.h.
#include "SiteTables.h"
#include "ElfBytes.h"
#include "KernelNeeds.h"

namespace kprobe {

uint64_t siteTableHash(const uint8_t *Table, size_t Bytes) {
  constexpr size_t Field = offsetof(KprobeSiteTableHeader, ContentHash);
  uint64_t Hash = 0xcbf29ce484222325ull;
  for (size_t I = 0; I < Bytes; ++I) {
    bool Inside = I >= Field && I < Field + sizeof(uint64_t);
    Hash = (Hash ^ (Inside ? 0u : Table[I])) * 0x100000001b3ull;
  }
  return Hash;
}

// Whether the kernel's blocks can be put in an order in which control only goes
// forward, and none calls a function. What cannot be read is no reason to say so.
static bool isBounded(const Span &Table, const KprobeSiteTableHeader &Header,
                      const KprobeKernelRecord &Kernel) {
  const Span Sites = Table.part(
      Header.SiteOffset, uint64_t(Header.SiteCount) * sizeof(KprobeSiteRecord));
  const Span Edges = Table.part(Header.EdgeOffset,
                                uint64_t(Header.EdgeCount) * sizeof(uint32_t));
  if (!Sites.holds(uint64_t(Kernel.FirstSite) * sizeof(KprobeSiteRecord),
                   uint64_t(Kernel.SiteCount) * sizeof(KprobeSiteRecord)))
    return false;
  std::vector<uint32_t> Predecessors(Kernel.SiteCount);
  // Calls Visit with the successors of a site, counted from the kernel's first.
  auto ForSuccessors = [&](uint32_t Site, auto Visit) {
    KprobeSiteRecord Record;
    Sites.read((uint64_t(Kernel.FirstSite) + Site) * sizeof(Record), Record);
    if (Record.Flags & KPROBE_SITE_CALLS)
      return false;
    for (uint64_t I = 0; I < Record.EdgeCount; ++I) {
      uint32_t To = 0;
      if (!Edges.read((Record.FirstEdge + I) * sizeof(To), To) ||
          To - Kernel.FirstSite >= Kernel.SiteCount)
        return false;
      Visit(To - Kernel.FirstSite);
    }
    return true;
  };
  for (uint32_t Site = 0; Site < Kernel.SiteCount; ++Site)
    if (!ForSuccessors(Site, [&](uint32_t To) { ++Predecessors[To]; }))
      return false;
  std::vector<uint32_t> Ready;
  for (uint32_t Site = 0; Site < Kernel.SiteCount; ++Site)
    if (Predecessors[Site] == 0)
      Ready.push_back(Site);
  uint32_t Ordered = 0;
  for (; !Ready.empty(); ++Ordered) {
    uint32_t Site = Ready.back();
    Ready.pop_back();
    ForSuccessors(Site, [&](uint32_t To) {
      if (--Predecessors[To] == 0)
        Ready.push_back(To);
    });
  }
  return Ordered == Kernel.SiteCount && Ordered != 0;
}

static std::shared_ptr<SiteTable> readTable(const Span &Bytes,
                                                  std::string &Problem) {
  KprobeSiteTableHeader Header;
  auto Fail = [&](const char *Text) {
    Problem = Text;
    return nullptr;
  };
  if (!Bytes.read(0, Header) || Header.Magic != KPROBE_SITE_MAGIC)
    return Fail("site table has no valid header");
  if (Header.Version >> 16 != KPROBE_WIRE_MAJOR)
    return Fail("site table has another version; rebuild the program with "
                "this kprobe's plug-in");
  if (Header.TotalBytes < sizeof(Header) || Header.TotalBytes % 8 != 0 ||
      Header.TotalBytes > Bytes.size())
    return Fail("site table is cut off");
  Span Table = Bytes.part(0, Header.TotalBytes);
  if (siteTableHash(Table.data(), Table.size()) != Header.ContentHash)
    return Fail("site table is damaged: its checksum does not match");
  Span Strings = Table.part(Header.StringOffset, Header.StringBytes);
  if (!Table.holds(Header.KernelOffset,
                   uint64_t(Header.KernelCount) * sizeof(KprobeKernelRecord)))
    return Fail("site table's kernels lie outside of it");

  auto Result = std::make_shared<SiteTable>();
  Result->ContentHash = Header.ContentHash;
  Result->Bytes.assign(Table.data(), Table.data() + Table.size());
  Result->Kernels.resize(Header.KernelCount);
  for (uint64_t I = 0; I < Header.KernelCount; ++I) {
    KprobeKernelRecord Record;
    SiteTable::Kernel &Kernel = Result->Kernels[I];
    if (!Table.read(Header.KernelOffset + I * sizeof(Record), Record) ||
        !Strings.readString(Record.Name, Kernel.Name) ||
        !Strings.readString(Record.CloneName, Kernel.CloneName))
      return Fail("site table has a kernel without a name");
    if (Record.CloneMode > KPROBE_MODE_COUNTERS)
      return Fail("site table has a kernel of an unknown mode");
    Kernel.CloneMode = Record.CloneMode;
    Kernel.SiteCount = Record.SiteCount;
    Kernel.Bounded = isBounded(Table, Header, Record);
  }
  return Result;
}

SiteTableList readSiteTablesUntrusted(const void *Elf, size_t ElfBytes,
                                      std::string &Problem) {
  SiteTableList Tables;
  const Span File(static_cast<const uint8_t *>(Elf), ElfBytes);
  Span Section = findSection(File, KPROBE_SITE_SECTION);
  std::map<std::string, KprobeKernelNeeds> Needs;
  if (Section.size() != 0)
    Needs = readKernelNeeds(File);
  uint64_t Offset = 0;
  while (Section.holds(Offset, sizeof(uint64_t))) {
    uint64_t Word = 0;
    Section.read(Offset, Word);
    if (Word == 0) { // padding between the tables of two modules
      Offset += sizeof(Word);
      continue;
    }
    auto Table =
        readTable(Section.part(Offset, Section.size() - Offset), Problem);
    if (!Table)
      break;
    Offset += Table->Bytes.size();
    for (SiteTable::Kernel &Kernel : Table->Kernels) {
      auto Original = Needs.find(Kernel.Name);
      auto Clone = Needs.find(Kernel.CloneName);
      Kernel.NeedsKnown = Original != Needs.end() && Clone != Needs.end();
      if (Kernel.NeedsKnown) {
        Kernel.Original = Original->second;
        Kernel.Clone = Clone->second;
      }
    }
    Tables.push_back(std::move(Table));
  }
  return Tables;
}

} // namespace kprobe
