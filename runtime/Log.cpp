// One write a line; a closed or broken stderr is not the program's problem.
#include "Log.h"
#include "QuietWrite.h"

#include <unistd.h>

namespace kprobe {

static void say(const char *Prefix, const std::string &Text) {
  std::string Line = Prefix + Text + "\n";
  struct iovec Part = {&Line[0], Line.size()};
  writeQuietly(STDERR_FILENO, &Part, 1);
}

void logError(const std::string &Text) { say("kprobe: error: ", Text); }
void logWarning(const std::string &Text) { say("kprobe: warning: ", Text); }
void logNote(const std::string &Text) { say("kprobe: ", Text); }

} // namespace kprobe
