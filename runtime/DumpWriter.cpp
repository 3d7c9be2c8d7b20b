// The chunk framing of kprobe/wire.h on top of a plain file descriptor.
#include "DumpWriter.h"
#include "QuietWrite.h"

#include "kprobe/wire.h"

#define XXH_INLINE_ALL
#include <xxhash.h>

#include <cerrno>
#include <cstring>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

namespace kprobe {

// Attempts to find a free name; beyond that something else is wrong.
static constexpr unsigned MostSuffixes = 100000;
// Written when there is more; larger chunks are not copied here first.
static constexpr size_t MostHeldBytes = 256u << 10;

std::string expandOutputName(const std::string &Pattern, long Pid,
                             const std::string &Host, time_t Now) {
  std::string Name;
  for (size_t I = 0; I < Pattern.size(); ++I) {
    if (Pattern[I] != '%' || I + 1 == Pattern.size()) {
      Name += Pattern[I];
      continue;
    }
    switch (Pattern[++I]) {
    case 'p':
      Name += std::to_string(Pid);
      break;
    case 'h':
      Name += Host;
      break;
    case 't':
      Name += std::to_string(static_cast<long long>(Now));
      break;
    case '%':
      Name += '%';
      break;
    default:
      Name += '%';
      Name += Pattern[I];
    }
  }
  return Name;
}

// "dir.d/trace.kpd", 2 → "dir.d/trace.2.kpd".
static std::string withSuffix(const std::string &Name, unsigned Number) {
  size_t Slash = Name.rfind('/');
  size_t Base = Slash == std::string::npos ? 0 : Slash + 1;
  size_t Dot = Name.rfind('.');
  if (Dot == std::string::npos || Dot <= Base)
    Dot = Name.size();
  return Name.substr(0, Dot) + "." + std::to_string(Number) + Name.substr(Dot);
}

DumpWriter::~DumpWriter() { close(); }

bool DumpWriter::open(const std::string &ExpandedName, std::string &Why) {
  std::lock_guard<std::mutex> Guard(Lock);
  for (unsigned Number = 0; Number <= MostSuffixes; ++Number) {
    Path = Number == 0 ? ExpandedName : withSuffix(ExpandedName, Number);
    Fd = ::open(Path.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0644);
    if (Fd >= 0) {
      Regular = true;
      return writeHeader(Why);
    }
    if (errno != EEXIST)
      break;
    struct stat Info;
    if (stat(Path.c_str(), &Info) == 0 && !S_ISREG(Info.st_mode)) {
      // A pipe or a device was named on purpose. Without O_NONBLOCK the open
      // of a pipe that nobody reads would hold the program.
      Fd = ::open(Path.c_str(), O_WRONLY | O_NONBLOCK | O_CLOEXEC);
      if (Fd >= 0) {
        Regular = false;
        return writeHeader(Why);
      }
      break;
    }
    errno = EEXIST;
  }
  Why = "cannot create " + Path + ": " + std::strerror(errno);
  return false;
}

bool DumpWriter::writeHeader(std::string &Why) {
  KprobeFileHeader Header = {};
  Header.Magic = KPROBE_FILE_MAGIC;
  Header.ByteOrder = KPROBE_BYTE_ORDER;
  Header.Major = KPROBE_WIRE_MAJOR;
  Header.Minor = KPROBE_WIRE_MINOR;
  Header.HeaderBytes = sizeof(Header);
  struct iovec Piece = {&Header, sizeof(Header)};
  if (int Error = writeQuietly(Fd, &Piece, 1)) {
    Why = "cannot write " + Path + ": " + std::strerror(Error);
    cutBack();
    return false;
  }
  GoodBytes = sizeof(Header);
  return true;
}

bool DumpWriter::append(uint32_t Kind, const Part *Parts, size_t Count,
                        std::string *Why) {
  std::lock_guard<std::mutex> Guard(Lock);
  if (Fd < 0) {
    Dropped.fetch_add(1, std::memory_order_relaxed);
    return false;
  }
  KprobeChunkHeader Header = {};
  Header.Magic = KPROBE_CHUNK_MAGIC;
  Header.Kind = Kind;
  for (size_t I = 0; I < Count; ++I)
    Header.PayloadBytes += Parts[I].Bytes;
  Header.Sequence = Sequence;

  XXH64_hash_t Seed =
      XXH3_64bits(&Header, offsetof(KprobeChunkHeader, Checksum));
  XXH3_state_t State;
  XXH3_64bits_reset_withSeed(&State, Seed);
  static const char Zeros[8] = {};
  struct iovec Pieces[6];
  size_t Used = 0;
  Pieces[Used++] = {&Header, sizeof(Header)};
  for (size_t I = 0; I < Count && I < 4; ++I) {
    XXH3_64bits_update(&State, Parts[I].Data, Parts[I].Bytes);
    Pieces[Used++] = {const_cast<void *>(Parts[I].Data), Parts[I].Bytes};
  }
  Header.Checksum = XXH3_64bits_digest(&State);
  size_t Padding = size_t(-Header.PayloadBytes & 7);
  Pieces[Used++] = {const_cast<char *>(Zeros), Padding};

  uint64_t ChunkBytes = sizeof(Header) + Header.PayloadBytes + Padding;
  ++Sequence;
  if (Batching && ChunkBytes <= MostHeldBytes) {
    if (Held.size() + ChunkBytes > MostHeldBytes && !writeHeld(Why)) {
      Dropped.fetch_add(1, std::memory_order_relaxed);
      return false;
    }
    for (size_t I = 0; I < Used; ++I) {
      auto *From = static_cast<const char *>(Pieces[I].iov_base);
      Held.insert(Held.end(), From, From + Pieces[I].iov_len);
    }
    ++HeldCount;
    return true;
  }
  if (!writeHeld(Why)) {
    Dropped.fetch_add(1, std::memory_order_relaxed);
    return false;
  }
  return write(Pieces, Used, ChunkBytes, 1, Why);
}

bool DumpWriter::write(struct iovec *Pieces, size_t Used, uint64_t Bytes,
                       uint64_t Count, std::string *Why) {
  if (int Error = writeQuietly(Fd, Pieces, Used)) {
    if (Why)
      *Why = "cannot write " + Path + ": " + std::strerror(Error);
    cutBack();
    Dropped.fetch_add(Count, std::memory_order_relaxed);
    return false;
  }
  GoodBytes += Bytes;
  return true;
}

bool DumpWriter::writeHeld(std::string *Why) {
  if (HeldCount == 0)
    return true;
  struct iovec Piece = {Held.data(), Held.size()};
  bool Written = write(&Piece, 1, Held.size(), HeldCount, Why);
  Held.clear();
  HeldCount = 0;
  return Written;
}

void DumpWriter::beginBatch() {
  std::lock_guard<std::mutex> Guard(Lock);
  Batching = true;
}

bool DumpWriter::endBatch(std::string *Why) {
  std::lock_guard<std::mutex> Guard(Lock);
  Batching = false;
  return writeHeld(Why);
}

// Leaves only whole chunks behind, and nothing at all where not even the file
// header found room.
void DumpWriter::cutBack() {
  if (Regular) {
    int Ignored = ftruncate(Fd, off_t(GoodBytes));
    (void)Ignored;
    if (GoodBytes == 0)
      unlink(Path.c_str());
  }
  ::close(Fd);
  Fd = -1;
}

void DumpWriter::abandon() {
  if (Fd >= 0)
    ::close(Fd);
  Fd = -1;
}

void DumpWriter::close() {
  std::lock_guard<std::mutex> Guard(Lock);
  writeHeld(nullptr);
  if (Fd >= 0)
    ::close(Fd);
  Fd = -1;
}

} // namespace kprobe
