// Bounds-checked reads from untrusted bytes.
//
// This is the only code that turns bytes of a dump into values: everything
// above it sees records and string views that are known to lie inside the
// input. A read that does not fit fails, changes nothing and leaves the
// position where it was, so that the caller can name the offset.
#ifndef KPROBE_DECODE_BYTEREADER_H
#define KPROBE_DECODE_BYTEREADER_H

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string_view>
#include <type_traits>

namespace kprobe {

static_assert(__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__,
              "records are read as they lie in the file; a big-endian host "
              "needs swaps here");

class ByteReader {
public:
  ByteReader() = default;
  /// Reads \p Size bytes at \p Data, which are at \p FileOffset of the file.
  ByteReader(const uint8_t *Data, size_t Size, uint64_t FileOffset = 0)
      : Data(Data), Size(Size), Base(FileOffset) {}

  uint64_t offset() const { return Base + Position; }
  size_t remaining() const { return Size - Position; }
  size_t size() const { return Size; }
  const uint8_t *data() const { return Data; }

  /// Takes the next record.
  template <typename T> [[nodiscard]] bool read(T &Out) {
    if (!readAt(Position, Out))
      return false;
    Position += sizeof(T);
    return true;
  }

  /// Copies a record from \p Offset without moving.
  template <typename T>
  [[nodiscard]] bool readAt(uint64_t Offset, T &Out) const {
    static_assert(std::is_trivially_copyable<T>::value, "plain records only");
    if (!holds(Offset, sizeof(T)))
      return false;
    std::memcpy(&Out, Data + Offset, sizeof(T));
    return true;
  }

  /// Takes \p Bytes bytes as they are.
  [[nodiscard]] bool take(uint64_t Bytes, ByteReader &Out) {
    if (Bytes > remaining())
      return false;
    Out = ByteReader(Data + Position, static_cast<size_t>(Bytes), offset());
    Position += static_cast<size_t>(Bytes);
    return true;
  }

  /// Takes \p Bytes bytes as text.
  [[nodiscard]] bool takeString(uint64_t Bytes, std::string_view &Out) {
    ByteReader Slice;
    if (!take(Bytes, Slice))
      return false;
    Out = std::string_view(reinterpret_cast<const char *>(Slice.data()),
                           Slice.size());
    return true;
  }

  /// Takes \p Count records of \p T in place. They must be aligned for T.
  template <typename T>
  [[nodiscard]] bool takeArray(uint64_t Count, const T *&Out) {
    if (Count > remaining() / sizeof(T))
      return false;
    const uint8_t *Start = Data + Position;
    if (reinterpret_cast<uintptr_t>(Start) % alignof(T) != 0)
      return false;
    Out = reinterpret_cast<const T *>(Start);
    Position += static_cast<size_t>(Count) * sizeof(T);
    return true;
  }

  /// Whether [Offset, Offset + Bytes) lies inside; never overflows.
  bool holds(uint64_t Offset, uint64_t Bytes) const {
    return Offset <= Size && Bytes <= Size - Offset;
  }

private:
  const uint8_t *Data = nullptr;
  size_t Size = 0;
  size_t Position = 0;
  uint64_t Base = 0;
};

} // namespace kprobe

#endif
