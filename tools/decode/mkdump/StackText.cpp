// Modules, stacks and code of Python from text.
#include "HostText.h"

namespace kprobe {

/// "0a1b" to two bytes.
static std::string fromHex(const std::string &Text) {
  std::string Out;
  for (size_t I = 0; I + 1 < Text.size(); I += 2)
    Out.push_back(static_cast<char>(
        std::stoul(Text.substr(I, 2), nullptr, 16)));
  return Out;
}

void HostText::module(TextLine &L) {
  std::string Path = L.text("path"), Id = fromHex(L.text("id"));
  KprobeModuleRecord R = {L.number("begin"),
                          L.number("end"),
                          L.number("bias"),
                          L.number("ns"),
                          static_cast<uint32_t>(Path.size()),
                          static_cast<uint32_t>(Id.size())};
  Bytes Payload;
  Payload.record(R);
  Payload.text(Path);
  Payload.text(Id);
  Dump.chunk(KPROBE_CHUNK_MODULE, Payload.Data);
}

bool HostText::stackLine(TextLine &L) {
  const std::string &Word = L.word();
  if (Word == "pycode") {
    std::string Name = L.text("name"), File = L.text("file"),
                Lines = fromHex(L.text("table"));
    Bytes Rest;
    Rest.text(Name);
    Rest.text(File);
    Rest.text(Lines);
    event(L, KPROBE_HOST_PYTHON_CODE,
          KprobePythonCode{{},
                           L.number("id", 1),
                           L.number32("line", 1),
                           0x030b0000,
                           static_cast<uint16_t>(Name.size()),
                           static_cast<uint16_t>(File.size()),
                           static_cast<uint32_t>(Lines.size())},
          Rest);
    return true;
  }
  if (Word != "ran" && Word != "waited" && Word != "launched")
    return false;
  std::vector<uint64_t> Native = L.numbers("native");
  std::vector<std::string> Python = TextLine::split(L.text("python"), ',');
  uint32_t Flags = L.number32("flags");
  if (L.flag("preempted"))
    Flags |= KPROBE_STACK_PREEMPTED;
  Bytes Rest;
  for (uint64_t Address : Native)
    Rest.record(Address);
  for (const std::string &Text : Python) {
    std::vector<std::string> Part = TextLine::split(Text, ':');
    if (Part.size() != 3)
      throw std::runtime_error("a frame of Python is code:offset:entry");
    Rest.record(KprobePythonFrame{
        TextLine::parseNumber(Part[0]),
        static_cast<int32_t>(std::stol(Part[1])),
        static_cast<uint32_t>(TextLine::parseNumber(Part[2]))});
  }
  uint16_t Kind = Word == "ran"      ? KPROBE_HOST_STACK_SAMPLE
                  : Word == "waited" ? KPROBE_HOST_STACK_WAIT
                                     : KPROBE_HOST_STACK_SUBMIT;
  event(L, Kind,
        KprobeHostStack{{},
                        L.number("weight", 1000000),
                        static_cast<uint16_t>(L.number("claim", Native.size())),
                        static_cast<uint16_t>(Python.size()),
                        static_cast<uint16_t>(Flags),
                        static_cast<uint16_t>(L.number("unit"))},
        Rest);
  return true;
}

} // namespace kprobe
