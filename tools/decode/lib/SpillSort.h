// Sorts any number of records in bounded memory.
//
// Up to a limit everything stays in memory. Beyond it, sorted runs go to a
// temporary file and are merged when they are read; the memory is then that of
// the limit, shared by the runs. Equal records keep the order in which they
// came.
#ifndef KPROBE_DECODE_SPILLSORT_H
#define KPROBE_DECODE_SPILLSORT_H

#include "TemporaryFile.h"

#include <algorithm>
#include <type_traits>
#include <vector>

namespace kprobe {

template <typename T, typename Before> class SpillSort {
  static_assert(std::is_trivially_copyable<T>::value, "goes to a file");

public:
  /// \p Most records are kept in memory.
  explicit SpillSort(size_t Most) : Most(Most) {}

  Error add(const T &Record) {
    Buffer.push_back(Record);
    ++Count;
    return Buffer.size() < Most ? Error::success() : spill();
  }

  /// All have been added; head() is the first.
  Error finish() {
    if (Runs.empty()) {
      std::stable_sort(Buffer.begin(), Buffer.end(), Before());
      return Error::success();
    }
    if (Error E = spill())
      return E;
    Buffer = std::vector<T>();
    size_t Share = std::max<size_t>(LeastShare, Most / Runs.size());
    for (Run &R : Runs) {
      R.Share = Share;
      if (Error E = fill(R))
        return E;
    }
    for (size_t I = 0; I < Runs.size(); ++I)
      Heap.push_back(I);
    std::make_heap(Heap.begin(), Heap.end(), later());
    return Error::success();
  }

  /// Null at the end; lives until step().
  const T *head() const {
    if (Runs.empty())
      return Next < Buffer.size() ? &Buffer[Next] : nullptr;
    return Heap.empty() ? nullptr : &first(Runs[Heap.front()]);
  }

  Error step() {
    ++Given;
    if (Runs.empty()) {
      ++Next;
      return Error::success();
    }
    std::pop_heap(Heap.begin(), Heap.end(), later());
    Run &R = Runs[Heap.back()];
    if (++R.Next == R.Ahead.size())
      if (Error E = fill(R))
        return E;
    if (R.Ahead.empty())
      Heap.pop_back();
    else
      std::push_heap(Heap.begin(), Heap.end(), later());
    return Error::success();
  }

  uint64_t size() const { return Count; }
  uint64_t given() const { return Given; }

private:
  static constexpr size_t LeastShare = 64;
  struct Run {
    uint64_t Offset; ///< in the file, of what is not in Ahead
    uint64_t Left;   ///< records there
    std::vector<T> Ahead;
    size_t Next = 0;
    size_t Share = 0;
  };

  static const T &first(const Run &R) { return R.Ahead[R.Next]; }
  /// The heap's top is the earliest; of equal ones, that of the earlier run.
  auto later() const {
    return [this](size_t A, size_t B) {
      const T &X = first(Runs[A]), &Y = first(Runs[B]);
      return Before()(Y, X) || (!Before()(X, Y) && B < A);
    };
  }

  Error spill() {
    if (Buffer.empty())
      return Error::success();
    // Without a place for the file there is still memory.
    if (!File.isOpen())
      if (Error E = File.open()) {
        Most = SIZE_MAX;
        return Error::success();
      }
    std::stable_sort(Buffer.begin(), Buffer.end(), Before());
    Runs.push_back({File.size(), Buffer.size(), {}, 0, 0});
    Error E = File.append(Buffer.data(), Buffer.size() * sizeof(T));
    Buffer.clear();
    return E;
  }

  Error fill(Run &R) {
    size_t Some = static_cast<size_t>(std::min<uint64_t>(R.Left, R.Share));
    R.Ahead.resize(Some);
    R.Next = 0;
    if (Some == 0)
      return Error::success();
    Error E = File.readAt(R.Offset, R.Ahead.data(), Some * sizeof(T));
    R.Offset += Some * sizeof(T);
    R.Left -= Some;
    return E;
  }

  size_t Most;
  uint64_t Count = 0, Given = 0;
  std::vector<T> Buffer;
  size_t Next = 0; ///< in Buffer, when there are no runs
  TemporaryFile File;
  std::vector<Run> Runs;
  std::vector<size_t> Heap; ///< of runs that are not empty
};

} // namespace kprobe

#endif
