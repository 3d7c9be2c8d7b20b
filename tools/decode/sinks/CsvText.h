// Fields of CSV as RFC 4180 wants them.
#ifndef KPROBE_DECODE_CSVTEXT_H
#define KPROBE_DECODE_CSVTEXT_H

#include <string>
#include <string_view>

namespace kprobe {

inline std::string csvField(std::string_view Text) {
  if (Text.find_first_of(",\"\r\n") == std::string_view::npos)
    return std::string(Text);
  std::string Out = "\"";
  for (char C : Text) {
    if (C == '"')
      Out += '"';
    Out += C;
  }
  return Out + "\"";
}

} // namespace kprobe

#endif
