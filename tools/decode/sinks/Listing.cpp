// The readable listing.
#include "Listing.h"

#include "HardwarePlace.h"
#include "Names.h"

#include <cinttypes>
#include <cstdio>

namespace kprobe {

bool Listing::shows(const Dispatch &D) const {
  return (!Filter.Dispatch || *Filter.Dispatch == D.Record.Dispatch) &&
         (Filter.Kernel.empty() ||
          kernelName(D).find(Filter.Kernel) != std::string::npos);
}

Error Listing::process(const Process &P) {
  Out << "process " << P.Record.Pid << ": " << P.Command << "\n";
  return Error::success();
}

Error Listing::agent(const Agent &A) {
  Out << "agent " << A.Record.Agent << ": " << A.Target
      << (A.isVirtual() ? ", virtual: all times are modelled" : "") << "\n";
  return Error::success();
}

Error Listing::dispatch(const Dispatch &D) {
  if (!shows(D))
    return Error::success();
  const KprobeDispatchRecord &R = D.Record;
  Out << "dispatch " << R.Dispatch << ": " << kernelName(D) << " grid "
      << R.Grid[0] << "," << R.Grid[1] << "," << R.Grid[2] << " group "
      << R.Group[0] << "," << R.Group[1] << "," << R.Group[2] << ", agent "
      << R.Agent << " queue " << R.Queue << ", " << statusText(R.Status);
  if (R.Status == KPROBE_DISPATCH_TRACED)
    Out << ", " << R.SlotCount << " of " << R.WaveCount << " waves sampled";
  if (R.Mode != KPROBE_MODE_RING)
    Out << ", mode " << modeText(R.Mode);
  if (R.Refusal != KPROBE_REFUSAL_NONE)
    Out << ", " << refusedModeText(R.Refusal);
  if (R.GroupShift != 0)
    Out << ", 1 in " << (uint64_t(1) << (R.GroupShift & 63)) << " workgroups";
  if (R.SampleShift != 0)
    Out << ", 1 in " << (uint64_t(1) << (R.SampleShift & 63)) << " waves";
  Out << "\n";
  return Error::success();
}

static void writeWaveEnd(std::ostream &Out, const WaveView &View,
                         const WaveAccount &A) {
  const KprobeWaveHeader &H = View.Header;
  switch (A.Fate) {
  case WaveFate::Unused:
    Out << "  never began\n";
    return;
  case WaveFate::Damaged:
    Out << "  damaged header (state " << H.State << ", cursor " << H.Cursor
        << ", ring " << H.RingBytes << "), events not used\n";
    return;
  case WaveFate::Ended:
    Out << "  end after " << H.EndCycles - H.BeginCycles << " cycles: ";
    break;
  case WaveFate::Begun:
    Out << "  never ended: ";
    break;
  }
  Out << A.Written << (A.LowerBound ? " or more" : "") << " written, " << A.Kept
      << " kept, " << A.Overwritten << " overwritten, " << A.Empty << " empty";
  if (A.Dropped != 0)
    Out << ", " << A.Dropped << " dropped";
  if (A.Missing != 0)
    Out << ", " << A.Missing << " missing";
  if (A.Damaged != 0)
    Out << ", " << A.Damaged << " damaged";
  if (A.ClockAmbiguous)
    Out << ", a pause of 2^32 cycles or more has no known place";
  Out << "\n";
}

Error Listing::wave(const Dispatch &D, const WaveView &View) {
  const KprobeWaveHeader &H = View.Header;
  if (!shows(D) || (Filter.Wave && *Filter.Wave != H.WaveIndex))
    return Error::success();
  char Text[256];
  std::snprintf(Text, sizeof(Text),
                "wave %" PRIu64 " of dispatch %" PRIu64
                ": group %u,%u,%u wave %u, %s, exec 0x%" PRIx64
                ", cycle %" PRIu64 " tick %" PRIu64 "\n",
                H.WaveIndex, D.Record.Dispatch, H.Workgroup[0], H.Workgroup[1],
                H.Workgroup[2], H.WaveInGroup,
                placeText(D.Where->Target, H.HardwareId).c_str(), H.BeginExec,
                H.BeginCycles, H.BeginTicks);
  Out << Text;
  const SiteTable &Table = *D.Table;
  WaveAccount A = forEachBlock(View, EventRules(D), [&](const Block &B) {
    uint32_t Site = D.Kernel->FirstSite + B.LocalSite;
    char Time[16] = "?";
    if (B.TimeKnown)
      std::snprintf(Time, sizeof(Time), "%u", B.Cycles);
    std::snprintf(Text, sizeof(Text),
                  "  +%-8" PRIu64 " %8s cycles %3u lanes  site %-4u ",
                  B.Begin - H.BeginCycles, Time, B.Lanes, Site);
    std::string Source = sourceText(Table, Table.sites()[Site]);
    Out << Text << (Source.empty() ? "-" : Source) << "  "
        << blockName(Table, Site) << "\n";
  });
  writeWaveEnd(Out, View, A);
  Damaged += A.Damaged;
  return Error::success();
}

} // namespace kprobe
