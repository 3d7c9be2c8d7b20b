// Opening dumps, choosing a thread, and finding the ends of its path.
#include "PathInput.h"

#include "KernelTrace.h"
#include "TimeOption.h"

#include <algorithm>
#include <cctype>
#include <cstring>

namespace kprobe {

std::string parsePathEnd(const std::string &Text, PathEnd &Out) {
  Out = PathEnd();
  Out.Given = true;
  if (parseTime(Text, Out.AfterNs))
    return "";
  size_t Sign = Text.find('#');
  Out.Call = Text.substr(0, Sign);
  bool Good = !Out.Call.empty() && !std::isdigit((unsigned char)Text[0]) &&
              std::all_of(Out.Call.begin(), Out.Call.end(), [](unsigned char C) {
                return std::isalnum(C) || C == '_';
              });
  if (Good && Sign != std::string::npos) {
    std::string Number = Text.substr(Sign + 1);
    Good = !Number.empty() && Number.size() < 19 &&
           std::all_of(Number.begin(), Number.end(),
                       [](unsigned char C) { return std::isdigit(C); });
    Out.Number = Good ? std::stoull(Number) : 0;
    Good = Good && Out.Number != 0;
  }
  return Good ? ""
              : "'" + Text + "' is neither a time (1.5, 200ms, 3us, 10ns) nor a "
                             "call (hipMemcpy, hipMemcpy#3)";
}

Error PathInput::read(const std::vector<std::string> &Files,
                      const std::string &KernelTrace) {
  const Machine *First = nullptr;
  for (const std::string &File : Files) {
    auto D = std::make_unique<Dump>();
    D->File = File;
    Error E = D->Source.open(File);
    if (!E)
      E = D->Source.rewind(); // a pipe fails here
    if (!E)
      E = D->Input.open(D->Source);
    if (E)
      Faults.push_back({File, E.text()});
    const Trace &T = D->Input.trace();
    if (!T.Owner)
      continue;
    // Clocks of two machines, or of two boots, have nothing in common.
    const Machine *Where = T.Where ? &*T.Where : nullptr;
    if (First && Where &&
        std::memcmp(First->Record.BootId, Where->Record.BootId,
                    sizeof(Where->Record.BootId)) != 0)
      return Error::plain(File + " is of another machine or boot than " +
                          Files.front());
    if (!First)
      First = Where;
    D->Reader = std::make_unique<StackReader>(T, Names);
    Dumps.push_back(std::move(D));
  }
  std::vector<ActivityInput> Inputs;
  for (const auto &D : Dumps)
    Inputs.push_back({D->Input, *D->Reader});
  std::vector<KernelRecord> Kernel;
  if (!KernelTrace.empty() && !Dumps.empty()) {
    KernelTraceWish Known;
    const Timeline &Main = Dumps.front()->Input;
    Known.Where = Main.trace().Where;
    Known.RealtimeOffsetNs = Main.realtimeNs(0);
    for (const auto &D : Dumps) {
      const Trace &T = D->Input.trace();
      const auto Process = uint32_t(T.Owner->Record.Pid);
      Known.Processes[Process] = Process;
      for (const auto &[Number, H] : T.Threads)
        if (!H.isProcessor())
          Known.Processes[H.Record.ThreadId] = Process;
    }
    if (Error E = readKernelTrace(KernelTrace, Known, Kernel))
      return Error::plain(KernelTrace + ": " + E.text());
  }
  gatherActivity(Inputs, Names, KernelTrace.empty() ? nullptr : &Kernel, A);
  for (size_t I = 0; I < Inputs.size(); ++I)
    if (Inputs[I].Fault)
      Faults.push_back({Dumps[I]->File, Inputs[I].Fault.text()});
  return Error::success();
}

const ThreadActivity *PathInput::choose(const std::string &Wish) const {
  const uint64_t Main = Dumps.front()->Input.trace().Owner->Record.Pid;
  const ThreadActivity *Best = nullptr;
  for (const auto &[Id, Each] : A.Threads) {
    if (Each.First > Each.Last || Each.Emulation)
      continue;
    if (!Wish.empty()) {
      if (Wish == std::to_string(Id) || Wish == Each.Name)
        return &Each;
      continue;
    }
    if (Id == Main)
      return &Each;
    bool Own = Each.Process == Main;
    if (Own &&
        (!Best || Each.Last - Each.First > Best->Last - Best->First))
      Best = &Each;
  }
  return Best;
}

Error PathInput::find(const PathEnd &End, bool IsTo, const std::string &Thread,
                      const ApiCallSpan *&Call) const {
  const ThreadActivity *Only = Thread.empty() ? nullptr : choose(Thread);
  uint64_t Count = 0;
  for (const ApiCallSpan &Each : A.Calls.at(End.Call)) {
    if (Only && Each.Thread != Only->Id)
      continue;
    ++Count;
    bool Better = End.Number != 0 ? Count == End.Number
                  : IsTo          ? !Call || Each.End >= Call->End
                                  : !Call;
    if (Better)
      Call = &Each;
  }
  if (Call)
    return Error::success();
  std::string Who = Only ? "thread '" + Thread + "'" : "the program";
  return Error::plain(
      Count == 0 ? Who + " has no recorded call of " + End.Call
                 : Who + " has only " + std::to_string(Count) +
                       " recorded calls of " + End.Call);
}

Error PathInput::open(const std::vector<std::string> &Files,
                      const PathWish &Wish) {
  for (const PathEnd *End : {&Wish.From, &Wish.To})
    if (!End->Call.empty())
      A.Calls[End->Call];
  if (Error E = read(Files, Wish.KernelTrace))
    return E;
  if (Dumps.empty())
    return Error::plain("there is no dump");
  BeginNs = Dumps.front()->Input.beginNs();
  const ThreadActivity *Chosen = choose(Wish.Thread);
  if (!Chosen && !Wish.Thread.empty())
    return Error::plain("no thread is called '" + Wish.Thread + "'");
  const ApiCallSpan *First = nullptr, *Last = nullptr;
  if (!Wish.From.Call.empty())
    if (Error E = find(Wish.From, false, Wish.Thread, First))
      return E;
  if (!Wish.To.Call.empty()) {
    if (Error E = find(Wish.To, true, Wish.Thread, Last))
      return E;
    Chosen = &A.Threads.at(Last->Thread);
  }
  if (!Chosen)
    return Error::plain(
        "no thread has any event (record with --api, --profile or --sched)");
  Thread = Chosen->Id;
  FromNs = Chosen->First;
  ToNs = Chosen->Last;
  // A path may lead back to what its thread's parent did before it was there.
  if (Wish.From.Given)
    FromNs = std::max(BeginNs, First ? First->Begin
                                     : BeginNs + Wish.From.AfterNs);
  else
    for (const auto &[Id, Each] : A.Threads)
      if (Each.First <= Each.Last && Id == Chosen->Parent)
        FromNs = std::min(FromNs, Each.First);
  if (Wish.To.Given)
    ToNs = std::min(ToNs, Last ? Last->End : BeginNs + Wish.To.AfterNs);
  return FromNs < ToNs ? Error::success()
                       : Error::plain("the path ends before it begins");
}

PathReport PathInput::report() const {
  return {A, Names, Thread, BeginNs,
          criticalPath(A, Dumps.front()->Input.trace(), Names, Thread, FromNs,
                       ToNs)};
}

std::set<std::string> PathInput::problems() const {
  std::set<std::string> All;
  for (const auto &D : Dumps)
    All.insert(D->Reader->symbols().problems().begin(),
               D->Reader->symbols().problems().end());
  return All;
}

Error readCriticalPath(const std::vector<std::string> &Files,
                       const PathWish &Wish, PathTrack &Out) {
  PathInput P;
  if (Error E = P.open(Files, Wish))
    return E;
  Out = criticalPathTrack(P.report());
  return Error::success();
}

} // namespace kprobe
