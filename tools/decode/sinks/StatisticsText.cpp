// The statistics tables on a terminal.
#include "StatisticsReport.h"

#include "AgentClocks.h"
#include "Names.h"
#include "TextTable.h"

#include <cstdarg>
#include <cstdio>
#include <cstdlib>

namespace kprobe {
namespace {

std::string format(const char *Pattern, ...) {
  char Text[512];
  va_list List;
  va_start(List, Pattern);
  std::vsnprintf(Text, sizeof(Text), Pattern, List);
  va_end(List);
  return Text;
}

std::string num(uint64_t Value) { return std::to_string(Value); }

std::string clockText(const Agent &A) {
  ClockFit Fit = deviceClock(A);
  std::string Head = "clock of agent " + num(A.Record.Agent) + ": ";
  if (Fit.quality() == ClockFit::Quality::None)
    return Head + "no readings of the device counter\n";
  std::string Text = Head + num(Fit.readings()) + " readings, ";
  if (Fit.rateRejected())
    Text += "they contradict the stated frequency, which is used";
  else if (Fit.quality() == ClockFit::Quality::Nominal)
    Text += "stated frequency used";
  else
    Text += format("rate %+.3f ppm of the stated one, residual at most %.0f "
                   "ns, rms %.0f ns",
                   Fit.ratePpm(), Fit.residualMaxNs(), Fit.residualRmsNs());
  if (Fit.jumps() != 0)
    Text +=
        ", " + num(Fit.jumps()) +
        (Fit.jumps() == 1 ? " jump of " : " jumps of up to ") +
        (Fit.largestJumpNs() < 0 ? "-" : "") +
        durationText(static_cast<uint64_t>(std::llabs(Fit.largestJumpNs())));
  if (Fit.leftOut() != 0)
    Text += ", " + num(Fit.leftOut()) + " left out";
  if (Fit.reversed() != 0)
    Text += ", " + num(Fit.reversed()) + " went back in time";
  return Text + "\n";
}

std::string headerText(const Trace &T) {
  std::string Text;
  if (T.Owner) {
    const Process &P = *T.Owner;
    Text += "process " + num(P.Record.Pid) + ": " + P.Command + "\n  started " +
            dateText(P.Record.StartRealtimeNs) + ", traced by " + P.Version +
            "\n";
  }
  for (const auto &[Number, A] : T.Agents) {
    Text += "agent " + num(Number) + ": " + A.Target;
    if (!A.Name.empty())
      Text += " \"" + A.Name + "\"";
    Text += ", " + num(A.Record.ComputeUnits) + " compute units, ticks at " +
            frequencyText(A.Record.TickHz);
    if (A.Record.CycleHz != 0)
      Text += ", cycles nominally at " + frequencyText(A.Record.CycleHz);
    if (A.isVirtual())
      Text += ", virtual: all times are modelled";
    Text += "\n";
  }
  for (const std::string &M : T.Messages)
    Text += "message: " + M + "\n";
  return Text;
}

std::string percentOf(uint64_t Part, uint64_t Whole) {
  return Whole == 0 ? "-"
                    : format("%.1f%%", 100.0 * static_cast<double>(Part) /
                                           static_cast<double>(Whole));
}

/// The nearest rank, as in Histogram.
uint64_t percentile(const std::vector<uint64_t> &Sorted, unsigned Permille) {
  uint64_t Rank = (Sorted.size() * Permille + 999) / 1000;
  return Sorted[Rank == 0 ? 0 : Rank - 1];
}

std::string kernelTable(const Statistics &S) {
  TextTable Table({{"kernel", TextTable::Left},
                   {"dispatches", TextTable::Right},
                   {"traced", TextTable::Right},
                   {"waves", TextTable::Right},
                   {"events", TextTable::Right},
                   {"lost", TextTable::Right},
                   {"total", TextTable::Right},
                   {"median", TextTable::Right},
                   {"p99", TextTable::Right},
                   {"", TextTable::Left}});
  for (const auto &K : S.kernels()) {
    bool Timed = !K->TimesNs.empty();
    Table.row({shorten(K->Name, 60), num(K->Dispatches),
               num(K->DispatchesByStatus[KPROBE_DISPATCH_TRACED]),
               num(K->Waves.traced()), num(K->Events.Kept),
               num(K->Events.lost()), Timed ? durationText(K->TotalNs) : "-",
               Timed ? durationText(percentile(K->TimesNs, 500)) : "-",
               Timed ? durationText(percentile(K->TimesNs, 990)) : "-",
               K->Virtual ? "modelled" : ""});
  }
  return Table.text();
}

/// "1 in 64 waves", "1 in 2 to 1 in 8 workgroups"; "" for all.
std::string rateText(const SampleRates &Rates, const char *Unit) {
  if (Rates.Least > Rates.Most || Rates.Most == 0)
    return "";
  std::string Text = "1 in " + num(uint64_t(1) << (Rates.Least & 63));
  if (Rates.Least != Rates.Most)
    Text += " to 1 in " + num(uint64_t(1) << (Rates.Most & 63));
  return Text + " " + Unit;
}

/// Nothing where all is as usual.
std::string modesText(const KernelStatistics &K) {
  std::string Text;
  auto Line = [&](uint64_t Count, const std::string &What) {
    Text += "mode: " + shorten(K.Name, 60) + ": " + num(Count) +
            (Count == 1 ? " dispatch " : " dispatches ") + What + "\n";
  };
  for (const auto &[Mode, Count] : K.Modes)
    if (Mode != KPROBE_MODE_RING)
      Line(Count, "in mode " + modeText(Mode));
  for (const auto &[Why, Count] : K.Refusals)
    Line(Count, refusedModeText(Why));
  return Text;
}

std::string samplingText(const KernelStatistics &K) {
  std::string Rate = rateText(K.GroupRates, "workgroups");
  std::string Waves = rateText(K.WaveRates, "waves");
  Rate += (Rate.empty() || Waves.empty() ? "" : ", of these ") + Waves;
  return Rate.empty() ? Rate
                      : "sampled: " + shorten(K.Name, 60) + ": " + Rate + ", " +
                            num(K.Waves.Slots) + " of " + num(K.Waves.InGrid) +
                            " waves\n";
}

std::string apiTable(const Statistics &S) {
  TextTable Table({{"API", TextTable::Left},
                   {"call", TextTable::Left},
                   {"calls", TextTable::Right},
                   {"open", TextTable::Right},
                   {"total", TextTable::Right},
                   {"median", TextTable::Right},
                   {"max", TextTable::Right},
                   {"failed", TextTable::Right}});
  for (const FunctionStatistics *F : S.api().functions()) {
    bool Timed = F->Ended != 0;
    Table.row({F->Api, F->Name, num(F->Calls), num(F->Calls - F->Ended),
               Timed ? durationText(F->TotalNs) : "-",
               Timed ? durationText(F->medianNs()) : "-",
               Timed ? durationText(F->MaxNs) : "-", num(F->Failed)});
  }
  return Table.text();
}

std::string blockTable(const KernelStatistics &K, uint64_t Top) {
  const SiteTable &T = *K.Table;
  const char *Unit =
      T.header().EventClock == KPROBE_EVENT_CLOCK_TICKS ? "ticks" : "cycles";
  TextTable Table({{"site", TextTable::Right},
                   {"hits", TextTable::Right},
                   {"lanes", TextTable::Right},
                   {Unit, TextTable::Right},
                   {"min", TextTable::Right},
                   {"median", TextTable::Right},
                   {"p99", TextTable::Right},
                   {"max", TextTable::Right},
                   {"share", TextTable::Right},
                   {"loop", TextTable::Right},
                   {"source", TextTable::Left},
                   {"block", TextTable::Left}});
  bool Debug = false;
  std::vector<uint32_t> Order = sitesByShare(K);
  size_t Shown = Top != 0 && Top < Order.size() ? Top : Order.size();
  for (size_t I = 0; I < Shown; ++I) {
    const SiteStatistics &S = K.Sites[Order[I]];
    uint32_t Site = K.Kernel->FirstSite + Order[I];
    const KprobeSiteRecord &R = T.sites()[Site];
    std::string Source = sourceText(T, R);
    Debug |= !Source.empty();
    bool Timed = S.Timed != 0;
    Table.row({num(Site), num(S.Hits),
               format("%.1f", static_cast<double>(S.Lanes) /
                                  static_cast<double>(S.Hits)),
               Timed ? num(S.Cycles) : "-", Timed ? num(S.Min) : "-",
               Timed ? num(S.percentile(500)) : "-",
               Timed ? num(S.percentile(990)) : "-", Timed ? num(S.Max) : "-",
               percentOf(S.Cycles, K.BlockCycles), num(R.LoopDepth),
               Source.empty() ? "-" : Source, blockName(T, Site)});
  }
  std::string Text = Table.text();
  if (Shown < Order.size())
    Text += "blocks not shown: " + num(Order.size() - Shown) + "\n";
  if (size_t Never = K.Sites.size() - Order.size())
    Text += "blocks that never ran: " + num(Never) + "\n";
  if (!Debug)
    Text += "no debug information: build with -gline-tables-only to see source "
            "lines\n";
  return Text;
}

/// What the clone takes beside the original, and what its probes cost.
std::string costText(const KernelStatistics &K) {
  if (!K.Resources)
    return "";
  const KprobeKernelNeeds &A = K.Resources->Original, &B = K.Resources->Clone;
  auto Pair = [](uint64_t Before, uint64_t After) {
    return num(Before) + " > " + num(After);
  };
  std::string Text = "original > clone: VGPRs " + Pair(A.Vgprs, B.Vgprs) +
                     ", SGPRs " + Pair(A.Sgprs, B.Sgprs) + ", LDS " +
                     Pair(A.LdsBytes, B.LdsBytes) + " bytes, scratch " +
                     Pair(A.ScratchBytes, B.ScratchBytes) + " bytes";
  auto Before = K.occupancy(A), After = K.occupancy(B);
  if (Before && After)
    Text += ", waves a SIMD " + Pair(*Before, *After);
  if (A.CodeBytes != 0 && B.CodeBytes != 0)
    Text += ", code " + Pair(A.CodeBytes, B.CodeBytes) + " bytes";
  Text += "\nperturbation: ";
  if (std::optional<double> Share = K.probeShare())
    Text += format("probes issue in at least %.1f%% of the waves' cycles; ",
                   100 * *Share);
  if (const auto &C = K.Compared; C && C->PlainNs != 0)
    Text += format("with probes the kernel takes %.3f times as long (medians "
                   "of %s and %s dispatches)\n",
                   static_cast<double>(C->ProbedNs) /
                       static_cast<double>(C->PlainNs),
                   num(C->Probed).c_str(), num(C->Plain).c_str());
  else
    Text += "no dispatch of the same grid ran without probes (--every 2)\n";
  return Text;
}

} // namespace

std::string statisticsText(const Statistics &S, const ReportOptions &Options) {
  std::string Text;
  for (const auto &T : S.traces())
    Text += headerText(*T);
  if (!S.api().functions().empty())
    Text += "\n" + apiTable(S);
  if (!S.kernels().empty())
    Text += "\n" + kernelTable(S);
  for (const auto &K : S.kernels())
    Text += samplingText(*K) + modesText(*K);
  for (const auto &K : S.kernels()) {
    if (K->Events.Kept == 0 || !K->Table)
      continue;
    Text += "\nkernel " + K->Name + "\n" + costText(*K) +
            blockTable(*K, Options.Top);
  }
  Text += "\n";
  std::vector<Loss> Losses = lossesOf(S);
  for (const Loss &L : Losses)
    Text += "lost: " + L.Text + ": " + num(L.Count) + "\n";
  if (Losses.empty())
    Text += "lost: nothing\n";
  for (const auto &T : S.traces())
    for (const auto &[Number, A] : T->Agents)
      Text += clockText(A);
  return Text;
}

} // namespace kprobe
