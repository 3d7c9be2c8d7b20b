// Book-keeping of code objects; see CodeObjects.h for the order of events.
#include "CodeObjects.h"

#include "kprobe/wire.h"

#include <iterator>
#include <sys/mman.h>
#include <sys/stat.h>

namespace kprobe {

std::string CodeObjects::readerCreated(uint64_t Reader, const void *Elf,
                                       size_t Bytes) {
  std::string Problem;
  SiteTableList Tables = readSiteTablesUntrusted(Elf, Bytes, Problem);
  std::unique_lock<std::shared_mutex> Guard(Lock);
  // A handle that is used again belongs to the new reader.
  Readers[Reader] = {std::move(Tables), Bytes};
  return Problem;
}

std::string CodeObjects::readerCreatedFromFile(uint64_t Reader, int File) {
  struct stat Info;
  if (fstat(File, &Info) != 0 || Info.st_size <= 0)
    return "";
  size_t Bytes = size_t(Info.st_size);
  // Mapped, not read: the file's position belongs to the program.
  void *Elf = mmap(nullptr, Bytes, PROT_READ, MAP_PRIVATE, File, 0);
  if (Elf == MAP_FAILED)
    return "";
  std::string Problem = readerCreated(Reader, Elf, Bytes);
  munmap(Elf, Bytes);
  return Problem;
}

uint64_t CodeObjects::readerBytes(uint64_t Reader) const {
  std::shared_lock<std::shared_mutex> Guard(Lock);
  auto Found = Readers.find(Reader);
  return Found == Readers.end() ? 0 : Found->second.Bytes;
}

void CodeObjects::readerDestroyed(uint64_t Reader) {
  std::unique_lock<std::shared_mutex> Guard(Lock);
  Readers.erase(Reader);
}

void CodeObjects::codeObjectLoaded(uint64_t Executable, uint64_t Agent,
                                   uint64_t Reader) {
  std::unique_lock<std::shared_mutex> Guard(Lock);
  auto Found = Readers.find(Reader);
  if (Found == Readers.end())
    return;
  SiteTableList &Tables = Loaded[{Executable, Agent}];
  for (const auto &Table : Found->second.Tables)
    Tables.push_back(Table);
}

bool CodeObjects::executableFrozen(uint64_t Executable, uint64_t Agent,
                                   const std::vector<KernelSymbol> &Symbols) {
  std::unordered_map<std::string, const KernelSymbol *> ByName;
  for (const KernelSymbol &Symbol : Symbols)
    ByName[Symbol.Name] = &Symbol;

  std::unique_lock<std::shared_mutex> Guard(Lock);
  struct Place {
    std::shared_ptr<const SiteTable> Table;
    uint32_t Index;
  };
  std::unordered_map<std::string, Place> ByKernel;
  auto Tables = Loaded.find({Executable, Agent});
  if (Tables != Loaded.end())
    for (const auto &Table : Tables->second)
      for (uint32_t I = 0; I < Table->Kernels.size(); ++I)
        ByKernel.emplace(Table->Kernels[I].Name, Place{Table, I});

  bool AnyInstrumented = false;
  for (const KernelSymbol &Symbol : Symbols) {
    auto Info = std::make_shared<KernelInfo>();
    Info->Symbol = Symbol;
    Info->Executable = Executable;
    auto Known = ByKernel.find(Symbol.Name);
    if (Known != ByKernel.end()) {
      const Place &At = Known->second;
      auto Clone = ByName.find(At.Table->Kernels[At.Index].CloneName);
      if (Clone != ByName.end() && Clone->second->Object != 0) {
        Info->Clone = *Clone->second;
        auto Sampled = ByName.find(Symbol.Name + KPROBE_SAMPLED_SUFFIX);
        Info->Sampled =
            Sampled == ByName.end() ? Info->Clone : *Sampled->second;
        Info->Table = At.Table;
        Info->TableIndex = At.Index;
        auto &Count = Dispatches[{At.Table->ContentHash, At.Index}];
        if (!Count)
          Count = std::make_shared<std::atomic<uint64_t>>(0);
        Info->Dispatches = Count;
        Info->Filtered = !Filter.matches(Symbol.Name);
        AnyInstrumented |= !Info->Filtered;
      }
    }
    Kernels[Symbol.Object] = std::move(Info);
  }
  return AnyInstrumented;
}

void CodeObjects::executableDestroyed(uint64_t Executable) {
  std::unique_lock<std::shared_mutex> Guard(Lock);
  Loaded.erase(Loaded.lower_bound({Executable, 0}),
               Loaded.upper_bound({Executable, UINT64_MAX}));
  for (auto It = Kernels.begin(); It != Kernels.end();)
    It = It->second->Executable == Executable ? Kernels.erase(It)
                                              : std::next(It);
}

std::shared_ptr<const KernelInfo>
CodeObjects::find(uint64_t KernelObject) const {
  std::shared_lock<std::shared_mutex> Guard(Lock);
  auto Found = Kernels.find(KernelObject);
  return Found == Kernels.end() ? nullptr : Found->second;
}

namespace {
struct Listing {
  const HsaApi *Api;
  std::vector<KernelSymbol> Symbols;
};
} // namespace

static hsa_status_t visitSymbol(hsa_executable_t, hsa_agent_t,
                                hsa_executable_symbol_t Symbol, void *Data) {
  auto *List = static_cast<Listing *>(Data);
  auto Get = [&](hsa_executable_symbol_info_t What, void *Value) {
    return List->Api->hsa_executable_symbol_get_info(Symbol, What, Value) ==
           HSA_STATUS_SUCCESS;
  };
  hsa_symbol_kind_t Kind;
  uint32_t Length = 0;
  if (!Get(HSA_EXECUTABLE_SYMBOL_INFO_TYPE, &Kind) ||
      Kind != HSA_SYMBOL_KIND_KERNEL ||
      !Get(HSA_EXECUTABLE_SYMBOL_INFO_NAME_LENGTH, &Length))
    return HSA_STATUS_SUCCESS;
  KernelSymbol Entry;
  Entry.Name.resize(Length);
  if (!Get(HSA_EXECUTABLE_SYMBOL_INFO_NAME, &Entry.Name[0]) ||
      !Get(HSA_EXECUTABLE_SYMBOL_INFO_KERNEL_OBJECT, &Entry.Object) ||
      !Get(HSA_EXECUTABLE_SYMBOL_INFO_KERNEL_GROUP_SEGMENT_SIZE,
           &Entry.GroupBytes) ||
      !Get(HSA_EXECUTABLE_SYMBOL_INFO_KERNEL_PRIVATE_SEGMENT_SIZE,
           &Entry.PrivateBytes) ||
      !Get(HSA_EXECUTABLE_SYMBOL_INFO_KERNEL_KERNARG_SEGMENT_SIZE,
           &Entry.KernargBytes))
    return HSA_STATUS_SUCCESS;
  // Only a suffix is cut: "prefix.kd.middle.kd" keeps its middle.
  const std::string Suffix = ".kd";
  if (Entry.Name.size() >= Suffix.size() &&
      Entry.Name.compare(Entry.Name.size() - Suffix.size(), Suffix.size(),
                         Suffix) == 0)
    Entry.Name.resize(Entry.Name.size() - Suffix.size());
  List->Symbols.push_back(std::move(Entry));
  return HSA_STATUS_SUCCESS;
}

std::vector<KernelSymbol>
listKernels(const HsaApi &Api, hsa_executable_t Executable, hsa_agent_t Agent) {
  Listing List{&Api, {}};
  Api.hsa_executable_iterate_agent_symbols(Executable, Agent, visitSymbol,
                                           &List);
  return std::move(List.Symbols);
}

} // namespace kprobe
