// A file without a name, for what does not fit in memory.
#ifndef KPROBE_DECODE_TEMPORARYFILE_H
#define KPROBE_DECODE_TEMPORARYFILE_H

#include "Error.h"

#include <cstddef>
#include <cstdint>

namespace kprobe {

class TemporaryFile {
public:
  TemporaryFile() = default;
  TemporaryFile(const TemporaryFile &) = delete;
  TemporaryFile &operator=(const TemporaryFile &) = delete;
  ~TemporaryFile();

  /// In $TMPDIR, or /tmp.
  Error open();
  bool isOpen() const { return Descriptor >= 0; }
  /// Bytes written so far.
  uint64_t size() const { return Size; }
  Error append(const void *Data, size_t Bytes);
  Error readAt(uint64_t Offset, void *Out, size_t Bytes) const;

private:
  int Descriptor = -1;
  uint64_t Size = 0;
};

} // namespace kprobe

#endif
