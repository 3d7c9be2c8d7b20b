// Columns of text: widths by content, numbers to the right.
#ifndef KPROBE_DECODE_TEXTTABLE_H
#define KPROBE_DECODE_TEXTTABLE_H

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

namespace kprobe {

class TextTable {
public:
  enum Side { Left, Right };

  explicit TextTable(std::vector<std::pair<std::string, Side>> Columns)
      : Columns(std::move(Columns)) {}

  void row(std::vector<std::string> Cells) { Rows.push_back(std::move(Cells)); }

  /// Lines without trailing blanks, two blanks between columns.
  std::string text() const {
    std::vector<size_t> Widths;
    for (size_t C = 0; C < Columns.size(); ++C) {
      Widths.push_back(width(Columns[C].first));
      for (const std::vector<std::string> &Row : Rows)
        Widths[C] = std::max(Widths[C], width(Row[C]));
    }
    std::vector<std::string> Heads;
    for (const auto &Column : Columns)
      Heads.push_back(Column.first);
    std::string Out = line(Heads, Widths);
    for (const std::vector<std::string> &Row : Rows)
      Out += line(Row, Widths);
    return Out;
  }

private:
  /// Code points: bytes that do not continue a UTF-8 sequence.
  static size_t width(const std::string &Text) {
    return static_cast<size_t>(
        std::count_if(Text.begin(), Text.end(),
                      [](unsigned char C) { return (C & 0xc0) != 0x80; }));
  }

  std::string line(const std::vector<std::string> &Cells,
                   const std::vector<size_t> &Widths) const {
    std::string Out;
    for (size_t C = 0; C < Cells.size(); ++C) {
      std::string Fill(Widths[C] - width(Cells[C]), ' ');
      if (C != 0)
        Out += "  ";
      Out += Columns[C].second == Right ? Fill + Cells[C] : Cells[C] + Fill;
    }
    Out.erase(Out.find_last_not_of(' ') + 1);
    return Out + "\n";
  }

  std::vector<std::pair<std::string, Side>> Columns;
  std::vector<std::vector<std::string>> Rows;
};

} // namespace kprobe

#endif
