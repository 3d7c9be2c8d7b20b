// What each kernel of a code object takes: registers, LDS, scratch, code.
//
// From the metadata that the compiler leaves in a note ("AMDGPU", MessagePack;
// LLVM's User Guide for AMDGPU Backend, Code Object Metadata) and from the sizes
// of symbols. For people to read: where something is missing or damaged a kernel is
// left out.
#ifndef KPROBE_RUNTIME_KERNELNEEDS_H
#define KPROBE_RUNTIME_KERNELNEEDS_H

#include "ElfBytes.h"

#include "kprobe/wire.h"

#include <map>

namespace kprobe {

// By symbol, without ".kd".
std::map<std::string, KprobeKernelNeeds> readKernelNeeds(const Span &Elf);

// The same from the metadata alone, so without the size of the code.
std::map<std::string, KprobeKernelNeeds> readKernelMetadata(const Span &Packed);

} // namespace kprobe

#endif
