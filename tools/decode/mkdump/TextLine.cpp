// Splitting a statement into its parts.
#include "TextLine.h"

#include <algorithm>
#include <cctype>

namespace kprobe {

/// Takes one token; quotes may stand anywhere in it.
static std::string takeToken(const std::string &Line, size_t &At,
                             bool &Quoted) {
  std::string Token;
  bool Inside = false;
  Quoted = false;
  for (; At < Line.size(); ++At) {
    char C = Line[At];
    if (!Inside && (std::isspace(static_cast<unsigned char>(C)) || C == '#'))
      break;
    if (C == '"') {
      Inside = !Inside;
      Quoted = true;
    } else if (Inside && C == '\\' && At + 1 < Line.size()) {
      char Escape = Line[++At];
      Token += Escape == 'n' ? '\n' : Escape == '0' ? '\0' : Escape;
    } else {
      Token += C;
    }
  }
  if (Inside)
    throw std::runtime_error("quote is not closed");
  return Token;
}

TextLine::TextLine(const std::string &Line) {
  size_t At = 0;
  while (At < Line.size()) {
    if (std::isspace(static_cast<unsigned char>(Line[At]))) {
      ++At;
      continue;
    }
    if (Line[At] == '#')
      return;
    bool Quoted = false;
    std::string Token = takeToken(Line, At, Quoted);
    size_t Equals = Token.find('=');
    if (Word.empty())
      Word = Token;
    else if (Equals != std::string::npos)
      Values[Token.substr(0, Equals)] = Token.substr(Equals + 1);
    else if (Quoted)
      Values["text"] = Token;
    else
      Flags.insert(Token);
  }
}

bool TextLine::flag(const std::string &Name) {
  Used.insert(Name);
  return Flags.count(Name) != 0;
}

std::string TextLine::text(const std::string &Name,
                           const std::string &Default) {
  Used.insert(Name);
  auto Found = Values.find(Name);
  return Found == Values.end() ? Default : Found->second;
}

uint64_t TextLine::parseNumber(const std::string &Text) {
  size_t End = 0;
  uint64_t Value = 0;
  try {
    Value = std::stoull(Text, &End, 0);
  } catch (const std::exception &) {
    End = 0;
  }
  if (End == 0 || End != Text.size())
    throw std::runtime_error("'" + Text + "' is no number");
  return Value;
}

uint64_t TextLine::number(const std::string &Name, uint64_t Default) {
  return has(Name) ? parseNumber(text(Name)) : (Used.insert(Name), Default);
}

std::vector<std::string> TextLine::split(const std::string &Text, char At) {
  std::vector<std::string> Parts;
  size_t Start = 0;
  while (Start <= Text.size() && !Text.empty()) {
    size_t End = std::min(Text.find(At, Start), Text.size());
    Parts.push_back(Text.substr(Start, End - Start));
    Start = End + 1;
  }
  return Parts;
}

std::vector<uint64_t> TextLine::numbers(const std::string &Name,
                                        std::vector<uint64_t> Default) {
  Used.insert(Name);
  if (!has(Name))
    return Default;
  std::vector<uint64_t> Out;
  for (const std::string &Part : split(text(Name), ','))
    Out.push_back(parseNumber(Part));
  if (!Default.empty() && Out.size() != Default.size())
    throw std::runtime_error(Name + " needs " + std::to_string(Default.size()) +
                             " numbers");
  return Out;
}

void TextLine::finish() const {
  for (const auto &[Name, Value] : Values)
    if (!Used.count(Name))
      throw std::runtime_error("'" + Name + "' means nothing to '" + Word +
                               "'");
  for (const std::string &Name : Flags)
    if (!Used.count(Name))
      throw std::runtime_error("'" + Name + "' means nothing to '" + Word +
                               "'");
}

} // namespace kprobe
