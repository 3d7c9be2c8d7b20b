// CSV: one row an event.
#include "Converters.h"

#include "CsvText.h"
#include "Names.h"
#include "TextOutput.h"

namespace kprobe {
namespace {

/// Begin of a row up to the event itself, the same for all of a wave.
std::string wavePrefix(const Timeline &T, const TimelineWave &W) {
  const KprobeWaveHeader &H = W.Header;
  std::string Row = std::to_string(T.trace().Owner->Record.Pid);
  auto add = [&](uint64_t Value) { Row += "," + std::to_string(Value); };
  add(W.Owner->Where->Record.Agent);
  add(W.Owner->Record.Dispatch);
  Row += "," + csvField(kernelName(*W.Owner));
  for (uint32_t Axis : H.Workgroup)
    add(Axis);
  add(H.WaveInGroup);
  add(H.WaveIndex);
  return Row + "," + placeText(W.Owner->Where->Target, H.HardwareId) + ",";
}

std::string sitePart(const Dispatch &D, uint32_t Local) {
  const SiteTable &T = *D.Table;
  uint32_t Site = D.Kernel->FirstSite + Local;
  const KprobeSiteRecord &R = T.sites()[Site];
  std::string_view File = T.string(R.File);
  return std::to_string(Site) + "," + csvField(T.string(R.Block)) + "," +
         csvField(File) + "," + (File.empty() ? "" : std::to_string(R.Line)) +
         "," + (File.empty() ? "" : std::to_string(R.Column)) + "\n";
}

} // namespace

Error writeCsv(const std::vector<std::unique_ptr<Timeline>> &Inputs,
               const std::string &Path) {
  TextOutput Out;
  if (Error E = Out.open(Path))
    return E;
  Out << "process,agent,dispatch,kernel,group_x,group_y,group_z,wave,"
         "wave_index,place,time_ns,duration_ns,cycle,cycles,lanes,site,block,"
         "file,line,column\n";
  for (const std::unique_ptr<Timeline> &T : Inputs) {
    std::map<const TimelineWave *, std::string> Prefixes; // of running waves
    std::map<const KprobeKernelRecord *, std::vector<std::string>> Sites;
    Error Fault = T->visit([&](const TimelineItem &Item) {
      if (Item.What == TimelineItem::Kind::WaveBegin)
        Prefixes[Item.Wave] = wavePrefix(*T, *Item.Wave);
      if (Item.What == TimelineItem::Kind::WaveEnd)
        Prefixes.erase(Item.Wave);
      if (Item.What != TimelineItem::Kind::Block)
        return;
      const Block &B = Item.Block->Cycles;
      std::vector<std::string> &Texts = Sites[Item.Owner->Kernel];
      if (Texts.empty())
        Texts.resize(Item.Owner->Kernel->SiteCount);
      if (Texts[B.LocalSite].empty())
        Texts[B.LocalSite] = sitePart(*Item.Owner, B.LocalSite);
      Out << Prefixes[Item.Wave] << T->realtimeNs(Item.Ns) << ",";
      // A block whose end is not known has no duration.
      if (B.TimeKnown)
        Out << Item.EndNs - Item.Ns;
      Out << "," << B.Begin << ",";
      if (B.TimeKnown)
        Out << B.Cycles;
      Out << "," << B.Lanes << "," << Texts[B.LocalSite];
    });
    if (Fault)
      return Fault;
  }
  return Out.close();
}

} // namespace kprobe
