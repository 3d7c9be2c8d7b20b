// Sequential input from files, pipes and memory.
#include "ByteSource.h"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

namespace kprobe {

Error MemorySource::next(uint64_t Bytes, ByteSpan &Out) {
  Out.Data = Data + Position;
  Out.Size = static_cast<size_t>(std::min<uint64_t>(Bytes, Size - Position));
  Position += Out.Size;
  return Error::success();
}

Error MemorySource::rewind() {
  Position = 0;
  return Error::success();
}

Error MemorySource::readAt(uint64_t Offset, void *Out, size_t Bytes) {
  if (Offset > Size || Bytes > Size - Offset)
    return Error::at(Offset, "input ends early");
  if (Bytes != 0) // Out may be null then, which memcpy does not allow
    std::memcpy(Out, Data + Offset, Bytes);
  return Error::success();
}

FileSource::~FileSource() {
  if (Descriptor > 0)
    ::close(Descriptor);
}

static Error systemError() { return Error::plain(std::strerror(errno)); }

Error FileSource::open(const std::string &Path) {
  Descriptor = Path == "-" ? 0 : ::open(Path.c_str(), O_RDONLY | O_CLOEXEC);
  if (Descriptor < 0)
    return systemError();
  struct stat Status;
  if (::fstat(Descriptor, &Status) != 0)
    return systemError();
  if (S_ISDIR(Status.st_mode))
    return Error::plain("is a directory");
  if (S_ISREG(Status.st_mode))
    Size = static_cast<uint64_t>(Status.st_size);
  return Error::success();
}

Error FileSource::next(uint64_t Bytes, ByteSpan &Out) {
  constexpr uint64_t Step = 16u << 20;
  uint64_t Have = 0;
  while (Have < Bytes) {
    // Grow by what has arrived, so that a length field alone allocates nothing.
    uint64_t Want = std::min(Bytes, Have + std::max(Step, Have));
    if (Buffer.size() < (Want + 7) / 8)
      Buffer.resize((Want + 7) / 8);
    uint8_t *Start = reinterpret_cast<uint8_t *>(Buffer.data());
    ssize_t Got = ::read(Descriptor, Start + Have, Want - Have);
    if (Got < 0) {
      if (errno == EINTR)
        continue;
      return systemError();
    }
    if (Got == 0)
      break;
    Have += static_cast<uint64_t>(Got);
  }
  Out.Data = reinterpret_cast<const uint8_t *>(Buffer.data());
  Out.Size = static_cast<size_t>(Have);
  Position += Have;
  if (Watch)
    Watch(Position, Size);
  return Error::success();
}

Error FileSource::rewind() {
  if (::lseek(Descriptor, 0, SEEK_SET) != 0)
    return Error::plain("cannot be read twice: give a file, not a pipe");
  Position = 0;
  return Error::success();
}

Error FileSource::readAt(uint64_t Offset, void *Out, size_t Bytes) {
  uint8_t *Place = static_cast<uint8_t *>(Out);
  while (Bytes > 0) {
    ssize_t Got = ::pread(Descriptor, Place, Bytes, static_cast<off_t>(Offset));
    if (Got < 0 && errno == EINTR)
      continue;
    if (Got < 0)
      return systemError();
    if (Got == 0)
      return Error::at(Offset, "file became shorter while it was read");
    Place += Got;
    Offset += static_cast<uint64_t>(Got);
    Bytes -= static_cast<size_t>(Got);
  }
  return Error::success();
}

} // namespace kprobe
