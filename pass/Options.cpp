// Parsing of the pass's options, and matching of names and places.
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

Expected<Pattern> Pattern::create(StringRef Text) {
  Pattern Result;
  if (Text.size() >= 2 && Text.front() == '/' && Text.back() == '/') {
    Result.Expression =
        std::make_shared<Regex>(Text.drop_front().drop_back());
    std::string Problem;
    if (!Result.Expression->isValid(Problem))
      return invalid("bad regular expression '" + Text + "': " + Problem);
    return Result;
  }
  Expected<GlobPattern> Glob = GlobPattern::create(Text);
  if (!Glob)
    return invalid("bad glob '" + Text + "': " + toString(Glob.takeError()));
  Result.Glob.emplace(std::move(*Glob));
  return Result;
}

bool Pattern::matches(StringRef Text) const {
  return Expression ? Expression->match(Text) : Glob->match(Text);
}

Expected<SourceRange> SourceRange::create(StringRef Text) {
  auto [Name, Lines] = Text.rsplit(':');
  auto [From, To] = Lines.split('-');
  unsigned First, Last;
  bool HasLines = Text.contains(':') && !From.getAsInteger(10, First) &&
                  !(Lines.contains('-') ? To : From).getAsInteger(10, Last);
  Expected<Pattern> File = Pattern::create(HasLines ? Name : Text);
  if (!File)
    return File.takeError();
  SourceRange Result{std::move(*File)};
  if (!HasLines)
    return Result;
  if (First > Last)
    return invalid("lines of '" + Text + "' end before they begin");
  Result.First = First;
  Result.Last = Last;
  return Result;
}

bool SourceRange::contains(StringRef Path, unsigned Line) const {
  if (Line < First || Line > Last)
    return false;
  for (StringRef Rest = Path; !Rest.empty(); Rest = Rest.split('/').second)
    if (File.matches(Rest))
      return true;
  return false;
}

// The parts of a list. A regular expression may have commas of its own.
static SmallVector<StringRef, 4> splitList(StringRef List) {
  SmallVector<StringRef, 4> Parts;
  while (!List.empty()) {
    bool IsExpression = List.front() == '/';
    size_t End = IsExpression ? List.find("/,", 1) : List.find(',');
    End = End == StringRef::npos ? List.size() : End + IsExpression;
    if (End)
      Parts.push_back(List.take_front(End));
    List = List.drop_front(std::min(End + 1, List.size()));
  }
  return Parts;
}

template <typename T>
static Error addAll(std::vector<T> &To, StringRef Key, StringRef Value) {
  SmallVector<StringRef, 4> Parts = splitList(Value);
  if (Parts.empty())
    return invalid("option '" + Key + "' needs a pattern");
  for (StringRef Part : Parts) {
    Expected<T> One = T::create(Part);
    if (!One)
      return One.takeError();
    To.push_back(std::move(*One));
  }
  return Error::success();
}

template <typename T>
static Error choose(T &To, StringRef Key, StringRef Value,
                    ArrayRef<std::pair<StringRef, T>> Known) {
  std::string Names;
  for (auto [Name, Meaning] : Known) {
    if (Name == Value) {
      To = Meaning;
      return Error::success();
    }
    Names += (Names.empty() ? "" : ", ") + Name.str();
  }
  return invalid("unknown " + Key + " '" + Value + "' (known: " + Names + ")");
}

Error Options::parseItem(StringRef Item) {
  auto [Key, Value] = Item.split('=');
  bool HasValue = Item.contains('=');
  if (Key == "kernels")
    return addAll(Kernels, Key, Value);
  if (Key == "exclude")
    return addAll(Exclude, Key, Value);
  if (Key == "functions")
    return addAll(Functions, Key, Value);
  if (Key == "source")
    return addAll(Sources, Key, Value);
  if (Key == "level")
    return choose<kprobe::Level>(Level, Key, Value,
                                 {{"function", Level::Function},
                                  {"loop", Level::Loop},
                                  {"block", Level::Block}});
  if (Key == "block")
    return choose<kprobe::Level>(
        Level, "choice of blocks", Value,
        {{"minimal", Level::Block}, {"all", Level::AllBlocks}});
  if (Key == "mode")
    return choose<uint32_t>(Mode, Key, Value,
                            {{"ring", KPROBE_MODE_RING},
                             {"drop", KPROBE_MODE_DROP},
                             {"counters", KPROBE_MODE_COUNTERS}});
  if (HasValue || (Key != "disable" && Key != "verbose"))
    return invalid("unknown option '" + Item +
                   "' (known: kernels=NAMES  exclude=NAMES  functions=NAMES  "
                   "source=FILE[:FIRST[-LAST]],…  level=function|loop|block  "
                   "block=minimal|all  mode=ring|drop|counters  disable  "
                   "verbose; NAMES: globs or /regular expressions/)");
  (Key == "disable" ? Disable : Verbose) = true;
  return Error::success();
}

Error Options::parse(StringRef Text) {
  SmallVector<StringRef, 8> Items;
  Text.split(Items, ';', -1, /*KeepEmpty=*/false);
  for (StringRef Item : Items)
    if (Error E = parseItem(Item.trim()))
      return E;
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

static bool anyMatches(const std::vector<Pattern> &Patterns,
                       StringRef MangledName) {
  if (Patterns.empty())
    return false;
  std::string Mangled = MangledName.str();
  std::string Full = demangle(Mangled);
  std::string Base = baseName(Mangled);
  return any_of(Patterns, [&](const Pattern &P) {
    return P.matches(Mangled) || P.matches(Full) ||
           (!Base.empty() && P.matches(Base));
  });
}

bool Options::selectsKernel(StringRef MangledName) const {
  return (Kernels.empty() || anyMatches(Kernels, MangledName)) &&
         !anyMatches(Exclude, MangledName);
}

bool Options::selectsFunction(StringRef MangledName) const {
  return Functions.empty() || anyMatches(Functions, MangledName);
}

bool Options::selectsSource(StringRef Path, unsigned Line) const {
  return Sources.empty() || any_of(Sources, [&](const SourceRange &Range) {
           return Range.contains(Path, Line);
         });
}

} // namespace kprobe
