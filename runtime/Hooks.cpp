// The tool's two entry points and the functions put into ROCr's API table.
//
// ROCr loads the library that HSA_TOOLS_LIB names inside hsa_init and calls
// OnLoad; it calls OnUnload inside the last hsa_shut_down, if the program ever
// gets there. The library stays in memory for good (nodelete), because ROCr,
// atexit and fork keep addresses in it.
#include "Guarded.h"
#include "HostDump.h"
#include "LinuxEvents.h"
#include "Log.h"
#include "Tracer.h"
#include "api/ApiCall.h"
#include "profile/Profile.h"

#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <dlfcn.h>
#include <new>
#include <pthread.h>
#include <unistd.h>
#include <utility>

using namespace kprobe;

namespace {

HsaApiTable *Table = nullptr;
// The functions as they were before us. Replaced only in OnLoad, which ROCr
// calls under its own start-up lock.
HsaApi Saved;

pid_t OwnPid = 0; // of the process that the dump is about

// What the environment said at the last loading.
const Config *Wishes = nullptr;
std::atomic<bool> Exiting{false}; // the process is

// The tracer of the present loading. OnLoad stores with release what hooks on
// any thread load with acquire; the object itself is never deleted.
std::atomic<Tracer *> Current{nullptr};

Tracer *activeTracer() {
  Tracer *Tool = Current.load(std::memory_order_acquire);
  return Tool && Tool->active() ? Tool : nullptr;
}

// ------------------------------------------------------------------- hooks

hsa_status_t
hookQueueCreate(hsa_agent_t Agent, uint32_t Size, hsa_queue_type32_t Type,
                void (*Callback)(hsa_status_t, hsa_queue_t *, void *),
                void *Data, uint32_t PrivateBytes, uint32_t GroupBytes,
                hsa_queue_t **Queue) {
  if (Tracer *Tool = activeTracer()) {
    try {
      return Tool->createQueue(Agent, Size, Type, Callback, Data, PrivateBytes,
                               GroupBytes, Queue);
    } catch (...) {
    }
  }
  return Saved.hsa_queue_create(Agent, Size, Type, Callback, Data, PrivateBytes,
                                GroupBytes, Queue);
}

hsa_status_t hookQueueDestroy(hsa_queue_t *Queue) {
  Tracer *Tool = activeTracer();
  std::shared_ptr<QueueState> State;
  if (Tool)
    guarded([&] { State = Tool->forgetQueue(Queue); });
  hsa_status_t Status = Saved.hsa_queue_destroy(Queue);
  if (State && Status == HSA_STATUS_SUCCESS)
    guarded([&] { Tool->queueDestroyed(*State); });
  return Status;
}

// The program may switch profiling off again; our time stamps need it on.
hsa_status_t hookSetProfiler(hsa_queue_t *Queue, int Enable) {
  if (!Enable)
    if (Tracer *Tool = activeTracer())
      if (Tool->ownsQueue(Queue))
        return HSA_STATUS_SUCCESS;
  return Saved.hsa_amd_profiling_set_profiler_enabled(Queue, Enable);
}

hsa_status_t hookReaderFromFile(hsa_file_t File,
                                hsa_code_object_reader_t *Reader) {
  hsa_status_t Status =
      Saved.hsa_code_object_reader_create_from_file(File, Reader);
  if (Status == HSA_STATUS_SUCCESS)
    if (Tracer *Tool = activeTracer())
      guarded([&] { Tool->readerCreatedFromFile(*Reader, File); });
  return Status;
}

hsa_status_t hookReaderFromMemory(const void *Elf, size_t Bytes,
                                  hsa_code_object_reader_t *Reader) {
  hsa_status_t Status =
      Saved.hsa_code_object_reader_create_from_memory(Elf, Bytes, Reader);
  if (Status == HSA_STATUS_SUCCESS)
    if (Tracer *Tool = activeTracer())
      guarded([&] { Tool->readerCreated(*Reader, Elf, Bytes); });
  return Status;
}

hsa_status_t hookReaderDestroy(hsa_code_object_reader_t Reader) {
  hsa_status_t Status = Saved.hsa_code_object_reader_destroy(Reader);
  if (Status == HSA_STATUS_SUCCESS)
    if (Tracer *Tool = activeTracer())
      guarded([&] { Tool->readerDestroyed(Reader); });
  return Status;
}

hsa_status_t hookLoadCodeObject(hsa_executable_t Executable, hsa_agent_t Agent,
                                hsa_code_object_reader_t Reader,
                                const char *Options,
                                hsa_loaded_code_object_t *Loaded) {
  hsa_status_t Status = Saved.hsa_executable_load_agent_code_object(
      Executable, Agent, Reader, Options, Loaded);
  if (Status == HSA_STATUS_SUCCESS)
    if (Tracer *Tool = activeTracer())
      guarded([&] { Tool->codeObjectLoaded(Executable, Agent, Reader); });
  return Status;
}

hsa_status_t hookFreeze(hsa_executable_t Executable, const char *Options) {
  hsa_status_t Status = Saved.hsa_executable_freeze(Executable, Options);
  if (Status == HSA_STATUS_SUCCESS)
    if (Tracer *Tool = activeTracer())
      guarded([&] { Tool->executableFrozen(Executable); });
  return Status;
}

// Before the original: afterwards another thread may get the same handle.
hsa_status_t hookExecutableDestroy(hsa_executable_t Executable) {
  if (Tracer *Tool = activeTracer())
    guarded([&] { Tool->executableDestroyed(Executable); });
  return Saved.hsa_executable_destroy(Executable);
}

#define KPROBE_HOOKS(F)                                                        \
  F(core_, hsa_queue_create, hookQueueCreate)                                  \
  F(core_, hsa_queue_destroy, hookQueueDestroy)                                \
  F(amd_ext_, hsa_amd_profiling_set_profiler_enabled, hookSetProfiler)         \
  F(core_, hsa_code_object_reader_create_from_file, hookReaderFromFile)        \
  F(core_, hsa_code_object_reader_create_from_memory, hookReaderFromMemory)    \
  F(core_, hsa_code_object_reader_destroy, hookReaderDestroy)                  \
  F(core_, hsa_executable_load_agent_code_object, hookLoadCodeObject)          \
  F(core_, hsa_executable_freeze, hookFreeze)                                  \
  F(core_, hsa_executable_destroy, hookExecutableDestroy)

void installHooks(HsaApiTable *To) {
#define KPROBE_INSTALL(Part, Name, Hook) To->Part->Name##_fn = Hook;
  KPROBE_HOOKS(KPROBE_INSTALL)
#undef KPROBE_INSTALL
}

// Only where our function still stands: a tool that was loaded after us and
// wrapped it must not lose its own.
void removeHooks(HsaApiTable *From) {
#define KPROBE_REMOVE(Part, Name, Hook)                                        \
  if (From->Part->Name##_fn == Hook)                                           \
    From->Part->Name##_fn = Saved.Name;
  KPROBE_HOOKS(KPROBE_REMOVE)
#undef KPROBE_REMOVE
}

// -------------------------------------------------------------- life cycle

void finishTracing(bool Unloading) {
  if (Tracer *Tool = Current.load(std::memory_order_acquire))
    guarded([&] { Tool->finish(Unloading); });
}

void finishAtExit() {
  Exiting.store(true, std::memory_order_relaxed);
  finishTracing(false);
}

// The program has closed ROCr and lives on: what it does without is worth having
// too, and it may open ROCr again.
void writeOnWithoutRocr() {
  const Tracer *Tool = Current.load(std::memory_order_acquire);
  if (!Tool || !Tool->ended() || getpid() != OwnPid ||
      Exiting.load(std::memory_order_relaxed))
    return;
  if (Wishes->ApiHip || Wishes->Sched ||
      Wishes->Profile.What != ProfileWish::Off)
    startHostDump(*Wishes);
}

// ROCr's news of a memory fault, before it ends the process. The answer means
// that the event was not dealt with: all goes on as without us.
hsa_status_t onSystemEvent(const hsa_amd_event_t *Event, void *) {
  if (Tracer *Tool = activeTracer())
    guarded([&] {
      if (Event->event_type == HSA_AMD_GPU_MEMORY_FAULT_EVENT) {
        char Text[64];
        snprintf(Text, sizeof(Text), "memory fault of the device at 0x%llx",
                 static_cast<unsigned long long>(
                     Event->memory_fault.virtual_address));
        Tool->deviceFailed(Text);
      }
    });
  return HSA_STATUS_ERROR;
}

// In the child of a fork the drain thread does not exist and locks may be held
// for ever: everything passes through from here on.
void letGoInChild() {
  if (Tracer *Tool = Current.load(std::memory_order_acquire))
    Tool->letGo();
  MemoryMap::letGo();
}

// libkprobe-exit.so, where it stands before the program's libraries, knows of ends on
// which no exit handler runs.
void announceToExits() {
  if (void *Word = dlsym(RTLD_DEFAULT, "kprobe_at_end"))
    static_cast<std::atomic<void (*)()> *>(Word)->store(
        &flushBeforeEnd, std::memory_order_release);
}

// Is a hook of another copy of this library in the table? Both copies would
// swap the same packets.
bool otherCopyLoaded(const HsaApi &Api, std::string &Path) {
  Dl_info Ours;
  Dl_info Theirs;
  if (!dladdr(reinterpret_cast<void *>(&hookFreeze), &Ours))
    return false;
  auto BaseName = [](const char *Name) {
    std::string Text = Name ? Name : "";
    return Text.substr(Text.rfind('/') + 1);
  };
  for (void *Function : {reinterpret_cast<void *>(Api.hsa_queue_create),
                         reinterpret_cast<void *>(Api.hsa_executable_freeze),
                         reinterpret_cast<void *>(Api.hsa_queue_destroy)})
    if (dladdr(Function, &Theirs) && Theirs.dli_fbase != Ours.dli_fbase &&
        BaseName(Theirs.dli_fname) == "libkprobe-runtime.so") {
      Path = Theirs.dli_fname;
      return true;
    }
  return false;
}

void load(HsaApiTable *NewTable, uint64_t FailedCount,
          const char *const *FailedNames) {
  Config Settings;
  std::string Why;
  auto Environment = [](const char *Name) -> const char * {
    return getenv(Name);
  };
  if (!readConfig(Environment, Settings, Why)) {
    logError(Why + "; tracing is off");
    return;
  }
  if (Settings.Disabled)
    return;
  // Until the end is reached: whatever goes wrong, nobody will read the rings.
  struct Silence {
    bool Armed = true;
    ~Silence() {
      if (Armed)
        HostRecorder::get().stop();
    }
  } Unless;
  if (activeTracer()) {
    Unless.Armed = false;
    logWarning("loaded a second time; the first loading stays in charge");
    return;
  }
  HsaApi Api;
  if (!readApiTable(NewTable, Api, Why)) {
    logError(Why + "; tracing is off");
    return;
  }
  std::string Path;
  if (otherCopyLoaded(Api, Path)) {
    logWarning("another copy is at work already (" + Path +
               "); this one does nothing");
    return;
  }
  handOverHostDump();
  ProcessDump *Dump = ProcessDump::open(Settings, Why);
  if (!Dump) {
    logError(Why + "; tracing is off");
    return;
  }
  bool First = OwnPid == 0;
  OwnPid = getpid();
  if (First) {
    std::atexit(finishAtExit);
    at_quick_exit(finishAtExit);
    announceToExits();
    pthread_atfork(nullptr, nullptr, letGoInChild);
  }
  if (Settings.Sched)
    LinuxEvents::get().start();
  auto *Tool = new Tracer(Api, Settings, *Dump);
  if (!Tool->start()) {
    logError("cannot start a thread; tracing is off");
    return;
  }
  Saved = Api;
  Table = NewTable;
  delete std::exchange(Wishes, new Config(Settings));
  Unless.Armed = false;
  Current.store(Tool, std::memory_order_release);
  installHooks(NewTable);
  if (Settings.ApiHip || Settings.ApiHsa) {
    HostRecorder::get().start(Settings);
    Tool->resources().install(NewTable);
  }
  if (Settings.Mode == KPROBE_MODE_EXACT)
    Tool->memory().install(NewTable);
  // Around the hooks: what we call goes past the table and is not recorded.
  if (Settings.ApiHsa) {
    HostRecorder::get().add(hsaApiTable(), Settings);
    installHsaWrappers(NewTable);
  }
  if (Api.hsa_amd_register_system_event_handler)
    Api.hsa_amd_register_system_event_handler(onSystemEvent, nullptr);
  for (uint64_t I = 0; Settings.Verbose && I < FailedCount; ++I)
    if (FailedNames && FailedNames[I])
      logNote(std::string("tool that did not load: ") + FailedNames[I]);
}

} // namespace

#define KPROBE_EXPORT extern "C" __attribute__((visibility("default")))

// True even when tracing is off: ROCr 5.2 unloads a tool that says false and
// then still calls into it at the end.
KPROBE_EXPORT bool OnLoad(HsaApiTable *NewTable, uint64_t /*Version*/,
                          uint64_t FailedCount,
                          const char *const *FailedNames) {
  guarded([&] { load(NewTable, FailedCount, FailedNames); });
  return true;
}

// In the child of vfork, which shares our memory, the process is another one.
KPROBE_API_EXPORT void kprobe::flushBeforeEnd() {
  pauseProfile();
  if (Tracer *Tool = Current.load(std::memory_order_acquire))
    if (getpid() == OwnPid)
      guarded([&] { Tool->flush(); });
  flushHostDump();
}

KPROBE_EXPORT void OnUnload() {
  finishTracing(true);
  if (Table) {
    removeHsaWrappers(Table);
    MemoryMap::remove(Table);
    Resources::remove(Table);
    removeHooks(Table);
    Table = nullptr;
    guarded(writeOnWithoutRocr);
  }
}
