// The only file that knows libdw.
#include "Symbols.h"

#include "Names.h"

#include <elfutils/libdwfl.h>

#include <cstring>
#include <fcntl.h>
#include <unistd.h>

namespace kprobe {
namespace {

std::string baseName(const std::string &Path) {
  return Path.substr(Path.rfind('/') + 1);
}

std::string hex(uint64_t Number) {
  char Text[24];
  std::snprintf(Text, sizeof(Text), "0x%llx",
                static_cast<unsigned long long>(Number));
  return Text;
}

const Dwfl_Callbacks Callbacks = {dwfl_build_id_find_elf,
                                  dwfl_standard_find_debuginfo, nullptr,
                                  nullptr};

} // namespace

struct Symbols::File {
  Dwfl *Session = nullptr;
  Dwfl_Module *Module = nullptr;
  ~File() {
    if (Session)
      dwfl_end(Session);
  }
};

Symbols::Symbols(const Trace &From) : T(From), Files(From.Modules.size()) {}
Symbols::~Symbols() = default;

Symbols::File *Symbols::open(size_t Number) {
  std::unique_ptr<File> &Slot = Files[Number];
  if (Slot)
    return Slot.get();
  Slot = std::make_unique<File>();
  const Module &M = T.Modules[Number];
  // The kernel's own page has no file.
  if (M.Path.empty() || M.Path[0] != '/')
    return Slot.get();
  int Descriptor = ::open(M.Path.c_str(), O_RDONLY | O_CLOEXEC);
  if (Descriptor < 0) {
    Problems.insert("no symbols of '" + M.Path + "': " + std::strerror(errno));
    return Slot.get();
  }
  Slot->Session = dwfl_begin(&Callbacks);
  // dwfl takes the descriptor if it succeeds. Addresses are the file's own:
  // what is at bias 0.
  if (Slot->Session)
    Slot->Module = dwfl_report_elf(Slot->Session, M.Path.c_str(),
                                   M.Path.c_str(), Descriptor, 0, false);
  if (!Slot->Module) {
    close(Descriptor);
    Problems.insert("no symbols of '" + M.Path + "': " + dwfl_errmsg(-1));
    return Slot.get();
  }
  dwfl_report_end(Slot->Session, nullptr, nullptr);
  const unsigned char *Id = nullptr;
  GElf_Addr Ignored = 0;
  int Bytes = dwfl_module_build_id(Slot->Module, &Id, &Ignored);
  if (!M.BuildId.empty() &&
      (Bytes < 0 || static_cast<size_t>(Bytes) != M.BuildId.size() ||
       std::memcmp(Id, M.BuildId.data(), M.BuildId.size()) != 0)) {
    Problems.insert("no symbols of '" + M.Path +
                    "': it is not the file that ran (build id differs)");
    Slot->Module = nullptr;
  }
  return Slot.get();
}

CodePlace Symbols::look(size_t Number, uint64_t Address) {
  const Module &M = T.Modules[Number];
  CodePlace Out;
  Out.Module = baseName(M.Path);
  Out.Emulator = M.Path.find("/kprobe-vgpu/") != std::string::npos;
  uint64_t InFile = Address - M.Record.Bias;
  Out.Function = "[" + Out.Module + "]";
  File *F = open(Number);
  if (!F->Module)
    return Out;
  GElf_Off Offset = 0;
  GElf_Sym Symbol;
  const char *Name = dwfl_module_addrinfo(F->Module, InFile, &Offset, &Symbol,
                                          nullptr, nullptr, nullptr);
  // A name far before the address is the last one that a stripped file has.
  constexpr GElf_Off MostWithoutSize = 4096; // assembly often states none
  if (Name &&
      Offset < (Symbol.st_size ? Symbol.st_size : MostWithoutSize)) {
    // Without the version: "memcpy@@GLIBC_2.14".
    std::string_view Plain(Name);
    Out.Function = demangle(Plain.substr(0, Plain.find('@')));
  }
  if (Dwfl_Line *Line = dwfl_module_getsrc(F->Module, InFile)) {
    int LineNumber = 0;
    const char *Source =
        dwfl_lineinfo(Line, nullptr, &LineNumber, nullptr, nullptr, nullptr);
    if (Source) {
      Out.File = Source;
      Out.Line = static_cast<uint32_t>(LineNumber);
    }
  }
  return Out;
}

const CodePlace &Symbols::find(uint64_t Address, int64_t Ns) {
  // The newest record before the time; one seen only later may have been there
  // already, so it is better than none.
  size_t Best = SIZE_MAX;
  for (size_t I = 0; I < T.Modules.size(); ++I) {
    const KprobeModuleRecord &R = T.Modules[I].Record;
    if (Address < R.Begin || Address >= R.End)
      continue;
    if (Best == SIZE_MAX || static_cast<int64_t>(R.Ns) <= Ns)
      Best = I;
  }
  auto [Place, New] = Known.try_emplace({Best, Address});
  if (New) {
    if (Best == SIZE_MAX)
      Place->second.Function = "[" + hex(Address) + "]";
    else
      Place->second = look(Best, Address);
  }
  return Place->second;
}

} // namespace kprobe
