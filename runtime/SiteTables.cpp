// ELF64 sections, then the tables in one of them; layouts from <elf.h> and
// kprobe/wire.h.
#include "SiteTables.h"

#include "kprobe/wire.h"

#include <cstring>
#include <elf.h>

namespace kprobe {

namespace {
// Bounds-checked reads from untrusted bytes.
class Span {
public:
  Span(const uint8_t *Data, uint64_t Bytes) : Data(Data), Bytes(Bytes) {}

  bool holds(uint64_t Offset, uint64_t Count) const {
    return Offset <= Bytes && Count <= Bytes - Offset;
  }
  template <typename T> bool read(uint64_t Offset, T &Out) const {
    if (!holds(Offset, sizeof(T)))
      return false;
    std::memcpy(&Out, Data + Offset, sizeof(T));
    return true;
  }
  // A NUL-terminated string that starts at Offset and ends inside the span.
  bool readString(uint64_t Offset, std::string &Out) const {
    if (Offset >= Bytes)
      return false;
    const void *End = std::memchr(Data + Offset, 0, size_t(Bytes - Offset));
    if (!End)
      return false;
    Out.assign(reinterpret_cast<const char *>(Data + Offset),
               static_cast<const char *>(End));
    return true;
  }
  Span part(uint64_t Offset, uint64_t Count) const {
    return holds(Offset, Count) ? Span(Data + Offset, Count) : Span(Data, 0);
  }
  const uint8_t *data() const { return Data; }
  uint64_t size() const { return Bytes; }

private:
  const uint8_t *Data;
  uint64_t Bytes;
};
} // namespace

uint64_t siteTableHash(const uint8_t *Table, size_t Bytes) {
  constexpr size_t Field = offsetof(KprobeSiteTableHeader, ContentHash);
  uint64_t Hash = 0xcbf29ce484222325ull;
  for (size_t I = 0; I < Bytes; ++I) {
    bool Inside = I >= Field && I < Field + sizeof(uint64_t);
    Hash = (Hash ^ (Inside ? 0u : Table[I])) * 0x100000001b3ull;
  }
  return Hash;
}

// The section's bytes; an empty span when there is none.
static Span findSection(const Span &Elf, const char *Name) {
  Span None(Elf.data(), 0);
  Elf64_Ehdr Header;
  if (!Elf.read(0, Header) ||
      std::memcmp(Header.e_ident, ELFMAG, SELFMAG) != 0 ||
      Header.e_ident[EI_CLASS] != ELFCLASS64 ||
      Header.e_ident[EI_DATA] != ELFDATA2LSB ||
      Header.e_shentsize != sizeof(Elf64_Shdr))
    return None;
  auto ReadSection = [&](uint64_t Index, Elf64_Shdr &Section) {
    uint64_t Offset = Index * sizeof(Elf64_Shdr);
    return Header.e_shoff <= UINT64_MAX - Offset &&
           Elf.read(Header.e_shoff + Offset, Section);
  };
  Elf64_Shdr Names;
  if (!ReadSection(Header.e_shstrndx, Names) || Names.sh_type == SHT_NOBITS)
    return None;
  Span Strings = Elf.part(Names.sh_offset, Names.sh_size);
  for (uint64_t I = 0; I < Header.e_shnum; ++I) {
    Elf64_Shdr Section;
    std::string SectionName;
    if (!ReadSection(I, Section))
      return None;
    if (Section.sh_type != SHT_NOBITS &&
        Strings.readString(Section.sh_name, SectionName) && SectionName == Name)
      return Elf.part(Section.sh_offset, Section.sh_size);
  }
  return None;
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

static std::shared_ptr<const SiteTable> readTable(const Span &Bytes,
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
  Span Section = findSection(Span(static_cast<const uint8_t *>(Elf), ElfBytes),
                             KPROBE_SITE_SECTION);
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
    Tables.push_back(std::move(Table));
  }
  return Tables;
}

} // namespace kprobe
