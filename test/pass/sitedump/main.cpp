// kprobe-sitedump FILE: prints the site tables in the contents of a
// .kprobe.sites section (llvm-objcopy --dump-section), for the pass's tests.
// It reads them with the decoder's own reader, which also checks their hash.
// Files are shown without their folders: tests run anywhere.
#include "SiteTable.h"

#include <cstdio>
#include <cstring>
#include <fstream>
#include <iterator>

using kprobe::SiteTable;

static std::string place(const SiteTable &Table, uint32_t File, uint32_t Line) {
  std::string Path(Table.string(File));
  if (Path.empty())
    return "?";
  return Path.substr(Path.rfind('/') + 1) + ":" + std::to_string(Line);
}

static void printSite(const SiteTable &Table, size_t Id) {
  const KprobeSiteRecord &Site = Table.sites()[Id];
  std::printf("site %zu function %u %s:%u", Id, Site.Function,
              place(Table, Site.File, Site.Line).c_str(), Site.Column);
  for (uint32_t I = 0; I < Site.FrameCount; ++I) {
    const KprobeFrameRecord &Frame = Table.frames()[Site.FirstFrame + I];
    std::printf(" in %s %s:%u", Table.string(Frame.Function).data(),
                place(Table, Frame.File, Frame.Line).c_str(), Frame.Column);
  }
  static const char *const Names[] = {"entry", "header",  "returns", "unreachable",
                                      "calls", "implied", "omitted", "untimed", "left-out", "mark"};
  for (unsigned Bit = 0; Bit < std::size(Names); ++Bit)
    if (Site.Flags >> Bit & 1)
      std::printf(" %s", Names[Bit]);
  if (Site.Flags & KPROBE_SITE_MARK)
    std::printf(" '%s'", Table.string(Site.Block).data());
  std::printf(" depth %u", Site.LoopDepth);
  if (Site.LoopHeader != KPROBE_NO_INDEX)
    std::printf(" loop %u", Site.LoopHeader);
  std::printf(" to");
  for (uint32_t I = 0; I < Site.EdgeCount; ++I)
    std::printf(" %u", Table.edges()[Site.FirstEdge + I]);
  std::printf(" valu %u salu %u vmem %u lds %u flops %u %u bytes %u %u\n",
              Site.Valu, Site.Salu, Site.Vmem, Site.Lds, Site.Flops32,
              Site.Flops64, Site.BytesRead, Site.BytesWritten);
}

static void print(const SiteTable &Table) {
  std::printf("table %s wave %u kernels %zu functions %zu sites %zu\n",
              Table.string(Table.header().Target).data(),
              Table.header().WaveSize, Table.kernels().size(),
              Table.functions().size(), Table.sites().size());
  std::printf("producer %s\n", Table.string(Table.header().Producer).data());
  for (const KprobeKernelRecord &Kernel : Table.kernels())
    std::printf("kernel %s clone %s functions %u+%u sites %u+%u\n",
                Table.string(Kernel.Name).data(),
                Table.string(Kernel.CloneName).data(), Kernel.FirstFunction,
                Kernel.FunctionCount, Kernel.FirstSite, Kernel.SiteCount);
  for (const KprobeFunctionRecord &Function : Table.functions())
    std::printf("function %s %s kernel %u sites %u+%u\n",
                Table.string(Function.Name).data(),
                place(Table, Function.File, Function.Line).c_str(),
                Function.Kernel, Function.FirstSite, Function.SiteCount);
  for (size_t Id = 0; Id < Table.sites().size(); ++Id)
    printSite(Table, Id);
}

int main(int ArgCount, char **Args) {
  if (ArgCount != 2) {
    std::fprintf(stderr, "usage: kprobe-sitedump FILE\n");
    return 2;
  }
  std::ifstream File(Args[1], std::ios::binary);
  std::string Bytes(std::istreambuf_iterator<char>(File), {});
  if (Bytes.empty()) {
    std::fprintf(stderr, "kprobe-sitedump: error: cannot read '%s'\n", Args[1]);
    return 1;
  }
  const auto *Data = reinterpret_cast<const uint8_t *>(Bytes.data());
  for (size_t At = 0; At < Bytes.size();) {
    KprobeSiteTableHeader Header = {};
    if (Bytes.size() - At >= sizeof Header)
      std::memcpy(&Header, Data + At, sizeof Header);
    SiteTable Table;
    std::string Problem;
    if (Header.TotalBytes < sizeof Header ||
        Header.TotalBytes > Bytes.size() - At)
      Problem = "cut short";
    else if (kprobe::Error E = Table.parse(
                 kprobe::ByteReader(Data + At, Header.TotalBytes, At)))
      Problem = E.text();
    if (!Problem.empty()) {
      std::fprintf(stderr, "kprobe-sitedump: error: table at %zu: %s\n", At,
                   Problem.c_str());
      return 1;
    }
    print(Table);
    At += Header.TotalBytes;
  }
  return 0;
}
