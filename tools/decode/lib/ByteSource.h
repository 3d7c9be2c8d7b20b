// Where the bytes of a dump come from: a file, a pipe, or memory.
//
// Reading is sequential and keeps one chunk in memory. Files are read, not
// mapped: a file that shrinks while it is read is then a short read and not a
// SIGBUS, and the copy costs little beside decoding.
#ifndef KPROBE_DECODE_BYTESOURCE_H
#define KPROBE_DECODE_BYTESOURCE_H

#include "Error.h"

#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

namespace kprobe {

struct ByteSpan {
  const uint8_t *Data = nullptr;
  size_t Size = 0;
};

class ByteSource {
public:
  virtual ~ByteSource() = default;

  /// The next \p Bytes bytes; fewer only at the end of input. The span is
  /// 8-byte aligned and lives until the next call. Memory grows with the bytes
  /// that really arrive, whatever \p Bytes says.
  virtual Error next(uint64_t Bytes, ByteSpan &Out) = 0;

  /// Starts over; an error where the input cannot.
  virtual Error rewind() = 0;

  /// Copies bytes at \p Offset, for a second look at a place already decoded.
  virtual Error readAt(uint64_t Offset, void *Out, size_t Bytes) = 0;
};

/// Bytes somebody else keeps; \p Data must be 8-byte aligned.
class MemorySource : public ByteSource {
public:
  MemorySource(const uint8_t *Data, size_t Size) : Data(Data), Size(Size) {}
  Error next(uint64_t Bytes, ByteSpan &Out) override;
  Error rewind() override;
  Error readAt(uint64_t Offset, void *Out, size_t Bytes) override;

private:
  const uint8_t *Data;
  size_t Size;
  size_t Position = 0;
};

/// A file or pipe; "-" is standard input.
class FileSource : public ByteSource {
public:
  FileSource() = default;
  FileSource(const FileSource &) = delete;
  FileSource &operator=(const FileSource &) = delete;
  ~FileSource() override;

  Error open(const std::string &Path);
  /// Called with the bytes read so far, and with the file's size (0: a pipe).
  void watch(std::function<void(uint64_t Done, uint64_t All)> Watcher) {
    Watch = std::move(Watcher);
  }
  Error next(uint64_t Bytes, ByteSpan &Out) override;
  Error rewind() override;
  Error readAt(uint64_t Offset, void *Out, size_t Bytes) override;

private:
  int Descriptor = -1;
  uint64_t Size = 0, Position = 0;
  std::function<void(uint64_t, uint64_t)> Watch;
  std::vector<uint64_t> Buffer;
};

} // namespace kprobe

#endif
