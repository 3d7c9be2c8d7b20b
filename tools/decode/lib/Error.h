// The result of decoding: nothing, or why it stopped and at which byte.
//
// The library never prints or exits; it hands this up and main decides. Kept
// apart from everything so that each layer can return it.
#ifndef KPROBE_DECODE_ERROR_H
#define KPROBE_DECODE_ERROR_H

#include <cstdint>
#include <string>
#include <utility>

namespace kprobe {

class [[nodiscard]] Error {
public:
  static Error success() { return Error(); }

  /// A fault of the bytes at \p Offset of the file.
  static Error at(uint64_t Offset, const std::string &Text) {
    return Error("offset " + std::to_string(Offset) + ": " + Text);
  }

  /// A fault that has no place in the file (it cannot be opened, …).
  static Error plain(std::string Text) { return Error(std::move(Text)); }

  explicit operator bool() const { return Failed; }

  /// One line, lower case, no full stop.
  const std::string &text() const { return Text; }

private:
  Error() = default;
  explicit Error(std::string Text) : Failed(true), Text(std::move(Text)) {}

  bool Failed = false;
  std::string Text;
};

} // namespace kprobe

#endif
