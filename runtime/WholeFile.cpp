// Reading in pieces, to the end.
#include "WholeFile.h"

#include <fcntl.h>
#include <unistd.h>

namespace kprobe {

bool readWholeFile(const std::string &Path, std::string &Text) {
  int File = open(Path.c_str(), O_RDONLY | O_CLOEXEC);
  if (File < 0)
    return false;
  char Buffer[4096];
  ssize_t Got;
  while ((Got = read(File, Buffer, sizeof(Buffer))) > 0)
    Text.append(Buffer, size_t(Got));
  close(File);
  return Got == 0;
}

} // namespace kprobe
