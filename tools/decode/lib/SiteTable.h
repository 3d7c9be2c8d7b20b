// A validated site table: what the numbers in events mean.
//
// parse() checks every offset, count and index once; after it succeeded all
// accessors are total, so that sinks need no checks of their own.
#ifndef KPROBE_DECODE_SITETABLE_H
#define KPROBE_DECODE_SITETABLE_H

#include "ByteReader.h"
#include "Error.h"
#include "PathRules.h"
#include "kprobe/wire.h"

#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace kprobe {

class SiteTable {
public:
  /// Copies what it keeps; \p Bytes is the payload of a SITE_TABLE chunk.
  Error parse(const ByteReader &Bytes);

  /// FNV-1a 64 over the table with its hash field taken as zero.
  static uint64_t contentHash(const uint8_t *Data, size_t Size);

  const KprobeSiteTableHeader &header() const { return Header; }
  uint64_t hash() const { return Header.ContentHash; }
  std::string_view producer() const { return string(Header.Producer); }
  std::string_view target() const { return string(Header.Target); }

  const std::vector<KprobeKernelRecord> &kernels() const { return Kernels; }
  const std::vector<KprobeFunctionRecord> &functions() const {
    return Functions;
  }
  const std::vector<KprobeSiteRecord> &sites() const { return Sites; }
  const std::vector<KprobeFrameRecord> &frames() const { return Frames; }
  const std::vector<uint32_t> &edges() const { return Edges; }

  /// What is to be put back in a kernel's paths; null when nothing is.
  const PathRules *pathRules(const KprobeKernelRecord &Kernel) const {
    auto Found = Paths.find(Kernel.FirstSite);
    return Found == Paths.end() || Found->second.size() != Kernel.SiteCount
               ? nullptr
               : &Found->second;
  }

  /// The string at \p Offset of the string area; offsets inside records are
  /// known to be good.
  std::string_view string(uint32_t Offset) const {
    return std::string_view(Strings.data() + Offset);
  }

private:
  bool addOmissions();

  KprobeSiteTableHeader Header = {};
  std::vector<KprobeKernelRecord> Kernels;
  std::vector<KprobeFunctionRecord> Functions;
  std::vector<KprobeSiteRecord> Sites;
  std::vector<KprobeFrameRecord> Frames;
  std::vector<uint32_t> Edges;
  std::vector<KprobeOmissionRecord> Omissions;
  std::map<uint32_t, PathRules> Paths; ///< by the kernel's first site
  std::string Strings;
};

} // namespace kprobe

#endif
