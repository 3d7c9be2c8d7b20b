// Knows which kernel a dispatch packet means, and which clone stands for it.
//
// Readers and executables are followed from their creation: the site tables
// are in the bytes behind a reader, and belong to the executable those bytes
// were loaded into, so that two code objects with kernels of one name do not
// mix. When an executable is frozen its symbols give the addresses.
#ifndef KPROBE_RUNTIME_CODEOBJECTS_H
#define KPROBE_RUNTIME_CODEOBJECTS_H

#include "Config.h"
#include "HsaApi.h"
#include "SiteTables.h"

#include <atomic>
#include <map>
#include <mutex>
#include <shared_mutex>
#include <unordered_map>

namespace kprobe {

// What the loader says of one kernel symbol on one agent.
struct KernelSymbol {
  std::string Name; // without ".kd"
  uint64_t Object = 0;
  uint32_t GroupBytes = 0;
  uint32_t PrivateBytes = 0;
  uint32_t KernargBytes = 0;
};

struct KernelInfo {
  KernelSymbol Symbol;
  uint64_t Executable = 0;
  std::shared_ptr<const SiteTable> Table; // null: the kernel has no probes
  KernelSymbol Clone;                     // valid with Table
  KernelSymbol Sampled; // clone for samples of the waves; may be the same
  bool Filtered = false;                  // the user left it out
  uint32_t TableIndex = 0;
  // Dispatches so far, of this kernel of this table on all agents and through
  // all loadings; valid with Table. A plain count, orders nothing.
  std::shared_ptr<std::atomic<uint64_t>> Dispatches;
};

class CodeObjects {
public:
  explicit CodeObjects(const KernelFilter &Filter) : Filter(Filter) {}

  // Each returns a problem to tell the user, or "".
  std::string readerCreated(uint64_t Reader, const void *Elf, size_t Bytes);
  std::string readerCreatedFromFile(uint64_t Reader, int File);
  void readerDestroyed(uint64_t Reader);
  // Size of the ELF file behind a reader; 0: not known.
  uint64_t readerBytes(uint64_t Reader) const;
  void codeObjectLoaded(uint64_t Executable, uint64_t Agent, uint64_t Reader);
  // True when a dispatch of one of the kernels would be traced.
  bool executableFrozen(uint64_t Executable, uint64_t Agent,
                        const std::vector<KernelSymbol> &Symbols);
  void executableDestroyed(uint64_t Executable);

  // On the path of every dispatch: one shared lock, one hash look-up.
  std::shared_ptr<const KernelInfo> find(uint64_t KernelObject) const;

private:
  const KernelFilter &Filter;
  mutable std::shared_mutex Lock;
  struct ReaderState {
    SiteTableList Tables;
    uint64_t Bytes;
  };
  std::unordered_map<uint64_t, ReaderState> Readers;
  // By executable and agent: one executable may hold code for several.
  std::map<std::pair<uint64_t, uint64_t>, SiteTableList> Loaded;
  std::unordered_map<uint64_t, std::shared_ptr<const KernelInfo>> Kernels;
  // By content hash of the table and index in it; never forgotten.
  std::map<std::pair<uint64_t, uint32_t>,
           std::shared_ptr<std::atomic<uint64_t>>>
      Dispatches;
};

// The kernels of a frozen executable on one agent, asked through the API.
std::vector<KernelSymbol>
listKernels(const HsaApi &Api, hsa_executable_t Executable, hsa_agent_t Agent);

} // namespace kprobe

#endif
