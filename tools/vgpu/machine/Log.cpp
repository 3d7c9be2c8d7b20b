//===- Log.cpp - Write the execution log ------------------------------------===//
#include "machine/Log.h"

#include "machine/Machine.h"

#include <algorithm>
#include <cerrno>
#include <cinttypes>
#include <cstdarg>
#include <cstdlib>
#include <cstring>

namespace vgpu {

/// Records are written when there are this many bytes of them.
constexpr size_t WriteBytes = 64 * 1024;

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

void ExecutionLog::findLeaders(LogSection &Section, CodeCache &Code) {
  std::vector<uint64_t> Todo{Section.Entry};
  std::unordered_set<uint64_t> Seen;
  while (!Todo.empty()) {
    uint64_t Pc = Todo.back();
    Todo.pop_back();
    Section.Leaders.insert(Pc);
    while (Seen.insert(Pc).second) {
      const Inst &I = Code.at(Pc);
      uint64_t Next = Pc + 4 * I.Size;
      if (I.Info->Class == OpClass::End || I.Info->Class == OpClass::Unknown)
        break;
      if (uint64_t Target = branchTarget(I)) {
        Todo.push_back(Target);
        if (std::strcmp(I.Info->Name, "s_branch") == 0)
          break;
        Section.Leaders.insert(Next);
      } else if (I.Info->Flags & OpBranch) {
        if (std::strcmp(I.Info->Name, "s_setpc_b64") == 0)
          break; // Targets are only known when it runs.
        Section.Leaders.insert(Next);
      }
      Pc = Next;
    }
  }
}

/// Writes what \p Section has if it is its turn, and then all that waited for it.
void ExecutionLog::write(LogSection &Section) {
  if (Open.front().get() != &Section)
    return;
  std::fwrite(Section.Text.data(), 1, Section.Text.size(), File);
  Section.Text.clear();
  while (!Open.empty() && Open.front()->Ended) {
    Open.pop_front();
    if (Open.empty())
      break;
    LogSection &Next = *Open.front();
    std::fwrite(Next.Text.data(), 1, Next.Text.size(), File);
    Next.Text.clear();
  }
}

void ExecutionLog::add(LogSection &Section, const char *Format, ...) {
  char Record[160];
  va_list Values;
  va_start(Values, Format);
  const int Length = std::vsnprintf(Record, sizeof Record, Format, Values);
  va_end(Values);
  Section.Text.append(Record, std::min<size_t>(size_t(Length), sizeof Record - 1));
  if (Section.Text.size() > WriteBytes)
    write(Section);
}

void ExecutionLog::beginDispatch(Dispatch &D, CodeCache &Code) {
  Open.push_back(std::make_shared<LogSection>());
  D.Log = Open.back();
  LogSection &Section = *D.Log;
  Section.Entry = D.Kernel.Entry;
  const std::string Kernel = D.kernelName();
  if (Given) {
    auto Found = GivenPcs.find(Kernel);
    if (Found != GivenPcs.end())
      for (uint64_t Pc : Found->second)
        Section.Leaders.insert(Section.Entry + Pc);
  } else {
    findLeaders(Section, Code);
  }
  Section.Name = std::to_string(D.Args->QueueId) + "." + std::to_string(D.Args->DispatchId);
  add(Section, "D %s %" PRIu32 " 0x%" PRIx64 " 0x%" PRIx64 " ", Section.Name.c_str(),
      D.Args->QueueId, reinterpret_cast<uint64_t>(D.Args->Packet), Section.Entry);
  Section.Text += Kernel + "\n"; // Of any length.
}

void ExecutionLog::endDispatch(Dispatch &D, const char *How) {
  if (!D.Log) { // It never began.
    Open.push_back(std::make_shared<LogSection>());
    D.Log = Open.back();
    D.Log->Name = std::to_string(D.Args->QueueId) + "." + std::to_string(D.Args->DispatchId);
  }
  add(*D.Log, "E %s %" PRIu64 " %s\n", D.Log->Name.c_str(), D.Result.Cycles, How);
  D.Log->Ended = true;
  write(*D.Log);
  std::fflush(File);
}

void ExecutionLog::wave(const MachineWave &W, char Kind) {
  add(*W.Parent->Log, "%c %s %u %u %u %u ", Kind, W.Parent->Log->Name.c_str(), W.Group->Id[0],
      W.Group->Id[1], W.Group->Id[2], W.Number);
}

void ExecutionLog::step(MachineWave &W, uint64_t Pc, uint64_t Exec, uint64_t Clock) {
  LogSection &Section = *W.Parent->Log;
  bool Opens = Section.Leaders.count(Pc) || (!Given && W.AfterBranch);
  W.AfterBranch = false;
  if (!Opens)
    return;
  wave(W, 'B');
  add(Section, "%" PRIx64 " %" PRIu64 " %" PRIx64 "\n", Pc - Section.Entry, Clock, Exec);
}

void ExecutionLog::time(const MachineWave &W, uint64_t Pc, uint64_t Value, bool RealTime) {
  LogSection &Section = *W.Parent->Log;
  wave(W, RealTime ? 'R' : 'T');
  add(Section, "%" PRIx64 " %" PRIu64 "\n", Pc - Section.Entry, Value);
}

void ExecutionLog::endWave(const MachineWave &W, uint64_t Clock) {
  wave(W, 'X');
  add(*W.Parent->Log, "%" PRIu64 "\n", Clock);
}

} // namespace vgpu
