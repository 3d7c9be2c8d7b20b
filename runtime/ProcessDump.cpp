// Opens the dump and says whose it is.
#include "ProcessDump.h"
#include "HostRecorder.h"
#include "WholeFile.h"

#include <pthread.h>
#include <sys/utsname.h>
#include <unistd.h>

namespace kprobe {

static ProcessDump *Only = nullptr;

ProcessDump *ProcessDump::get() { return Only; }

static std::string hostName() {
  char Name[256] = {};
  gethostname(Name, sizeof(Name) - 1);
  return Name;
}

// In the child of a fork nothing is written into the parent's file. If the
// child is traced too, it opens its own.
static void letGoInChild() {
  if (Only)
    Only->Writer.abandon();
  Only = nullptr;
}

ProcessDump *ProcessDump::open(const Config &Settings, std::string &Why) {
  if (Only)
    return Only;
  auto *Fresh = new ProcessDump;
  if (!Fresh->Writer.open(expandOutputName(Settings.Output, getpid(),
                                           hostName(), time(nullptr)),
                          Why) ||
      !Fresh->writeProcess(Why)) {
    delete Fresh;
    return nullptr;
  }
  static bool Registered = false;
  if (!Registered)
    pthread_atfork(nullptr, nullptr, letGoInChild);
  Registered = true;
  return Only = Fresh;
}

static uint64_t realtimeNs() {
  struct timespec Now;
  clock_gettime(CLOCK_REALTIME, &Now);
  return uint64_t(Now.tv_sec) * 1000000000ull + uint64_t(Now.tv_nsec);
}

// CLOCK_REALTIME between two readings of CLOCK_MONOTONIC; the pair with the
// least doubt: traces of other tools are merged by it.
static void readStart(KprobeProcessRecord &Record) {
  uint64_t Doubt = UINT64_MAX;
  for (int Attempt = 0; Attempt < 32; ++Attempt) {
    uint64_t Before = hostNowNs();
    uint64_t Real = realtimeNs();
    uint64_t Between = hostNowNs() - Before;
    if (Between >= Doubt)
      continue;
    Doubt = Between;
    Record.StartRealtimeNs = Real;
    Record.StartMonotonicNs = Before + Between / 2;
  }
}

bool ProcessDump::writeProcess(std::string &Why) {
  char Path[4096];
  ssize_t Length = readlink("/proc/self/exe", Path, sizeof(Path));
  std::string Executable(Path, Length > 0 ? size_t(Length) : 0);
  std::string Command;
  readWholeFile("/proc/self/cmdline", Command);
  if (!Command.empty() && Command.back() == '\0')
    Command.pop_back();
  std::string Version = KPROBE_RUNTIME_VERSION;
  KprobeProcessRecord Record = {};
  Record.Pid = uint64_t(getpid());
  Record.ParentPid = uint64_t(getppid());
  readStart(Record);
  // Calls of HIP came before ROCr loaded us: the trace begins with them.
  uint64_t First = HostRecorder::get().firstNs();
  if (First != 0 && First < Record.StartMonotonicNs) {
    Record.StartRealtimeNs -= Record.StartMonotonicNs - First;
    Record.StartMonotonicNs = First;
  }
  Record.ExecutableBytes = uint32_t(Executable.size());
  Record.CommandBytes = uint32_t(Command.size());
  Record.VersionBytes = uint32_t(Version.size());
  std::string Strings = Executable + Command + Version;
  DumpWriter::Part Parts[2] = {{&Record, sizeof(Record)},
                               {Strings.data(), Strings.size()}};
  return Writer.append(KPROBE_CHUNK_PROCESS, Parts, 2, &Why) &&
         writeMachine(Why);
}

bool ProcessDump::writeMachine(std::string &Why) {
  struct utsname Names = {};
  uname(&Names);
  std::string Host = Names.nodename;
  std::string System =
      std::string(Names.sysname) + " " + Names.release + " " + Names.machine;
  KprobeMachineRecord Record = {};
  // 32 digits with hyphens between them.
  size_t Digits = 0;
  std::string BootId;
  readWholeFile("/proc/sys/kernel/random/boot_id", BootId);
  for (char C : BootId) {
    int Value = C >= '0' && C <= '9'   ? C - '0'
                : C >= 'a' && C <= 'f' ? C - 'a' + 10
                                       : -1;
    if (Value >= 0 && Digits < 2 * sizeof(Record.BootId)) {
      Record.BootId[Digits / 2] |= uint8_t(Value << (Digits % 2 ? 0 : 4));
      ++Digits;
    }
  }
  Record.HostNameBytes = uint32_t(Host.size());
  Record.SystemBytes = uint32_t(System.size());
  std::string Strings = Host + System;
  DumpWriter::Part Parts[2] = {{&Record, sizeof(Record)},
                               {Strings.data(), Strings.size()}};
  return Writer.append(KPROBE_CHUNK_MACHINE, Parts, 2, &Why);
}

} // namespace kprobe
