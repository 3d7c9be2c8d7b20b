// Parsing of the pass's options, and matching of kernel names.
#include "Options.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/Demangle/Demangle.h"
#include <cstdlib>

using namespace llvm;

namespace kprobe {

static Error invalid(const Twine &Message) {
  return createStringError(inconvertibleErrorCode(), Message);
}

static Error addGlobs(std::vector<GlobPattern> &Globs, StringRef Key,
                      StringRef Value) {
  SmallVector<StringRef, 4> Parts;
  Value.split(Parts, ',', -1, /*KeepEmpty=*/false);
  if (Parts.empty())
    return invalid("option '" + Key + "' needs a glob");
  for (StringRef Part : Parts) {
    Expected<GlobPattern> Glob = GlobPattern::create(Part);
    if (!Glob)
      return invalid("bad glob '" + Part + "': " + toString(Glob.takeError()));
    Globs.push_back(std::move(*Glob));
  }
  return Error::success();
}

Error Options::parse(StringRef Text) {
  SmallVector<StringRef, 8> Items;
  Text.split(Items, ';', -1, /*KeepEmpty=*/false);
  for (StringRef Item : Items) {
    auto [Key, Value] = Item.trim().split('=');
    bool HasValue = Item.contains('=');
    if (Key == "kernels" || Key == "exclude") {
      if (Error E = addGlobs(Key == "kernels" ? Kernels : Exclude, Key, Value))
        return E;
    } else if (Key == "level") {
      if (Value != "block")
        return invalid("unknown level '" + Value + "' (known: block)");
    } else if (Key == "block") {
      if (Value != "all" && Value != "minimal")
        return invalid("unknown choice of blocks '" + Value +
                       "' (known: minimal, all)");
      AllBlocks = Value == "all";
    } else if (Key == "disable" && !HasValue) {
      Disable = true;
    } else if (Key == "verbose" && !HasValue) {
      Verbose = true;
    } else {
      return invalid("unknown option '" + Item.trim() +
                     "' (known: kernels=GLOB,…  exclude=GLOB,…  level=block  "
                     "block=minimal|all  disable  verbose)");
    }
  }
  return Error::success();
}

Error Options::parseEnvironment() {
  const char *Text = std::getenv("KPROBE_PASS");
  if (!Text)
    return Error::success();
  if (Error E = parse(Text))
    return invalid("KPROBE_PASS: " + toString(std::move(E)));
  return Error::success();
}

// "void ns::k<int>(float*)" -> "k": the identifier before the first '(' or '<'
// that is not inside a scope in parentheses ("(anonymous namespace)::").
static std::string baseName(const std::string &Mangled) {
  ItaniumPartialDemangler Demangler;
  if (Demangler.partialDemangle(Mangled.c_str()))
    return {};
  char *Name = Demangler.getFunctionBaseName(nullptr, nullptr);
  std::string Result = Name ? Name : "";
  std::free(Name);
  return Result;
}

bool Options::selects(StringRef MangledName) const {
  std::string Mangled = MangledName.str();
  std::string Full = demangle(Mangled);
  std::string Base = baseName(Mangled);
  auto Matches = [&](const GlobPattern &Glob) {
    return Glob.match(Mangled) || Glob.match(Full) ||
           (!Base.empty() && Glob.match(Base));
  };
  return (Kernels.empty() || any_of(Kernels, Matches)) &&
         none_of(Exclude, Matches);
}

} // namespace kprobe
