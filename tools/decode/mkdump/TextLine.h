// One statement of a dump description: a word, flags and name=value pairs.
//
// Apart from TextDump so that the reading of text and the building of chunks
// can each be seen whole. Faults are thrown: this is a test tool, whose main
// catches them.
#ifndef KPROBE_MKDUMP_TEXTLINE_H
#define KPROBE_MKDUMP_TEXTLINE_H

#include <cstdint>
#include <map>
#include <set>
#include <stdexcept>
#include <string>
#include <vector>

namespace kprobe {

class TextLine {
public:
  /// Word is "" for a blank line or a comment.
  explicit TextLine(const std::string &Line);

  const std::string &word() const { return Word; }
  bool flag(const std::string &Name);
  bool has(const std::string &Name) const { return Values.count(Name) != 0; }
  std::string text(const std::string &Name, const std::string &Default = "");
  uint64_t number(const std::string &Name, uint64_t Default = 0);
  uint32_t number32(const std::string &Name, uint64_t Default = 0) {
    return static_cast<uint32_t>(number(Name, Default));
  }
  /// Comma-separated.
  std::vector<uint64_t> numbers(const std::string &Name,
                                std::vector<uint64_t> Default = {});
  /// Throws when something on the line was never asked for.
  void finish() const;

  static std::vector<std::string> split(const std::string &Text, char At);
  static uint64_t parseNumber(const std::string &Text);

private:
  std::string Word;
  std::set<std::string> Flags;
  std::map<std::string, std::string> Values;
  std::set<std::string> Used;
};

} // namespace kprobe

#endif
