// One walk over the time line, then each dispatch at its place.
#include "Flame.h"

#include "Names.h"

namespace kprobe {
namespace {

std::string baseName(std::string_view Path) {
  return std::string(Path.substr(Path.rfind('/') + 1));
}

} // namespace

uint32_t Flame::intern(const Frame &F) {
  auto [Place, New] =
      Numbers.try_emplace(F, static_cast<uint32_t>(Frames.size()));
  if (New)
    Frames.push_back(F);
  return Place->second;
}

/// Lines of Python are always told apart: they are what a programmer of Python
/// looks for.
uint32_t Flame::intern(const kprobe::Frame &F) {
  if (!F.Python && !Wanted.Lines)
    return intern(Frame{F.Name, "", 0});
  std::string Place =
      F.File.empty() ? ""
                     : " (" + baseName(F.File) + ":" + std::to_string(F.Line) + ")";
  return intern(Frame{F.Name + Place, F.File, F.Line});
}

/// What is remembered while walking one dump.
class Flame::Walk {
public:
  Walk(Flame &Out, const Trace &T) : Out(Out), T(T), Reader(T, Names) {}

  void item(const TimelineItem &I) {
    switch (I.What) {
    case TimelineItem::Kind::CallBegin:
      Calls[I.Host->Event.Head.Call] = {
          I.Host->Event.as<KprobeCallBegin>().Parent,
          T.functionOf(I.Host->Event.Head)->Name};
      break;
    case TimelineItem::Kind::Host: {
      HostStack S;
      if (Reader.read(*I.Host->Thread, I.Host->Event, S))
        stack(*I.Host->Thread, S);
      break;
    }
    case TimelineItem::Kind::KernelBegin:
      Runs[I.Owner].Ns = I.EndNs - I.Ns;
      break;
    case TimelineItem::Kind::Block:
      Runs[I.Owner].Blocks[siteOfTime(I)] +=
          static_cast<double>(I.Block->EndNs - I.Block->BeginNs);
      break;
    default:
      break;
    }
  }

  void finish() {
    for (const auto &[D, R] : Runs)
      Out.addRun(*D, R, below(*D));
    Out.Broken += Reader.brokenStacks();
    for (const std::string &Problem : Reader.symbols().problems())
      Out.Problems.insert(Problem);
  }

private:
  struct Call {
    uint64_t Parent;
    std::string Name;
  };

  Path threadPath(uint32_t Number) {
    auto Found = T.Threads.find(Number);
    std::string Name = "thread " + std::to_string(Number);
    if (Found != T.Threads.end())
      Name = (Found->second.Name.empty() ? "thread" : Found->second.Name) + " (" +
             std::to_string(Found->second.Record.ThreadId) + ")";
    return {Out.intern(Frame{Name, "", 0})};
  }

  void stack(const HostThread &Thread, const HostStack &S) {
    Path Start = S.Emulation ? Path{Out.intern(Frame{"virtual GPU", "", 0})}
                             : threadPath(Thread.Record.Thread);
    if (S.Kind != KPROBE_HOST_STACK_SUBMIT)
      return Out.addStack(Start, S, Names);
    for (uint32_t F : S.Frames)
      Start.push_back(Out.intern(Names[F]));
    Submitted[S.Weight] = Start;
  }

  /// Where the kernel of \p D hangs.
  Path below(const Dispatch &D) {
    auto Stack = Submitted.find(D.Record.Dispatch);
    if (Stack != Submitted.end())
      return Stack->second;
    const Cause *Found = T.causeOf(D.Record.Dispatch);
    if (!Found)
      return {Out.intern(Frame{"thread " + std::to_string(D.Record.ThreadId),
                               "", 0})};
    std::vector<std::string> Names;
    for (uint64_t Call = Found->Call; Calls.count(Call);
         Call = Calls[Call].Parent)
      Names.push_back(Calls[Call].Name);
    Path P = threadPath(Found->Thread);
    for (auto Name = Names.rbegin(); Name != Names.rend(); ++Name)
      P.push_back(Out.intern(Frame{*Name, "", 0}));
    return P;
  }

  Flame &Out;
  const Trace &T;
  FrameNames Names;
  StackReader Reader;
  std::unordered_map<uint64_t, Call> Calls;     ///< by number
  std::unordered_map<uint64_t, Path> Submitted; ///< by dispatch
  std::unordered_map<const Dispatch *, Run> Runs;
};

void Flame::addStack(const Path &Thread, const HostStack &S,
                     const FrameNames &Names) {
  bool Wait = S.Kind == KPROBE_HOST_STACK_WAIT;
  if (Wait ? !Wanted.Waits : !Wanted.Samples)
    return;
  if (S.Unit != KPROBE_UNIT_NS) {
    // Cycles and nanoseconds have no common sum.
    if (Wanted.Waits || Wanted.Kernels) {
      Problems.insert("samples count cycles or instructions, not time: they "
                      "are left out; --of samples shows them alone");
      return;
    }
  }
  Path P = Thread;
  if (S.Broken)
    P.push_back(intern(Frame{"(broken stack)", "", 0}));
  for (uint32_t F : S.Frames)
    P.push_back(intern(Names[F]));
  if (Wait)
    P.push_back(
        intern(Frame{S.Preempted ? "(preempted)" : "(waiting)", "", 0}));
  Stacks[P] += static_cast<double>(S.Weight);
}

void Flame::addRun(const Dispatch &D, const Run &R, Path Below) {
  if (!Wanted.Kernels)
    return;
  Below.push_back(intern(
      Frame{(D.Where->isVirtual() ? "[virtual GPU] " : "[GPU] ") + kernelName(D),
            "", 0}));
  double Sum = 0;
  for (const auto &[Site, Ns] : R.Blocks)
    Sum += Ns;
  if (Sum <= 0) {
    Stacks[Below] += static_cast<double>(R.Ns);
    return;
  }
  // Without times of the kernel: what its waves add up to.
  double Scale = R.Ns > 0 ? static_cast<double>(R.Ns) / Sum : 1;
  const SiteTable &Table = *D.Table;
  for (const auto &[Site, Ns] : R.Blocks) {
    if (Site == UnknownSite) {
      Path P = Below;
      P.push_back(intern(Frame{blockLabel(Table, Site), "", 0}));
      Stacks[P] += Ns * Scale;
      continue;
    }
    const KprobeSiteRecord &S = Table.sites()[Site];
    Path P = Below;
    for (uint32_t I = S.FrameCount; I-- > 0;) {
      const KprobeFrameRecord &F = Table.frames()[S.FirstFrame + I];
      std::string File(Table.string(F.File));
      P.push_back(intern(Frame{demangle(Table.string(F.Function)) + " (" +
                                   baseName(File) + ":" +
                                   std::to_string(F.Line) + ")",
                               File, F.Line}));
    }
    std::string File(Table.string(S.File)), Place;
    if (!File.empty())
      Place = " (" + baseName(File) + ":" + std::to_string(S.Line) + ")";
    P.push_back(intern(Frame{blockName(Table, Site) + Place, File, S.Line}));
    Stacks[P] += Ns * Scale;
  }
}

Error Flame::add(Timeline &Input) {
  Walk W(*this, Input.trace());
  TimelineItem Item;
  for (bool Done = false; !Done;) {
    if (Error E = Input.next(Item, Done))
      return E;
    if (!Done)
      W.item(Item);
  }
  W.finish();
  return Error::success();
}

} // namespace kprobe
