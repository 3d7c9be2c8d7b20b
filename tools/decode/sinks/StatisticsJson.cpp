// The statistics as one JSON object. Times are integers in the unit that the
// key names; what is not known is null.
#include "StatisticsReport.h"

#include "AgentClocks.h"
#include "Names.h"

#include <nlohmann/json.hpp>

namespace kprobe {
namespace {

using Json = nlohmann::ordered_json;

Json clockJson(const Agent &A) {
  ClockFit Fit = deviceClock(A);
  Json J;
  J["readings"] = Fit.readings();
  J["reversed"] = Fit.reversed();
  if (Fit.quality() == ClockFit::Quality::None)
    return J;
  J["fitted"] = Fit.quality() == ClockFit::Quality::Fitted;
  J["offset_ns"] = Fit.offsetNs();
  J["rate_ppm"] = Fit.ratePpm();
  J["rate_rejected"] = Fit.rateRejected();
  J["residual_max_ns"] = Fit.residualMaxNs();
  J["residual_rms_ns"] = Fit.residualRmsNs();
  J["jumps"] = Fit.jumps();
  J["largest_jump_ns"] = Fit.largestJumpNs();
  J["left_out"] = Fit.leftOut();
  return J;
}

Json processJson(const Trace &T) {
  Json J;
  if (T.Owner) {
    const Process &P = *T.Owner;
    J["pid"] = P.Record.Pid;
    J["executable"] = P.Executable;
    J["command"] = P.Command;
    J["runtime"] = P.Version;
    J["start_realtime_ns"] = P.Record.StartRealtimeNs;
    J["start_monotonic_ns"] = P.Record.StartMonotonicNs;
  }
  J["complete"] = T.Summary.has_value();
  J["agents"] = Json::array();
  for (const auto &[Number, A] : T.Agents)
    J["agents"].push_back({{"agent", Number},
                           {"target", A.Target},
                           {"name", A.Name},
                           {"modelled", A.isVirtual()},
                           {"tick_hz", A.Record.TickHz},
                           {"cycle_hz", A.Record.CycleHz},
                           {"compute_units", A.Record.ComputeUnits},
                           {"clock", clockJson(A)}});
  J["messages"] = T.Messages;
  return J;
}

Json siteJson(const KernelStatistics &K, uint32_t Local) {
  const SiteTable &T = *K.Table;
  const SiteStatistics &S = K.Sites[Local];
  uint32_t Site = K.Kernel->FirstSite + Local;
  const KprobeSiteRecord &R = T.sites()[Site];
  Json J;
  J["site"] = Site;
  J["block"] = T.string(R.Block);
  J["function"] = demangle(T.string(T.functions()[R.Function].Name));
  J["file"] = T.string(R.File);
  J["line"] = R.Line;
  J["column"] = R.Column;
  J["inlined_at"] = Json::array();
  for (uint32_t I = 0; I < R.FrameCount; ++I) {
    const KprobeFrameRecord &F = T.frames()[R.FirstFrame + I];
    J["inlined_at"].push_back({{"function", demangle(T.string(F.Function))},
                               {"file", T.string(F.File)},
                               {"line", F.Line},
                               {"column", F.Column}});
  }
  J["loop_depth"] = R.LoopDepth;
  // Others are counted, and their time is part of a neighbour's.
  J["clock"] = !(R.Flags & (KPROBE_SITE_UNTIMED | KPROBE_SITE_OMITTED));
  J["hits"] = S.Hits;
  J["lanes"] = S.Lanes;
  J["timed_hits"] = S.Timed;
  J["cycles"] = S.Cycles;
  bool Timed = S.Timed != 0;
  J["min_cycles"] = Timed ? Json(S.Min) : Json();
  J["median_cycles"] = Timed ? Json(S.percentile(500)) : Json();
  J["p99_cycles"] = Timed ? Json(S.percentile(990)) : Json();
  J["max_cycles"] = Timed ? Json(S.Max) : Json();
  return J;
}

/// Of the original and of the clone; null where the dump does not say.
Json resourcesJson(const KernelStatistics &K) {
  if (!K.Resources)
    return Json();
  auto Of = [&](const KprobeKernelNeeds &N) {
    std::optional<uint32_t> Waves = K.occupancy(N);
    return Json{{"vgprs", N.Vgprs},
                {"sgprs", N.Sgprs},
                {"lds", N.LdsBytes},
                {"scratch", N.ScratchBytes},
                {"waves_per_simd", Waves ? Json(*Waves) : Json()},
                {"code", N.CodeBytes ? Json(N.CodeBytes) : Json()}};
  };
  return {{"original", Of(K.Resources->Original)},
          {"clone", Of(K.Resources->Clone)}};
}

Json kernelJson(const KernelStatistics &K, const ReportOptions &Options) {
  Json J;
  J["name"] = K.Name;
  J["mangled"] = K.Kernel ? Json(K.Table->string(K.Kernel->Name)) : Json();
  J["modelled"] = K.Virtual;
  J["dispatches"] = K.Dispatches;
  J["traced"] = K.DispatchesByStatus[KPROBE_DISPATCH_TRACED];
  J["times_ns"] = K.TimesNs;
  J["waves"] = {{"in_grid", K.Waves.InGrid},   {"sampled", K.Waves.Slots},
                {"ended", K.Waves.Ended},      {"not_ended", K.Waves.Begun},
                {"not_begun", K.Waves.Unused}, {"damaged", K.Waves.Damaged},
                {"absent", K.Waves.absent()}};
  auto Counts = [](const std::map<uint8_t, uint64_t> &By,
                   std::string (*Text)(uint32_t)) {
    Json Named = Json::object();
    for (const auto &[Key, Count] : By)
      Named[Text(Key)] = Count;
    return Named;
  };
  J["modes"] = Counts(K.Modes, modeText);
  J["modes_refused"] = Counts(K.Refusals, refusalText);
  auto Rates = [](const SampleRates &R) {
    Json Both = {R.Least, R.Most};
    return R.Least > R.Most ? Json() : Both;
  };
  // The lowest and the highest: one in 2^shift.
  J["sample_shifts"] = {{"waves", Rates(K.WaveRates)},
                        {"groups", Rates(K.GroupRates)}};
  J["events"] = {{"written", K.Events.Written},
                 {"kept", K.Events.Kept},
                 {"overwritten", K.Events.Overwritten},
                 {"dropped", K.Events.Dropped},
                 {"missing", K.Events.Missing},
                 {"empty", K.Events.Empty},
                 {"damaged", K.Events.Damaged}};
  J["resources"] = resourcesJson(K);
  std::optional<double> Share = K.probeShare();
  J["perturbation"] = {{"probe_share", Share ? Json(*Share) : Json()},
                       {"times", Json()}};
  if (const auto &C = K.Compared)
    J["perturbation"]["times"] = {{"with_probes", C->Probed},
                                  {"without", C->Plain},
                                  {"with_probes_ns", C->ProbedNs},
                                  {"without_ns", C->PlainNs}};
  J["block_cycles"] = K.BlockCycles;
  J["blocks"] = Json::array();
  std::vector<uint32_t> Order = sitesByShare(K);
  if (Options.Top != 0 && Options.Top < Order.size())
    Order.resize(Options.Top);
  for (uint32_t Local : Order)
    J["blocks"].push_back(siteJson(K, Local));
  return J;
}

} // namespace

std::string statisticsJson(const Statistics &S, const ReportOptions &Options) {
  Json J;
  J["processes"] = Json::array();
  for (const auto &T : S.traces())
    J["processes"].push_back(processJson(*T));
  J["kernels"] = Json::array();
  for (const auto &K : S.kernels())
    J["kernels"].push_back(kernelJson(*K, Options));
  J["calls"] = Json::array();
  for (const FunctionStatistics *F : S.api().functions()) {
    bool Timed = F->Ended != 0;
    J["calls"].push_back({{"api", F->Api},
                          {"function", F->Name},
                          {"calls", F->Calls},
                          {"ended", F->Ended},
                          {"failed", F->Failed},
                          {"total_ns", F->TotalNs},
                          {"min_ns", Timed ? Json(F->MinNs) : Json()},
                          {"median_ns", Timed ? Json(F->medianNs()) : Json()},
                          {"max_ns", Timed ? Json(F->MaxNs) : Json()}});
  }
  J["lost"] = Json::object();
  for (const Loss &L : lossesOf(S))
    J["lost"][L.Key] = L.Count;
  // Names come from dumps and may not be UTF-8.
  return J.dump(2, ' ', false, Json::error_handler_t::replace) + "\n";
}

} // namespace kprobe
