// What the runtime says to the user: whole lines on stderr, in one write(2)
// each, so that they do not mix with the program's. Nothing here allocates
// more than the line or throws.
#ifndef KPROBE_RUNTIME_LOG_H
#define KPROBE_RUNTIME_LOG_H

#include <string>

namespace kprobe {

void logError(const std::string &Text);   // kprobe: error: …
void logWarning(const std::string &Text); // kprobe: warning: …
void logNote(const std::string &Text);    // kprobe: …

} // namespace kprobe

#endif
