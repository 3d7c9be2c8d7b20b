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
  // Newer kernels may need more of the host than this runtime knows.
  if (Header.Version > (KPROBE_WIRE_MAJOR << 16 | KPROBE_WIRE_MINOR))
    return Fail("site table is of a newer kprobe; use that kprobe's runtime");
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
    Kernel.Bounded = Record.Flags & KPROBE_KERNEL_BOUNDED;
    Kernel.HasPlaces = Record.Flags & KPROBE_KERNEL_PLACES;
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
