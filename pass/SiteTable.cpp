// Records in, bytes out.
#include "SiteTable.h"
#include "llvm/Support/Endian.h"
#include "llvm/Support/Format.h"
#include "llvm/Support/raw_ostream.h"
#include <algorithm>

using namespace llvm;

namespace kprobe {

SiteTable::SiteTable() { string(""); }

uint32_t SiteTable::string(StringRef Text) {
  auto [It, New] = StringOffsets.try_emplace(Text, Strings.size());
  if (New) {
    Strings += Text;
    Strings += '\0';
  }
  return It->second;
}

void SiteTable::addKernel(StringRef Name, StringRef CloneName,
                          uint32_t CloneMode, uint32_t Flags) {
  KprobeKernelRecord Kernel = {};
  Kernel.Name = string(Name);
  Kernel.CloneName = string(CloneName);
  Kernel.CloneMode = CloneMode;
  Kernel.Flags = Flags;
  Kernel.FirstFunction = Functions.size();
  Kernel.FirstSite = Sites.size();
  Kernels.push_back(Kernel);
}

static uint16_t saturated(unsigned Count) { return std::min(Count, 0xffffu); }

unsigned SiteTable::addFunction(const FunctionFacts &Facts,
                                ArrayRef<BlockPlacement> Placements) {
  unsigned First = Sites.size();
  KprobeFunctionRecord Function = {};
  Function.Name = string(Facts.Name);
  Function.File = string(Facts.File);
  Function.Line = Facts.Line;
  Function.Kernel = Kernels.size() - 1;
  Function.FirstSite = First;
  Function.SiteCount = Facts.Blocks.size();
  for (const BlockFacts &Block : Facts.Blocks) {
    KprobeSiteRecord Site = {};
    Site.Function = Functions.size();
    Site.Block = string(Block.Name);
    Site.File = string(Block.File);
    Site.Line = Block.Line;
    Site.Column = Block.Column;
    Site.FirstFrame = Frames.size();
    Site.FrameCount = Block.Frames.size();
    for (const InlinedAt &Frame : Block.Frames)
      Frames.push_back({string(Frame.Function), string(Frame.File), Frame.Line,
                        Frame.Column});
    Site.Flags = Block.Flags;
    Site.LoopDepth = Block.LoopDepth;
    Site.LoopHeader = Block.LoopHeader == BlockFacts::None
                          ? KPROBE_NO_INDEX
                          : First + Block.LoopHeader;
    Site.FirstEdge = Edges.size();
    Site.EdgeCount = Block.Successors.size();
    for (unsigned Next : Block.Successors)
      Edges.push_back(First + Next);
    Site.Valu = saturated(Block.Valu);
    Site.Salu = saturated(Block.Salu);
    Site.Vmem = saturated(Block.Vmem);
    Site.Lds = saturated(Block.Lds);
    Site.Flops32 = saturated(Block.Flops32);
    Site.Flops64 = saturated(Block.Flops64);
    Site.BytesRead = saturated(Block.BytesRead);
    Site.BytesWritten = saturated(Block.BytesWritten);
    Sites.push_back(Site);
  }
  for (unsigned I = 0; I < Placements.size(); ++I) {
    if (Placements[I].Implied) {
      Sites[First + I].Flags |= KPROBE_SITE_IMPLIED;
    } else if (Placements[I].LeftOut) {
      Sites[First + I].Flags |= KPROBE_SITE_LEFT_OUT;
    } else if (Placements[I].ToldBy != BlockFacts::None) {
      Sites[First + I].Flags |= KPROBE_SITE_OMITTED;
      Omissions.push_back({First + I, First + Placements[I].ToldBy});
    } else if (!Placements[I].Timed) {
      Sites[First + I].Flags |= KPROBE_SITE_UNTIMED;
    }
  }
  Functions.push_back(Function);
  ++Kernels.back().FunctionCount;
  Kernels.back().SiteCount += Function.SiteCount;
  return First;
}

static uint64_t fnv1a(StringRef Bytes) {
  uint64_t Hash = 0xcbf29ce484222325ull;
  for (unsigned char Byte : Bytes)
    Hash = (Hash ^ Byte) * 0x100000001b3ull;
  return Hash;
}

// Appends an area that starts at a multiple of 8; returns its offset.
static uint32_t append(std::string &Bytes, const void *Data, size_t Size) {
  uint32_t Offset = Bytes.size();
  Bytes.append(static_cast<const char *>(Data), Size);
  Bytes.resize((Bytes.size() + 7) & ~size_t(7));
  return Offset;
}

std::string SiteTable::bytes(StringRef Producer, const Target &T) {
  KprobeSiteTableHeader Header = {};
  Header.Magic = KPROBE_SITE_MAGIC;
  Header.Version = KPROBE_WIRE_MAJOR << 16 | KPROBE_WIRE_MINOR;
  Header.Producer = string(Producer);
  Header.Target = string(T.Processor);
  Header.WaveSize = T.WaveSize;
  Header.EventClock = T.eventClockKind();
  std::string Bytes(sizeof Header, '\0');
  auto Add = [&](const auto &Area, uint32_t &Count, uint32_t &Offset) {
    Count = Area.size();
    Offset = append(Bytes, Area.data(), Area.size() * sizeof(Area[0]));
  };
  Add(Kernels, Header.KernelCount, Header.KernelOffset);
  Add(Functions, Header.FunctionCount, Header.FunctionOffset);
  Add(Sites, Header.SiteCount, Header.SiteOffset);
  Add(Frames, Header.FrameCount, Header.FrameOffset);
  Add(Edges, Header.EdgeCount, Header.EdgeOffset);
  Add(Omissions, Header.OmissionCount, Header.OmissionOffset);
  Add(Strings, Header.StringBytes, Header.StringOffset);
  Header.TotalBytes = Bytes.size();
  memcpy(&Bytes[0], &Header, sizeof Header);
  Header.ContentHash = fnv1a(Bytes);
  memcpy(&Bytes[0], &Header, sizeof Header);
  return Bytes;
}

std::string siteSectionAssembly(StringRef Bytes) {
  std::string Text;
  raw_string_ostream Out(Text);
  Out << ".pushsection " KPROBE_SITE_SECTION ",\"\",@progbits\n.p2align 3\n";
  constexpr size_t PerLine = 64;
  for (size_t I = 0; I < Bytes.size(); I += 8)
    Out << (I % PerLine ? "," : "\n.quad ")
        << format_hex(support::endian::read64le(Bytes.data() + I), 1);
  Out << "\n.popsection\n";
  return Out.str();
}

} // namespace kprobe
