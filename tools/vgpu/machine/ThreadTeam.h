//===- ThreadTeam.h - Threads that run a piece of work in parts -------------===//
//
// The caller does the first part itself, so a team of one is no thread at all.
//
//===----------------------------------------------------------------------===//
#ifndef VGPU_MACHINE_THREADTEAM_H
#define VGPU_MACHINE_THREADTEAM_H

#include <condition_variable>
#include <cstdint>
#include <functional>
#include <mutex>
#include <thread>
#include <vector>

namespace vgpu {

class ThreadTeam {
public:
  explicit ThreadTeam(unsigned Parts) : Parts(Parts) {}
  ~ThreadTeam();
  unsigned size() const { return Parts; }

  /// Calls \p Part with 0 here, and with 1 to Parts - 1 each on its own thread, at
  /// the same time. Returns when all have returned; what they did happened before.
  void run(const std::function<void(unsigned)> &Part);

private:
  void work(unsigned Number);

  const unsigned Parts;
  std::mutex Lock; ///< Of what follows.
  std::condition_variable Begun, Ended;
  const std::function<void(unsigned)> *Current = nullptr;
  uint64_t Round = 0;
  unsigned Busy = 0;
  bool Leaving = false;
  std::vector<std::thread> Threads; ///< Made by the first run().
};

} // namespace vgpu
#endif
