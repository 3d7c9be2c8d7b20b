// Bounds-checked reads from the bytes of an ELF file, and its sections; layouts
// from <elf.h>. The bytes come from the program: nothing in them is believed.
#ifndef KPROBE_RUNTIME_ELFBYTES_H
#define KPROBE_RUNTIME_ELFBYTES_H

#include <cstdint>
#include <cstring>
#include <elf.h>
#include <string>

namespace kprobe {

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

// The section's bytes; an empty span when there is none.
inline Span findSection(const Span &Elf, const char *Name) {
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

} // namespace kprobe

#endif
