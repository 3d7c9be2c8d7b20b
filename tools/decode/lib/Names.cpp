// Demangling and number formatting.
#include "Names.h"

#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <cxxabi.h>
#include <memory>

namespace kprobe {
namespace {

std::string_view baseName(std::string_view Path) {
  size_t Slash = Path.rfind('/');
  return Slash == std::string_view::npos ? Path : Path.substr(Slash + 1);
}

std::string placeInSource(std::string_view File, uint32_t Line, bool FullPath) {
  return std::string(FullPath ? File : baseName(File)) + ":" +
         std::to_string(Line);
}

} // namespace

std::string demangle(std::string_view Symbol) {
  constexpr std::string_view Suffix = KPROBE_CLONE_SUFFIX;
  if (Symbol.size() > Suffix.size() &&
      Symbol.substr(Symbol.size() - Suffix.size()) == Suffix)
    Symbol.remove_suffix(Suffix.size());
  std::string Text(Symbol);
  // Demangling may grow a name a lot; monsters are better left alone.
  if (Text.size() > 64 * 1024)
    return Text;
  int Status = 0;
  std::unique_ptr<char, void (*)(void *)> Plain(
      abi::__cxa_demangle(Text.c_str(), nullptr, nullptr, &Status), std::free);
  // "i" would demangle to "int": only symbols are names of functions.
  if (Status != 0 || !Plain || Text.compare(0, 2, "_Z") != 0)
    return Text;
  return Plain.get();
}

std::string kernelName(const Dispatch &D) {
  if (D.Kernel)
    return demangle(D.Table->string(D.Kernel->Name));
  return D.Name.empty() ? "(unknown kernel)" : demangle(D.Name);
}

std::string sourceText(const SiteTable &Table, const KprobeSiteRecord &Site,
                       bool FullPath) {
  std::string_view File = Table.string(Site.File);
  if (File.empty())
    return "";
  std::string Text = placeInSource(File, Site.Line, FullPath);
  for (uint32_t I = 0; I < Site.FrameCount; ++I) {
    const KprobeFrameRecord &F = Table.frames()[Site.FirstFrame + I];
    Text += " < " + placeInSource(Table.string(F.File), F.Line, FullPath);
  }
  return Text;
}

std::string blockName(const SiteTable &Table, uint32_t Site) {
  std::string_view Name = Table.string(Table.sites()[Site].Block);
  return Name.empty() ? "site " + std::to_string(Site) : std::string(Name);
}

std::string blockLabel(const SiteTable &Table, uint32_t Site) {
  if (Site == UnknownSite)
    return "(events lost)";
  std::string Source = sourceText(Table, Table.sites()[Site]);
  return blockName(Table, Site) + (Source.empty() ? "" : " " + Source);
}

/// Four significant digits of \p Value / \p Unit, rounded to nearest.
static std::string scaled(uint64_t Value, uint64_t Unit, const char *Name) {
  uint64_t Whole = Value / Unit;
  int Digits = Whole >= 1000 ? 0 : Whole >= 100 ? 1 : Whole >= 10 ? 2 : 3;
  char Text[48];
  std::snprintf(Text, sizeof(Text), "%.*f %s", Digits,
                static_cast<double>(Value) / static_cast<double>(Unit), Name);
  return Text;
}

std::string durationText(uint64_t Ns) {
  if (Ns < 1000)
    return std::to_string(Ns) + " ns";
  if (Ns < 1000000)
    return scaled(Ns, 1000, "us");
  if (Ns < 1000000000)
    return scaled(Ns, 1000000, "ms");
  return scaled(Ns, 1000000000, "s");
}

std::string frequencyText(uint64_t Hz) {
  char Text[48];
  if (Hz >= 1000000)
    std::snprintf(Text, sizeof(Text), "%.6g MHz",
                  static_cast<double>(Hz) / 1e6);
  else
    std::snprintf(Text, sizeof(Text), "%.6g kHz",
                  static_cast<double>(Hz) / 1e3);
  return Text;
}

std::string dateText(uint64_t RealtimeNs) {
  time_t Seconds = static_cast<time_t>(RealtimeNs / 1000000000);
  struct tm Parts;
  char Text[64];
  if (!gmtime_r(&Seconds, &Parts) ||
      std::strftime(Text, sizeof(Text), "%Y-%m-%dT%H:%M:%SZ", &Parts) == 0)
    return std::to_string(RealtimeNs) + " ns";
  return Text;
}

std::string statusText(uint32_t Status) {
  switch (Status) {
#define KPROBE_DISPATCH_STATUS(Name, Value, Text)                              \
  case Value:                                                                  \
    return Text;
#include "kprobe/dispatch_status.def"
  default:
    return "status " + std::to_string(Status);
  }
}

std::string modeText(uint32_t Mode) {
  switch (Mode) {
#define KPROBE_MODE(Name, Value, Text)                                         \
  case Value:                                                                  \
    return Text;
#include "kprobe/modes.def"
  default:
    return "mode " + std::to_string(Mode);
  }
}

std::string refusalText(uint32_t Refusal) {
  switch (Refusal) {
#define KPROBE_REFUSAL(Name, Value, Text)                                      \
  case Value:                                                                  \
    return Text;
#include "kprobe/modes.def"
  default:
    return "reason " + std::to_string(Refusal);
  }
}

std::string refusedModeText(uint32_t Refusal) {
  // Exact tracing falls back on the ring; a clone's mode is fixed.
  const char *Instead = Refusal == KPROBE_REFUSAL_BUILT_OTHERWISE
                            ? "not in the mode asked for"
                            : "in mode ring only";
  return std::string(Instead) + " (" + refusalText(Refusal) + ")";
}

std::string shorten(const std::string &Text, size_t Bytes) {
  if (Text.size() <= Bytes)
    return Text;
  size_t End = Bytes > 3 ? Bytes - 3 : 0;
  while (End > 0 && (static_cast<unsigned char>(Text[End]) & 0xc0) == 0x80)
    --End;
  return Text.substr(0, End) + "...";
}

} // namespace kprobe
