//===- CodeObjects.cpp - Names and lines for addresses in loaded code -------===//
//
// See CodeObjects.h. Everything found here is only shown to a person: an object
// that cannot be read has no names, and that is no error.
//
//===----------------------------------------------------------------------===//
#include "thunk/CodeObjects.h"

#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringRef.h"
#include "llvm/DebugInfo/DWARF/DWARFContext.h"
#include "llvm/Object/ELFObjectFile.h"
#include "llvm/Object/ObjectFile.h"
#include "llvm/Support/MemoryBuffer.h"

#include <link.h>

using namespace vgpu;
using namespace llvm;

struct CodeObjects::Object {
  std::unique_ptr<MemoryBuffer> Bytes;
  std::unique_ptr<object::ObjectFile> File;
  std::unique_ptr<DWARFContext> Debug;
  uint64_t LoadBias = 0;
  std::map<uint64_t, std::string> Descriptors; ///< Address to kernel name.
  std::map<uint64_t, std::string> Functions;   ///< By where they begin in the file.
  uint64_t CodeBegin = ~uint64_t(0), CodeEnd = 0;
};

bool vgpu::parseCodeObjectUri(const std::string &Text, CodeObjectUri &Result) {
  StringRef Uri(Text);
  StringRef Place, Fragment;
  std::tie(Place, Fragment) = Uri.split('#');
  Result = CodeObjectUri();
  const bool InMemory = Place.startswith("memory://");
  if (!InMemory && !Place.consume_front("file://"))
    return false;
  while (!Fragment.empty()) {
    StringRef Field, Name, Value;
    std::tie(Field, Fragment) = Fragment.split('&');
    std::tie(Name, Value) = Field.split('=');
    uint64_t Number = 0;
    if (Value.getAsInteger(0, Number))
      return false;
    if (Name == "offset")
      Result.Offset = Number;
    else if (Name == "size")
      Result.Size = Number;
  }
  if (InMemory)
    return Result.Offset != 0 && Result.Size != 0;
  for (size_t I = 0; I < Place.size(); ++I) {
    if (Place[I] == '%' && I + 2 < Place.size() && isHexDigit(Place[I + 1]) &&
        isHexDigit(Place[I + 2])) {
      Result.Path += char(hexFromNibbles(Place[I + 1], Place[I + 2]));
      I += 2;
    } else {
      Result.Path += Place[I];
    }
  }
  return !Result.Path.empty();
}

CodeObjects::CodeObjects() = default;
CodeObjects::~CodeObjects() = default;

void CodeObjects::setDebugList(struct r_debug *NewList) {
  std::lock_guard<std::mutex> Guard(Lock);
  List = NewList;
  Objects.clear();
}

void CodeObjects::refresh() {
  if (!List || __atomic_load_n(&List->r_state, __ATOMIC_ACQUIRE) != r_debug::RT_CONSISTENT)
    return;
  for (link_map *Entry = List->r_map; Entry; Entry = Entry->l_next) {
    if (!Entry->l_name)
      continue;
    auto [It, New] = Objects.try_emplace({uint64_t(Entry->l_addr), Entry->l_name});
    if (!New)
      continue;
    It->second = std::make_unique<Object>();
    Object &Loaded = *It->second;
    Loaded.LoadBias = Entry->l_addr;
    CodeObjectUri Uri;
    if (!parseCodeObjectUri(Entry->l_name, Uri))
      continue;
    if (Uri.Path.empty()) {
      // Copied: the program may free its image while we still name things.
      Loaded.Bytes = MemoryBuffer::getMemBufferCopy(
          StringRef(reinterpret_cast<const char *>(Uri.Offset), Uri.Size));
    } else {
      auto Buffer = Uri.Size ? MemoryBuffer::getFileSlice(Uri.Path, Uri.Size, Uri.Offset)
                             : MemoryBuffer::getFile(Uri.Path);
      if (!Buffer)
        continue;
      Loaded.Bytes = std::move(*Buffer);
    }
    auto File = object::ObjectFile::createELFObjectFile(Loaded.Bytes->getMemBufferRef());
    if (!File) {
      consumeError(File.takeError());
      continue;
    }
    Loaded.File = std::move(*File);
    for (const object::SectionRef &Section : Loaded.File->sections())
      if (Section.isText()) {
        Loaded.CodeBegin = std::min(Loaded.CodeBegin, Section.getAddress());
        Loaded.CodeEnd = std::max(Loaded.CodeEnd, Section.getAddress() + Section.getSize());
      }
    for (const object::SymbolRef &Symbol : Loaded.File->symbols()) {
      auto Name = Symbol.getName();
      auto Address = Symbol.getAddress();
      if (!Name || !Address) {
        consumeError(Name.takeError());
        consumeError(Address.takeError());
        continue;
      }
      StringRef Kernel = *Name;
      if (Kernel.consume_back(".kd"))
        Loaded.Descriptors[*Address + Loaded.LoadBias] = Kernel.str();
      auto Kind = Symbol.getType();
      if (!Kind)
        consumeError(Kind.takeError());
      else if (*Kind == object::SymbolRef::ST_Function)
        Loaded.Functions[*Address] = Kernel.str();
    }
  }
}

std::string CodeObjects::kernelName(uint64_t KernelObject) {
  std::lock_guard<std::mutex> Guard(Lock);
  auto Find = [&]() -> std::string {
    // The last one loaded there: an address can be reused.
    std::string Name;
    for (auto &[Key, Loaded] : Objects) {
      auto It = Loaded->Descriptors.find(KernelObject);
      if (It != Loaded->Descriptors.end())
        Name = It->second;
    }
    return Name;
  };
  std::string Name = Find();
  if (Name.empty()) {
    refresh();
    Name = Find();
  }
  return Name;
}

CodePlace CodeObjects::place(uint64_t Pc) {
  std::lock_guard<std::mutex> Guard(Lock);
  refresh();
  CodePlace Place;
  for (auto &[Key, Loaded] : Objects) {
    const uint64_t Address = Pc - Loaded->LoadBias;
    if (!Loaded->File || Address < Loaded->CodeBegin || Address >= Loaded->CodeEnd)
      continue;
    // The last one loaded there holds.
    Place = CodePlace();
    auto After = Loaded->Functions.upper_bound(Address);
    if (After != Loaded->Functions.begin()) {
      --After;
      Place.Function = After->second;
      Place.Begin = After->first + Loaded->LoadBias;
    }
    if (!Loaded->Debug)
      Loaded->Debug = DWARFContext::create(*Loaded->File);
    const DIInliningInfo Frames = Loaded->Debug->getInliningInfoForAddress(
        {Address, object::SectionedAddress::UndefSection},
        {DILineInfoSpecifier::FileLineInfoKind::AbsoluteFilePath,
         DILineInfoSpecifier::FunctionNameKind::LinkageName});
    for (uint32_t I = 0; I < Frames.getNumberOfFrames(); ++I) {
      const DILineInfo &Frame = Frames.getFrame(I);
      // Line 0 is the compiler's own code: its file and function still help.
      if (Frame.FileName == DILineInfo::BadString)
        continue;
      const bool Named = Frame.FunctionName != DILineInfo::BadString;
      Place.Frames.push_back(
          {Frame.FileName, Named ? Frame.FunctionName : "", Frame.Line, Frame.Column});
    }
    // Line tables have no linkage names; the function itself has a symbol.
    if (!Place.Frames.empty() && !Place.Function.empty())
      Place.Frames.back().Function = Place.Function;
  }
  return Place;
}
