//===- Log.cpp - Write the execution log ------------------------------------===//
#include "machine/Log.h"

#include "machine/Machine.h"

#include <cerrno>
#include <cinttypes>
#include <cstdlib>
#include <cstring>

namespace vgpu {

/// KPROBE_VGPU_LOG_PCS: lines "KERNEL HEX…", addresses relative to the entry.
static bool readPcs(const char *Path, std::map<std::string, std::vector<uint64_t>> &Out) {
  std::FILE *In = std::fopen(Path, "r");
  if (!In)
    return false;
  char *Line = nullptr;
  size_t Room = 0;
  while (getline(&Line, &Room, In) > 0) {
    char *Save = nullptr;
    char *Kernel = strtok_r(Line, " \t\r\n", &Save);
    if (!Kernel || *Kernel == '#')
      continue;
    std::vector<uint64_t> &Pcs = Out[Kernel];
    while (char *Word = strtok_r(nullptr, " \t\r\n", &Save))
      Pcs.push_back(std::strtoull(Word, nullptr, 16));
  }
  std::free(Line);
  std::fclose(In);
  return true;
}

ExecutionLog::ExecutionLog() {
  const char *Path = std::getenv("KPROBE_VGPU_LOG");
  if (!Path || !*Path)
    return;
  File = std::fopen(Path, "a");
  if (!File) {
    std::fprintf(stderr, "kprobe-vgpu: warning: cannot write log %s: %s\n", Path,
                 std::strerror(errno));
    return;
  }
  const char *Pcs = std::getenv("KPROBE_VGPU_LOG_PCS");
  if (Pcs && *Pcs) {
    Given = readPcs(Pcs, GivenPcs);
    if (!Given)
      std::fprintf(stderr, "kprobe-vgpu: warning: cannot read %s: %s\n", Pcs, std::strerror(errno));
  }
  std::fprintf(File, "V 2\n");
}

ExecutionLog::~ExecutionLog() {
  if (File)
    std::fclose(File);
}

void ExecutionLog::flush() {
  if (File)
    std::fflush(File);
}

/// Where a direct branch goes; 0 if \p I is none.
static uint64_t branchTarget(const Inst &I) {
  // SOPP s_branch and s_cbranch_*: 16-bit offset in dwords from the next one.
  if (I.Form != Format::Sopp || I.Info->Class != OpClass::Branch)
    return 0;
  return I.Pc + 4 * I.Size + int64_t(int16_t(I.Raw[0] & 0xffff)) * 4;
}

void ExecutionLog::findLeaders(uint64_t From, CodeCache &Code) {
  std::vector<uint64_t> Todo{From};
  std::unordered_set<uint64_t> Seen;
  while (!Todo.empty()) {
    uint64_t Pc = Todo.back();
    Todo.pop_back();
    Leaders.insert(Pc);
    while (Seen.insert(Pc).second) {
      const Inst &I = Code.at(Pc);
      uint64_t Next = Pc + 4 * I.Size;
      if (I.Info->Class == OpClass::End || I.Info->Class == OpClass::Unknown)
        break;
      if (uint64_t Target = branchTarget(I)) {
        Todo.push_back(Target);
        if (std::strcmp(I.Info->Name, "s_branch") == 0)
          break;
        Leaders.insert(Next);
      } else if (I.Info->Flags & OpBranch) {
        if (std::strcmp(I.Info->Name, "s_setpc_b64") == 0)
          break; // Targets are only known when it runs.
        Leaders.insert(Next);
      }
      Pc = Next;
    }
  }
}

void ExecutionLog::beginDispatch(uint64_t Number, uint32_t Queue, uint64_t Packet,
                                 const std::string &Kernel, uint64_t KernelEntry, CodeCache &Code) {
  Dispatch = std::to_string(Queue) + "." + std::to_string(Number);
  Entry = KernelEntry;
  Leaders.clear();
  auto Found = GivenPcs.find(Kernel);
  if (Given) {
    if (Found != GivenPcs.end())
      for (uint64_t Pc : Found->second)
        Leaders.insert(Entry + Pc);
  } else {
    findLeaders(Entry, Code);
  }
  std::fprintf(File, "D %s %" PRIu32 " 0x%" PRIx64 " 0x%" PRIx64 " %s\n", Dispatch.c_str(), Queue,
               Packet, Entry, Kernel.c_str());
}

void ExecutionLog::endDispatch(uint64_t Cycles, const char *How) {
  std::fprintf(File, "E %s %" PRIu64 " %s\n", Dispatch.c_str(), Cycles, How);
  std::fflush(File);
}

void ExecutionLog::wave(const MachineWave &W, char Kind) {
  std::fprintf(File, "%c %s %u %u %u %u ", Kind, Dispatch.c_str(), W.Group->Id[0],
               W.Group->Id[1], W.Group->Id[2], W.Number);
}

void ExecutionLog::step(MachineWave &W, uint64_t Pc, uint64_t Exec, uint64_t Clock) {
  bool Opens = Leaders.count(Pc) || (!Given && W.AfterBranch);
  W.AfterBranch = false;
  if (!Opens)
    return;
  wave(W, 'B');
  std::fprintf(File, "%" PRIx64 " %" PRIu64 " %" PRIx64 "\n", Pc - Entry, Clock, Exec);
}

void ExecutionLog::time(const MachineWave &W, uint64_t Pc, uint64_t Value, bool RealTime) {
  wave(W, RealTime ? 'R' : 'T');
  std::fprintf(File, "%" PRIx64 " %" PRIu64 "\n", Pc - Entry, Value);
}

void ExecutionLog::endWave(const MachineWave &W, uint64_t Clock) {
  wave(W, 'X');
  std::fprintf(File, "%" PRIu64 "\n", Clock);
}

} // namespace vgpu
