// Site tables and ELF files made by hand, and packets.
#include "FakeHsa.h"

#include "SiteTables.h"

#include <cstring>
#include <elf.h>

namespace fake {

std::vector<uint8_t>
makeTable(const std::vector<std::pair<std::string, std::string>> &Kernels,
          const std::string &Producer) {
  std::string Strings(1, '\0');
  auto Add = [&](const std::string &Text) {
    uint32_t Offset = uint32_t(Strings.size());
    Strings += Text;
    Strings += '\0';
    return Offset;
  };
  std::vector<KprobeKernelRecord> Records;
  for (auto &Kernel : Kernels) {
    KprobeKernelRecord Record = {};
    Record.Name = Add(Kernel.first);
    Record.CloneName = Add(Kernel.second);
    Records.push_back(Record);
  }
  KprobeSiteTableHeader Header = {};
  Header.Magic = KPROBE_SITE_MAGIC;
  Header.Version = KPROBE_WIRE_MAJOR << 16 | KPROBE_WIRE_MINOR;
  Header.KernelCount = uint32_t(Records.size());
  Header.KernelOffset = sizeof(Header);
  Header.Producer = Add(Producer);
  Header.WaveSize = 64;
  Header.StringOffset =
      uint32_t(sizeof(Header) + Records.size() * sizeof(KprobeKernelRecord));
  Header.StringBytes = uint32_t(Strings.size());
  Header.TotalBytes = (Header.StringOffset + Header.StringBytes + 7) & ~7ull;
  std::vector<uint8_t> Table(Header.TotalBytes);
  std::memcpy(Table.data(), &Header, sizeof(Header));
  if (!Records.empty())
    std::memcpy(Table.data() + Header.KernelOffset, Records.data(),
                Records.size() * sizeof(KprobeKernelRecord));
  std::memcpy(Table.data() + Header.StringOffset, Strings.data(),
              Strings.size());
  Header.ContentHash = kprobe::siteTableHash(Table.data(), Table.size());
  std::memcpy(Table.data(), &Header, sizeof(Header));
  return Table;
}

std::vector<uint8_t> makeElf(const std::vector<std::vector<uint8_t>> &Tables,
                             const std::string &Section) {
  std::vector<uint8_t> Content;
  for (auto &Table : Tables)
    Content.insert(Content.end(), Table.begin(), Table.end());
  std::string Names = std::string("\0.shstrtab\0", 11) + Section + '\0';
  Elf64_Ehdr Header = {};
  std::memcpy(Header.e_ident, ELFMAG, SELFMAG);
  Header.e_ident[EI_CLASS] = ELFCLASS64;
  Header.e_ident[EI_DATA] = ELFDATA2LSB;
  Header.e_shentsize = sizeof(Elf64_Shdr);
  Header.e_shnum = 3;
  Header.e_shstrndx = 1;
  Header.e_shoff = sizeof(Header);
  Elf64_Shdr Sections[3] = {};
  uint64_t NamesAt = sizeof(Header) + sizeof(Sections);
  Sections[1].sh_name = 1;
  Sections[1].sh_type = SHT_STRTAB;
  Sections[1].sh_offset = NamesAt;
  Sections[1].sh_size = Names.size();
  Sections[2].sh_name = 11;
  Sections[2].sh_type = SHT_PROGBITS;
  Sections[2].sh_offset = (NamesAt + Names.size() + 7) & ~7ull;
  Sections[2].sh_size = Content.size();
  std::vector<uint8_t> Elf(Sections[2].sh_offset + Content.size());
  std::memcpy(Elf.data(), &Header, sizeof(Header));
  std::memcpy(Elf.data() + sizeof(Header), Sections, sizeof(Sections));
  std::memcpy(Elf.data() + NamesAt, Names.data(), Names.size());
  if (!Content.empty())
    std::memcpy(Elf.data() + Sections[2].sh_offset, Content.data(),
                Content.size());
  return Elf;
}

hsa_kernel_dispatch_packet_t makeDispatch(uint64_t Object, uint32_t GridX,
                                          uint16_t GroupX,
                                          hsa_signal_t Signal) {
  hsa_kernel_dispatch_packet_t Packet = {};
  Packet.header = HSA_PACKET_TYPE_KERNEL_DISPATCH;
  Packet.setup = 1;
  Packet.grid_size_x = GridX;
  Packet.workgroup_size_x = GroupX;
  Packet.grid_size_y = Packet.grid_size_z = 1;
  Packet.workgroup_size_y = Packet.workgroup_size_z = 1;
  Packet.kernel_object = Object;
  Packet.completion_signal = Signal;
  return Packet;
}

} // namespace fake
