// Writes the dump file: a file header, then whole chunks, append only.
//
// A chunk is either in the file completely or, after a failed write, cut off
// again, so that a killed or disk-full run leaves a valid file. The first
// failure ends writing for good; what would have followed is counted.
#ifndef KPROBE_RUNTIME_DUMPWRITER_H
#define KPROBE_RUNTIME_DUMPWRITER_H

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <ctime>
#include <mutex>
#include <string>
#include <vector>

struct iovec;

namespace kprobe {

// %p process id, %h host name, %t seconds since the epoch, %% a percent sign.
// Anything else after % is kept as it is.
std::string expandOutputName(const std::string &Pattern, long Pid,
                             const std::string &Host, time_t Now);

class DumpWriter {
public:
  DumpWriter() = default;
  ~DumpWriter();
  DumpWriter(const DumpWriter &) = delete;
  DumpWriter &operator=(const DumpWriter &) = delete;

  // Creates the file and writes its header. An existing file is never touched:
  // "trace.kpd" becomes "trace.1.kpd", "trace.2.kpd", … An existing pipe or
  // device is opened as it is. False with the reason in Why.
  bool open(const std::string &ExpandedName, std::string &Why);

  // Appends one chunk made of up to four parts. False when writing has ended;
  // the first time, with the reason in Why.
  struct Part {
    const void *Data;
    size_t Bytes;
  };
  bool append(uint32_t Kind, const Part *Parts, size_t Count,
              std::string *Why = nullptr);

  // Between the two, small chunks are written together: a system call costs
  // more than they do. What a failed write loses then is told by the append()
  // that caused it, or by endBatch(), as above.
  void beginBatch();
  bool endBatch(std::string *Why = nullptr);

  // Lets go without a further byte: for the child of a fork, where the lock
  // may be held by a thread that does not exist there.
  void abandon();
  void close();

  const std::string &path() const { return Path; }
  // Monotonic counter, read without the lock for the summary.
  uint64_t chunksDropped() const {
    return Dropped.load(std::memory_order_relaxed);
  }

private:
  // With the lock held. Count chunks, of Bytes in all; false as append().
  bool write(struct iovec *Pieces, size_t Used, uint64_t Bytes, uint64_t Count,
             std::string *Why);
  bool writeHeld(std::string *Why);
  bool writeHeader(std::string &Why);
  void cutBack();

  std::mutex Lock;
  std::string Path;
  int Fd = -1;
  bool Regular = false;
  uint64_t GoodBytes = 0;
  uint64_t Sequence = 0;
  bool Batching = false;
  std::vector<char> Held; // whole chunks
  uint64_t HeldCount = 0;
  std::atomic<uint64_t> Dropped{0};
};

} // namespace kprobe

#endif
