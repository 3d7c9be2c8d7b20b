// Made, and unlinked at once: nothing is left behind, whatever happens.
#include "TemporaryFile.h"

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <string>
#include <unistd.h>

namespace kprobe {

TemporaryFile::~TemporaryFile() {
  if (isOpen())
    ::close(Descriptor);
}

Error TemporaryFile::open() {
  const char *Folder = std::getenv("TMPDIR");
  std::string Path = Folder && *Folder ? Folder : "/tmp";
  Path += "/kprobe-decode-XXXXXX";
  Descriptor = ::mkstemp(Path.data());
  if (Descriptor < 0)
    return Error::plain("cannot make '" + Path + "': " + std::strerror(errno));
  ::unlink(Path.c_str());
  return Error::success();
}

Error TemporaryFile::append(const void *Data, size_t Bytes) {
  const char *Place = static_cast<const char *>(Data);
  while (Bytes > 0) {
    ssize_t Done = ::pwrite(Descriptor, Place, Bytes, static_cast<off_t>(Size));
    if (Done < 0 && errno == EINTR)
      continue;
    if (Done <= 0)
      return Error::plain(std::string("temporary file: ") +
                          std::strerror(errno));
    Place += Done;
    Size += static_cast<uint64_t>(Done);
    Bytes -= static_cast<size_t>(Done);
  }
  return Error::success();
}

Error TemporaryFile::readAt(uint64_t Offset, void *Out, size_t Bytes) const {
  char *Place = static_cast<char *>(Out);
  while (Bytes > 0) {
    ssize_t Got = ::pread(Descriptor, Place, Bytes, static_cast<off_t>(Offset));
    if (Got < 0 && errno == EINTR)
      continue;
    if (Got <= 0)
      return Error::plain(std::string("temporary file: ") +
                          (Got < 0 ? std::strerror(errno) : "too short"));
    Place += Got;
    Offset += static_cast<uint64_t>(Got);
    Bytes -= static_cast<size_t>(Got);
  }
  return Error::success();
}

} // namespace kprobe
