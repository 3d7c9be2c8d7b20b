// MessagePack as far as the metadata uses it: maps, arrays, strings, numbers,
// booleans; big-endian lengths and numbers.
#include "KernelNeeds.h"

namespace kprobe {

namespace {
class Packed {
public:
  explicit Packed(const Span &Bytes) : Bytes(Bytes) {}

  // Calls Each(key) before each value, which it has to read or skip. False for
  // what is no map, or when Each says so.
  template <typename Fn> bool map(Fn Each) {
    uint64_t Count = 0;
    if (!header(0x80, 0x0f, 0xde, Count))
      return false;
    for (; Count > 0; --Count)
      if (std::string Key; !string(Key) || !Each(Key))
        return false;
    return true;
  }
  template <typename Fn> bool array(Fn Each) {
    uint64_t Count = 0;
    if (!header(0x90, 0x0f, 0xdc, Count))
      return false;
    for (; Count > 0; --Count)
      if (!Each())
        return false;
    return true;
  }
  bool string(std::string &Out) {
    uint8_t Tag = 0;
    uint64_t Length = 0;
    if (!tag(Tag))
      return false;
    if (Tag >= 0xa0 && Tag <= 0xbf)
      Length = Tag & 0x1f;
    else if (Tag < 0xd9 || Tag > 0xdb || !big(1u << (Tag - 0xd9), Length))
      return false;
    if (!Bytes.holds(At, Length))
      return false;
    Out.assign(reinterpret_cast<const char *>(Bytes.data() + At),
               size_t(Length));
    At += Length;
    return true;
  }
  bool number(uint32_t &Out) {
    uint8_t Tag = 0;
    uint64_t Value = 0;
    if (!tag(Tag))
      return false;
    if (Tag <= 0x7f)
      Value = Tag;
    else if (Tag < 0xcc || Tag > 0xcf || !big(1u << (Tag - 0xcc), Value))
      return false;
    Out = uint32_t(Value);
    return Value <= UINT32_MAX;
  }
  bool skip(unsigned Depth = 0) {
    constexpr unsigned Deepest = 16;
    uint8_t Tag = 0;
    if (Depth > Deepest || !Bytes.read(At, Tag))
      return false;
    std::string Text;
    auto Inner = [&] { return skip(Depth + 1); };
    if (Tag >> 4 == 0x8 || Tag == 0xde || Tag == 0xdf)
      return map([&](const std::string &) { return Inner(); });
    if (Tag >> 4 == 0x9 || Tag == 0xdc || Tag == 0xdd)
      return array(Inner);
    if (Tag >> 5 == 0x5 || (Tag >= 0xd9 && Tag <= 0xdb))
      return string(Text);
    ++At;
    uint64_t Ignored = 0;
    switch (Tag) {
    case 0xc0: // nil
    case 0xc2: // false
    case 0xc3: // true
      return true;
    case 0xca: // float
      return big(4, Ignored);
    case 0xcb: // double
      return big(8, Ignored);
    default:
      if (Tag >= 0xcc && Tag <= 0xd3) // numbers without and with sign
        return big(1u << (Tag & 3), Ignored);
      return Tag <= 0x7f || Tag >= 0xe0; // small ones
    }
  }

private:
  bool tag(uint8_t &Tag) { return Bytes.read(At++, Tag); }
  bool big(unsigned Size, uint64_t &Value) {
    Value = 0;
    for (uint8_t Byte; Size > 0; --Size) {
      if (!Bytes.read(At++, Byte))
        return false;
      Value = Value << 8 | Byte;
    }
    return true;
  }
  // Short forms have their count in the tag; the others come in 16 and 32 bits.
  bool header(uint8_t Short, uint8_t Mask, uint8_t Long, uint64_t &Count) {
    uint8_t Tag = 0;
    if (!tag(Tag))
      return false;
    if ((Tag & ~Mask) == Short) {
      Count = Tag & Mask;
      return true;
    }
    return (Tag == Long && big(2, Count)) || (Tag == Long + 1 && big(4, Count));
  }

  Span Bytes;
  uint64_t At = 0;
};
} // namespace

// Symbols of kernels end so.
static const std::string Suffix = ".kd";

static bool readKernel(Packed &Data,
                       std::map<std::string, KprobeKernelNeeds> &Kernels) {
  std::string Symbol;
  KprobeKernelNeeds Needs = {};
  bool Whole = Data.map([&](const std::string &Key) {
    if (Key == ".symbol")
      return Data.string(Symbol);
    uint32_t *To = Key == ".vgpr_count"                   ? &Needs.Vgprs
                   : Key == ".sgpr_count"                 ? &Needs.Sgprs
                   : Key == ".group_segment_fixed_size"   ? &Needs.LdsBytes
                   : Key == ".private_segment_fixed_size" ? &Needs.ScratchBytes
                                                          : nullptr;
    return To ? Data.number(*To) : Data.skip();
  });
  if (!Whole || Symbol.size() <= Suffix.size() ||
      Symbol.compare(Symbol.size() - Suffix.size(), Suffix.size(), Suffix) != 0)
    return Whole;
  Kernels[Symbol.substr(0, Symbol.size() - Suffix.size())] = Needs;
  return true;
}

std::map<std::string, KprobeKernelNeeds>
readKernelMetadata(const Span &Bytes) {
  std::map<std::string, KprobeKernelNeeds> Kernels;
  Packed Data(Bytes);
  Data.map([&](const std::string &Key) {
    return Key == "amdhsa.kernels"
               ? Data.array([&] { return readKernel(Data, Kernels); })
               : Data.skip();
  });
  return Kernels;
}

// The content of the first note with the metadata.
static Span findMetadata(const Span &Notes) {
  constexpr uint32_t MetadataType = 32; // NT_AMDGPU_METADATA
  auto RoundUp = [](uint64_t Size) { return (Size + 3) & ~uint64_t(3); };
  Elf64_Nhdr Note;
  for (uint64_t At = 0; Notes.read(At, Note);) {
    std::string Owner;
    uint64_t Name = At + sizeof(Note);
    uint64_t Content = Name + RoundUp(Note.n_namesz);
    if (Note.n_type == MetadataType && Notes.readString(Name, Owner) &&
        Owner == "AMDGPU")
      return Notes.part(Content, Note.n_descsz);
    At = Content + RoundUp(Note.n_descsz);
  }
  return Notes.part(0, 0);
}

std::map<std::string, KprobeKernelNeeds> readKernelNeeds(const Span &Elf) {
  auto Kernels = readKernelMetadata(findMetadata(findSection(Elf, ".note")));
  const Span Symbols = findSection(Elf, ".dynsym");
  const Span Names = findSection(Elf, ".dynstr");
  Elf64_Sym Symbol;
  for (uint64_t At = 0; Symbols.read(At, Symbol); At += sizeof(Symbol)) {
    std::string Name;
    if (ELF64_ST_TYPE(Symbol.st_info) != STT_FUNC ||
        !Names.readString(Symbol.st_name, Name))
      continue;
    auto Found = Kernels.find(Name);
    if (Found != Kernels.end())
      Found->second.CodeBytes = Symbol.st_size;
  }
  return Kernels;
}

} // namespace kprobe
