// What somebody else counted of each dispatch, joined with a dump.
//
// The file is JSON: {"dispatches": [row, …]}, and a row is
//
//   {"dispatch": "QUEUE.INDEX", "grid": [x, y, z], "workgroup": [x, y, z],
//    "counter": number, "group": {"counter": number, …}, …}
//
// with the packet's index in its queue. Queues of the file may be numbered in
// any way: one is taken for that queue of the dump all of whose dispatches it
// has, with the same indices, grids and workgroups; among equal ones the first.
// Members that are no numbers are passed over. kprobe-vgpu --stats-json writes
// such files.
#ifndef KPROBE_DECODE_DISPATCHCOUNTERS_H
#define KPROBE_DECODE_DISPATCHCOUNTERS_H

#include "Error.h"
#include "Trace.h"

#include <string>
#include <unordered_map>
#include <vector>

namespace kprobe {

class DispatchCounters {
public:
  struct Value {
    uint32_t Name; ///< index into names()
    double Number;
  };

  /// \p T has been read. Adds to what was read before.
  Error read(const std::string &Path, const Trace &T);

  /// Null when nothing is known of that dispatch.
  const std::vector<Value> *of(uint64_t Dispatch) const {
    auto Found = Values.find(Dispatch);
    return Found == Values.end() ? nullptr : &Found->second;
  }
  const std::vector<std::string> &names() const { return Names; }
  uint64_t dispatches() const { return Values.size(); }

private:
  uint32_t nameOf(const std::string &Text);

  std::vector<std::string> Names;
  std::unordered_map<std::string, uint32_t> Known;
  std::unordered_map<uint64_t, std::vector<Value>> Values; ///< by dispatch
};

} // namespace kprobe

#endif
