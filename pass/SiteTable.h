// The site table of a module, as wire.h lays it out.
#ifndef KPROBE_PASS_SITETABLE_H
#define KPROBE_PASS_SITETABLE_H

#include "Placement.h"
#include "SiteFacts.h"
#include "Target.h"
#include "kprobe/wire.h"
#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/StringMap.h"
#include "llvm/ADT/StringRef.h"
#include <string>
#include <vector>

namespace kprobe {

class SiteTable {
public:
  SiteTable();

  // Kernels, and after each its functions, the kernel's own first. A function's
  // blocks get consecutive site ids; the first is returned. Flags: KPROBE_KERNEL_*.
  // Placements: as placeEvents returns them.
  void addKernel(llvm::StringRef Name, llvm::StringRef CloneName,
                 uint32_t CloneMode, uint32_t Flags);
  unsigned addFunction(const FunctionFacts &Facts,
                       llvm::ArrayRef<BlockPlacement> Placements);

  unsigned firstSiteOfKernel() const { return Kernels.back().FirstSite; }
  unsigned siteCount() const { return Sites.size(); }
  unsigned omissionCount() const { return Omissions.size(); }
  unsigned kernelCount() const { return Kernels.size(); }

  // The table's bytes. Little-endian hosts only, as all of LLVM's GPU users.
  std::string bytes(llvm::StringRef Producer, const Target &T);

private:
  uint32_t string(llvm::StringRef Text);

  std::vector<KprobeKernelRecord> Kernels;
  std::vector<KprobeFunctionRecord> Functions;
  std::vector<KprobeSiteRecord> Sites;
  std::vector<KprobeFrameRecord> Frames;
  std::vector<uint32_t> Edges;
  std::vector<KprobeOmissionRecord> Omissions;
  std::string Strings;
  llvm::StringMap<uint32_t> StringOffsets;
};

// Module-level assembler that puts the bytes into the site section. Inline
// assembly, because a global variable would always be in allocated memory.
std::string siteSectionAssembly(llvm::StringRef Bytes);

} // namespace kprobe

#endif
