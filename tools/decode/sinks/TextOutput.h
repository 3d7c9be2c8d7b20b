// A text file being written: appends, integers without locale, one error.
#ifndef KPROBE_DECODE_TEXTOUTPUT_H
#define KPROBE_DECODE_TEXTOUTPUT_H

#include "Error.h"

#include <cerrno>
#include <charconv>
#include <cstdio>
#include <cstring>
#include <string>
#include <string_view>
#include <type_traits>

namespace kprobe {

class TextOutput {
public:
  TextOutput() = default;
  TextOutput(const TextOutput &) = delete;
  TextOutput &operator=(const TextOutput &) = delete;
  ~TextOutput() {
    if (File && File != stdout)
      std::fclose(File);
  }

  /// "-" is standard output.
  Error open(const std::string &Path) {
    File = Path == "-" ? stdout : std::fopen(Path.c_str(), "wb");
    return File ? Error::success() : Error::plain(std::strerror(errno));
  }

  TextOutput &operator<<(std::string_view Text) {
    Buffer.append(Text);
    if (Buffer.size() >= Limit)
      flush();
    return *this;
  }
  TextOutput &operator<<(const char *Text) {
    return *this << std::string_view(Text);
  }
  TextOutput &operator<<(const std::string &Text) {
    return *this << std::string_view(Text);
  }
  template <typename T, typename = std::enable_if_t<std::is_integral<T>::value>>
  TextOutput &operator<<(T Number) {
    char Digits[24];
    auto End = std::to_chars(Digits, Digits + sizeof(Digits), Number).ptr;
    return *this << std::string_view(Digits, static_cast<size_t>(End - Digits));
  }

  /// Writes what is left. The first error of all writes.
  Error close() {
    flush();
    if (!Fault && std::fflush(File) != 0)
      Fault = errno;
    if (File != stdout && std::fclose(File) != 0 && !Fault)
      Fault = errno;
    File = nullptr;
    return Fault ? Error::plain(std::strerror(Fault)) : Error::success();
  }

private:
  void flush() {
    if (!Fault &&
        std::fwrite(Buffer.data(), 1, Buffer.size(), File) != Buffer.size())
      Fault = errno ? errno : EIO;
    Buffer.clear();
  }

  static constexpr size_t Limit = 1 << 20;
  std::FILE *File = nullptr;
  std::string Buffer;
  int Fault = 0;
};

} // namespace kprobe

#endif
