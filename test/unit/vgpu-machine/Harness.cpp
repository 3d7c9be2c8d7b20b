// Assembling, memory and launching for the machine's tests.
#include "Harness.h"

#include <cstring>
#include <sys/mman.h>

#include "llvm/MC/MCAsmBackend.h"
#include "llvm/MC/MCAsmInfo.h"
#include "llvm/MC/MCCodeEmitter.h"
#include "llvm/MC/MCContext.h"
#include "llvm/MC/MCInstrInfo.h"
#include "llvm/MC/MCObjectFileInfo.h"
#include "llvm/MC/MCObjectWriter.h"
#include "llvm/MC/MCParser/MCAsmParser.h"
#include "llvm/MC/MCParser/MCTargetAsmParser.h"
#include "llvm/MC/MCRegisterInfo.h"
#include "llvm/MC/MCStreamer.h"
#include "llvm/MC/MCSubtargetInfo.h"
#include "llvm/MC/TargetRegistry.h"
#include "llvm/Object/ObjectFile.h"
#include "llvm/Support/SourceMgr.h"
#include "llvm/Support/TargetSelect.h"

namespace vgpu::test {

Assembled assemble(const std::string &Source, const std::string &Cpu) {
  using namespace llvm;
  LLVMInitializeAMDGPUTargetInfo();
  LLVMInitializeAMDGPUTargetMC();
  LLVMInitializeAMDGPUAsmParser();
  Assembled Result;
  Triple TheTriple("amdgcn-amd-amdhsa");
  std::string Lookup;
  const Target *T = TargetRegistry::lookupTarget(TheTriple.str(), Lookup);
  if (!T) {
    Result.Error = Lookup;
    return Result;
  }
  MCTargetOptions Options;
  std::unique_ptr<MCRegisterInfo> Registers(
      T->createMCRegInfo(TheTriple.str()));
  std::unique_ptr<MCAsmInfo> Info(
      T->createMCAsmInfo(*Registers, TheTriple.str(), Options));
  std::unique_ptr<MCInstrInfo> Instructions(T->createMCInstrInfo());
  std::unique_ptr<MCSubtargetInfo> Subtarget(
      T->createMCSubtargetInfo(TheTriple.str(), Cpu, ""));
  SourceMgr Sources;
  std::string Messages;
  Sources.setDiagHandler(
      [](const SMDiagnostic &D, void *Out) {
        raw_string_ostream Stream(*static_cast<std::string *>(Out));
        D.print("asm", Stream, false);
      },
      &Messages);
  Sources.AddNewSourceBuffer(MemoryBuffer::getMemBuffer(Source, "kernel.s"),
                             SMLoc());
  MCContext Context(TheTriple, Info.get(), Registers.get(), Subtarget.get(),
                    &Sources, &Options);
  std::unique_ptr<MCObjectFileInfo> Objects(
      T->createMCObjectFileInfo(Context, true));
  Context.setObjectFileInfo(Objects.get());

  SmallVector<char, 4096> Bytes;
  raw_svector_ostream Stream(Bytes);
  std::unique_ptr<MCAsmBackend> Backend(
      T->createMCAsmBackend(*Subtarget, *Registers, Options));
  std::unique_ptr<MCObjectWriter> Writer = Backend->createObjectWriter(Stream);
  std::unique_ptr<MCCodeEmitter> Emitter(
      T->createMCCodeEmitter(*Instructions, Context));
  std::unique_ptr<MCStreamer> Streamer(T->createMCObjectStreamer(
      TheTriple, Context, std::move(Backend), std::move(Writer),
      std::move(Emitter), *Subtarget, false, false, false));
  std::unique_ptr<MCAsmParser> Parser(
      createMCAsmParser(Sources, Context, *Streamer, *Info));
  std::unique_ptr<MCTargetAsmParser> TargetParser(
      T->createMCAsmParser(*Subtarget, *Parser, *Instructions, Options));
  Parser->setTargetParser(*TargetParser);
  if (Parser->Run(false)) {
    Result.Error = Messages.empty() ? "does not assemble" : Messages;
    return Result;
  }
  auto Object = object::ObjectFile::createObjectFile(
      MemoryBufferRef(StringRef(Bytes.data(), Bytes.size()), "kernel.o"));
  if (!Object) {
    Result.Error = toString(Object.takeError());
    return Result;
  }
  for (const object::SectionRef &Section : (*Object)->sections()) {
    Expected<StringRef> Name = Section.getName();
    Expected<StringRef> Data = Section.getContents();
    if (!Name || !Data) {
      consumeError(Name.takeError());
      consumeError(Data.takeError());
      continue;
    }
    if (*Name == ".text")
      Result.Text.assign(Data->begin(), Data->end());
    else if (*Name == ".rodata")
      Result.Descriptor.assign(Data->begin(), Data->end());
  }
  return Result;
}

TestMemory::~TestMemory() {
  for (auto &[Begin, Region] : Regions)
    munmap(reinterpret_cast<void *>(Begin), Region.End - Begin);
}

MemoryRegion TestMemory::lookup(uint64_t Address) {
  auto After = Regions.upper_bound(Address);
  if (After == Regions.begin())
    return {};
  const MemoryRegion &Region = std::prev(After)->second;
  return Address < Region.End ? Region : MemoryRegion();
}

void *TestMemory::allocate(size_t Bytes, bool Writable) {
  size_t Rounded = (Bytes + 4095) & ~size_t(4095);
  // One page more than the device may use, so that neighbours do not touch.
  auto *Begin =
      static_cast<char *>(mmap(nullptr, Rounded + 4096, PROT_READ | PROT_WRITE,
                               MAP_PRIVATE | MAP_ANONYMOUS, -1, 0));
  uint64_t Address = reinterpret_cast<uint64_t>(Begin);
  Regions[Address] = {Address, Address + Rounded, Writable};
  return Begin;
}

void TestMemory::forget(void *Begin) {
  Regions.erase(reinterpret_cast<uint64_t>(Begin));
  ++Generation;
}

TestKernel::TestKernel(TestMemory &Memory, const std::string &Body,
                       const std::vector<std::string> &Options,
                       const std::string &Target) {
  std::map<std::string, std::string> Lines = {
      {"next_free_vgpr", "16"},
      {"next_free_sgpr", "32"},
      {"user_sgpr_kernarg_segment_ptr", "1"}};
  for (const std::string &Option : Options) {
    size_t Space = Option.find(' ');
    Lines[Option.substr(0, Space)] = Option.substr(Space + 1);
  }
  std::string Source = ".text\n.p2align 8\nkernel:\n" + Body + "\ns_endpgm\n" +
                       ".rodata\n.p2align 6\n.amdhsa_kernel kernel\n";
  for (auto &[Name, Value] : Lines)
    Source += ".amdhsa_" + Name + " " + Value + "\n";
  Source += ".end_amdhsa_kernel\n";
  Assembled A = assemble(Source, Target);
  Error = A.Error;
  if (!Error.empty() || A.Descriptor.size() < 64) {
    if (Error.empty())
      Error = "no descriptor";
    return;
  }
  // Descriptor, then the code 256 bytes on; the offset between them is what the
  // linker would fill in.
  auto *Place =
      static_cast<uint8_t *>(Memory.allocate(256 + A.Text.size() + 64));
  std::memcpy(Place, A.Descriptor.data(), 64);
  int64_t Offset = 256;
  std::memcpy(Place + 16, &Offset, sizeof Offset);
  std::memcpy(Place + 256, A.Text.data(), A.Text.size());
  Object = reinterpret_cast<uint64_t>(Place);
}

DispatchResult launch(Device &D, TestMemory &Memory, const TestKernel &Kernel,
                      const Launch &L) {
  auto *Packet = Memory.array<hsa_kernel_dispatch_packet_t>(1);
  Packet->header = HSA_PACKET_TYPE_KERNEL_DISPATCH << HSA_PACKET_HEADER_TYPE;
  Packet->setup = 3;
  Packet->workgroup_size_x = L.Group[0];
  Packet->workgroup_size_y = L.Group[1];
  Packet->workgroup_size_z = L.Group[2];
  Packet->grid_size_x = L.Grid[0];
  Packet->grid_size_y = L.Grid[1];
  Packet->grid_size_z = L.Grid[2];
  Packet->group_segment_size = L.GroupBytes;
  Packet->private_segment_size = L.PrivateBytes;
  Packet->kernel_object = Kernel.object();
  Packet->kernarg_address = L.Kernarg;
  DispatchArgs Args;
  Args.Packet = Packet;
  Args.Queue = L.Queue;
  Args.GlobalResources = L.GlobalResources;
  Args.KernelName = [](uint64_t) { return std::string("kernel"); };
  Args.Interrupt = L.Interrupt;
  return D.run(Args);
}

std::string text(const Fault &F) {
  std::string Text;
  for (const std::string &Line : F.Lines)
    Text += Line + "\n";
  return Text;
}

} // namespace vgpu::test
