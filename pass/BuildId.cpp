// The linker's build id is found in the program headers of the plug-in as it
// is loaded.
#include "BuildId.h"
#include "Compat.h"
#include "llvm/ADT/StringExtras.h"
#include <elf.h>
#include <link.h>

namespace kprobe {

namespace {
struct Search {
  uintptr_t Inside; // an address of this plug-in
  std::string Id;
};
} // namespace

static int visitObject(dl_phdr_info *Object, size_t, void *Data) {
  auto &Wanted = *static_cast<Search *>(Data);
  bool Ours = false;
  for (int I = 0; I < Object->dlpi_phnum; ++I) {
    const auto &Segment = Object->dlpi_phdr[I];
    uintptr_t Start = Object->dlpi_addr + Segment.p_vaddr;
    Ours |= Segment.p_type == PT_LOAD && Wanted.Inside >= Start &&
            Wanted.Inside < Start + Segment.p_memsz;
  }
  if (!Ours)
    return 0;
  for (int I = 0; I < Object->dlpi_phnum; ++I) {
    const auto &Segment = Object->dlpi_phdr[I];
    if (Segment.p_type != PT_NOTE)
      continue;
    const auto *At =
        reinterpret_cast<const char *>(Object->dlpi_addr + Segment.p_vaddr);
    const char *End = At + Segment.p_memsz;
    while (At + sizeof(ElfW(Nhdr)) <= End) {
      const auto *Note = reinterpret_cast<const ElfW(Nhdr) *>(At);
      const char *Name = At + sizeof *Note;
      const char *Content = Name + ((Note->n_namesz + 3) & ~3u);
      if (Note->n_type == NT_GNU_BUILD_ID && Note->n_namesz == 4)
        Wanted.Id = llvm::toHex({Content, Note->n_descsz}, /*LowerCase=*/true);
      At = Content + ((Note->n_descsz + 3) & ~3u);
    }
  }
  return 1;
}

std::string producer() {
  Search Own{reinterpret_cast<uintptr_t>(&visitObject), {}};
  dl_iterate_phdr(visitObject, &Own);
  return "kprobe " KPROBE_VERSION " llvm " LLVM_VERSION_STRING " build " +
         Own.Id.substr(0, 16);
}

} // namespace kprobe
