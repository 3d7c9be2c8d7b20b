// Walks the loader's list; most of the time only to see that it is the old one.
#include "Modules.h"

#include <climits>
#include <cstring>
#include <elf.h>
#include <link.h>
#include <set>
#include <unistd.h>

namespace kprobe {
namespace {

struct Module {
  KprobeModuleRecord Record;
  std::string Strings;
};

struct Walk {
  std::set<std::pair<uint64_t, std::string>> &Known;
  std::set<std::pair<uint64_t, std::string>> Present;
  unsigned long long &Added, &Removed;
  bool Looked = false;
  // Written once the loader's lock is free again.
  std::vector<Module> News;
};

std::string buildId(const dl_phdr_info &Object) {
  for (unsigned I = 0; I < Object.dlpi_phnum; ++I) {
    const auto &Part = Object.dlpi_phdr[I];
    if (Part.p_type != PT_NOTE)
      continue;
    const auto *Place =
        reinterpret_cast<const char *>(Object.dlpi_addr + Part.p_vaddr);
    const char *End = Place + Part.p_memsz;
    while (size_t(End - Place) >= sizeof(ElfW(Nhdr))) {
      ElfW(Nhdr) Note;
      std::memcpy(&Note, Place, sizeof(Note));
      size_t NameBytes = (Note.n_namesz + 3u) & ~size_t(3);
      size_t Bytes = sizeof(Note) + NameBytes + ((Note.n_descsz + 3u) & ~size_t(3));
      if (Bytes > size_t(End - Place))
        break;
      const char *Name = Place + sizeof(Note);
      if (Note.n_type == NT_GNU_BUILD_ID && Note.n_namesz == 4 &&
          std::memcmp(Name, "GNU", 4) == 0)
        return std::string(Name + NameBytes, Note.n_descsz);
      Place += Bytes;
    }
  }
  return std::string();
}

std::string pathOf(const dl_phdr_info &Object) {
  if (Object.dlpi_name && *Object.dlpi_name)
    return Object.dlpi_name;
  char Path[PATH_MAX];
  ssize_t Length = readlink("/proc/self/exe", Path, sizeof(Path));
  return std::string(Path, Length > 0 ? size_t(Length) : 0);
}

int visit(dl_phdr_info *Object, size_t, void *Data) {
  auto &W = *static_cast<Walk *>(Data);
  if (!W.Looked && Object->dlpi_adds == W.Added &&
      Object->dlpi_subs == W.Removed)
    return 1;
  W.Looked = true;
  W.Added = Object->dlpi_adds;
  W.Removed = Object->dlpi_subs;
  KprobeModuleRecord Record = {};
  Record.Begin = UINT64_MAX;
  for (unsigned I = 0; I < Object->dlpi_phnum; ++I) {
    const auto &Part = Object->dlpi_phdr[I];
    if (Part.p_type != PT_LOAD)
      continue;
    uint64_t Begin = Object->dlpi_addr + Part.p_vaddr;
    Record.Begin = Begin < Record.Begin ? Begin : Record.Begin;
    uint64_t End = Begin + Part.p_memsz;
    Record.End = End > Record.End ? End : Record.End;
  }
  if (Record.Begin >= Record.End)
    return 0;
  std::string Path = pathOf(*Object);
  W.Present.emplace(Record.Begin, Path);
  if (W.Known.count({Record.Begin, Path}))
    return 0;
  std::string Id = buildId(*Object);
  Record.Bias = Object->dlpi_addr;
  Record.Ns = hostNowNs();
  Record.PathBytes = uint32_t(Path.size());
  Record.BuildIdBytes = uint32_t(Id.size());
  W.News.push_back({Record, Path + Id});
  return 0;
}

} // namespace

void writeModules(const HostRecorder::ChunkSink &Append) {
  static std::set<std::pair<uint64_t, std::string>> Known;
  static unsigned long long Added = 0, Removed = 0;
  Walk W = {Known, {}, Added, Removed, false, {}};
  dl_iterate_phdr(visit, &W);
  for (const Module &M : W.News)
    Append(KPROBE_CHUNK_MODULE, &M.Record, sizeof(M.Record), M.Strings);
  if (W.Looked)
    Known.swap(W.Present);
}

} // namespace kprobe
